//! Packets that get lost, through the command.

mod common;

use common::Folder;

/// Two hosts at a switch, host costs of 0, and a message of one full packet: 4096 bytes and 26 of
/// headers are 65 flits of 5.12 ns, 332.8 ns on a link.
const RUN: &str = "run app.goal --network infiniband --topology star:hosts=2 --set \
                   loggops.o=0ns --set loggops.g=0ns --set network.ack-timeout=10us";

fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    let program = "num_ranks 2\nrank 0 { send 4096b to 1 }\nrank 1 { recv 4096b from 0 }\n";
    folder.write("app.goal", program);
    folder
}

/// Everything is lost: three attempts of 332.8 ns, each followed by the time-out.
#[test]
fn the_last_retry() {
    let folder = folder("losses-retries");
    for threads in [1, 2, 3, 7] {
        let more = "--set network.loss=1 --set network.retry-count=2";
        let ended = folder.heddle(&format!("{RUN} {more} --threads {threads}"));
        assert_eq!(
            ended.stderr,
            "error: at 30998.4 ns, h0 gave up sending to h1: at each attempt a packet or its \
             acknowledgement was lost\n  help: allow more attempts (network.retry-count) or fewer \
             losses (network.loss, network.bit-error-rate)\n"
        );
        assert_eq!(ended.code, 1);
    }
    let traffic = "run traffic:uniform --topology star:hosts=2 --load 0.3 --set network.loss=1 \
                   --set network.retry-count=0 --set network.ack-timeout=1us";
    let ended = folder.heddle(traffic);
    assert!(ended.stderr.contains("gave up sending to"), "{}", ended.stderr);
    assert_eq!(ended.code, 1);
}

/// A loss of 0 is none.
#[test]
fn no_loss() {
    let folder = folder("losses-none");
    let without = RUN.replace("--set network.ack-timeout=10us", "");
    let expected = folder.heddle(&format!("{without} --format json")).json();
    let found = folder.heddle(&format!("{RUN} --set network.loss=0 --format json")).json();
    assert_eq!(found["makespan_ps"], expected["makespan_ps"]);
    assert_eq!(found["signals"], expected["signals"]);
}

/// Losses cost time, and neither that nor the table depends on the number of threads. What is sent
/// again is at least what was discarded of data.
#[test]
fn losses_are_counted() {
    let folder = folder("losses-table");
    let run = "run pattern:linear-alltoall --ranks 8 --size 64KiB --network infiniband --topology \
               fat-tree:levels=2,radix=4 --set network.bit-error-rate=1e-7 --set \
               network.ack-timeout=1048576ns --tables losses,ranks -q";
    for threads in [1, 2, 3, 7] {
        assert_eq!(folder.heddle(&format!("{run} --threads {threads} -o out{threads}")).stderr, "");
        for file in ["losses.csv", "ranks.csv", "summary.json"] {
            let found = folder.read(&format!("out{threads}/{file}"));
            assert_eq!(found, folder.read(&format!("out1/{file}")), "{file}, {threads} threads");
        }
    }
    let table = String::from_utf8(folder.read("out1/losses.csv")).expect("a table");
    let rows: Vec<Vec<&str>> = table.lines().map(|row| row.split(',').collect()).collect();
    assert_eq!(rows[0], ["device", "discarded", "resent"]);
    let sum = |column: usize| -> u64 {
        rows[1..].iter().map(|row| row[column].parse::<u64>().expect("a number")).sum()
    };
    // 56 messages of 16 packets of 4122 bytes over 2 or 4 links: about 0.7 and 1.3 % of 896.
    assert!((2..30).contains(&sum(1)) && sum(2) > 0, "{table}");
}

#[test]
fn mistakes() {
    let folder = folder("losses-mistakes");
    let says = |more: &str, message: &str| {
        let ended = folder.heddle(&format!("{RUN} {more}"));
        assert_eq!((ended.code, ended.stderr.as_str()), (2, message), "{more}");
    };
    says(
        "",
        "error: --set network.ack-timeout=10us: `network.ack-timeout` does nothing where no packet \
         gets lost\n  help: set network.loss too\n",
    );
    let probability =
        "expected a probability from 0 to 1 such as 0.001 or 1e-12, with at most 18 decimals";
    for value in ["1.5", "-0.1", "5%"] {
        let message = format!("error: --set network.loss={value}: {probability}, found {value}\n");
        says(&format!("--set network.loss={value}"), &message);
    }
    says(
        "--set network.bit-error-rate=1e-12 --set network.acknowledge=false",
        "error: --set network.acknowledge=false: where packets get lost, messages are \
         acknowledged\n",
    );
    says(
        "--set network.loss=0.1 --set network.ack-timeout=0ns",
        "error: --set network.ack-timeout=0ns: ack-timeout is 0 ns; it must be at least 1 ns and \
         at most 8796 s\n",
    );
    folder.write(
        "lossy.toml",
        "[workload]\nsource = \"traffic:uniform\"\n[network]\nmodel = \"infiniband\"\ntopology = \
         \"star:hosts=4\"\nloss = 1e-3\nchoice = \"message\"\nretry-count = 9\n",
    );
    let ended = folder.heddle("run lossy.toml");
    assert_eq!(ended.code, 1);
    let message = "expected a whole number from 0 to 7, found 9";
    assert!(ended.stderr.contains(message), "{}", ended.stderr);
    assert!(ended.stderr.contains("lossy.toml:8"), "{}", ended.stderr);
}
