//! Tests of `heddle mpirun` in what others do as well, and of the compilers beside it.

mod common;

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use common::Folder;
use common::mpi::{command, compiled, ended, mpi, mpirun};

/// The functions that `pingpong.c` calls.
#[test]
fn what_a_program_needs() {
    let program = compiled("pingpong");
    let checked = mpirun("--check --format json", &program, "");
    assert_eq!((checked.code, checked.stderr.as_str()), (0, ""));
    let report: serde_json::Value = serde_json::from_str(&checked.stdout).expect("JSON");
    let names = ["Comm_rank", "Finalize", "Init", "Recv", "Send", "Wtime"];
    let names: Vec<String> = names.iter().map(|name| format!("MPI_{name}")).collect();
    assert_eq!(report[0]["imports"], serde_json::json!(names));
    assert_eq!(report[0]["interfaces"], serde_json::json!(["standard (MPI 5.0)"]));
    assert_eq!(report[0]["unimplemented"], serde_json::json!([]));
    let fits = [&report[0]["complete"], &report[0]["fits_one_process"]];
    assert_eq!(fits, [&serde_json::json!(true); 2]);
    let forks = mpirun("--check --in-process", &compiled("launched"), "");
    assert_eq!(forks.code, 0, "{}", forks.stderr);
    assert!(forks.stdout.contains("must not call fork"), "{}", forks.stdout);
}

/// A name that a program uses if it is there is no name that it misses.
#[test]
fn names_that_a_program_can_do_without() {
    let folder = Folder::new("check-weak");
    for (attribute, code) in [("__attribute__((weak))", 0), ("", 1)] {
        let text = format!(
            "#include <mpi.h>\nint MPI_None(void) {attribute};\n\
             int start(void) {{ return MPI_None ? MPI_None() : MPI_Init(0, 0); }}\n"
        );
        folder.write("weak.c", &text);
        let program = folder.path("weak");
        let mut compiler = Command::new(mpi().join("bin/mpicc"));
        compiler.args(["-shared", "-fPIC", "-o"]).arg(&program);
        assert!(compiler.arg(folder.path("weak.c")).status().expect("mpicc runs").success());
        let checked = mpirun("--check", &program, "");
        assert_eq!(checked.code, code, "{}", checked.stdout);
        assert_eq!(checked.stdout.contains("in none of the libraries: MPI_None"), code == 1);
    }
}

/// Scripts, and programs that are linked statically or with the address sanitizer.
#[test]
fn what_one_process_cannot_hold() {
    let folder = Folder::new("check-scripts");
    folder.write("script", "#!/usr/bin/env sh\nexit 0\n");
    folder.write("bare", "exit 0\n");
    folder.write("empty.c", "int main(void) { return 0; }\n");
    let path = folder.path("script");
    let checked = mpirun("--check", &path, "");
    assert_eq!(checked.code, 0, "{}", checked.stderr);
    assert!(checked.stdout.contains("is not known"), "{}", checked.stdout);
    assert_eq!(mpirun("--check --in-process", &path, "").code, 1);
    let made = Command::new("chmod").arg("+x").arg(folder.path("bare")).status();
    assert!(made.expect("chmod runs").success());
    let bare = mpirun("--in-process", &folder.path("bare"), "");
    assert!(bare.code == 1 && bare.stderr.contains("not a program"), "{}", bare.stderr);
    let refused = mpirun("--in-process", Path::new("sh"), "-c true");
    assert_eq!(refused.code, 1);
    assert!(refused.stderr.contains("cannot hold"), "{}", refused.stderr);
    for (option, code, words) in
        [("-static", 1, "statically"), ("-fsanitize=address", 0, "=address")]
    {
        let (program, source) = (folder.path("program"), folder.path("empty.c"));
        let compiler = Command::new("cc").arg(option).arg("-o").arg(&program).arg(source).output();
        if !compiler.is_ok_and(|output| output.status.success()) {
            eprintln!("skipped: there is no library for {option}");
            continue;
        }
        let checked = mpirun("--check", &program, "");
        assert_eq!(checked.code, code, "{}", checked.stdout);
        let refused = mpirun("--in-process", &program, "");
        assert_eq!(refused.code, 1, "{}", refused.stderr);
        for said in [checked.stdout, refused.stderr] {
            assert!(said.contains(words), "{said}");
        }
    }
}

