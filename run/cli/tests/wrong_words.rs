//! Words and files that are not what was meant: the nearest one is named.

mod common;

use std::os::unix::fs::PermissionsExt;

use common::Folder;

const SCHEDULE: &str = "num_ranks 2\nrank 0 { send 8b to 1 }\nrank 1 { recv 8b from 0 }\n";
const MACHINE: &str = "[loggops]\nL = \"1 us\"\n";
const PLATFORM: &str = "<?xml version='1.0'?>\n<platform version=\"4.1\"/>\n";

/// A folder with a file of each kind.
fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    std::fs::create_dir_all(folder.path("examples/machines")).expect("folders");
    folder.write("examples/stencil.goal", SCHEDULE);
    folder.write("examples/machines/edr.toml", MACHINE);
    folder.write("examples/e.toml", "[workload]\nsource = \"stencil.goal\"\n");
    folder.write("examples/many.toml", "[workload]\n[study]\nworkload.ranks = [2, 4]\n");
    folder.write("examples/p.xml", PLATFORM);
    folder.write("examples/edges.csv", "host,a,1\nhost,b,1\nlink,a,b\n");
    folder.write("examples/hosts.txt", "n0\n");
    folder.write("examples/app.c", "int main(void) { return 0; }\n");
    folder.write("examples/app.py", "print()\n");
    folder.write("examples/app.sh", "#!/bin/sh\n");
    folder.write("examples/Cargo.toml", "[package]\nname = \"app\"\n");
    std::fs::create_dir(folder.path("traces")).expect("a folder");
    for rank in 0..2 {
        folder.write(&format!("traces/t-{rank}.txt"), "MPI_Init:-:1:2:10\nMPI_Finalize:15:-\n");
    }
    folder
}

/// Runs each command, which is wrong, and expects the code and the words.
fn check(folder: &Folder, cases: &[(&str, i32, &str)]) {
    for (arguments, code, said) in cases {
        let ended = folder.heddle(arguments);
        assert!(ended.stderr.contains(said), "{arguments}: {}", ended.stderr);
        assert_eq!((ended.code, ended.stdout.as_str()), (*code, ""), "{arguments}");
    }
}

#[test]
fn commands() {
    let folder = folder("words-commands");
    let near = "a similar subcommand exists:";
    for (word, meant) in [
        ("rnu", "run"),
        ("laddr", "ladder"),
        ("chekc", "check"),
        ("mpirn", "mpirun"),
        ("tpoology", "topology"),
        ("simulate", "run"),
        ("mpiexec", "mpirun"),
        ("mpicc", "cc"),
        ("mpif90", "fort"),
    ] {
        check(&folder, &[(&format!("{word} x"), 2, &format!("{near} '{meant}'"))]);
    }
    let ended = folder.heddle("xyzzy");
    assert!(!ended.stderr.contains("tip"), "{}", ended.stderr);
    check(
        &folder,
        &[
            ("examples/stencil.goal", 2, "tip: write heddle run examples/stencil.goal"),
            ("pattern:gather --ranks 4", 2, "tip: write heddle run pattern:gather"),
            ("examples/app.sh", 2, "tip: write heddle mpirun -n RANKS examples/app.sh"),
        ],
    );
}

#[test]
fn flags_of_other_tools() {
    let folder = folder("words-flags");
    let near = |flag: &str| format!("a similar argument exists: '--{flag}'");
    check(
        &folder,
        &[
            ("run pattern:gather --np 4", 2, &near("ranks")),
            ("run pattern:gather --ntasks 4", 2, &near("ranks")),
            ("run pattern:gather --topo star:hosts=2", 2, &near("topology")),
            ("run pattern:gather --ppn 4", 2, "`--set placement.per-host=VALUE` sets it"),
            ("run pattern:gather --latency 1us", 2, "`--set loggops.L=VALUE` sets it"),
            ("run pattern:gather --host-link 4xEDR", 2, "`--set network.host-link=VALUE` sets it"),
            ("run pattern:gather --thraeds 2", 2, &near("threads")),
        ],
    );
}

#[test]
fn keys_of_other_tools() {
    let folder = folder("words-keys");
    let run = "run examples/stencil.goal --set";
    check(
        &folder,
        &[
            (&format!("{run} placement.ranks-per-host=4"), 2, "did you mean `per-host`?"),
            (&format!("{run} np=4"), 2, "did you mean `workload.ranks`?"),
            (&format!("{run} network.bandwidth=1GB/s"), 2, "did you mean `link`?"),
            (&format!("{run} smpi/os=0:1:2"), 2, "flow.cfg=smpi/os:VALUE"),
        ],
    );
    folder.write("x.toml", "[placement]\nppn = 4\n[loggops.class.near]\nlatency = \"1 us\"\n");
    check(
        &folder,
        &[("run x.toml", 1, "did you mean `per-host`?"), ("run x.toml", 1, "did you mean `L`?")],
    );
}

