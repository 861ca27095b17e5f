//! The policy `vft` beside the best schedule that there is, which is found by trying all.

use rails::{Message, Parameters, Policy, Scheduler, Stripes};

/// A host that has all messages at once: its CPU begins one after the other, and each rail takes
/// them as fast as it can. Returns when the last is delivered.
fn makespan(
    rails: &[Parameters],
    sizes: &[u64],
    mut rail_of: impl FnMut(u64, u64) -> usize,
) -> u64 {
    let (mut now, mut last) = (0, 0);
    let mut free = vec![0; rails.len()];
    for &bytes in sizes {
        let number = rail_of(now, bytes);
        let rail = &rails[number];
        let start = now.max(free[number]);
        free[number] = start + rail.busy(bytes);
        last = last.max(start + rail.delivery(bytes));
        now += rail.send_overhead;
    }
    last
}

fn by_policy(rails: &[Parameters], sizes: &[u64]) -> u64 {
    let (mut scheduler, mut turn) = (Scheduler::new(rails, Policy::Delivery, Stripes::None), 0);
    makespan(rails, sizes, |now, bytes| {
        scheduler.choose(Message { now, bytes, usable: u8::MAX }, &mut turn).into()
    })
}

/// The best of all assignments, and one that reaches it.
fn best(rails: &[Parameters], sizes: &[u64]) -> (u64, Vec<usize>) {
    let count = rails.len();
    let all = count.pow(sizes.len() as u32);
    let assignment = |mut code: usize| -> Vec<usize> {
        let digit = |_| {
            let digit = code % count;
            code /= count;
            digit
        };
        (0..sizes.len()).map(digit).collect()
    };
    let tried = (0..all).map(|code| {
        let rails_of = assignment(code);
        let mut next = rails_of.iter().copied();
        (makespan(rails, sizes, |_, _| next.next().unwrap_or(0)), code)
    });
    let (time, code) = tried.min().expect("an assignment");
    (time, assignment(code))
}

/// A sequence of numbers that looks random.
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state >> 33
}

fn machines(seed: u64, count: usize, same_overhead: bool) -> Vec<Parameters> {
    let mut state = seed;
    let common = random(&mut state) % 3000;
    let rail = |_| {
        let mut ns = |most: u64| (random(&mut state) % most) << 10;
        let (own, latency, gap) = (ns(3000), ns(20_000), ns(5000));
        let overhead = if same_overhead { common << 10 } else { own };
        let gap_per_byte = 1 << (10 + random(&mut state) % 14);
        let (send_overhead, receive_overhead) = (overhead, overhead);
        Parameters { send_overhead, receive_overhead, latency, gap, gap_per_byte, weight: 0 }
    };
    (0..count).map(rail).collect()
}

/// On 2 and 3 rails of the same overhead, with up to 12 messages: within one message's time of the
/// slowest rail that the best schedule uses, and never behind the best rail alone.
#[test]
fn near_the_best_schedule() {
    let mut split = 0;
    for seed in 0..120 {
        let mut state = seed + 1000;
        let rails = machines(seed, 2 + (seed % 2) as usize, true);
        let count = if rails.len() == 2 { 3 + seed as usize % 10 } else { 3 + seed as usize % 6 };
        let size = 1 + random(&mut state) % 100_000;
        let sizes = vec![size; count];
        let (own, (time, rail_of)) = (by_policy(&rails, &sizes), best(&rails, &sizes));
        let slowest = rail_of.iter().map(|&rail| rails[rail].delivery(size)).max().unwrap_or(0);
        assert!(own <= time + slowest, "seed {seed}: {own} for {time}");
        split += usize::from(rail_of.iter().any(|&rail| rail != rail_of[0]));
        for rail in 0..rails.len() {
            let single = makespan(&rails, &sizes, |_, _| rail);
            assert!(own <= single, "seed {seed}: {own} for {single} by rail {rail} alone");
        }
    }
    assert!(split > 40, "the best schedule uses several rails in {split} cases");
}

/// Water-filled parts of 64 KiB and more end within 1 % of the bound at which all rails would be
/// done if nothing were lost to whole bytes.
#[test]
fn water_filling_reaches_the_bound() {
    for seed in 0..200 {
        let rails = machines(seed, 2 + (seed % 7) as usize, false);
        let mut state = seed;
        let bytes = 65_536 + random(&mut state) % 10_000_000;
        let mut scheduler = Scheduler::new(&rails, Policy::Delivery, Stripes::WaterFilling);
        let parts = scheduler.split(Message { now: 0, bytes, usable: u8::MAX }, &mut 0);
        assert_eq!(parts.iter().map(|part| part.bytes).sum::<u64>(), bytes);
        let (mut now, mut ends) = (0, Vec::new());
        // T of all parts, as the water level has it, with rational shares.
        let (mut constant, mut rates) = (0.0, 0.0);
        for part in parts.iter() {
            let rail = &rails[usize::from(part.rail)];
            let start = (now + rail.way() + rail.gap) as f64;
            ends.push(start + rail.bandwidth(part.bytes) as f64);
            let per_byte = rail.gap_per_byte as f64 / 1024.0;
            constant += start / per_byte - 1.0;
            rates += 1.0 / per_byte;
            now += rail.send_overhead;
        }
        let bound = (bytes as f64 + constant) / rates;
        let last = ends.iter().copied().fold(0.0, f64::max);
        assert!(last <= bound * 1.01, "seed {seed}: {last} for {bound}");
    }
}