/// Names that MPI-3.0 removed are said before a program is started that cannot do without them. A
/// variable of MPICH's library for C++, of which the program has a copy.
#[test]
fn what_is_missing_at_the_start() {
    let folder = Folder::new("removed");
    let path = |name: &str| folder.path(name).display().to_string();
    let variable = "int world __asm__(\"_ZN3MPI10COMM_WORLDE\")";
    folder.write("library.c", &format!("{variable};\n"));
    folder.write("program.c", &format!("extern {variable};\nint main(void) {{ return world; }}\n"));
    let (library, program) = (path("libmpicxx.so.12"), path("program"));
    let named = "-Wl,-soname,libmpicxx.so.12";
    for words in [
        ["-shared", "-fPIC", named, "-o", &library, &path("library.c")],
        ["-fno-pic", "-no-pie", "-o", &program, &path("program.c"), &library],
    ] {
        assert!(Command::new("cc").args(words).status().expect("a compiler").success());
    }
    for how in ["-n 2", "-n 2 --in-process", "--check"] {
        let ended = mpirun(how, Path::new(&program), "");
        let said = [ended.stdout, ended.stderr].concat();
        assert!(ended.code == 1 && said.contains("_ZN3MPI10COMM_WORLDE"), "{how}: {said}");
        assert!(how == "--check" || said.contains("cannot start"), "{how}: {said}");
    }
}

/// `make demo` builds our library of the standard interface alone. A program of another one would
/// load the system's library, and each rank would be a world of its own.
#[test]
fn a_library_that_was_not_built() {
    let folder = Folder::new("not-built");
    let path = |name: &str| folder.path(name).display().to_string();
    folder.write("library.c", "int world;\n");
    folder.write("program.c", "extern int world;\nint main(void) { return world; }\n");
    let (library, program) = (path("libmpi.so.40"), path("program"));
    let named = "-Wl,-soname,libmpi.so.40";
    for words in [
        ["-shared", "-fPIC", named, "-o", &library, &path("library.c")],
        ["-fno-pic", "-no-pie", "-o", &program, &path("program.c"), &library],
    ] {
        assert!(Command::new("cc").args(words).status().expect("a compiler").success());
    }
    fs::create_dir(folder.path("lib")).expect("a folder");
    for name in [layers::libraries::CORE, "libmpi_abi.so.1"] {
        fs::copy(mpi().join("lib").join(name), folder.path("lib").join(name)).expect("a copy");
    }
    let run = |how: &str, program: &Path| {
        let mut command = command(how);
        command.env("HEDDLE_MPI", folder.path("lib")).arg(program);
        ended(&command.output().expect("heddle runs"))
    };
    for how in ["-n 2", "-n 2 --in-process", "--check"] {
        let ended = run(how, Path::new(&program));
        let said = [ended.stdout, ended.stderr].concat();
        assert!(ended.code == 1 && said.contains("libmpi.so.40"), "{how}: {said}");
        assert!(how == "--check" || said.contains("`make build` makes all"), "{how}: {said}");
    }
    // That for Fortran is not there either, and a program in C does not need it.
    let checked = run("--check", &compiled("pingpong"));
    assert_eq!((checked.code, checked.stderr.as_str()), (0, ""), "{}", checked.stdout);
}

