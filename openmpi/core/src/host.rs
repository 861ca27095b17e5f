//! The scheduler of a host in a process: the policy, over finishing times that the processes of the
//! host share.

use std::sync::atomic::Ordering;

use rails::{MOST_RAILS, Message, Parameters, Policy, Scheduler, Stripes, Ticks};
use rustix::time::{ClockId, clock_gettime};

use crate::{Error, rail::Rail, segment::Segment};

/// The rails of a host.
#[derive(Debug)]
pub struct Host {
    scheduler: Scheduler,
    rails: Vec<Rail>,
    /// False for policies that give rails their turns: these are kept by each process.
    by_time: bool,
    segment: Segment,
    /// The times of a byte on each rail in the last intervals, in nanoseconds, and how many
    /// intervals there were.
    recent: [([f64; INTERVALS], usize); MOST_RAILS],
}

/// A rail is judged by the best of so many intervals: a process that had to wait for a processor
/// makes one slow, but not all.
const INTERVALS: usize = 8;

/// A rail counts as slower than its parameters say beyond this factor: the time of some thousand
/// bytes varies with what processes are doing at either end.
const SLOWER: f64 = 2.0;

/// No rail is busy for longer than this, about an hour.
const FAR: Ticks = 1 << 52;

impl Host {
    /// The rails of a host with the policy of this name: one of the simulation's, or `single:` and
    /// the name of a rail.
    pub fn new(rails: &[Rail], policy: &str, segment: Segment) -> Result<Self, Error> {
        let policy = named(policy, rails)?;
        let parameters: Vec<_> = rails.iter().map(Rail::parameters).collect();
        let scheduler = Scheduler::new(&parameters, policy, Stripes::None);
        Ok(Self {
            scheduler,
            rails: rails.to_vec(),
            by_time: policy.compares_times(),
            segment,
            recent: [([0.0; INTERVALS], 0); MOST_RAILS],
        })
    }

    /// Chooses the rail of a message whose send begins now. `usable` has a bit for each rail that
    /// leads to the destination; `turn` belongs to the destination, and is 0 at its start.
    pub fn choose(&mut self, bytes: u64, usable: u8, turn: &mut u8) -> u8 {
        self.choose_at(Message { now: now(), bytes, usable }, turn)
    }

    fn choose_at(&mut self, message: Message, turn: &mut u8) -> u8 {
        if !self.by_time {
            return self.scheduler.choose(message, turn);
        }
        loop {
            let before: [Ticks; MOST_RAILS] =
                std::array::from_fn(|rail| self.segment.finish.0[rail].load(Ordering::Acquire));
            for (rail, parameters) in self.rails.iter().enumerate() {
                let slower = self.segment.slower.0[rail].load(Ordering::Relaxed);
                let rate = if slower == 0 { parameters.gap_per_byte } else { slower };
                // A time that far ahead is from before the clock began again.
                let is_old = before[rail] > message.now.saturating_add(FAR);
                self.scheduler.set(rail as u8, if is_old { 0 } else { before[rail] }, rate);
            }
            let rail = self.scheduler.choose(message, turn);
            let place = usize::from(rail);
            let (old, new) = (before[place], self.scheduler.finish(rail));
            let finish = &self.segment.finish.0[place];
            // Another process may have used the rail in between: then all is compared again.
            if finish.compare_exchange(old, new, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
                return rail;
            }
        }
    }

    /// Notes that a rail carries bytes that nobody asked it about, those of a large message.
    pub fn used(&self, rail: u8, bytes: u64) {
        let Some(known) = self.rails.get(usize::from(rail)) else { return };
        let (now, busy) = (now(), known.parameters().busy(bytes));
        let finish = &self.segment.finish.0[usize::from(rail)];
        let later = |old: Ticks| {
            let start = if old > now.saturating_add(FAR) { now } else { old.max(now) };
            Some(start.saturating_add(busy))
        };
        let _ = finish.fetch_update(Ordering::AcqRel, Ordering::Relaxed, later);
    }

    /// Returns the part of a large message that each usable rail should carry, so that all parts
    /// arrive at the same time over idle rails. The parts add up to 1.
    #[must_use]
    pub fn shares(&self, bytes: u64, usable: u8) -> [f64; MOST_RAILS] {
        let current = |(rail, known): (usize, &Rail)| {
            let slower = self.segment.slower.0[rail].load(Ordering::Relaxed);
            let rate = if slower == 0 { known.gap_per_byte } else { slower };
            Parameters { gap_per_byte: rate, ..known.parameters() }
        };
        let parameters: Vec<Parameters> = self.rails.iter().enumerate().map(current).collect();
        let mut idle = Scheduler::new(&parameters, Policy::Delivery, Stripes::WaterFilling);
        let mut shares = [0.0; MOST_RAILS];
        for part in &*idle.split(Message { now: 0, bytes: bytes.max(1), usable }, &mut 0) {
            shares[usize::from(part.rail)] = part.bytes as f64 / bytes.max(1) as f64;
        }
        shares
    }

