//! No table, timeline or summary of a run depends on how many threads carry it out. Live programs
//! have a test of their own in `live/determinism.rs`.

mod common;

use std::collections::BTreeMap;

use common::Folder;

const FAT_TREE: &str = "--network infiniband --topology fat-tree:levels=2,radix=8";
const TORUS: &str = "--network infiniband --topology torus:dims=4x3x2";

/// Workloads of every kind that a schedule, a pattern, a collective, traces or traffic can be, each
/// on a network of every kind that can run it on several threads, and what is the same with one.
fn workloads() -> Vec<String> {
    let mut all = Vec::new();
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    for pattern in
        ["dissemination", "binomial-bcast", "linear-alltoall", "alltoallv", "halo3d", "random"]
    {
        for network in ["", FAT_TREE, TORUS] {
            all.push(format!("pattern:{pattern} --ranks 24 --size 3000B {network}"));
        }
    }
    let large = "pattern:linear-alltoall --ranks 16 --size 100kB";
    for settings in [
        "--set protocol.rendezvous=rts-cts",
        "--set protocol.rendezvous=abstract",
        "--set loggops.L=0ns --set loggops.o=0ns",
        "--set loggops.compat=loggopsim",
        "--set noise.interval=20us --set noise.duration=5us --set noise.distribution=exponential",
        "--permute 5",
        "--network infiniband --topology star:hosts=8 --set placement.per-host=2",
        "--network infiniband --topology dragonfly:p=2 --routing valiant --seed 9",
        "--network infiniband --topology slim-fly:q=4",
        "--network packet --topology torus:dims=4x4",
        "--network packet --topology dragonfly:p=2 --routing valiant --seed 9 --set \
         network.channels=6 --set network.arbitration=random",
        "--network flow --topology star:hosts=16",
    ] {
        all.push(format!("{large} {settings}"));
    }
    for collective in ["alltoall --algorithm bruck", "allreduce --algorithm rab1", "bcast", "scan"]
    {
        for network in ["", FAT_TREE] {
            all.push(format!("collective:{collective} --ranks 12 --size 20000B {network}"));
        }
    }
    for traces in ["ring-allreduce", "bcast"] {
        all.push(format!("{root}/validation/traces/{traces} {FAT_TREE}"));
    }
    all.push(format!("{root}/examples/ltest.goal --set workload.time-unit=ps {FAT_TREE}"));
    for pattern in ["uniform", "hot-spot", "transpose", "incast"] {
        let torus = "--network infiniband --topology torus:dims=4x4 --load 0.1:0.5:0.2";
        all.push(format!("traffic:{pattern} {torus}"));
        all.push(format!(
            "traffic:{pattern} --network packet --topology torus:dims=4x4 --load 0.1 --set \
             traffic.length=256B --set traffic.batches=20"
        ));
    }
    all
}

/// The files of a run that are the same every time, by name.
fn results(folder: &Folder, name: &str) -> BTreeMap<String, Vec<u8>> {
    let names = folder.names(name).into_iter();
    let same = names.filter(|file| file != "manifest.json" && file != "performance.json");
    same.map(|file| (file.clone(), folder.read(&format!("{name}/{file}")))).collect()
}

/// Manifests hold the number of threads, and performance is what it happens to be.
#[test]
fn results_do_not_depend_on_threads() {
    do_not_depend_on("determinism", &[2, 7]);
}

#[test]
#[ignore = "takes a minute"]
fn nor_on_other_numbers_of_threads() {
    do_not_depend_on("determinism-others", &[3, 4]);
}

fn do_not_depend_on(folder: &str, numbers: &[u32]) {
    let folder = Folder::new(folder);
    let all = workloads();
    assert!(all.len() >= 40, "{} workloads", all.len());
    for (number, workload) in all.iter().enumerate() {
        let run = |threads: u32| {
            let name = format!("{number}-{threads}");
            let records = if workload.starts_with("traffic:") {
                ""
            } else {
                "--tables ranks,messages --timeline perfetto"
            };
            let ended = folder
                .heddle(&format!("run {workload} {records} -q -o {name} --threads {threads}"));
            assert_eq!(ended.code, 0, "{workload}: {}", ended.stderr);
            results(&folder, &name)
        };
        let one = run(1);
        assert!(one.len() >= 2, "{workload}: {:?}", one.keys());
        for &threads in numbers {
            let found = run(threads);
            for (name, contents) in &one {
                assert!(found.get(name) == Some(contents), "{workload}: {name}, {threads} threads");
            }
        }
    }
}