/// A number in place of the program is most likely that of ranks without `-n`.
#[test]
fn numbers_of_ranks() {
    let bare = mpirun("", Path::new("4"), "./program");
    assert_eq!(bare.code, 1);
    assert!(bare.stderr.contains("help: -n 4 says how many ranks"), "{}", bare.stderr);
    let word = mpirun("-n four", Path::new("./program"), "");
    assert_eq!(word.code, 2);
    let expected = "expected a whole number of ranks from 1 to 16777215";
    assert!(word.stderr.contains(expected), "{}", word.stderr);
}

/// `heddle cc`, `c++` and `fort` are the compilers of the folder, with their arguments as they are.
#[test]
fn compilers() {
    for (command, wrapper) in [("cc", "mpicc"), ("c++", "mpicxx"), ("fort", "mpifort")] {
        let arguments = ["--show", "-O2", "a b", "-D", "-1"];
        let ours = Command::new(env!("CARGO_BIN_EXE_heddle"))
            .arg(command)
            .args(arguments)
            .env("HEDDLE_MPI", mpi().join("lib"))
            .output();
        let theirs = Command::new(mpi().join("bin").join(wrapper)).args(arguments).output();
        let [ours, theirs] = [ours, theirs].map(|output| ended(&output.expect("it runs")));
        assert_eq!(
            (ours.code, ours.stdout.as_str()),
            (0, theirs.stdout.as_str()),
            "{}",
            ours.stderr
        );
        assert!(ours.stdout.contains("-lmpi_abi"), "{}", ours.stdout);
    }
}

fn is_there(command: &str) -> bool {
    let there = Command::new(command).arg("--version").stdout(Stdio::null()).status().is_ok();
    if !there {
        eprintln!("skipped: {command} is missing");
    }
    there
}

/// CMake's own FindMPI finds the compilers and `mpiexec` on `PATH`; programs in C, C++ and Fortran
/// run.
#[test]
fn cmake_finds_it() {
    if !is_there("cmake") || !is_there("gfortran") {
        return;
    }
    let folder = Folder::new("cmake");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/live/cmake");
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let paths =
        std::env::join_paths([mpi().join("bin")].into_iter().chain(std::env::split_paths(&paths)));
    let run = |command: &mut Command| {
        let output = command
            .current_dir(folder.path("."))
            .env("PATH", paths.as_ref().expect("paths"))
            .env("HEDDLE", env!("CARGO_BIN_EXE_heddle"))
            .output();
        let ended = ended(&output.expect("it runs"));
        assert_eq!(ended.code, 0, "{}{}", ended.stdout, ended.stderr);
        ended.stdout
    };
    run(Command::new("cmake").arg("-S").arg(source).args(["-B", "build"]));
    run(Command::new("cmake").args(["--build", "build"]));
    let tests = run(Command::new("ctest").args(["--test-dir", "build", "--timeout", "100"]));
    assert!(tests.contains("100% tests passed, 0 tests failed out of 5"), "{tests}");
}

#[test]
fn pkg_config_finds_it() {
    if !is_there("pkg-config") {
        return;
    }
    let folder = Folder::new("pkg-config");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/live/cmake/sum.c");
    let script = format!("cc -o sum {} $(pkg-config --cflags --libs mpi-c)", source.display());
    let built = Command::new("sh")
        .args(["-c", &script])
        .current_dir(folder.path("."))
        .env("PKG_CONFIG_PATH", mpi().join("lib/pkgconfig"))
        .status();
    assert!(built.expect("a shell").success());
    let ran = mpirun("-q -n 3", &folder.path("sum"), "");
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "sum 3\n"), "{}", ran.stderr);
}

/// Whole lines behind their rank; a last line without its end gets one.
#[test]
fn tagged_lines() {
    let ran = mpirun("-q -n 3 --tag-output", &compiled("launched"), "print");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let sorted = |text: &str| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    let out: Vec<String> = (0..3)
        .flat_map(|rank| {
            [format!("[1,{rank}]<stdout>:first {rank} and"), format!("[1,{rank}]<stdout>:second")]
        })
        .collect();
    let error: Vec<String> = (0..3).map(|rank| format!("[1,{rank}]<stderr>:odd")).collect();
    assert_eq!((sorted(&ran.stdout), sorted(&ran.stderr)), (out, error));
    let refused = mpirun("--tag-output --in-process", &compiled("launched"), "print");
    assert_eq!(refused.code, 2, "{}", refused.stderr);
}