    /// Notes that a rail was given a message, and returns how many bytes the processes of the host
    /// have given it.
    pub fn count(&self, rail: u8, bytes: u64) -> u64 {
        let all = self.segment.bytes.0.get(usize::from(rail));
        all.map_or(0, |all| all.fetch_add(bytes, Ordering::Relaxed).wrapping_add(bytes))
    }

    /// Returns whether a rail was found to be slower than its parameters say.
    #[must_use]
    pub fn is_slower(&self, rail: u8) -> bool {
        let slower = self.segment.slower.0.get(usize::from(rail));
        slower.is_some_and(|slower| slower.load(Ordering::Relaxed) != 0)
    }

    /// Notes how long a byte has taken on a rail that was busy all the time, in nanoseconds.
    pub fn measured(&mut self, rail: u8, per_byte: f64) {
        let Some(known) = self.rails.get(usize::from(rail)) else { return };
        let expected = known.gap_per_byte as f64 / (1_u64 << 20) as f64;
        let (recent, count) = &mut self.recent[usize::from(rail)];
        recent[*count % INTERVALS] = per_byte;
        *count += 1;
        let best = recent.iter().copied().fold(f64::MAX, f64::min);
        let slower = if best > SLOWER * expected { crate::rail::per_byte(best) } else { 0 };
        self.segment.slower.0[usize::from(rail)].store(slower, Ordering::Relaxed);
    }

    /// Returns the bytes that a rail has still to take, as far as the scheduler knows.
    #[must_use]
    pub fn backlog(&self, rail: u8) -> u64 {
        let Some(known) = self.rails.get(usize::from(rail)) else { return 0 };
        let finish = self.segment.finish.0[usize::from(rail)].load(Ordering::Relaxed);
        let ahead = u128::from(finish.saturating_sub(now()));
        u64::try_from((ahead << 10) / u128::from(known.gap_per_byte.max(1))).unwrap_or(u64::MAX)
    }

    /// Returns how many bytes beside the backlog may be on their way over a rail without a
    /// confirmation: `least`, and twice what it takes in a round trip.
    #[must_use]
    pub fn limit(&self, rail: u8, least: u64) -> u64 {
        let Some(rail) = self.rails.get(usize::from(rail)) else { return least };
        let way = u128::from(rail.parameters().way());
        let bytes = ((4 * way) << 10) / u128::from(rail.gap_per_byte.max(1));
        least.saturating_add(u64::try_from(bytes).unwrap_or(u64::MAX))
    }
}

/// Returns the policy of a name.
fn named(name: &str, rails: &[Rail]) -> Result<Policy, Error> {
    let known = || rails.iter().map(Rail::name).collect::<Vec<_>>();
    if let Some(single) = name.strip_prefix("single:") {
        let place = rails.iter().position(|rail| rail.name() == single);
        return place.map(|place| Policy::Single(place as u8)).ok_or_else(|| {
            Error::new(format!("there is no rail `{single}`; there are {}", known().join(", ")))
        });
    }
    Policy::named(name).ok_or_else(|| {
        let names: Vec<&str> = Policy::NAMES.iter().map(|(name, _)| *name).collect();
        let near = units::nearest(name, &names);
        let near = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
        let names = names.join(", ");
        Error::new(format!("there is no policy `{name}`{near} (known: single:NAME, {names})"))
    })
}

