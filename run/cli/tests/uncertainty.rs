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

/// Normal parameters of which L and o have the correlation -0.6, as those of one measurement do:
/// the means and the deviations of L, o and G.
struct Normal {
    means: [f64; 3],
    deviations: [f64; 3],
}

const NEAR: Normal = Normal { means: [5000.0, 1000.0, 1.0], deviations: [200.0, 60.0, 0.1] };
const FAR: Normal = Normal { means: [20_000.0, 1500.0, 2.0], deviations: [500.0, 100.0, 0.2] };

impl Normal {
    fn replicate(&self, number: u32) -> [f64; 3] {
        let ([one, other], [third, _]) = (normal(number, [2, 3]), normal(number, [5, 7]));
        let away = [one, -0.6 * one + 0.8 * other, third];
        [0, 1, 2].map(|place| self.means[place] + self.deviations[place] * away[place])
    }

    /// The mean and the variance of a hop of 1001 bytes, 2 o + L + 1000 G.
    fn hop(&self) -> [f64; 2] {
        let ([latency, overhead, per_byte], [l, o, g]) = (self.means, self.deviations);
        let variance = l * l + 4.0 * o * o + 1e6 * g * g - 4.0 * 0.6 * l * o;
        [2.0 * overhead + latency + 1000.0 * per_byte, variance]
    }
}

fn joined(values: impl IntoIterator<Item = f64>) -> String {
    values.into_iter().map(|value| format!("{value:.6}")).collect::<Vec<_>>().join(",")
}

/// Writes a machine whose `[loggops]` has the values of its class `near`, with 2000 replicates:
/// what stands in a row for both is the same, and the other class is independent of it.
fn classes(folder: &Folder) {
    let mut text = ["loggops.", "loggops.class.near.", "loggops.class.far."]
        .map(|table| ["L", "o", "G"].map(|key| format!("{table}{key}")).join(","))
        .join(",")
        + "\n";
    let mut place = 0;
    for number in 1..=2000 {
        // A permutation: a linear congruential generator of full period (Hull and Dobell 1962).
        place = (place * 741 + 711) % 2000;
        let (near, far) = (NEAR.replicate(number), FAR.replicate(place + 1));
        text += &(joined([near, near, far].concat()) + "\n");
    }
    folder.write("c.csv", &text);
    folder.write("c.pairs.csv", "source,destination,class\n0,1,near\n1,2,far\n");
    folder.write(
        "c.toml",
        &format!(
            "[loggops]\nL = \"5 us\"\no = \"1 us\"\ng = \"0 ns\"\nG = \"1 ns/B\"\n\
             [loggops.class.near]\nL = \"5 us\"\no = \"1 us\"\nG = \"1 ns/B\"\n\
             [loggops.class.far]\nL = \"20 us\"\no = \"1500 ns\"\nG = \"2 ns/B\"\n\
             [calibration]\nreplicates = \"c.csv\"\nreplicates-sha256 = \"{}\"\n\
             [calibration.loggops.class.far.L]\nlow = \"19 us\"\nhigh = \"21 us\"\n",
            calibrate::sha256(text.as_bytes())
        ),
    );
}

/// A message from each rank to the next, once the one before is there.
fn line(ranks: u32) -> String {
    let rank = |rank: u32| {
        let receive = format!("  r: recv 1001b from {}\n", rank.saturating_sub(1));
        let send = format!("  s: send 1001b to {}\n", rank + 1);
        let text = match rank {
            0 => send,
            _ if rank + 1 == ranks => receive,
            _ => format!("{receive}{send}  s requires r\n"),
        };
        format!("rank {rank} {{\n{text}}}\n")
    };
    let blocks: Vec<String> = (0..ranks).map(rank).collect();
    format!("num_ranks {ranks}\n{}", blocks.concat())
}

