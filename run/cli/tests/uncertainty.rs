//! `heddle run --uncertainty` and `--sensitivity`: closed forms.

mod common;

use common::Folder;

/// Rank 0 sends 1001 bytes to rank 1: o + L + o + 1000 G.
const ONE: &str = "num_ranks 2\nrank 0 {\n  send 1001b to 1\n}\nrank 1 {\n  recv 1001b from 0\n}\n";

/// SHA-256 of the table of [`machine`], as `sha256sum` gives it.
const HASH: &str = "d52fd1337a162edd0fc8c3e48899be971280e0c30cf3f74cff2ef49f42ae3703";

/// Writes a machine and a table of replicates.
fn machine(folder: &Folder, hash: &str) {
    let rows: Vec<String> = (0..=200).map(|row| format!("{},{}", 4000 + 10 * row, 1000)).collect();
    folder.write("m.csv", &format!("loggops.L,loggops.o\n{}\n", rows.join("\n")));
    folder.write(
        "m.toml",
        &format!(
            "[loggops]\nL = \"5 us\"\no = \"1 us\"\ng = \"0 ns\"\nG = \"1 ns/B\"\n[calibration]\n\
             replicates = \"m.csv\"\nreplicates-sha256 = \"{hash}\"\n"
        ),
    );
}

/// L is from 4 us to 6 us in 201 steps: the makespan is 1 + L + 1 + 1 us, its median 8 us, and
/// between 2.5 % and 97.5 % there are 7.05 us and 8.95 us. All of the variance is that of L.
#[test]
fn replicates_give_an_interval() {
    let folder = Folder::new("uncertainty");
    folder.write("one.goal", ONE);
    machine(&folder, HASH);
    let run = "run one.goal --machine m.toml --format json --uncertainty 201";
    let json = folder.heddle(run).json();
    let found = &json["uncertainty"];
    let ps = |name: &str| found[name].as_f64().expect("a time");
    assert_eq!((ps("median_ps"), ps("low_ps"), ps("high_ps")), (8e6, 7.05e6, 8.95e6));
    let share = |name: &str| found["variance_without"][name].as_f64().expect("a share");
    assert!((share("loggops.L") - 1.0).abs() < 1e-9, "{found}");
    assert!(share("loggops.o").abs() < 1e-9, "{found}");
    assert_eq!(json["makespan_ps"], 8_000_000);

    // What the command line sets is certain.
    let certain = folder.heddle(&format!("{run} --set loggops.L=5us")).json();
    let found = &certain["uncertainty"];
    assert_eq!((&found["low_ps"], &found["high_ps"]), (&8e6.into(), &8e6.into()));

    let ended = folder.heddle("run one.goal --machine m.toml --uncertainty 500");
    assert!(ended.stderr.contains("there are 201 replicates"), "{}", ended.stderr);
    let ended = folder.heddle("run one.goal --uncertainty");
    assert!(ended.stderr.contains("no replicates of measured parameters"), "{}", ended.stderr);
}

/// Rank 0 sends to rank 1, which answers; rank 0 computes for 14 us and then waits for the answer.
/// The answer is there at 2 (o + L + o) = 4 us + 2 L. Receiving it takes o from the later of that
/// minus o, and 15 us: below L = 6 us the makespan does not follow L, above it follows it twice.
#[test]
fn rates_and_their_range() {
    let folder = Folder::new("sensitivity");
    folder.write(
        "wait.goal",
        "num_ranks 2\nrank 0 {\n  a: send 1b to 1\n  b: calc 14000\n  b requires a\n  c: recv 1b \
         from 1\n  c requires b\n}\nrank 1 {\n  a: recv 1b from 0\n  b: send 1b to 0\n  b requires \
         a\n}\n",
    );
    let rates = |latency: &str| {
        let settings = "--set loggops.o=1us --set loggops.g=0ns --set loggops.G=0ns/B";
        let asked = format!("--set loggops.L={latency} --sensitivity loggops.L --format json");
        let run = format!("run wait.goal {settings} {asked}");
        folder.heddle(&run).json()["sensitivity"]["loggops.L"].clone()
    };
    let small = rates("4us");
    assert_eq!((&small["rate_below"], &small["rate_above"]), (&0.into(), &0.into()));
    assert_eq!((&small["makespan_ps"], &small["from_ps"]), (&16_000_000.into(), &0.into()));
    let to = small["to_ps"].as_u64().expect("a time");
    assert!((5_996_000..=6_000_000).contains(&to), "{to}");
    let large = rates("8us");
    assert_eq!((&large["rate_below"], &large["rate_above"]), (&2.into(), &2.into()));
    assert_eq!(large["makespan_ps"], 20_000_000);
    let from = large["from_ps"].as_u64().expect("a time");
    assert!((6_000_000..=6_008_000).contains(&from), "{from}");
    let corner = rates("6us");
    assert_eq!((&corner["rate_below"], &corner["rate_above"]), (&0.into(), &2.into()));

    folder.write("one.goal", ONE);
    let ended = folder.heddle("run one.goal --sensitivity loggops.K");
    assert!(ended.stderr.contains("did you mean `loggops."), "{}", ended.stderr);
}
