//! One simulation over several processes, started by the launchers of Open MPI and MPICH.

mod common;

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{Mutex, OnceLock, PoisonError},
    time::{Duration, Instant},
};

use common::{
    Ended, Folder,
    mpi::{compiled, mpirun},
};
use recorder::libraries::{self, Outcome};
use serde_json::Value;

/// The folder of the small libraries.
fn libraries() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("processes");
        std::fs::create_dir_all(&folder).expect("a folder");
        for (mpi, outcome) in libraries::processes(&folder) {
            match outcome {
                Outcome::Built(_) => {}
                Outcome::Missing(whence) => eprintln!("{mpi} is not tried here: {whence}"),
                Outcome::Failed(error) => panic!("{mpi}: {error}"),
            }
        }
        folder
    })
}

/// The launchers that are here.
fn launchers() -> Vec<&'static str> {
    let known = [
        ("mpirun.openmpi", "libheddle-processes-openmpi.so"),
        ("mpirun.mpich", "libheddle-processes-mpich.so"),
    ];
    let is_here = |(launcher, library): &(&str, &str)| {
        let starts = Command::new(launcher).arg("--version").output().is_ok();
        starts && libraries().join(library).is_file()
    };
    known.into_iter().filter(is_here).map(|(launcher, _)| launcher).collect()
}

/// The command of a launcher that starts so many processes of heddle.
fn launch(folder: &Folder, launcher: &str, processes: usize, arguments: &str) -> Command {
    let mut command = Command::new(launcher);
    command.args(["-n", &processes.to_string(), env!("CARGO_BIN_EXE_heddle")]);
    command
        .args(arguments.split_whitespace())
        .current_dir(folder.path(""))
        .env("HEDDLE_PROCESSES", libraries())
        .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
        .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
        .env("OMPI_MCA_rmaps_base_oversubscribe", "1")
        .stdin(Stdio::null());
    command
}

/// Runs a job, one at a time: processes that wait for each other need the cores.
fn launched(folder: &Folder, launcher: &str, processes: usize, arguments: &str) -> Ended {
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let output = launch(folder, launcher, processes, arguments).output().expect("it starts");
    Ended {
        code: output.status.code().expect("no signal"),
        stdout: String::from_utf8(output.stdout).expect("text"),
        stderr: String::from_utf8(output.stderr).expect("text"),
    }
}

const DIFFERENT: [&str; 2] = ["manifest.json", "performance.json"];

/// Compares the folders of a run in one process and in several. Manifests name the threads.
fn equal(folder: &Folder, one: &str, other: &str) {
    let names = folder.names(one);
    assert_eq!(folder.names(other), names);
    for name in names.iter().filter(|name| !DIFFERENT.contains(&name.as_str())) {
        let [one, other] = [one, other].map(|part| folder.read(&format!("{part}/{name}")));
        assert!(one == other, "{name} differs");
    }
}

/// Runs in one process, and in several of several threads, for the same bytes.
fn check(name: &str, arguments: &str, shapes: &[(usize, usize)]) {
    let folder = Folder::new(&format!("processes-{name}"));
    let alone = folder.heddle(&format!("run {arguments} -o one"));
    for launcher in launchers() {
        for (processes, threads) in shapes {
            let more = format!("run {arguments} -o several --force --threads {threads}");
            let ended = launched(&folder, launcher, *processes, &more);
            assert_eq!(ended.code, alone.code, "{launcher}: {}", ended.stderr);
            equal(&folder, "one", "several");
            let first = |text: &str| text.lines().next().map(str::to_owned);
            assert_eq!(first(&ended.stdout), first(&alone.stdout));
            let performance = folder.read("several/performance.json");
            let performance: Value = serde_json::from_slice(&performance).expect("JSON");
            assert_eq!(performance["processes"], *processes);
        }
    }
}

const TABLES: &str = "--tables ranks,messages,activity --timeline perfetto";

#[test]
fn a_pattern_over_loggops() {
    check("loggops", &format!("pattern:dissemination --ranks 64 {TABLES}"), &[(2, 1), (3, 2)]);
}

#[test]
fn a_collective_over_infiniband() {
    let network = "--network infiniband --topology torus:dims=4x4 --ranks 16 --size 16KiB";
    let tables = "--tables ranks,messages,lanes,flows,hops,links";
    check("infiniband", &format!("collective:allreduce {network} {tables}"), &[(2, 2), (4, 1)]);
}

