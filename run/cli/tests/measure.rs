//! `heddle measure`: between the ranks of a simulation, whose parameters are known, and on this
//! host.

mod common;

use std::{
    io::Read,
    path::Path,
    process::{Command, Stdio},
    sync::OnceLock,
};

use common::{Ended, Folder, mpi};
use measure::programs::{self, Outcome, Program};
use recorder::launch::Mpi;
use serde_json::Value;

/// The folder with the programs that measure.
fn programs() -> &'static Path {
    static BUILT: OnceLock<&'static Path> = OnceLock::new();
    BUILT.get_or_init(|| {
        let folder = mpi::mpi().parent().expect("a folder");
        for program in Program::ALL {
            match programs::build(program, folder) {
                Outcome::Built(_) => {}
                Outcome::Missing(whence) if program != Program::Mpi(Mpi::Standard) => {
                    eprintln!("{program} is not measured here: {whence}");
                }
                other => panic!("{program}: {other:?}"),
            }
        }
        folder
    })
}

fn measure(folder: &Folder, arguments: &str) -> Ended {
    let output = Command::new(env!("CARGO_BIN_EXE_heddle"))
        .arg("measure")
        .args(arguments.split_whitespace())
        .current_dir(folder.path(""))
        .env(programs::FOLDER, programs())
        .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
        .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
        .env("OMPI_MCA_rmaps_base_oversubscribe", "1")
        .output()
        .expect("heddle runs");
    Ended {
        code: output.status.code().expect("no signal"),
        stdout: String::from_utf8(output.stdout).expect("text"),
        stderr: String::from_utf8(output.stderr).expect("text"),
    }
}

/// Measures a simulated machine.
fn simulated(name: &str, machine: &str) -> Value {
    let folder = Folder::new(name);
    let sets: String = machine.split_whitespace().map(|set| format!(" --set {set}")).collect();
    let heddle = env!("CARGO_BIN_EXE_heddle");
    let ended = measure(
        &folder,
        &format!(
            "--quick --runs 2 --format json -o m.toml -- {heddle} mpirun -q -n 2 \
             --compute-time off{sets}"
        ),
    );
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    // The machine file can be used at once.
    let run = folder.heddle("run pattern:gather --ranks 2 --machine m.toml --quiet");
    assert_eq!(run.code, 0, "{}", run.stderr);
    ended.json()
}

/// Compares parameters with their truth: `name=value`, in ns and ns/B, or `name=refused`.
fn check(name: &str, machine: &str, truth: &str) {
    let found = simulated(name, machine);
    for (name, value) in truth.split_whitespace().filter_map(|word| word.split_once('=')) {
        let parameter = &found["parameters"][name];
        if value == "refused" {
            assert!(parameter.is_null() && found["refused"][name].is_string(), "{name} {found:#}");
            continue;
        }
        let value: f64 = value.parse().expect("a number");
        let of = |key: &str| parameter[key].as_f64().unwrap_or_else(|| panic!("{name} {found:#}"));
        let near = (of("value") - value).abs() <= 0.01 * value.max(0.01);
        let within = of("low") <= value && value <= of("high");
        assert!(near && within, "{name} is {value}: {parameter}");
    }
}

/// The gap is longer than the overhead: all parameters show. The step of S is found to a step of
/// the sizes, which are 16384 B and 24576 B there.
#[test]
fn a_machine_with_a_long_gap() {
    check(
        "measure-gap",
        "loggops.L=5us loggops.o=1us loggops.g=2us loggops.G=1ns/B loggops.S=16384B",
        "L=5000 o=1000 g=2000 G=1 O=0 S=16384",
    );
}

/// The overhead is longer: the receiver holds messages up, as it would if it were the gap.
#[test]
fn a_machine_with_a_long_overhead() {
    check(
        "measure-overhead",
        "loggops.L=2us loggops.o=1us loggops.g=200ns loggops.G=0.1ns/B loggops.O=0.02ns/B",
        "L=2000 o=1000 g=refused G=0.1 O=0.02",
    );
}

#[test]
fn shared_memory_of_this_host() {
    let folder = Folder::new("measure-shared");
    let ended = measure(&folder, "--shm --time 0.2 --runs 3 -o node.toml --samples s.csv");
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert_eq!(folder.names(""), ["node.replicates.csv", "node.toml", "s.csv"]);
    let text = String::from_utf8(folder.read("node.toml")).expect("text");
    assert!(text.contains("\nsamples = \"s.csv\"\n"), "{text}");
    assert!(text.contains("\nmpi = \"shared memory\"\n"), "{text}");
    let run = folder.heddle("run pattern:gather --ranks 2 --machine node.toml");
    assert_eq!(run.code, 0, "{}", run.stderr);
}