/// Ranks are on the hosts that the placement says, and share memory accordingly, however they are
/// held.
#[test]
fn ranks_on_hosts() {
    let program = compiled("launched");
    let machines = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/machines");
    let tree = format!("--machine {machines}/fat-tree-648.toml");
    let graphene = format!("--machine {machines}/graphene.xml");
    let folder = Folder::new("hosts");
    folder.write("hosts", "# two hosts\nh7 slots = 1\nh3:3\n");
    folder.write("ranks", "rank 0=h5\nrank 1=h5\nrank 2=h2\nrank 3=h5\n");
    let hosts = folder.path("hosts").display().to_string();
    let ranks = folder.path("ranks").display().to_string();
    for (options, expected) in [
        (String::new(), "host0 1 host1 1 host2 1 host3 1 together"),
        (tree.clone(), "h0 1 h1 1 h2 1 h3 1 apart"),
        (format!("{tree} --host h9,4:2 --host h1"), "h9 1 h4 2 h4 2 h1 1 apart"),
        (format!("{tree} --hostfile {hosts}"), "h7 1 h3 3 h3 3 h3 3 apart"),
        (format!("{tree} -H h9:4,h8:4 -map-by node"), "h9 2 h8 2 h9 2 h8 2 apart"),
        (format!("{tree} --map-by ppr:3:node"), "h0 3 h0 3 h0 3 h1 1 apart"),
        (format!("{tree} -ppn 4"), "h0 4 h0 4 h0 4 h0 4 together"),
        (format!("{tree} --rankfile {ranks}"), "h5 3 h5 3 h2 1 h5 3 apart"),
        (
            format!("{graphene} -host graphene-2:2,graphene-1"),
            "graphene-2 2 graphene-2 2 graphene-1 2 graphene-1 2 apart",
        ),
    ] {
        for how in ["", "--in-process"] {
            let ran = mpirun(&format!("-q -n 4 {options} {how}"), &program, "hosts");
            let said = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
            assert_eq!((ran.code, said.as_str()), (0, expected), "{options} {how}: {}", ran.stderr);
        }
    }
    for (options, code, message) in [
        (format!("{tree} --host hh3"), 2, "there is no host `hh3`"),
        (format!("{tree} --host h3:2"), 1, "4 ranks, but 1 host has room for 2"),
        (format!("{tree} --map-by nod"), 2, "did you mean node?"),
        ("--host h3".to_owned(), 2, "is not used by the model loggops"),
        ("--hots a".to_owned(), 2, "did you mean --host?"),
    ] {
        let refused = mpirun(&format!("-n 4 {options}"), &program, "hosts");
        assert!(
            refused.code == code && refused.stderr.contains(message),
            "{options}: {}",
            refused.stderr
        );
    }
}

/// Options of other `mpirun`s that say how processes run on real machines.
#[test]
fn options_without_effect() {
    let ran = mpirun(
        "-q -np 2 --bind-to core --oversubscribe -genv ONE 1",
        &compiled("launched"),
        "variables",
    );
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let warnings: Vec<_> = ran.stderr.lines().collect();
    let no = "has no effect on a simulated machine";
    assert_eq!(
        warnings,
        [format!("warning: --bind-to {no}"), format!("warning: --oversubscribe {no}")]
    );
    assert!(ran.stdout.lines().all(|line| line.contains(" 1 /")), "{}", ran.stdout);
}