#[test]
fn traffic_over_routers() {
    let network = "--network packet --topology torus:dims=4x4";
    check("traffic", &format!("traffic:uniform {network} --load 0.3"), &[(2, 1)]);
    check("curve", &format!("traffic:uniform {network} --load 0.2:0.9:0.7"), &[(2, 1)]);
}

/// The routers of the two-way ring: 16 ranks scattered over a torus.
const RING: &str = "--network packet --topology torus:dims=4x4 --placement random";

/// From which side messages came to each rank of a ring of 16, by the pattern's table of messages
/// in a folder: `L` from the rank before, `R` from the one behind.
fn sides(folder: &Folder, name: &str) -> String {
    let table = String::from_utf8(folder.read(&format!("{name}/messages.csv"))).expect("text");
    let mut rows = table.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let head = rows.next().expect("a head");
    let column = |name| head.iter().position(|&column| column == name).expect(name);
    let wanted = ["matched_ps", "destination", "source"].map(column);
    let number = |row: &Vec<&str>, column: usize| row[column].parse::<u64>().expect("a number");
    let mut met: Vec<_> = rows.map(|row| wanted.map(|column| number(&row, column))).collect();
    met.sort_unstable();
    let mut orders = vec![String::new(); 16];
    for [_, destination, source] in met {
        let side = if (source + 1) % 16 == destination { 'L' } else { 'R' };
        orders[destination as usize].push(side);
    }
    let lines = orders.iter().enumerate().map(|(rank, order)| format!("{rank:02} {order}\n"));
    lines.collect()
}

/// In which order a program that answers whichever message came first hears from its neighbours is
/// a result: the same for a live program on 1 and 2 threads and for the pattern on 1 thread, on 2,
/// and on 2 and 4 processes. It changes with the load of the network.
#[test]
fn the_order_of_arrival_in_a_two_way_ring() {
    let folder = Folder::new("processes-two-way-ring");
    let program = compiled("two_way_ring");
    let mut found = Vec::new();
    for size in ["64", "16384"] {
        let pattern = |more: &str| {
            let run = format!("run pattern:two-way-ring --ranks 16 --size {size}B {RING}");
            format!("{run} --tables messages -o {size} --force {more}")
        };
        let alone = folder.heddle(&pattern(""));
        assert_eq!(alone.code, 0, "{}", alone.stderr);
        let order = sides(&folder, size);
        let same = |ended: Ended, how: &str| {
            assert_eq!(ended.code, 0, "{how}: {}", ended.stderr);
            assert_eq!(sides(&folder, size), order, "{size} B, {how}");
        };
        same(folder.heddle(&pattern("--threads 2")), "2 threads");
        for launcher in launchers() {
            for processes in [2, 4] {
                let ended = launched(&folder, launcher, processes, &pattern(""));
                same(ended, &format!("{launcher}, {processes} processes"));
            }
        }
        for how in ["", "--threads 2", "--in-process", "--in-process --threads 2"] {
            let live = mpirun(&format!("-q -n 16 {RING} {how}"), &program, size);
            let mut lines: Vec<_> = live.stdout.split_inclusive('\n').collect();
            lines.sort_unstable();
            assert_eq!((live.code, lines.concat()), (0, order.clone()), "{size} B, live {how}");
        }
        found.push(order);
    }
    assert_ne!(found[0], found[1]);
}

/// Ranks that are not in the ring change the order in it by what they send to each other.
#[test]
fn the_order_of_arrival_beside_other_traffic() {
    let program = compiled("two_way_ring");
    let order = |bulk: &str, how: &str| {
        let live = mpirun(&format!("-q -n 16 {RING} {how}"), &program, &format!("1024 {bulk}"));
        let mut lines: Vec<_> = live.stdout.split_inclusive('\n').collect();
        lines.sort_unstable();
        assert_eq!((live.code, lines.len()), (0, 8), "{bulk} {how}: {}", live.stderr);
        lines.concat()
    };
    let [quiet, loaded] = ["0", "65536"].map(|bulk| order(bulk, "--in-process"));
    assert_ne!(quiet, loaded);
    for how in ["", "--threads 2"] {
        assert_eq!(order("0", how), quiet, "{how}");
        assert_eq!(order("65536", how), loaded, "{how}");
    }
}

/// Messages go to files, and from there to the first process.
#[test]
fn a_table_that_is_written_as_it_comes() {
    check("messages", "pattern:linear-alltoall --ranks 32 --tables messages", &[(2, 1)]);
}

