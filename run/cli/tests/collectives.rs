//! Collective operations as workloads: what is generated, how long it takes, what is refused.

mod common;

use common::Folder;

/// The root sends to one rank after the other.
#[test]
fn generate_a_flat_broadcast() {
    let folder = Folder::new("collective-gen");
    let ended =
        folder.heddle("gen collective:bcast --algorithm flattree --ranks 3 --size 8B --root 1");
    let expected = "\
num_ranks 3

rank 0 {
l1: recv 8b from 1
}

rank 1 {
l1: send 8b to 0
l2: send 8b to 2
}

rank 2 {
l1: recv 8b from 1
}
";
    assert_eq!(ended.stdout, expected);
}

/// Recursive doubling among two ranks, each exchanges 9 B and combines 9 B at 2 ns: o 1500 + L
/// 2500 + o 1500 + 8 G 48 + 18 = 5566 ns.
#[test]
fn a_reduction_costs_time() {
    let folder = Folder::new("collective-run");
    let ended = folder.heddle(
        "run collective:allreduce --algorithm rdb --ranks 2 --size 9B --reduce-cost 2ns/B --format \
         json",
    );
    let json = ended.json();
    assert_eq!(json["makespan_ps"], 5_566_000);
    assert_eq!(json["messages"], 2);
}

/// Runs a command that is wrong and expects standard error to begin like this.
fn check(name: &str, arguments: &str, expected: &str) {
    let folder = Folder::new(&format!("collective-{name}"));
    let ended = folder.heddle(arguments);
    assert!(ended.stderr.starts_with(expected), "{}", ended.stderr);
    assert_eq!((ended.code, ended.stdout.as_str()), (2, ""));
}

#[test]
fn mistakes() {
    check(
        "algorithm",
        "run collective:allreduce --algorithm rign",
        "error: --algorithm rign: unknown algorithm \"rign\" of allreduce, did you mean \"ring\"?",
    );
    check(
        "library",
        "run collective:allreduce --collectives mvapic",
        "error: --collectives mvapic: unknown library \"mvapic\", did you mean \"mvapich2\"?",
    );
    check(
        "name",
        "gen collective:brodcast",
        "error: collective:brodcast: unknown collective \"brodcast\", did you mean \"bcast\"?",
    );
    check(
        "root",
        "run collective:allreduce --root 1",
        "error: --root 1: `workload.root` does not belong to a collective without a root\n",
    );
    check(
        "element",
        "run collective:allreduce --size 9B --element 4B",
        "error: --element 4B: elements of 4 B do not fill 9 B\n",
    );
    check(
        "pattern",
        "run pattern:gather --per-node 2",
        "error: --per-node 2: `workload.per-node` is not used by this workload\n\
         \x20 help: the workload is a pattern; the setting belongs to a collective, traces or a \
         program\n",
    );
}

/// 4 ranks, 1 byte, o = 1 us, L = 10 us, the rest 0. A binomial broadcast ends two hops after its
/// start, each o + L + o = 12 us, the second one begun at once: 24 us. A flat tree's last send ends
/// at 3 us and arrives 10 + 1 us later: 14 us, which is the best there is: nobody can be told later
/// than by the third send.
#[test]
fn automatic() {
    let folder = Folder::new("collective-automatic");
    let run = |algorithm: &str| {
        let command = format!(
            "run collective:bcast --ranks 4 --size 1B --algorithm {algorithm} --set loggops.L=10us \
             --set loggops.o=1us --set loggops.g=0ns --set loggops.G=0ns/B --format json"
        );
        folder.heddle(&command).json()
    };
    assert_eq!(run("binomial_tree")["makespan_ps"], 24_000_000);
    let best = run("automatic");
    assert_eq!(best["makespan_ps"], 14_000_000);
    let remark = best["remarks"][0].as_str().expect("a remark");
    assert!(remark.starts_with("the best of "), "{remark}");
    assert!(remark.contains("binomial_tree 24 us"), "{remark}");
}

