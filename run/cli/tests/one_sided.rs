//! One-sided communication and synchronous sends of programs under `heddle mpirun`. The programs check themselves and say
//! what is wrong; they are in the folder `one_sided`.

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use common::Folder;

fn run(command: &mut Command) {
    let output = command.output().expect("the command starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}\n{said}");
}

/// The compiler over our libraries, which are built beside heddle if they are not there or are old.
fn compiler() -> &'static Path {
    static MADE: OnceLock<PathBuf> = OnceLock::new();
    MADE.get_or_init(|| {
        let beside = Path::new(env!("CARGO_BIN_EXE_heddle")).parent().expect("a folder");
        let profile = if beside.ends_with("release") { "release" } else { "dev" };
        let packages = ["--package", "heddle-libmpi", "--package", "heddle-layers"];
        run(Command::new(env!("CARGO")).args(["build", "--profile", profile]).args(packages));
        let age =
            |path: &str| std::fs::metadata(beside.join(path)).and_then(|file| file.modified()).ok();
        let made = age("mpi/lib/libheddle_mpi.so");
        if made < age("libheddle_mpi.so") || made < age("heddle-mpi-libraries") {
            run(Command::new(beside.join("heddle-mpi-libraries")).arg(beside));
        }
        beside.join("mpi/bin/mpicc")
    })
}

/// A folder with a program in it.
fn compiled(name: &str) -> Folder {
    let folder = Folder::new(&format!("one-sided-{name}"));
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/one_sided/{name}.c"));
    run(Command::new(compiler()).arg("-o").arg(folder.path(name)).arg(source));
    folder
}

/// Nothing is wrong, with these numbers of ranks, over `LogGOPS` and over flows.
fn holds(name: &str, ranks: &[u32]) {
    let folder = compiled(name);
    let machine =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/machines/graphene.xml");
    let flows = format!("--machine {}", machine.display());
    for machine in ["", &flows] {
        for ranks in ranks {
            let ended = folder
                .heddle(&format!("mpirun -q -n {ranks} --compute-time off {machine} ./{name}"));
            assert_eq!(
                (ended.code, ended.stdout.as_str()),
                (0, ""),
                "{ranks} ranks {machine}: {}",
                ended.stderr
            );
        }
    }
}

#[test]
fn fences_and_groups() {
    holds("active", &[1, 2, 4, 7]);
}

#[test]
fn locks_and_flushes() {
    holds("passive", &[1, 2, 4, 7]);
}

#[test]
fn errors() {
    holds("errors", &[1, 3]);
}

#[test]
fn synchronous_sends() {
    holds("synchronous", &[2, 3]);
}

/// With a latency of 1000 ns and overheads of 100 ns, a message takes 1200 ns from send to receive, and the processor of each
/// side 100 ns of that. A request with its answer, of an access or a synchronous send: 2400 ns. A put between two
/// fences: that, and then the message of the fence, which the target waits for: 3600 ns. From post to wait: the notice to the origin,
/// the put with its answer, the notice to the target: 4800 ns.
#[test]
fn times() {
    let folder = compiled("times");
    let settings = "--set loggops.L=1000ns --set loggops.o=100ns --set loggops.g=0ns --set loggops.G=0ns/B \
                    --set loggops.O=0ns/B --set live.clock=0ns --set live.poll=0ns";
    let time = |what: &str| {
        let ended =
            folder.heddle(&format!("mpirun -q -n 2 --compute-time off {settings} ./times {what}"));
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        ended.stdout.trim().parse::<u64>().expect("a time")
    };
    let times = ["put", "get", "ssend", "fence", "group"].map(time);
    assert_eq!(times, [2400, 2400, 2400, 3600, 4800]);
}
