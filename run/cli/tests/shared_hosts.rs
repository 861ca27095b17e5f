//! `heddle run` with more ranks than hosts.

mod common;

use common::Folder;

const CHAIN: &str = "num_ranks 4
rank 0 { send 4b to 1 }
rank 1 { a: recv 4b from 0 b: send 4b to 2 b requires a }
rank 2 { a: recv 4b from 1 b: send 4b to 3 b requires a }
rank 3 { recv 4b from 2 }
";

const MACHINE: &str = r#"
[loggops]
o = "1500 ns"

[loggops.local]
L = "300 ns"
o = "200 ns"
G = "1 ns/B"

[network]
model = "infiniband"
topology = "star:hosts=2"
preset = "infiniband-ddr-simula"
pause = "0 ns"
update = "0 ns"
"#;

/// o = 1500 ns between hosts, where 4 bytes take 113.6 ns (seed 000, section 5.4). Host after host:
/// 703 ns within host 0, 1500 + 113.6 + 1500 between hosts, 703 within host 1. Dealt out, every
/// message crosses the network: three times 3113.6. By the file, with ranks 0, 1 and 2 on one host:
/// twice 703, and 3113.6.
#[test]
fn a_chain() {
    let folder = Folder::new("shared-hosts");
    folder.write("chain.goal", CHAIN);
    folder.write("machine.toml", MACHINE);
    folder.write("places.txt", "0 h1\n1 h1\n2 h1\n3 h0\n");
    let time = |more: &str| {
        let command = format!("run chain.goal --machine machine.toml --format json {more}");
        folder.heddle(&command).json()["makespan_ps"].as_u64()
    };
    assert_eq!(time(""), Some(4_519_600));
    assert_eq!(time("--threads 2 --set run.transport=serialised"), Some(4_519_600));
    assert_eq!(time("--set placement.kind=round-robin"), Some(9_340_800));
    let file = "--set placement.kind=file --set placement.file=places.txt";
    assert_eq!(time(file), Some(4_519_600));
    // Nothing is set: L and G are 0, and o is the preset's 200 within hosts as well, twice 400 and
    // 513.6.
    let plain = "run chain.goal --network infiniband --topology star:hosts=2 --format json \
                 --preset infiniband-ddr-simula --set network.pause=0ns --set network.update=0ns";
    assert_eq!(folder.heddle(plain).json()["makespan_ps"], 1_313_600);
}

/// 257 ranks need a second host; 600 on two hosts are 300 on each.
#[test]
fn a_full_host() {
    let folder = Folder::new("full-host");
    let run = |ranks: u32| {
        let topology = "--network infiniband --topology star:hosts=2";
        folder.heddle(&format!("run pattern:dissemination --ranks {ranks} {topology}"))
    };
    assert_eq!(run(512).code, 0);
    let ended = run(600);
    assert_eq!((ended.code, ended.stdout.as_str()), (1, ""));
    let expected =
        "error: 300 ranks on h0: a host has room for 256\n  help: choose a larger topology";
    assert!(ended.stderr.starts_with(expected), "{}", ended.stderr);
}

/// Without switches there are no hosts to share.
#[test]
fn local_costs_without_hosts() {
    let folder = Folder::new("local-costs");
    folder.write("chain.goal", CHAIN);
    let ended = folder.heddle("run chain.goal --set loggops.local.L=300ns");
    assert_eq!(ended.code, 2);
    let expected = "`loggops.local.L` is not used by the model loggops";
    assert!(ended.stderr.contains(expected), "{}", ended.stderr);
}
