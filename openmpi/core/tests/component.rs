//! The component in a real Open MPI, where there is one: data is right whichever rails it takes,
//! and mistakes are named.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Output},
};

/// The library of this crate that was built last, beside this test.
fn library() -> PathBuf {
    let test = std::env::current_exe().expect("a test has a path");
    let beside = fs::read_dir(test.parent().expect("a folder")).expect("a readable folder");
    let is_ours = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.starts_with("libheddle_openmpi")
            && path.extension().is_some_and(|extension| extension == "a")
    };
    let found = beside.filter_map(|entry| Some(entry.ok()?.path())).filter(is_ours);
    let age = |path: &PathBuf| fs::metadata(path).and_then(|data| data.modified()).ok();
    found.max_by_key(age).expect("the library is built with the tests")
}

/// A folder with the component and the program `exchange`; `None` where there is no Open MPI.
fn built() -> Option<tempfile::TempDir> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::tempdir().expect("a folder");
    let mut build = Command::new(here.join("../build"));
    let built = build.arg(library()).arg(folder.path()).output().expect("a shell");
    if built.status.code() == Some(77) {
        eprintln!("not run: {}", String::from_utf8_lossy(&built.stderr));
        return None;
    }
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let mut compiler = Command::new("mpicc.openmpi");
    compiler.args(["-O1", "-Wall", "-Werror", "-o"]).arg(folder.path().join("exchange"));
    let compiled = compiler.arg(here.join("tests/exchange.c")).output().expect("mpicc.openmpi");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    Some(folder)
}

/// Two networks, r1 and r2, within one host: devices without a cable, whose addresses lead back to
/// the host.
const TWO_RAILS: &str = "ip link set lo up && for r in 1 2; do \
     ip tuntap add dev r$r mode tap && ip addr add 10.9.$r.1/24 dev r$r && ip link set r$r up \
     || exit 78; done; exec \"$@\"";

/// Runs `exchange` with the component, for at most two minutes.
fn run(folder: &Path, before: &[&str], arguments: &str) -> Output {
    let info = Command::new("ompi_info").args(["--parsable", "--path", "pkglibdir"]).output();
    let info = String::from_utf8(info.expect("ompi_info").stdout).expect("text");
    let own = info.trim().rsplit(':').next().unwrap_or_default();
    let mut command = Command::new("timeout");
    command.arg("120").args(before);
    command.args(["mpirun.openmpi", "--oversubscribe", "--mca", "bml", "heddle"]);
    command.args(arguments.split_whitespace()).arg(folder.join("exchange"));
    command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    command.env("OMPI_MCA_mca_base_component_path", format!("{}:{own}", folder.display()));
    command.env("HOME", folder).env_remove("XDG_CACHE_HOME");
    command.output().expect("mpirun.openmpi")
}

/// Runs over two rails; `None` where there can be no networks of one's own.
fn run_over_two(folder: &Path, arguments: &str) -> Option<Output> {
    let networks =
        ["unshare", "--user", "--map-root-user", "--net", "sh", "-c", TWO_RAILS, "networks"];
    let rails = format!("--mca btl tcp,self --mca btl_tcp_if_include r1,r2 {arguments}");
    let output = run(folder, &networks, &rails);
    let said = String::from_utf8_lossy(&output.stderr);
    let cannot = output.status.code() == Some(78) || said.contains("unshare: ");
    if cannot {
        eprintln!("not run: networks of one's own cannot be made here: {said}");
    }
    (!cannot).then_some(output)
}

fn assert_right(output: &Output, of: &str) -> String {
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{of}: {}: {said}", output.status);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "right\n", "{of}: {said}");
    said
}

#[test]
fn data_is_right_over_one_module_within_a_host() {
    let Some(folder) = built() else { return };
    let all = "-n 3 --mca btl vader,self --mca bml_heddle_summary 1 --mca bml_heddle_always 1";
    let said = assert_right(&run(folder.path(), &[], all), all);
    assert!(said.contains("heddle: rail vader.0: "), "{said}");
}

/// All that needs two rails, one after the other: ranks spin while they wait.
#[test]
fn two_rails() {
    let Some(folder) = built() else { return };
    let folder = folder.path();
    if run_over_two(folder, "-n 1").is_some() {
        data_is_right_by_every_policy(folder);
        counters_say_what_rails_took(folder);
        large_messages_that_wait_for_receives_take_all_rails(folder);
        measured_parameters_are_kept_and_damage_is_noticed(folder);
        mistakes_are_named(folder);
    }
}

fn over_two(folder: &Path, arguments: &str) -> Output {
    run_over_two(folder, arguments).expect("networks were there before")
}

