//! Intervals hold the truth as often as they say, for synthetic samples of known parameters.
//!
//! Noise is added to the whole operation and has the median zero; the truth is the parameter
//! without noise. The equations are those of chapter 3.2.2 of the LogGP measurement (PRTT), written
//! here by themselves. The large sets are for release builds:
//! `cargo test --release -p heddle-calibrate --test coverage -- --ignored`.

mod synthetic;

use std::collections::BTreeMap;

use calibrate::{Calibration, Options, Sample, fit};
use synthetic::{FAMILIES, Family, Truth, set};

/// Outcomes of one parameter over many sets.
#[derive(Debug, Default)]
struct Tally {
    held: usize,
    given: usize,
    sets: usize,
    width: f64,
}

/// Fits sets of a family and counts, by parameter, how often the interval has the truth.
fn tally(family: Family, sets: u32, replicates: u32) -> BTreeMap<&'static str, Tally> {
    let mut tallies: BTreeMap<&'static str, Tally> = BTreeMap::new();
    for seed in 0..sets {
        let truth = Truth::random(seed, family);
        let fitted = fit(&set(&truth, family, seed), &Options { replicates });
        for (name, value) in truth.parameters() {
            let tally = tallies.entry(name).or_default();
            tally.sets += 1;
            if let Some(found) = fitted.parameters.get(name) {
                tally.given += 1;
                tally.held += usize::from(found.low <= value && value <= found.high);
                tally.width += (found.high - found.low) / value.max(1e-9);
            } else if std::env::var_os("SHOW").is_some() {
                println!("{family:?} {seed} {name}: {:?} {truth:?}", fitted.refused.get(name));
            }
        }
    }
    tallies
}

/// Fits `sets` sets of each family and checks the shares that issue and book promise; `slack` is
/// what few sets may miss by chance.
fn coverage(sets: u32, replicates: u32, slack: f64) {
    let (mut held, mut given) = (0, 0);
    let mut wrong = Vec::new();
    for family in FAMILIES {
        for (name, tally) in tally(family, sets, replicates) {
            let share = tally.held as f64 / tally.given.max(1) as f64;
            let refused = 1.0 - tally.given as f64 / tally.sets as f64;
            let line = format!(
                "{family:?} {name}: {:.1} % of {} held, {:.1} % refused, relative width {:.4}",
                share * 100.0,
                tally.given,
                refused * 100.0,
                tally.width / tally.given.max(1) as f64
            );
            println!("{line}");
            if share < 0.92 - slack || refused > 0.1 + slack {
                wrong.push(line);
            }
            held += tally.held;
            given += tally.given;
        }
    }
    let all = f64::from(held as u32) / f64::from(given as u32);
    println!("{:.2} % over all", all * 100.0);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!((0.93 - slack..=0.98 + slack).contains(&all), "{all}");
}

#[test]
fn intervals_hold() {
    coverage(12, 200, 0.12);
}

#[test]
#[ignore = "for release builds: 1200 sets"]
fn intervals_hold_as_often_as_they_say() {
    coverage(200, 500, 0.0);
}

fn has(fitted: &Calibration, name: &str) -> bool {
    fitted.diagnoses.iter().any(|diagnosis| diagnosis.name == name)
}

/// Two modes and drift are noticed in 95 % of the sets that have them, and in at most 5 % of those
/// that do not.
fn diagnoses(sets: u32, slack: f64) {
    let noticed = |family: Family, name: &str| {
        let count = (0..sets).filter(|&seed| {
            let truth = Truth::random(seed, family);
            has(&fit(&set(&truth, family, seed), &Options { replicates: 50 }), name)
        });
        f64::from(count.count() as u32) / f64::from(sets)
    };
    let (modes, drift) = (noticed(Family::Modes, "bimodal"), noticed(Family::Drift, "drift"));
    println!("bimodal {modes}, drift {drift}");
    assert!(modes >= 0.95 - slack && drift >= 0.95 - slack, "{modes} {drift}");
    for family in FAMILIES {
        let (modes, drift) = (noticed(family, "bimodal"), noticed(family, "drift"));
        println!("{family:?}: bimodal {modes}, drift {drift}");
        assert!(modes <= 0.05 + slack && drift <= 0.05 + slack, "{family:?} {modes} {drift}");
    }
}

#[test]
fn modes_and_drift_are_noticed() {
    diagnoses(10, 0.15);
}

#[test]
#[ignore = "for release builds: 1600 sets"]
fn modes_and_drift_are_noticed_as_often_as_promised() {
    diagnoses(200, 0.0);
}