/// Sweep3D's four ranks call `MPI_Allreduce` 32 times (`grep -c` says so). By recursive doubling
/// each sends two messages; a reduction and a broadcast are three messages each.
#[test]
fn an_algorithm_for_traces() {
    let traces = concat!(env!("CARGO_MANIFEST_DIR"), "/../../validation/traces/sweep3d-2x2");
    let folder = Folder::new("collective-traces");
    let messages = |algorithm: &str| {
        let ended = folder.heddle(&format!("run {traces} --allreduce {algorithm} --format json"));
        ended.json()["messages"].as_u64().expect("a number")
    };
    assert_eq!(messages("recursive-doubling") - messages("redbcast"), 32 * (8 - 6));
    let wrong = |arguments: &str, expected: &str| {
        let ended = folder.heddle(&format!("run {arguments}"));
        assert!(ended.stderr.starts_with(expected), "{}", ended.stderr);
        assert_eq!((ended.code, ended.stdout.as_str()), (2, ""));
    };
    wrong(
        &format!("{traces} --allreduce rign --bcast binomail"),
        "error: --bcast binomail: unknown algorithm \"binomail\" of bcast, did you mean \
         \"binomial\"?",
    );
    wrong(
        &format!("{traces} --barrier automatic"),
        "error: --barrier automatic: in traces, an algorithm has to be named",
    );
    // Of a pattern, it is a size; a pattern has no broadcast of its own.
    wrong("pattern:halo2d --allreduce lr", "error: --allreduce lr: expected a number");
    wrong(
        "pattern:halo2d --bcast binomial",
        "error: --bcast binomial: `traces.algorithms.bcast` is not",
    );
}

/// Nothing, `default` and `openmpi` are the same, and the summary names the algorithm and why it
/// was taken; SMPI's choices have a name of their own. SMPI's allreduce is a reduction and a
/// broadcast (chapter "Collective operations").
#[test]
fn open_mpi_chooses_unless_told_otherwise() {
    let folder = Folder::new("collective-default");
    let run = |collectives: &str| {
        let command =
            format!("run collective:allreduce --ranks 16 --size 1MiB {collectives} --format json");
        let json = folder.heddle(&command).json();
        let remarks = json["remarks"].as_array().expect("remarks").iter();
        let remark =
            remarks.filter_map(|remark| remark.as_str()).find(|remark| remark.contains(" by "));
        let remark = remark.expect("a remark on the algorithm").to_owned();
        (json["makespan_ps"].as_u64().expect("an end"), remark)
    };
    let usual = run("");
    assert!(usual.1.ends_with(": the choice of openmpi"), "{}", usual.1);
    assert_eq!(usual, run("--collectives default"));
    assert_eq!(usual, run("--collectives openmpi"));
    let smpi = run("--collectives smpi_default");
    assert_ne!(usual.0, smpi.0);
    assert_eq!(smpi.1, "allreduce by default: the choice of smpi_default");
    let named = run("--algorithm rdb");
    assert_eq!(named.1, "allreduce by rdb: workload.algorithm = \"rdb\"");
    // A ring needs an element for each rank.
    let small = run("--element 1MiB --algorithm lr");
    let taken = "what workload.algorithm = \"lr\" takes for these ranks and this size";
    assert_eq!(small.1, format!("allreduce by default: {taken}"));
    let printed = folder.heddle("run collective:allreduce --size 1MiB --ranks 16 --print-config");
    assert!(printed.stdout.starts_with(&format!("# {}\n", usual.1)), "{}", printed.stdout);
}

/// A schedule that has no chance of fitting into memory is refused before it is made: everyone to
/// everyone among a million ranks are 2 (10^6 - 1) steps of each, of 48 bytes, and 256 bytes a
/// rank: 96 TB.
#[test]
fn too_large_for_the_memory() {
    let folder = Folder::new("collective-memory");
    let ended = folder.heddle("run collective:alltoall --algorithm basic_linear --ranks 1000000");
    assert_eq!(ended.code, 1, "{}", ended.stderr);
    let expected = "1000000 ranks need at least 96000.2 GB of memory; this machine has ";
    assert!(ended.stderr.contains(expected), "{}", ended.stderr);
    folder.write("t.ti", "0 init\n0 compute 1e6\n0 finalize\n");
    folder.write("t.index", "t.ti\n");
    let ended = folder.heddle("run t.index --set traces.copies=4000000000");
    assert_eq!(ended.code, 1, "{}", ended.stderr);
    assert!(ended.stderr.contains("4000000000 ranks need at least 1"), "{}", ended.stderr);
}