/// Makespans are sums of hops. A message between a pair of a class has that class's variance, and
/// one that goes on between a pair of another class has both together. The share of L is the square
/// of its correlation with the makespan, (s² - 2 · 0.6 s t)² / (s² V) with the deviations s of L
/// and t of o. Pairs in no class vary as `[loggops]` does, which is here the class `near`.
#[test]
fn intervals_of_classes() {
    let folder = Folder::new("uncertainty-classes");
    classes(&folder);
    folder.write("near.goal", &line(2));
    folder.write("two.goal", &line(3));
    folder.write("far.csv", "source,destination,class\n0,1,far\n");
    let ([near, near_variance], [far, far_variance]) = (NEAR.hop(), FAR.hop());
    assert!((near_variance - 35_600.0).abs() < 1e-6 && (far_variance - 210_000.0).abs() < 1e-6);
    let both = (near + far, near_variance + far_variance, [true, true]);
    for (program, pairs, (middle, variance, has)) in [
        ("near.goal", "c.pairs.csv", (near, near_variance, [true, false])),
        ("near.goal", "far.csv", (far, far_variance, [false, true])),
        ("two.goal", "c.pairs.csv", both),
        ("two.goal", "far.csv", both),
    ] {
        let run = format!(
            "run {program} --machine c.toml --set loggops.pairs={pairs} --format json \
             --uncertainty 2000"
        );
        let found = folder.heddle(&run).json()["uncertainty"].clone();
        let ns = |name: &str| found[name].as_f64().expect("a time") / 1000.0;
        let half = 1.96 * variance.sqrt();
        assert!((ns("median_ps") - middle).abs() < 0.05 * half, "{program} {pairs} {found}");
        for (end, expected) in [("low_ps", middle - half), ("high_ps", middle + half)] {
            assert!((ns(end) - expected).abs() < 0.1 * half, "{program} {pairs} {end} {found}");
        }
        let share = |name: &str| found["variance_without"][name].as_f64().expect("a share");
        for (class, Normal { deviations: [l, o, _], .. }, has) in
            [("near", NEAR, has[0]), ("far", FAR, has[1])]
        {
            let covariance = if has { l * l - 2.0 * 0.6 * l * o } else { 0.0 };
            let expected = covariance * covariance / (l * l * variance);
            let found = share(&format!("loggops.class.{class}.L"));
            assert!((found - expected).abs() < 0.05, "{program} {pairs} {class} {found}");
        }
        assert_eq!(share("loggops.L").to_bits(), share("loggops.class.near.L").to_bits());
    }
    // Without pairs in classes, only [loggops] counts, and classes have no shares.
    let run = "run two.goal --machine c.toml --format json --uncertainty 100";
    let found = folder.heddle(run).json()["uncertainty"]["variance_without"].clone();
    let names: Vec<&String> = found.as_object().expect("shares").keys().collect();
    assert_eq!(names, ["loggops.G", "loggops.L", "loggops.o"]);
}

/// Of a message between each of two pairs, the makespan is as long as L of either class.
#[test]
fn rates_of_classes() {
    let folder = Folder::new("sensitivity-classes");
    classes(&folder);
    folder.write("two.goal", &line(3));
    let run = "run two.goal --machine c.toml --set loggops.pairs=c.pairs.csv --format json \
               --sensitivity loggops.class.far.L --sensitivity loggops.class.near.o";
    let found = folder.heddle(run).json()["sensitivity"].clone();
    let [latency, overhead] =
        ["loggops.class.far.L", "loggops.class.near.o"].map(|key| found[key].clone());
    assert_eq!(
        (&latency["value_ps"], &latency["makespan_ps"]),
        (&20_000_000.into(), &33_000_000.into())
    );
    assert_eq!((&latency["rate_below"], &latency["rate_above"]), (&1.into(), &1.into()));
    assert_eq!((&overhead["rate_below"], &overhead["rate_above"]), (&2.into(), &2.into()));
    for (words, text) in [
        ("--sensitivity loggops.class.fat.L", "did you mean `far`?"),
        ("--sensitivity loggops.class.far.l", "did you mean"),
        ("--sensitivity loggops.class.far.G", "no rates for `loggops.class.far.G`"),
        ("--sensitivity loggops.class.far.L", "no pairs of hosts belong to classes"),
    ] {
        let ended = folder.heddle(&format!("run two.goal --machine c.toml {words}"));
        assert!(ended.code == 2 && ended.stderr.contains(text), "{words} {}", ended.stderr);
    }
}

/// A run whose command line sets what was measured can be run again by its manifest, which says
/// nothing of the intervals of other values.
#[test]
fn manifests_of_other_values() {
    let folder = Folder::new("uncertainty-manifest");
    classes(&folder);
    folder.write("two.goal", &line(3));
    let machine = String::from_utf8(folder.read("c.toml")).expect("text");
    let interval = "[calibration.loggops.L]\nlow = \"4 us\"\nhigh = \"6 us\"\n";
    folder.write("c.toml", &format!("{machine}{interval}"));
    let run = "run two.goal --machine c.toml --set loggops.pairs=c.pairs.csv --format json";
    for (words, makespan) in [
        ("", 33_000_000),
        ("--set loggops.class.far.L=30us", 43_000_000),
        ("--set loggops.L=9us --set loggops.class.far.L=30us", 43_000_000),
    ] {
        let first = folder.heddle(&format!("{run} {words} -o out --force")).json();
        let again = folder.heddle("run out/manifest.json --format json -o again --force").json();
        assert_eq!(
            (&first["makespan_ps"], &again["makespan_ps"]),
            (&makespan.into(), &makespan.into())
        );
    }
}

/// A machine of classes whose files are written again with mistakes.
struct Wrong {
    folder: Folder,
    machine: String,
    table: String,
}

const WRONG: &str = "run two.goal --machine w.toml --set loggops.pairs=c.pairs.csv";