/// Returns the time in the scheduler's units. All processes of a host see the same clock; it starts
/// when the host does, and 2^64 units are 208 days, after which it begins again.
fn now() -> Ticks {
    let time = clock_gettime(ClockId::Monotonic);
    let nanoseconds = time.tv_sec.cast_unsigned().wrapping_mul(1_000_000_000);
    (nanoseconds.wrapping_add(time.tv_nsec.cast_unsigned()) % (u64::MAX >> 10)) << 10
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rails of 1 and of 10 ns/B, without any other cost.
    fn two() -> [Rail; 2] {
        ["fast", "slow"].map(|name| {
            let rate = if name == "fast" { 1 << 20 } else { 10 << 20 };
            Rail { gap_per_byte: rate, ..Rail::named(name) }
        })
    }

    fn message(bytes: u64) -> Message {
        Message { now: 0, bytes, usable: 3 }
    }

    /// Messages of 1001 bytes take 1 and 10 us. The tenth on the fast rail would arrive as early as
    /// the first on the slow one, and equals take the first; the eleventh takes the slow one.
    #[test]
    fn processes_share_how_busy_rails_are() {
        let name = format!("/heddle-test-host-{}", std::process::id());
        let [mut one, mut other] = [(), ()]
            .map(|()| Host::new(&two(), "vft", Segment::shared(&name, 2).unwrap()).unwrap());
        let hosts = (0..12).map(|turn| {
            let host = if turn % 2 == 0 { &mut one } else { &mut other };
            host.choose_at(message(1001), &mut 0)
        });
        assert_eq!(hosts.collect::<Vec<_>>(), [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0]);
    }

    #[test]
    fn a_rail_that_has_become_slower_takes_less_until_it_is_fast_again() {
        let mut host = Host::new(&two(), "vft", Segment::own()).unwrap();
        // All of the last eight intervals must be slow.
        host.measured(0, 1.9);
        (0..7).for_each(|_| host.measured(0, 40.0));
        assert!(!host.is_slower(0));
        host.measured(0, 40.0);
        assert!(host.is_slower(0));
        assert_eq!(host.choose_at(message(1001), &mut 0), 1);
        host.measured(0, 1.1);
        assert_eq!(host.choose_at(message(1001), &mut 0), 0);
    }

    #[test]
    fn policies_that_take_turns_use_no_times() {
        let mut host = Host::new(&two(), "round-robin", Segment::own()).unwrap();
        let taken = [(); 4].map(|()| host.choose_at(message(1), &mut 0));
        assert_eq!(taken, [0, 1, 0, 1]);
        assert_eq!(host.segment.finish.0[0].load(Ordering::Relaxed), 0);
    }

    #[test]
    fn times_from_before_the_clock_began_again_count_as_past() {
        let mut host = Host::new(&two(), "vft", Segment::own()).unwrap();
        host.segment.finish.0[0].store(u64::MAX, Ordering::Relaxed);
        assert_eq!(host.choose_at(message(1001), &mut 0), 0);
    }

    /// 70 kB over rails of 8 and 80 ns/B with ways of 50 and 250 us: T = 50 + 8 a = 250 + 80 b with
    /// a + b = 70000, so that b = 360000/88 = 4090.9 bytes. Up to 25 kB the slow rail takes
    /// nothing.
    #[test]
    fn large_messages_are_split_so_that_all_parts_arrive_together() {
        let mut rails = two();
        for (rail, way) in rails.iter_mut().zip([50_000 << 10, 250_000 << 10]) {
            rail.gap_per_byte *= 8;
            rail.latency = way;
        }
        let host = Host::new(&rails, "vft", Segment::own()).unwrap();
        let [fast, slow, ..] = host.shares(70_000, 3);
        assert!((slow * 70_000.0 - 4090.9).abs() < 2.0, "{slow}");
        assert!((fast + slow - 1.0).abs() < 1e-12);
        assert_eq!(host.shares(24_900, 3)[..2], [1.0, 0.0]);
        assert_eq!(host.shares(70_000, 2)[..2], [0.0, 1.0]);
    }

    #[test]
    fn small_messages_see_that_a_rail_carries_large_ones() {
        let mut host = Host::new(&two(), "vft", Segment::own()).unwrap();
        host.used(0, 1 << 40);
        let mut choose = || host.choose(1000, 3, &mut 0);
        assert_eq!(choose(), 1);
    }

    #[test]
    fn bytes_of_all_processes_are_counted_together() {
        let host = Host::new(&two(), "vft", Segment::own()).unwrap();
        assert_eq!([host.count(1, 5), host.count(1, 6), host.count(0, 1)], [5, 11, 1]);
    }

    /// 2 us both ways at 1 ns/B: 8000 bytes in two round trips.
    #[test]
    fn the_limit_is_two_round_trips_more_than_the_least() {
        let rail = Rail { latency: 2000 << 10, gap_per_byte: 1 << 20, ..Rail::named("x") };
        let host = Host::new(&[rail], "vft", Segment::own()).unwrap();
        assert_eq!(host.limit(0, 131_072), 131_072 + 8000);
        assert_eq!(host.limit(MOST_RAILS as u8, 1), 1);
    }

    #[test]
    fn mistakes_name_what_is_known() {
        let error = |policy| Host::new(&two(), policy, Segment::own()).unwrap_err().to_string();
        assert!(error("vtf").starts_with("there is no policy `vtf`; did you mean `vft`?"));
        assert_eq!(error("single:x"), "there is no rail `x`; there are fast, slow");
    }
}
