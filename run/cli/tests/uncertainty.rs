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
    assert_eq!((&corner["jump_below_ps"], &corner["jump_above_ps"]), (&0.into(), &0.into()));

    // From 2.566 us on, a message arrives too late to take the CPU before the second send.
    let jump = folder
        .heddle(
            "run pattern:halo2d --ranks 16 --size 512B --steps 3 --set loggops.L=2566ns \
             --sensitivity loggops.L --format json",
        )
        .json()["sensitivity"]["loggops.L"]
        .clone();
    let makespan = |ps: u64| {
        let run = format!(
            "run pattern:halo2d --ranks 16 --size 512B --steps 3 --set loggops.L={ps}ps \
             --format json"
        );
        folder.heddle(&run).json()["makespan_ps"].as_i64().expect("a time")
    };
    let number = |name: &str| jump[name].as_i64().expect("a number");
    let [at, before, earlier] = [2_566_000, 2_565_999, 2_565_900].map(makespan);
    assert!(before - at > 20_000_000, "{before} {at}");
    assert_eq!(number("jump_below_ps") - number("rate_below"), before - at);
    assert_eq!(before - earlier, 99 * number("rate_below"));
    assert_eq!(number("jump_above_ps"), 0);

    folder.write("one.goal", ONE);
    let ended = folder.heddle("run one.goal --sensitivity loggops.K");
    assert!(ended.stderr.contains("did you mean `loggops."), "{}", ended.stderr);
}

/// The point of this number of Halton's sequence in a base: evenly spread in 0 to 1.
fn halton(mut number: u32, base: u32) -> f64 {
    let (mut point, mut part) = (0.0, 1.0);
    while number > 0 {
        part /= f64::from(base);
        point += part * f64::from(number % base);
        number /= base;
    }
    point
}

/// Two independent normal numbers from two bases (Box and Muller 1958).
fn normal(number: u32, bases: [u32; 2]) -> [f64; 2] {
    let [one, other] = bases.map(|base| halton(number, base));
    let (radius, angle) = ((-2.0 * one.ln()).sqrt(), std::f64::consts::TAU * other);
    [radius * angle.cos(), radius * angle.sin()]
}

/// A message that goes once around so many ranks.
fn ring(ranks: u32) -> String {
    let rank = |rank| {
        let (next, last) = ((rank + 1) % ranks, (rank + ranks - 1) % ranks);
        let order = if rank == 0 { "" } else { "  s requires r\n" };
        format!(
            "rank {rank} {{\n  s: send 1001b to {next}\n  r: recv 1001b from {last}\n{order}}}\n"
        )
    };
    let blocks: Vec<String> = (0..ranks).map(rank).collect();
    format!("num_ranks {ranks}\n{}", blocks.concat())
}