/// Any MPI library whose launcher and headers are here.
#[test]
fn real_libraries() {
    for (launcher, mpi) in [("mpirun.openmpi", Mpi::OpenMpi), ("mpirun.mpich", Mpi::Mpich)] {
        let is_built = programs().join(Program::Mpi(mpi).file()).is_file();
        if !is_built || Command::new(launcher).arg("--version").output().is_err() {
            eprintln!("{launcher} is not here");
            continue;
        }
        let folder = Folder::new(&format!("measure-{}", mpi.name()));
        let ended = measure(&folder, &format!("--time 0.1 --runs 2 -o m.toml -- {launcher} -n 2"));
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        let samples = String::from_utf8(folder.read("m.samples.csv")).expect("text");
        for operation in ["first,1,0,1,1,0,", "recv-busy,1,", "collective:allreduce,2,0,"] {
            assert!(samples.contains(&format!("\n{operation}")), "{operation}");
        }
        // Not two ranks, and a launcher that fails: nothing is left.
        let folder = Folder::new(&format!("measure-{}-wrong", mpi.name()));
        let ended = measure(&folder, &format!("-o m.toml -- {launcher} -n 3"));
        assert_eq!(ended.code, 1);
        let said = "measuring takes two ranks, and the launcher started 3";
        assert!(ended.stderr.contains(said), "{}", ended.stderr);
        let ended = measure(&folder, &format!("-o m.toml -- {launcher} --no-such-option -n 2"));
        assert_eq!(ended.code, 1);
        assert!(ended.stderr.contains("error: the measurement failed"), "{}", ended.stderr);
        assert!(folder.names("").is_empty());
    }
}

/// A launcher that starts nothing, no launcher, and a folder that is not there.
#[test]
fn what_is_wrong_is_said() {
    let folder = Folder::new("measure-wrong");
    let said = |arguments: &str, code: i32, text: &str| {
        let ended = measure(&folder, arguments);
        assert_eq!(ended.code, code, "{}", ended.stderr);
        assert!(ended.stderr.contains(text), "{}", ended.stderr);
        assert!(folder.names("").is_empty());
    };
    said("-o m.toml --mpi standard -- true", 1, "rank 0 wrote nothing");
    said("-o m.toml -- no-such-program", 1, "no-such-program: there is no such program");
    said("-o m.toml -- true", 1, "say it with --mpi");
    said("-o m.toml --mpi standard -- false", 1, "ended with exit status: 1");
    said("-o no/m.toml --shm", 4, "no/m.toml: ");
    said("-o m.toml", 2, "required");
    said("-o m.toml --shm --noise", 2, "cannot be used with");
    said("-o m.toml --tcp 127.0.0.1:1", 2, "--token-file");
    said("-o m.toml --tcp 127.0.0.1:1 --token-file none", 1, "none: ");
}

#[test]
fn sockets_without_mpi() {
    let folder = Folder::new("measure-tcp");
    let mut server = Command::new(env!("CARGO_BIN_EXE_heddle"))
        .args(["measure", "--serve", "127.0.0.1:0"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("a server");
    let mut token = vec![0; 65];
    server.stdout.as_mut().expect("a pipe").read_exact(&mut token).expect("a token");
    std::fs::write(folder.path("token"), &token).expect("written");
    let mut said = vec![0; 64];
    server.stderr.as_mut().expect("a pipe").read_exact(&mut said).expect("a line");
    let said = String::from_utf8(said).expect("text");
    let address = said.split_whitespace().nth(3).expect("an address").trim_end_matches(';');
    let line = format!("--time 0.2 --runs 2 -o t.toml --tcp {address} --token-file");
    folder.write("wrong", "00");
    let wrong = measure(&folder, &format!("{line} wrong"));
    let right = measure(&folder, &format!("{line} token"));
    server.kill().and_then(|()| server.wait()).expect("ended");
    assert_eq!(wrong.code, 1);
    assert!(wrong.stderr.contains("the server refused the token"), "{}", wrong.stderr);
    assert_eq!(right.code, 0, "{}", right.stderr);
    assert!(folder.path("t.samples.csv").is_file());
}

/// The trace of interruptions is one that `[noise]` reads.
#[test]
fn noise_of_this_host() {
    let folder = Folder::new("measure-noise");
    let ended = measure(&folder, "--noise --time 0.3 -o noise.txt");
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(ended.stdout.contains("interruptions in 0.3"), "{}", ended.stdout);
    if folder.read("noise.txt").is_empty() {
        return;
    }
    let run = folder.heddle("run pattern:gather --ranks 4 --set noise.trace=noise.txt");
    assert_eq!(run.code, 0, "{}", run.stderr);
}
