//! Work, in numbers that do not depend on the machine.

use flow::{Flow, Fluid, Link, Sharing, Use};
use units::Time;

/// The links from a host to another in a fat tree of leaves with 32 hosts and 32 spines: host h has
/// the links 2h up and 2h + 1 down, port p of leaf l the links 2(1024 + 32 l + p) and the next one.
fn route(from: u32, to: u32) -> Vec<u32> {
    let port = |leaf: u32| 2 * (1024 + 32 * leaf + to % 32);
    let (first, last) = (from / 32, to / 32);
    if first == last {
        vec![2 * from, 2 * to + 1]
    } else {
        vec![2 * from, port(first), port(last) + 1, 2 * to + 1]
    }
}

/// Everyone sends 64 KiB to everyone, one message after the other in steps of 0.3 us. Returns the
/// end and how often a variable was given a level.
fn staggered(ranks: u32) -> (Time, u64) {
    let (bandwidth, latency) = (12.5e9, 500e-9);
    let mut fluid = Fluid::new(vec![Link { bandwidth, sharing: Sharing::Shared }; 4096]);
    let (mut step, mut now, mut done) = (1, Time::ZERO, Vec::new());
    loop {
        let post = (step < ranks).then(|| Time::from_ps(300_000 * u64::from(step)));
        let Some(next) = fluid.next_event().into_iter().chain(post).min() else { break };
        now = next;
        fluid.advance(now, &mut done);
        if Some(now) == post {
            for from in 0..ranks {
                let to = (from + step) % ranks;
                let there = route(from, to);
                let delay = latency * there.len() as f64;
                let back = route(to, from).into_iter().map(|link| Use { link, weight: 0.05 });
                let uses = there.iter().map(|&link| Use { link, weight: 1.0 }).chain(back);
                let flow = Flow {
                    uses: &uses.collect::<Vec<_>>(),
                    penalty: delay + 8775.0 / bandwidth * there.len() as f64,
                    bound: f64::min(bandwidth, 4_194_304.0 / (2.0 * delay)),
                    factor: 0.940_694,
                    latency: Time::from_ps(5_821_800 * there.len() as u64),
                    work: 65_552.0,
                };
                fluid.start(now, &flow, 0);
            }
            step += 1;
        }
    }
    assert_eq!(done.len() as u32, ranks * (ranks - 1));
    (now, fluid.fixes())
}

#[test]
fn a_staggered_exchange_does_not_give_every_flow_a_level_at_every_event() {
    // 9120 and 36 672 flows end at some 1700 and 3400 moments. Were each of those that are left
    // looked at each time, that would be 9120 · 1700 / 2 and 36 672 · 3400 / 2: 8 and 62 million.
    // A flow changes what limits it some dozen times. The ends are those of the solver that looked
    // at each flow each time.
    for (ranks, end) in [(96, 592_143_159), (192, 1_167_785_374)] {
        let (now, fixes) = staggered(ranks);
        assert_eq!(now.ps(), end);
        let flows = u64::from(ranks * (ranks - 1));
        assert!(fixes < 30 * flows, "{fixes} for {flows} flows");
    }
}