#[test]
fn names_of_files() {
    let folder = folder("words-files");
    let near = |name: &str| format!("No such file or directory\n  help: did you mean {name}?\n");
    let (stencil, edr) = (near("examples/stencil.goal"), near("examples/machines/edr.toml"));
    let machine = "run examples/stencil.goal --machine";
    check(
        &folder,
        &[
            ("run example/stencil.goal", 1, &stencil),
            ("run examples/stencl.goal", 1, &stencil),
            ("run examples/stencil", 1, &stencil),
            ("check exmaples/stencil.goal", 1, &stencil),
            ("convert examples/stencil.gaol x.bin", 1, &stencil),
            ("ladder example/stencil.goal", 1, &stencil),
            (&format!("{machine} examples/machines/erd.toml"), 1, &edr),
            (&format!("{machine} examples/machine/edr.toml"), 1, &edr),
            (&format!("{machine} examples/q.xml --set run.seed=2"), 1, "No such file"),
            ("topology example/edges.csv", 1, &near("examples/edges.csv")),
            ("topology examples/edge.csv", 1, &near("examples/edges.csv")),
            ("topology nowhere.csv", 1, "error: nowhere.csv: No such file or directory\n"),
            ("run pattern:gather --topology example/edges.csv", 1, &near("examples/edges.csv")),
            ("study examples/mny.toml", 1, &near("examples/many.toml")),
            ("fit example/edges.csv", 1, &near("examples/edges.csv")),
            ("plot example/edges.csv --x a --y b -o x.svg", 1, &near("examples/edges.csv")),
            ("run traces --set traces.map=example/hosts.txt", 1, "examples/hosts.txt?"),
            (
                "mpirun --hostfile examples/host.txt --topology star:hosts=2 sh",
                1,
                &near("examples/hosts.txt"),
            ),
        ],
    );
    // Nothing is near, or only the ending is.
    for name in ["run other.goal", "run examples/wrong.goal"] {
        let ended = folder.heddle(name);
        assert!(ended.stderr.ends_with("No such file or directory\n"), "{}", ended.stderr);
    }
}

#[test]
fn files_that_are_no_programs() {
    let folder = folder("words-programs");
    let none = "not a program\n  help: heddle";
    check(
        &folder,
        &[
            ("mpirun -n 4 examples/stencil.goal", 1, &format!("is a schedule, {none} run")),
            ("mpirun examples/e.toml", 1, &format!("is an experiment, {none} run")),
            ("mpirun examples/many.toml", 1, "not a program\n  help: heddle study"),
            (
                "mpirun examples/machines/edr.toml",
                1,
                &format!("is a machine, {none} mpirun --machine examples/machines/"),
            ),
            ("mpirun examples/p.xml", 1, &format!("is a platform, {none} mpirun --machine")),
            ("mpirun ./traces", 1, &format!("is a folder of traces, {none} run ./traces")),
            ("mpirun traces/t-0.txt", 1, &format!("is a trace, {none} run")),
            ("mpirun ./examples", 1, "./examples is a folder, not a program"),
            ("mpirun examples/edges.csv", 1, &format!("is a topology, {none} topology")),
            ("mpirun examples/app.c", 1, &format!("is source code, {none} cc -o")),
            (
                "mpirun examples/app.py",
                1,
                "help: its interpreter runs it: heddle mpirun -n RANKS python3",
            ),
            ("mpirun examples/app.sh", 1, "may not be executed\n  help: chmod +x"),
            ("mpirun examples/hosts.txt", 1, "is no program that may be executed"),
        ],
    );
    check(
        &folder,
        &[
            ("record -o new -- examples/stencil.goal", 1, &format!("is a schedule, {none} run")),
            ("record -o new mpirun -n 2 ./app", 2, "tip: `--` comes before a command: -- mpirun"),
        ],
    );
    assert!(!folder.path("new").exists());
    // Some file systems let everybody execute everything.
    let stencil = folder.path("examples/stencil.goal");
    std::fs::set_permissions(stencil, PermissionsExt::from_mode(0o755)).expect("a file");
    check(&folder, &[("mpirun examples/stencil.goal", 1, "is a schedule, not a program")]);
}

#[test]
fn files_of_another_command() {
    let folder = folder("words-kinds");
    check(
        &folder,
        &[
            ("run examples/app.sh", 1, "is a program, not a workload\n  help: heddle mpirun"),
            ("run examples/app.c", 1, "is source code, not a workload\n  help: heddle cc"),
            ("run examples/edges.csv", 1, "is a topology, not a workload\n  help: heddle topology"),
            ("ladder examples/app.sh", 1, "is a program, not a workload"),
            (
                "run examples/e.toml --machine examples/stencil.goal",
                1,
                "is a schedule, not a machine\n  help: heddle run",
            ),
            ("check examples/machines/edr.toml", 1, "is a machine, not a schedule"),
            ("check traces", 1, "is a folder of traces, not a schedule"),
            ("convert examples/Cargo.toml x.goal", 1, "error: `num_ranks` is missing"),
            ("convert examples/p.xml x.goal", 1, "is a platform, not a schedule or traces"),
            ("topology examples/stencil.goal", 1, "is a schedule, not a topology"),
            ("fit examples/stencil.goal", 1, "is a schedule, not a table of measured times"),
            ("plot examples/stencil.goal --x a --y b -o x.svg", 1, "is a schedule, not a table"),
            ("compare traces examples/e.toml", 1, "is an experiment, not a run"),
            ("report traces -o x.html", 1, "is a folder of traces, not a folder of results"),
        ],
    );
}

#[test]
fn workloads_of_another_kind() {
    let folder = folder("words-workloads");
    check(
        &folder,
        &[
            ("run uniform", 1, "did you mean traffic:uniform?"),
            ("run pattern:alltoall", 2, "help: collective:alltoall is another kind of workload"),
            ("run collective:tornado", 2, "help: traffic:tornado is another kind of workload"),
            (
                "run traffic:halo2d --topology star:hosts=4",
                2,
                "help: pattern:halo2d is another kind of workload",
            ),
        ],
    );
}