fn data_is_right_by_every_policy(folder: &Path) {
    for arguments in [
        "-n 4",
        "-n 2 --mca bml_heddle_policy round-robin",
        "-n 3 --mca bml_heddle_policy ecf --mca bml_heddle_shared 0",
        "-n 2 --mca heddle_bml_policy single:r2",
        "-n 2 --mca bml_heddle_limit 0",
        // Without put, large messages are copied in fragments.
        "-n 2 --mca btl_tcp_flags 1",
    ] {
        assert_right(&over_two(folder, arguments), arguments);
    }
}

/// Each of two rails takes half of the messages in turn; a rail of its own takes all. There are 80
/// that are not large, and some of collectives.
fn counters_say_what_rails_took(folder: &Path) {
    let counts = |arguments: &str| {
        let arguments = format!("-n 2 --mca bml_heddle_summary 1 {arguments}");
        let said = assert_right(&over_two(folder, &arguments), &arguments);
        ["r1", "r2"].map(|rail| -> u64 {
            let mark = format!("rail {rail}: ");
            let rest = said.lines().find_map(|line| line.split_once(&mark)).expect(&said).1;
            rest.split(' ').next().and_then(|count| count.parse().ok()).expect("a number")
        })
    };
    let [one, other] = counts("--mca bml_heddle_policy round-robin");
    assert!(one + other >= 80 && one.abs_diff(other) <= 1, "{one} {other}");
    let [one, other] = counts("--mca bml_heddle_policy single:r2");
    assert!(one == 0 && other >= 80, "{one} {other}");
}

/// Twenty messages of a rendezvous each, too small to be split, that have all arrived before a
/// receive is posted: each finds the weights that hold when its data is asked for. By turns the
/// rails carry ten each.
fn large_messages_that_wait_for_receives_take_all_rails(folder: &Path) {
    let output = over_two(
        folder,
        "-n 2 --mca bml_heddle_summary 1 --mca bml_heddle_policy round-robin \
         -x EXCHANGE_WAITING=1",
    );
    let said = assert_right(&output, "waiting");
    let parts = |rail: &str| {
        let line = said
            .lines()
            .find(|line| line.contains(&format!("rail {rail}: ")) && !line.contains(" 0 parts"));
        let rest = line.expect(&said).rsplit("; ").next().expect("a part");
        rest.split(' ').next().and_then(|count| count.parse::<u32>().ok()).expect("a number")
    };
    assert_eq!([parts("r1"), parts("r2")], [10, 10], "{said}");
}

fn measured_parameters_are_kept_and_damage_is_noticed(folder: &Path) {
    let cache = folder.join("kept");
    let arguments = format!("-n 2 --mca bml_heddle_cache {}", cache.display());
    assert_right(&over_two(folder, &arguments), "measured");
    let files = || -> Vec<PathBuf> {
        let files = fs::read_dir(&cache).expect("a cache");
        files.map(|entry| entry.expect("an entry").path()).collect()
    };
    let [file] = files().try_into().expect("one file");
    let mode = |path: &Path| fs::metadata(path).expect("a file").permissions().mode() & 0o777;
    assert_eq!((mode(&cache), mode(&file)), (0o700, 0o600));
    let before = fs::read_to_string(&file).expect("text");
    assert!(before.starts_with("heddle rails 2\nOpen MPI "), "{before}");
    assert_right(&over_two(folder, &arguments), "from the cache");
    assert_eq!(fs::read_to_string(&file).expect("text"), before);
    fs::write(&file, &before[..before.len() / 2]).expect("a writable file");
    let said = assert_right(&over_two(folder, &arguments), "damaged");
    assert!(said.contains("is damaged, or not of this machine; the rails are measured anew"));
    assert_eq!(files(), [file]);
}

fn mistakes_are_named(folder: &Path) {
    let file = folder.join("one.toml");
    let rail = "L = \"1 us\", o = \"1 us\", g = \"1 us\", G = \"1 ns/B\"";
    fs::write(&file, format!("[rail.fast]\nloggops = {{ {rail} }}\n")).expect("writable");
    for (arguments, expected) in [
        ("policy vtf", "there is no policy `vtf`; did you mean `vft`?"),
        ("policy single:x", "there is no rail `x`; there are r1, r2"),
        ("parameters missing.toml", "missing.toml: "),
        (
            &format!("parameters {}", file.display()),
            "one.toml has 1 of the tables [rail.NAME], and Open MPI has 2 modules here: r1, r2",
        ),
    ] {
        let output = over_two(folder, &format!("-n 2 --mca bml_heddle_{arguments}"));
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && said.contains(expected), "{arguments}: {said}");
    }
}