/// Variables, folders and numbers of ranks of several programs, their input and exit codes.
#[test]
fn several_programs() {
    let program = compiled("launched");
    let folder = Folder::new("several");
    let path = program.display().to_string();
    let options = format!(
        "-q -n 1 -x ONE=a {path} variables : -np 2 -x ONE=b -wdir {}",
        folder.path(".").display()
    );
    let ran = mpirun(&options, &program, "variables");
    let mut lines: Vec<_> = ran
        .stdout
        .lines()
        .map(|line| line.split(' ').take(2).collect::<Vec<_>>().join(" "))
        .collect();
    lines.sort();
    assert_eq!(
        (ran.code, lines),
        (0, ["0 a", "1 b", "2 b"].map(str::to_owned).to_vec()),
        "{}",
        ran.stderr
    );
    let there = fs::canonicalize(folder.path(".")).expect("a folder").display().to_string();
    assert_eq!(
        ran.stdout.lines().filter(|line| line.ends_with(&there)).count(),
        2,
        "{}",
        ran.stdout
    );
    let refused = mpirun(&format!("-n 1 {path} code : --host h1"), &program, "code");
    assert!(refused.code == 2 && refused.stderr.contains("further program"), "{}", refused.stderr);
    for how in ["", "--in-process"] {
        assert_eq!(mpirun(&format!("-q -n 2 {how}"), &program, "code").code, 5, "{how}");
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_heddle"));
    command
        .args(["mpirun", "-q", "-n", "2"])
        .arg(&program)
        .arg("input")
        .env("HEDDLE_MPI", mpi().join("lib"));
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("heddle runs");
    std::io::Write::write_all(&mut child.stdin.take().expect("a pipe"), b"two\nlines\n")
        .expect("it reads");
    let output = child.wait_with_output().expect("heddle ends");
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(0), &b"two\nlines\n"[..]));
}

/// A rank that is killed, or whose address space has no room for messages, is named.
#[test]
fn ranks_that_are_killed() {
    let program = compiled("launched");
    let killed = mpirun("-n 3", &program, "kill");
    assert_eq!(killed.code, 128 + 9, "{}", killed.stderr);
    assert!(
        killed.stderr.contains("error: rank 1 at ") && killed.stderr.contains("killed"),
        "{}",
        killed.stderr
    );
    for (kib, enough) in [(1_000_000, true), (100_000, false)] {
        let mut command = Command::new("timeout");
        command.args(["100", env!("CARGO_BIN_EXE_heddle"), "mpirun", "-n", "2", "sh", "-c"]);
        command
            .arg(format!("ulimit -v {kib}; exec \"$0\" input"))
            .arg(&program)
            .env("HEDDLE_MPI", mpi().join("lib"));
        let limited = ended(&command.stdin(Stdio::null()).output().expect("heddle runs"));
        assert_eq!(limited.code == 0, enough, "{kib} KiB: {}", limited.stderr);
        assert!(enough || limited.stderr.contains("ulimit -v"), "{}", limited.stderr);
    }
}

/// A deadlock names the place where each rank waits, by the lines of `wrong.c`.
#[test]
fn deadlocks_have_lines() {
    for how in ["", "--in-process"] {
        let stuck = mpirun(&format!("-n 3 {how}"), &compiled("wrong"), "wait");
        assert_eq!(stuck.code, 3, "{}", stuck.stderr);
        for (call, text) in [
            ("MPI_Recv", "MPI_Recv(data, 2, MPI_INT, 0, 5,"),
            ("MPI_Barrier", "        MPI_Barrier"),
        ] {
            let lines = || (1..).zip(include_str!("live/wrong.c").lines());
            let line = lines().find(|(_, line)| line.contains(text)).map(|(number, _)| number);
            let place = format!("{call} at wrong.c:{}", line.unwrap_or(0));
            assert!(stuck.stderr.contains(&place), "{how} {place}: {}", stuck.stderr);
        }
    }
}

fn is_running(process: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // One that has ended and is not waited for is over.
    stat.rsplit(')')
        .next()
        .is_some_and(|rest| !rest.is_empty() && !rest.trim_start().starts_with('Z'))
}