/// L, o and G are normal with deviations of 200 ns, 60 ns and 0.1 ns/B; L and o have the
/// correlation -0.6, as parameters of one measurement do. A hop takes 2 o + L + 1000 G, which is
/// normal with the variance 4 60² + 200² + 100² - 2 · 2 · 0.6 · 60 · 200 = 35600 ns² and the
/// deviation 188.7 ns. The interval of one message reaches 1.96 of them to either side, that of a
/// ring of 8 hops 8 times as far.
#[test]
fn intervals_of_closed_forms() {
    let folder = Folder::new("uncertainty-normal");
    let row = |number: u32| {
        let ([one, other], [third, _]) = (normal(number, [2, 3]), normal(number, [5, 7]));
        let latency = 5000.0 + 200.0 * one;
        let overhead = 1000.0 + 60.0 * (-0.6 * one + 0.8 * other);
        format!("{latency:.6},{overhead:.6},{:.6}\n", 1.0 + 0.1 * third)
    };
    let rows: String = (1..=2000).map(row).collect();
    let table = format!("loggops.L,loggops.o,loggops.G\n{rows}");
    folder.write("m.csv", &table);
    folder.write(
        "m.toml",
        &format!(
            "[loggops]\nL = \"5 us\"\no = \"1 us\"\ng = \"0 ns\"\nG = \"1 ns/B\"\n[calibration]\n\
             replicates = \"m.csv\"\nreplicates-sha256 = \"{}\"\n",
            calibrate::sha256(table.as_bytes())
        ),
    );
    folder.write("one.goal", ONE);
    folder.write("ring.goal", &ring(8));
    for (program, hops) in [("one.goal", 1.0), ("ring.goal", 8.0)] {
        let run = format!("run {program} --machine m.toml --format json --uncertainty 2000");
        let found = folder.heddle(&run).json()["uncertainty"].clone();
        let ns = |name: &str| found[name].as_f64().expect("a time") / 1000.0;
        let half = 1.96 * 35_600_f64.sqrt() * hops;
        let middle = 8000.0 * hops;
        assert!((ns("median_ps") - middle).abs() < 0.05 * half, "{program} {found}");
        for (end, expected) in [("low_ps", middle - half), ("high_ps", middle + half)] {
            assert!((ns(end) - expected).abs() < 0.1 * half, "{program} {end} {found}");
        }
    }
}

/// Programs of every kind: the makespan at L ± 0.5 % is what the rates say, to the picosecond,
/// where that is within the range in which they hold. There it is in at least 30 of 40 cases.
#[test]
fn rates_are_those_of_runs() {
    let folder = Folder::new("sensitivity-programs");
    folder.write("ring.goal", &ring(5));
    let programs = [
        "ring.goal",
        "pattern:dissemination --ranks 9 --size 1000B",
        "pattern:binomial-bcast --ranks 13 --size 100B",
        "pattern:binomial-reduce --ranks 13 --size 100B",
        "pattern:binary-bcast --ranks 12 --size 5000B",
        "pattern:nway-dissemination --ranks 10 --ways 3 --size 10B",
        "pattern:linear-alltoall --ranks 6 --size 2000B",
        "pattern:pairwise-alltoall --ranks 7 --size 2000B",
        "pattern:bruck-alltoall --ranks 7 --size 500B",
        "pattern:allreduce-recursive-doubling --ranks 8 --size 8000B",
        "pattern:allreduce-rabenseifner --ranks 8 --size 80000B",
        "pattern:allreduce-ring --ranks 6 --size 60000B",
        "pattern:gather --ranks 9 --size 3000B",
        "pattern:scatter --ranks 9 --size 3000B",
        "pattern:pipelined-ring --ranks 5 --size 40000B --segment 8000B",
        "pattern:linear-barrier --ranks 9",
        "pattern:bulk-reply --ranks 4 --ways 4 --size 1000B",
        "pattern:halo2d --ranks 9 --size 4000B --steps 2",
        "pattern:random-ring --ranks 8 --size 700B --steps 2",
        "collective:allreduce --collectives openmpi --ranks 6 --size 100000B",
    ];
    let mut compared = 0;
    for program in programs {
        let run = |latency: u64, words: &str| {
            let run = format!("run {program} --set loggops.L={latency}ps --format json {words}");
            folder.heddle(&run).json()
        };
        let base = 2_500_000;
        let found = run(base, "--sensitivity loggops.L")["sensitivity"]["loggops.L"].clone();
        let number = |name: &str| found[name].as_i64().expect("a number");
        for (at, rate) in [(base * 995 / 1000, "rate_below"), (base * 1005 / 1000, "rate_above")] {
            let at_ps = i64::try_from(at).expect("a time");
            if at_ps < number("from_ps") || at_ps > number("to_ps") {
                continue;
            }
            let expected = number("makespan_ps") + number(rate) * (at_ps - 2_500_000);
            assert_eq!(run(at, "")["makespan_ps"], expected, "{program} {at} {found}");
            compared += 1;
        }
    }
    assert!(compared >= 30, "{compared}");
}
