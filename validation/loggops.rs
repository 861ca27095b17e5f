//! Published figures of LogGOPS simulations.
//!
//! Source: "seed 000", a master's thesis on coupling LogGOPSim with a model of InfiniBand. Its
//! section 3.1 has a schedule that its section 2.2 lets one compute by hand; its sections 5.2.4 and
//! its appendices D and E have a schedule, parameters, and the times of all messages.

use host::{Record, Settings, simulate, simulate_loggopsim};
use kernel::{Probe, Silent};
use loggops::{Costs, Inject, Parameters};
use schedule::goal::Image;
use units::{Time, TimePerByte};

fn image(text: &str) -> Image {
    Image::from_text(text.as_bytes()).unwrap_or_else(|errors| panic!("{errors:?}")).0
}

/// Figure 3.1.1 under LogGOPSim's default parameters: 100 + 2500 + 1500 + 1500 + 9 * 6 = 5654 ns.
#[test]
fn an_exchange_of_ten_bytes() {
    let rank = |peer: u32| {
        format!(
            "{{ l1: calc 100 l2: send 10b to {peer} tag 0 l3: recv 10b from {peer} tag 0
            l2 requires l1 }}"
        )
    };
    let program = image(&format!("num_ranks 2 rank 0 {} rank 1 {}", rank(1), rank(0)));
    let settings = Settings::default();
    let (outcome, _) = simulate(&program, &settings, || Silent).expect("it runs");
    let (compat, _) = simulate_loggopsim(&program, &settings, Silent).expect("it runs");
    for outcome in [outcome, compat] {
        let finish: Vec<u64> = outcome.ranks.iter().map(|rank| rank.finish.ps()).collect();
        assert_eq!(finish, [5_654_000, 5_654_000]);
    }
}

/// Appendix E: when each message started to travel and when it arrived, in picoseconds.
const MESSAGES: [(u64, u64); 20] = [
    (73_000_000, 291_286_850),
    (361_286_850, 578_853_250),
    (642_853_250, 861_134_500),
    (925_134_500, 1_143_278_250),
    (1_206_278_250, 1_424_530_600),
    (1_488_530_600, 1_706_190_750),
    (1_770_190_750, 1_988_334_500),
    (2_052_334_500, 2_270_440_750),
    (2_334_440_750, 2_552_647_000),
    (2_616_647_000, 2_834_818_100),
    (2_898_818_100, 3_116_447_000),
    (3_180_447_000, 3_398_755_600),
    (3_462_755_600, 3_680_384_500),
    (3_744_384_500, 3_962_734_500),
    (4_026_734_500, 4_244_772_000),
    (4_308_772_000, 4_527_049_350),
    (4_591_049_350, 4_808_647_000),
    (4_872_647_000, 5_090_928_250),
    (5_154_928_250, 5_373_249_350),
    (5_437_249_350, 5_654_847_000),
];

/// The times when messages started to travel and arrived.
#[derive(Default)]
struct Times(Vec<u64>);

impl Probe<Record> for Times {
    const LISTENS: bool = true;

    fn record(&mut self, record: Record) {
        match record {
            Record::Sent { injected: at, .. } | Record::Delivered { at, .. } => {
                self.0.push(at.ps());
            }
            _ => {}
        }
    }
}

/// `ltest`: o = 55 us at either end, g = G = 0 (section 5.2.4). The messages of 400 000 B start to
/// travel when their sends do. What the InfiniBand model adds, about 218 us, is L here, as the mean
/// of the 20 times in the log. So single messages may be early or late by what they differ from the
/// mean, at most 0.6 us, which adds up to less than 1 us on the way; both processes end when the
/// thesis says, but for the rounding of the mean.
#[test]
fn ltest() {
    let travelled: u64 = MESSAGES.iter().map(|(start, end)| end - start).sum();
    let overhead = Time::from_ps(55_000_000);
    let costs = Costs {
        latency: Time::from_ps(travelled / 20),
        send_overhead: overhead,
        receive_overhead: overhead,
        gap: Time::ZERO,
        gap_per_byte: TimePerByte::ZERO,
        send_overhead_per_byte: TimePerByte::ZERO,
        receive_overhead_per_byte: TimePerByte::ZERO,
    };
    let parameters =
        Parameters { small: costs, large: costs, inject: Inject::Start, ..Parameters::default() };
    let settings = Settings { parameters, time_unit: Time::from_ps(1), ..Settings::default() };
    let program = image(include_str!("../examples/ltest.goal"));
    let (outcome, probes) = simulate(&program, &settings, Times::default).expect("it runs");
    for (rank, published) in outcome.ranks.iter().zip([12_478_847_000, 12_454_847_000]) {
        assert!(rank.finish.ps().abs_diff(published) <= 20, "{} for {published}", rank.finish);
    }
    let mut times: Vec<u64> = probes.into_iter().flat_map(|probe| probe.0).collect();
    times.sort_unstable();
    let published = MESSAGES.iter().flat_map(|(start, end)| [*start, *end]);
    assert_eq!(times.len(), 40);
    for (time, published) in times.into_iter().zip(published) {
        assert!(time.abs_diff(published) < 1_000_000, "{time} for {published}");
    }
}