/// The exit code is that of one process, and the summary tells the same of who waits.
#[test]
fn a_deadlock() {
    let folder = Folder::new("processes-deadlock");
    let goal = "num_ranks 3\nrank 0 {\nrecv 8b from 2\n}\nrank 1 {\ncalc 10\n}\n\
                rank 2 {\nrecv 8b from 0\n}\n";
    folder.write("stuck.goal", goal);
    let run = "run stuck.goal --network infiniband --topology fat-tree:levels=1,radix=4";
    let alone = folder.heddle(&format!("{run} -o one"));
    assert_eq!(alone.code, 3);
    for launcher in launchers() {
        let ended = launched(&folder, launcher, 2, &format!("{run} -o several --force"));
        assert_eq!(ended.code, 3, "{launcher}: {}", ended.stderr);
        equal(&folder, "one", "several");
    }
}

/// Each mistake is told once, and by all.
#[test]
fn what_is_wrong_is_said_once() {
    let folder = Folder::new("processes-wrong");
    for launcher in launchers() {
        let said = |arguments: &str, code: i32, text: &str| {
            let ended = launched(&folder, launcher, 2, arguments);
            assert_eq!(ended.code, code, "{launcher}: {}", ended.stderr);
            assert_eq!(ended.stderr.matches(text).count(), 1, "{}", ended.stderr);
            assert_eq!(ended.stdout.matches("makespan").count(), 0);
        };
        said("run nowhere.goal", 1, "nowhere.goal");
        said("run pattern:gather --no-such-option", 2, "unexpected argument");
        said("run pattern:gather --ranks 2 --network flow --topology torus:dims=2x2", 1, "flow");
        said("mpirun -n 2 true", 2, "--threads N");
        said("run -", 2, "a schedule on standard input is for one process");
        said("ladder pattern:gather", 2, "one process");
        said("run pattern:gather --ranks 2 --uncertainty", 2, "--uncertainty is for one process");
        let alone = launched(&folder, launcher, 2, "run pattern:gather --processes off");
        assert_eq!((alone.code, alone.stdout.matches("makespan").count()), (0, 2));
    }
    let few = "run pattern:gather --ranks 2";
    for launcher in launchers() {
        let ended = launched(&folder, launcher, 3, few);
        let text = "2 hosts and switches cannot be divided among 3 processes";
        assert_eq!(ended.stderr.matches(text).count(), 1, "{}", ended.stderr);
    }
}

/// A process that dies takes the others with it, soon, and nothing half written stays.
#[test]
fn a_process_that_dies() {
    for launcher in launchers() {
        let folder = Folder::new(&format!("processes-dies-{launcher}"));
        let long = "run pattern:linear-alltoall --ranks 512 --size 1MiB --network infiniband \
                    --topology fat-tree:levels=3,radix=16 -o long";
        let mut job = launch(&folder, launcher, 2, long)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        let begin = Instant::now();
        let mut victims = Vec::new();
        while victims.len() < 2 {
            assert!(begin.elapsed() < Duration::from_secs(30), "{launcher} starts nothing");
            assert!(job.try_wait().expect("a state").is_none(), "{launcher} ends at once");
            std::thread::sleep(Duration::from_millis(50));
            victims = heddles_below(job.id());
        }
        std::thread::sleep(Duration::from_millis(500));
        let victim = victims.last().expect("a process").to_string();
        let killed = Command::new("kill").args(["-KILL", &victim]).status();
        assert!(killed.expect("kill runs").success());
        let killed = Instant::now();
        let status = job.wait().expect("it ends");
        assert!(!status.success());
        assert!(killed.elapsed() < Duration::from_secs(20), "{launcher} waits");
    }
}

/// The processes of heddle that a process has started, itself or through others.
fn heddles_below(ancestor: u32) -> Vec<u32> {
    let mut parents = Vec::new();
    for entry in std::fs::read_dir("/proc").expect("/proc").flatten() {
        let Ok(id) = entry.file_name().to_string_lossy().parse::<u32>() else { continue };
        let Ok(stat) = std::fs::read_to_string(format!("/proc/{id}/stat")) else { continue };
        let Some((head, rest)) = stat.rsplit_once(')') else { continue };
        let parent = rest.split_whitespace().nth(1).and_then(|word| word.parse::<u32>().ok());
        parents.push((id, parent.unwrap_or(0), head.ends_with("(heddle")));
    }
    let is_below = |mut id: u32| {
        while id > 1 && id != ancestor {
            id = parents.iter().find(|(known, ..)| *known == id).map_or(0, |found| found.1);
        }
        id == ancestor
    };
    let found = parents.iter().filter(|(id, _, is_heddle)| *is_heddle && is_below(*id));
    found.map(|(id, ..)| *id).collect()
}