/// True if something comes true within a minute.
fn comes_true(mut what: impl FnMut() -> bool) -> bool {
    let patience = Instant::now() + Duration::from_secs(60);
    while !what() {
        if Instant::now() > patience {
            return false;
        }
        thread::sleep(Duration::from_millis(5));
    }
    true
}

/// A program of two ranks, each with a child in a session of its own; gives the ranks' processes
/// and the children's.
fn with_children(folder: &Folder) -> (Child, Vec<String>, Vec<String>) {
    // Whoever runs this test may ignore the end of a terminal.
    let mut command = Command::new("env");
    command
        .args(["--default-signal=HUP", env!("CARGO_BIN_EXE_heddle"), "mpirun", "-q", "-n", "2"])
        .arg(compiled("launched"))
        .arg("children")
        .arg(folder.path("."));
    let child = command
        .env("HEDDLE_MPI", mpi().join("lib"))
        .stderr(Stdio::piped())
        .spawn()
        .expect("heddle runs");
    let files = ["0", "1"].map(|rank| folder.path(rank));
    assert!(comes_true(|| files.iter().all(|file| file.exists())), "the ranks start");
    let text: String = files.iter().map(|file| fs::read_to_string(file).expect("a file")).collect();
    let numbers: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
    let of = |first: usize| numbers.iter().skip(first).step_by(2).cloned().collect::<Vec<_>>();
    (child, of(0), of(1))
}

/// Ctrl-C, SIGTERM and the end of the terminal end the ranks and what they started; nothing of it
/// is said.
#[test]
fn interrupted() {
    for (signal, code) in [("HUP", 129), ("INT", 130), ("TERM", 143)] {
        let folder = Folder::new(&format!("interrupted-{signal}"));
        let (child, ranks, children) = with_children(&folder);
        assert!(ranks.iter().chain(&children).all(|process| is_running(process)));
        let kill = format!("kill -{signal} {}", child.id());
        assert!(Command::new("sh").args(["-c", &kill]).status().expect("a shell").success());
        let output = child.wait_with_output().expect("heddle ends");
        assert_eq!(
            (output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()),
            (Some(code), "")
        );
        assert!(ranks.iter().chain(&children).all(|process| !is_running(process)), "{signal}");
    }
}

/// A rank that is killed from outside takes everything with it.
#[test]
fn killed_from_outside() {
    let folder = Folder::new("killed-outside");
    let (child, ranks, children) = with_children(&folder);
    let kill = format!("kill -KILL {}", ranks[0]);
    assert!(Command::new("sh").args(["-c", &kill]).status().expect("a shell").success());
    let output = child.wait_with_output().expect("heddle ends");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(128 + 9), "{said}");
    assert!(said.contains("error: rank 0 at "), "{said}");
    assert!(ranks.iter().chain(&children).all(|process| !is_running(process)));
}

/// If the command itself is killed, its ranks end too.
#[test]
fn the_command_is_killed() {
    let folder = Folder::new("killed-command");
    let (mut child, ranks, children) = with_children(&folder);
    child.kill().expect("it is killed");
    child.wait().expect("it ends");
    assert!(comes_true(|| !ranks.iter().any(|process| is_running(process))), "ranks stay");
    // Their children are nobody's then.
    let kill = format!("kill -KILL {}", children.join(" "));
    assert!(Command::new("sh").args(["-c", &kill]).status().expect("a shell").success());
}

/// Standard output is the summary's: what programs print goes to standard error.
#[test]
fn json_stands_alone() {
    let ended = mpirun("-n 2 --format json", Path::new("/bin/echo"), "hello");
    let summary: serde_json::Value = serde_json::from_str(&ended.stdout).expect("JSON");
    assert_eq!(summary["ranks"], 2);
    assert_eq!(ended.stderr.lines().filter(|line| *line == "hello").count(), 2, "{}", ended.stderr);
}