/// The truth of two modes is that of the lower.
#[test]
#[ignore = "for release builds: 200 sets"]
fn intervals_hold_the_lower_mode() {
    for (name, tally) in tally(Family::Modes, 200, 500) {
        let share = tally.held as f64 / tally.given as f64;
        println!("{name}: {share} of {}", tally.given);
        assert!(share >= 0.92 && tally.given >= 180, "{name} {share} {}", tally.given);
    }
}

/// The seed's three networks (table 3.5.3.1) give their values back within 5 % and inside their
/// intervals; of Ethernet, whose o of 6.1 us hides its g of 0.897 us, g may be refused.
#[test]
fn networks_of_the_table() {
    let table = [
        ("InfiniBand", Truth::new(2820.0, 1400.0, 1400.0, 1.03)),
        ("Myrinet/GM", Truth::new(24_300.0, 1900.0, 3400.0, 4.09)),
        ("Gigabit Ethernet", Truth::new(65_400.0, 6100.0, 897.0, 8.49)),
    ];
    for (name, truth) in table {
        let fitted = fit(&set(&truth, Family::Exact, 1), &Options { replicates: 200 });
        for (parameter, value) in truth.parameters() {
            let Some(found) = fitted.parameters.get(parameter) else {
                let hidden = name == "Gigabit Ethernet" && parameter == "g";
                assert!(hidden && fitted.refused.contains_key("g"), "{name} {parameter}");
                continue;
            };
            assert!(found.low <= value && value <= found.high, "{name} {parameter} {found:?}");
            assert!((found.value - value).abs() <= 0.01 * value + 1e-3, "{name} {found:?}");
        }
    }
}

/// Sets without a delay, or of one size, are refused and not guessed.
#[test]
fn what_samples_do_not_show_is_refused() {
    let truth = Truth::new(5000.0, 1000.0, 1500.0, 0.5);
    let all = set(&truth, Family::Clean, 3);
    let keep = |keeps: &dyn Fn(&Sample) -> bool| {
        let kept: Vec<Sample> = all.iter().filter(|sample| keeps(sample)).cloned().collect();
        fit(&kept, &Options { replicates: 100 })
    };
    let names = |fitted: &Calibration| fitted.parameters.keys().copied().collect::<Vec<_>>();
    let without_delay = keep(&|sample| sample.delay == 0.0);
    assert_eq!(names(&without_delay), ["G", "g"], "{:?}", without_delay.refused);
    assert!(["L", "o", "O"].iter().all(|name| without_delay.refused.contains_key(name)));
    assert!(without_delay.refused["L"].contains("L + 2 o"));
    let one_size = keep(&|sample| sample.bytes == 4097);
    assert!(one_size.parameters.is_empty());
    assert!(["L", "o", "g", "G", "O"].iter().all(|name| one_size.refused.contains_key(name)));
    let one_delay = keep(&|sample| sample.delay == 0.0 || sample.bytes == 1);
    assert_eq!(names(&one_delay), ["G", "L", "g", "o", "o_send"]);
    assert!(one_delay.refused["O"].contains("one size only"));
    let without_trains = keep(&|sample| sample.messages == 1 || sample.delay > 0.0);
    assert!(without_trains.refused["g"].contains("several messages"));
    // Bytes cost the hosts nothing here, so that G is what they cost on their whole way.
    assert_eq!(names(&without_trains), ["G", "L", "O", "o", "o_send"]);
}

/// Breaks of data with one to four segments are found within one size; at most 5 % of sets without
/// a break get one.
fn breaks(sets: u32, most: usize) {
    let mut wrong = 0;
    for seed in 0..sets {
        for count in 1..=4 {
            let (samples, truth, step) = synthetic::sends(seed, count);
            let fitted = fit(&samples, &Options { replicates: 200 });
            let found: Vec<u64> =
                fitted.segments["send"].iter().skip(1).map(|piece| piece.from).collect();
            let near =
                found.iter().zip(&truth).all(|(found, truth)| found.abs_diff(*truth) <= step);
            if count == 1 {
                wrong += usize::from(!found.is_empty());
            } else {
                let enough = found.len() >= truth.len();
                assert!(enough && (near || found.len() > truth.len()), "{found:?} {truth:?}");
                wrong += usize::from(found.len() > truth.len());
            }
        }
    }
    println!("{wrong} breaks too many");
    assert!(wrong <= most, "{wrong} breaks too many");
}

#[test]
fn breaks_are_found() {
    breaks(8, 1);
}

#[test]
#[ignore = "for release builds: 800 sets"]
fn breaks_are_found_as_often_as_promised() {
    breaks(200, 30);
}