impl Wrong {
    fn new(name: &str) -> Self {
        let folder = Folder::new(name);
        classes(&folder);
        folder.write("two.goal", &line(3));
        let text = |file| String::from_utf8(folder.read(file)).expect("text");
        let (machine, table) = (text("c.toml").replace("c.csv", "w.csv"), text("c.csv"));
        Self { folder, machine, table }
    }

    /// Checks that a run with these files fails, and that it says all of these texts.
    fn check(&self, machine: &str, table: &str, words: &str, texts: &[&str]) {
        let [old, new] = [&self.table, table].map(|table| calibrate::sha256(table.as_bytes()));
        self.folder.write("w.csv", table);
        self.folder.write("w.toml", &machine.replace(&old, &new));
        let ended = self.folder.heddle(&format!("{WRONG} {words}"));
        assert_eq!(ended.code, 1, "{}", ended.stdout);
        assert!(texts.iter().all(|text| ended.stderr.contains(text)), "{}", ended.stderr);
    }
}

/// Mistakes in replicates of classes are told with their place.
#[test]
fn wrong_replicates_of_classes() {
    let wrong = Wrong::new("uncertainty-columns");
    let Wrong { folder, machine, table } = &wrong;
    // A column of a class that the machine does not have, in any run.
    let other = table.replace("class.far.o", "class.fat.o");
    let texts = ["w.toml:15", "w.csv: line 1", "no class of pairs `fat`", "did you mean `far`?"];
    wrong.check(machine, &other, "", &texts);
    let other = table.replace("class.far.o", "class.far.S");
    wrong.check(machine, &other, "", &["w.toml:15", "column `loggops.class.far.S`"]);
    let other = table.replace("class.far.o", "class.far.L");
    wrong.check(machine, &other, "", &["there are two columns `loggops.class.far.L`"]);
    // Another file than that of the hash.
    let other = machine.replace("replicates-sha256 = \"", "replicates-sha256 = \"0");
    wrong.check(&other, table, "", &["w.toml:16", "expected a SHA-256"]);
    wrong.check(
        &machine.replace(&calibrate::sha256(table.as_bytes()), &"0".repeat(64)),
        table,
        "",
        &["w.toml:15", "is not the file that was written with these parameters"],
    );
    // A class without a column, if replicates are to be drawn.
    let columns = |line: &str| line.split(',').take(6).collect::<Vec<_>>().join(",") + "\n";
    let few: String = table.lines().map(columns).collect();
    let texts = ["w.toml:10", "w.csv has no column of the class of pairs `far`"];
    wrong.check(machine, &few, "--uncertainty", &texts);
    assert_eq!(folder.heddle(WRONG).code, 0);
    // A class that the command line describes is certain.
    let all = ["L=20us", "o=1500ns", "G=2ns/B"];
    let set = all.map(|text| format!("--set loggops.class.far.{text}")).join(" ");
    let ended = folder.heddle(&format!("{WRONG} --uncertainty {set}"));
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(!ended.stdout.contains("loggops.class.far"), "{}", ended.stdout);
}

/// Mistakes in intervals of classes are told with their place.
#[test]
fn wrong_intervals_of_classes() {
    let wrong = Wrong::new("uncertainty-intervals");
    let Wrong { machine, table, .. } = &wrong;
    let interval = "[calibration.loggops.class.far.L]";
    let other = machine.replace(interval, "[calibration.loggops.class.fat.L]");
    let texts = ["w.toml:17", "no class of pairs `fat`", "did you mean `far`?"];
    wrong.check(&other, table, "", &texts);
    let other = machine.replace(interval, "[calibration.loggops.class.far.S]");
    let texts = ["w.toml:17", "unknown interval `S` of a class of pairs"];
    wrong.check(&other, table, "", &texts);
    let other = machine.replace("high = \"21 us\"\n", "");
    wrong.check(&other, table, "", &["there is no `calibration.loggops.class.far.L.high`"]);
    let other = machine.replace("21 us", "19500 ns");
    let texts = ["w.toml:11", "`loggops.class.far.L` is 20 us, outside of 19 us to 19.5 us"];
    wrong.check(&other, table, "", &texts);
}

/// L, o and G are normal with deviations of 200 ns, 60 ns and 0.1 ns/B; L and o have the
/// correlation -0.6, as parameters of one measurement do. A hop takes 2 o + L + 1000 G, which is
/// normal with the variance 4 60² + 200² + 100² - 2 · 2 · 0.6 · 60 · 200 = 35600 ns² and the
/// deviation 188.7 ns. The interval of one message reaches 1.96 of them to either side, that of a
/// ring of 8 hops 8 times as far.
#[test]
fn intervals_of_closed_forms() {
    let folder = Folder::new("uncertainty-normal");
    let row = |number| joined(NEAR.replicate(number)) + "\n";
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
