//! Every process of arrivals offers the load that is asked for, and fixed arrivals are equally
//! spaced.

use crate::common::{even, network, settings};
use kernel::Silent;
use traffic::{Arrivals, Lengths, OnOff, Pattern, Settings, Span, observe};
use units::Time;

/// On for 20 slots and off for 30 on average, and a message in one of 16 slots while it is on: 0.4
/// / 16 messages a slot, which are 0.4 of the link with messages of 16 flits.
const ON_OFF: Arrivals =
    Arrivals::OnOff(OnOff { on: 1.0 / 30.0, off: 1.0 / 20.0, rate: 1.0 / 16.0 });

const ALL: [Arrivals; 5] =
    [Arrivals::Bernoulli, Arrivals::Poisson, Arrivals::Bursty(8.0), Arrivals::Fixed, ON_OFF];

/// 16 hosts, 5 ms, messages of 16 flits of 32 ns at a load of 0.4: one in 1280 ns, 62 500 in all.
/// The counts of the random ones deviate by 4 sqrt(62 500) = 1000 = 1.6 %, bursts of 8 by sqrt(15)
/// times that at most (the variance of a compound of geometric bursts is 2 b - 1 times that of
/// single messages).
#[test]
fn offered_load() {
    let (topology, net) = network("star:hosts=16", even());
    for arrivals in ALL {
        let settings = Settings {
            arrivals,
            lengths: Lengths::Fixed(1000),
            span: Span::Batches { warm_up: 0, kept: 10 },
            batch: Some(Time::from_ps(500_000_000)),
            ..settings(&topology, &Pattern::Uniform, 0.4)
        };
        let observed = observe(&net, &settings, false, || Silent).expect("it runs");
        let within = match arrivals {
            Arrivals::Bursty(_) | Arrivals::OnOff(_) => 0.016 * 15_f64.sqrt(),
            Arrivals::Fixed => 0.001,
            _ => 0.016,
        };
        let off = observed.point.offered / 0.4 - 1.0;
        println!("{arrivals:?}: {} messages", observed.entered.0);
        assert!(off.abs() < within, "{arrivals:?}: {off}");
        assert_eq!(observed.entered, observed.delivered);
    }
}

/// One source, load 0.5, messages of 512 ns: fixed arrivals are 1024 ns apart (to the picosecond
/// that times are rounded to); Bernoulli arrivals fall on multiples of a flit's 32 ns.
#[test]
fn spacing() {
    let (topology, net) = network("star:hosts=2", even());
    let pattern = Pattern::Flows(vec![(0, 1)]);
    for arrivals in [Arrivals::Fixed, Arrivals::Bernoulli] {
        let settings = Settings {
            arrivals,
            lengths: Lengths::Fixed(1000),
            span: Span::Batches { warm_up: 0, kept: 1 },
            batch: Some(Time::from_ps(100_000_000)),
            ..settings(&topology, &pattern, 0.5)
        };
        let observed = observe(&net, &settings, true, || Silent).expect("it runs");
        let times: Vec<u64> = observed.log.iter().map(|d| d.entered.ps()).collect();
        assert!(times.len() > 50, "{}", times.len());
        if arrivals == Arrivals::Fixed {
            assert!(times.windows(2).all(|pair| (pair[1] - pair[0]).abs_diff(1_024_000) <= 1));
        } else {
            assert!(times.iter().all(|time| time % 32_000 == 0));
        }
    }
}

/// In a burst messages follow each other on the link: bursts of 8 messages on average at a load of
/// 0.5 leave 7 of 8 intervals at 512 ns, and the silence between bursts is 8 * 512 ns on average.
#[test]
fn bursts() {
    let (topology, net) = network("star:hosts=2", even());
    let settings = Settings {
        arrivals: Arrivals::Bursty(8.0),
        lengths: Lengths::Fixed(1000),
        span: Span::Batches { warm_up: 0, kept: 10 },
        batch: Some(Time::from_ps(1_000_000_000)),
        ..settings(&topology, &Pattern::Flows(vec![(0, 1)]), 0.5)
    };
    let observed = observe(&net, &settings, true, || Silent).expect("it runs");
    let times: Vec<u64> = observed.log.iter().map(|d| d.entered.ps()).collect();
    let gaps: Vec<u64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let inside = gaps.iter().filter(|gap| gap.abs_diff(512_000) <= 1).count() as f64;
    // 9766 gaps; a share of 7/8 deviates by 4 sqrt(7/64 / 9766) = 0.0134.
    assert!((inside / gaps.len() as f64 - 0.875).abs() < 0.0134, "{inside} of {}", gaps.len());
    let silences: Vec<f64> =
        gaps.iter().filter(|&&gap| gap > 512_001).map(|gap| (gap - 512_000) as f64).collect();
    let mean = silences.iter().sum::<f64>() / silences.len() as f64;
    // 1220 exponential values: 4 / sqrt(1220) = 11.5 %.
    assert!((mean / 4_096_000.0 - 1.0).abs() < 0.115, "{mean}");
}

/// A load of 0 or more than a link carries, a burst of less than a message, batches shorter than
/// the network needs to answer, a run of minutes.
#[test]
fn mistakes() {
    let (topology, net) = network("star:hosts=2", even());
    let base = settings(&topology, &Pattern::Uniform, 0.5);
    let wrong = |settings: Settings| {
        let error = observe(&net, &settings, false, || Silent).expect_err("it is wrong");
        error.to_string()
    };
    for load in [0.0, 1.5, f64::NAN] {
        let text = wrong(Settings { load, ..base.clone() });
        assert!(text.ends_with("is not above 0 and at most 1"), "{text}");
    }
    let text = wrong(Settings { arrivals: Arrivals::Bursty(0.5), ..base.clone() });
    assert_eq!(text, "bursts of 0.5 messages: the mean must be 1 or more");
    let text = wrong(Settings { batch: Some(Time::from_ps(399_999)), ..base.clone() });
    assert!(text.contains("shorter than eight times the lookahead of 50 ns"), "{text}");
    let text = wrong(Settings { batch: Some(Time::from_ps(1_000_000_000_000)), ..base });
    assert!(text.contains("longer than 17 s"), "{text}");
}
