//! The scheduler of a host in a process: the policy, over finishing times that the processes of the
//! host share.

use std::sync::atomic::Ordering;

use rails::{MOST_RAILS, Message, Parameters, Policy, Scheduler, Stripes, Ticks};
use rustix::time::{ClockId, clock_gettime};

use crate::{
    Error,
    rail::{MOST_PER_BYTE, Rail},
    segment::Segment,
};

/// The rails of a host.
#[derive(Debug)]
pub struct Host {
    scheduler: Scheduler,
    rails: Vec<Rail>,
    /// False for policies that give rails their turns: these are kept by each process.
    by_time: bool,
    segment: Segment,
    /// The time at which this process, and who receives from it, could turn to another message.
    free: Ticks,
    /// The rail of the last message.
    last: u8,
}

/// The state that the scheduler keeps for a destination; zeros at first.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Toward {
    /// The time by which the messages arrive that another one may overtake.
    pub arrives: Ticks,
    /// The rail of the last message.
    pub rail: u8,
    /// The counter of policies that give rails their turns.
    pub turn: u8,
}

/// A rail counts as slower than its parameters say beyond this factor: the time of some thousand
/// bytes varies with what processes are doing at either end.
const SLOWER: f64 = 2.0;

/// A confirmation costs a message each way, some 20 us of a processor at either end: no rail has
/// one more often than this, 5 ms.
const CONFIRMED_EVERY: Ticks = 5_000_000 << 10;

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
            free: 0,
            last: 0,
        })
    }

    /// Chooses the rail of a message whose send begins now. `usable` has a bit for each rail that
    /// leads to the destination, to which `toward` belongs.
    pub fn choose(&mut self, bytes: u64, usable: u8, toward: &mut Toward) -> u8 {
        self.choose_at(Message { now: now(), bytes, usable }, toward)
    }

    /// A send begins when the message before it is off this process's hands and off the
    /// receiver's, which the clock does not show: it may lie in the buffers of a transport. A
    /// message that changes rails takes its `change` of the processors. One that follows another on
    /// a rail is gathered with it and takes no longer than the rail is busy. So small messages,
    /// which keep a rail busy for less than a change takes, find their rail free again, and stay:
    /// a second rail brings something only where g + G(s-1) > o, as in the thesis.
    fn choose_at(&mut self, message: Message, toward: &mut Toward) -> u8 {
        if !self.by_time {
            return self.scheduler.choose(message, &mut toward.turn);
        }
        let free = if is_old(self.free, message.now) { 0 } else { self.free };
        let message = Message { now: message.now.max(free), ..message };
        let rail = self.earliest(message, toward);
        let taken = &self.rails[usize::from(rail)];
        let busy = taken.parameters().busy(message.bytes);
        let takes = if rail == self.last { taken.change.min(busy) } else { taken.change };
        (self.free, self.last) = (message.now.saturating_add(takes), rail);
        rail
    }

    /// Asks a policy that compares times, and notes that the rail is busy.
    ///
    /// A message that overtakes the one before it to the same process waits for it there, as MPI
    /// delivers them in order. So it stays on that one's rail unless this makes the delivery later
    /// by more than a change of rails takes. Messages that stay so do not count as those that the
    /// next one overtakes: together they wait no longer than that.
    fn earliest(&mut self, message: Message, toward: &mut Toward) -> u8 {
        let mut usable = message.usable;
        loop {
            let before = self.finish();
            let is_old = |time| is_old(time, message.now);
            let finish = before.map(|finish| if is_old(finish) { 0 } else { finish });
            for (rail, finish) in (0..).zip(finish).take(self.rails.len()) {
                self.scheduler.set(rail, finish, self.rate(rail));
            }
            let rail = self.scheduler.choose(Message { usable, ..message }, &mut toward.turn);
            let place = usize::from(rail);
            let arrival = |rail: u8| self.arrival(&message, rail, finish[usize::from(rail)]);
            if is_old(toward.arrives) {
                toward.arrives = 0;
            }
            let last = toward.rail;
            let stays = usable != message.usable;
            let may_stay = !stays && rail != last && usable >> last & 1 == 1;
            if may_stay && arrival(rail) < toward.arrives {
                let change = self.rails[place].change;
                if arrival(last) <= toward.arrives.saturating_add(change) {
                    usable = 1 << last;
                    continue;
                }
            }
            let new = self.scheduler.finish(rail);
            let shared = &self.segment.finish.0[place];
            // Another process may have used the rail in between: then all is compared again.
            let ordering = (Ordering::AcqRel, Ordering::Relaxed);
            if shared.compare_exchange(before[place], new, ordering.0, ordering.1).is_ok() {
                if !stays {
                    toward.arrives = toward.arrives.max(arrival(rail));
                }
                toward.rail = rail;
                return rail;
            }
        }
    }

    /// Returns the times by which rails have finished what they have to do.
    fn finish(&self) -> [Ticks; MOST_RAILS] {
        std::array::from_fn(|rail| self.segment.finish.0[rail].load(Ordering::Acquire))
    }

    /// Returns the rail that a large message takes if its data is asked for now. Nothing is noted:
    /// [`Host::taken`] tells when it was.
    #[must_use]
    pub fn next(&self, bytes: u64, usable: u8, turn: u8) -> u8 {
        let message = Message { now: now(), bytes, usable };
        if !self.by_time {
            return self.scheduler.clone().choose(message, &mut { turn });
        }
        let arrival = |(rail, finish): &(u8, Ticks)| {
            let finish = if is_old(*finish, message.now) { 0 } else { *finish };
            self.arrival(&message, *rail, finish)
        };
        let rails = (0..).zip(self.finish()).filter(|(rail, _)| usable >> rail & 1 == 1);
        rails.min_by_key(arrival).map_or(0, |(rail, _)| rail)
    }

    /// Notes that a large message takes the rail that [`Host::next`] named.
    pub fn taken(&mut self, rail: u8, bytes: u64, usable: u8, turn: &mut u8) {
        if self.by_time {
            self.used(rail, bytes);
        } else {
            self.scheduler.choose(Message { now: now(), bytes, usable }, turn);
        }
    }

    /// Returns when a message arrives over a rail that has finished what it has to do by `finish`.
    fn arrival(&self, message: &Message, rail: u8, finish: Ticks) -> Ticks {
        let known =
            self.rails.get(usize::from(rail)).map_or_else(Default::default, Rail::parameters);
        let known = Parameters { gap_per_byte: self.rate(rail), ..known };
        message.now.max(finish).saturating_add(known.delivery(message.bytes))
    }

    /// Notes that a rail carries bytes that nobody asked it about, those of a large message.
    pub fn used(&self, rail: u8, bytes: u64) {
        let Some(known) = self.rails.get(usize::from(rail)) else { return };
        let (now, busy) = (now(), known.parameters().busy(bytes));
        let finish = &self.segment.finish.0[usize::from(rail)];
        let later = |old: Ticks| {
            let start = if is_old(old, now) { now } else { old.max(now) };
            Some(start.saturating_add(busy))
        };
        let _ = finish.fetch_update(Ordering::AcqRel, Ordering::Relaxed, later);
    }

    /// Returns the part of a large message that each usable rail should carry, so that all parts
    /// arrive at the same time over idle rails. The parts add up to 1.
    #[must_use]
    pub fn shares(&self, bytes: u64, usable: u8) -> [f64; MOST_RAILS] {
        let current = |(rail, known): (usize, &Rail)| Parameters {
            gap_per_byte: self.rate(rail as u8),
            ..known.parameters()
        };
        let parameters: Vec<Parameters> = self.rails.iter().enumerate().map(current).collect();
        let mut idle = Scheduler::new(&parameters, Policy::Delivery, Stripes::WaterFilling);
        let mut shares = [0.0; MOST_RAILS];
        for part in &*idle.split(Message { now: 0, bytes: bytes.max(1), usable }, &mut 0) {
            shares[usize::from(part.rail)] = part.bytes as f64 / bytes.max(1) as f64;
        }
        shares
    }

    /// Returns whether a rail was found to be slower than its parameters say.
    #[must_use]
    pub fn is_slower(&self, rail: u8) -> bool {
        let slower = self.segment.slower.0.get(usize::from(rail));
        slower.is_some_and(|slower| slower.load(Ordering::Relaxed) != 0)
    }

    /// Returns what a byte takes on a rail, as far as is known.
    #[must_use]
    pub fn rate(&self, rail: u8) -> u64 {
        let place = usize::from(rail);
        match self.segment.slower.0.get(place).map_or(0, |slower| slower.load(Ordering::Relaxed)) {
            0 => self.rails.get(place).map_or(0, |rail| rail.gap_per_byte),
            slower => slower,
        }
    }

    /// Notes that bytes take `times` as long on a rail as `rate` says, at least; less than
    /// [`SLOWER`] times may be what processes are doing at either end.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
    pub fn slower(&self, rail: u8, rate: u64, times: f64) {
        let Some(slower) = self.segment.slower.0.get(usize::from(rail)) else { return };
        if times > SLOWER {
            let found = (rate as f64 * times) as u64;
            slower.fetch_max(found.clamp(1, MOST_PER_BYTE), Ordering::Relaxed);
        }
    }

    /// Notes that a rail is as fast as its parameters say.
    pub fn as_fast(&self, rail: u8) {
        if let Some(slower) = self.segment.slower.0.get(usize::from(rail)) {
            slower.store(0, Ordering::Relaxed);
        }
    }

    /// Returns how long a rail is busy, as far as the scheduler knows.
    #[must_use]
    pub fn ahead(&self, rail: u8) -> Ticks {
        let finish = self.segment.finish.0.get(usize::from(rail));
        finish.map_or(0, |finish| finish.load(Ordering::Relaxed)).saturating_sub(now())
    }

    /// Returns the bytes that a rail has still to take, as far as the scheduler knows.
    #[must_use]
    pub fn backlog(&self, rail: u8) -> u64 {
        self.taken_in(rail, self.ahead(rail))
    }

    /// Returns how many bytes should lie between two that are confirmed: `least`, or what the rail
    /// takes in [`CONFIRMED_EVERY`], if that is more.
    #[must_use]
    pub fn spacing(&self, rail: u8, least: u64) -> u64 {
        self.taken_in(rail, CONFIRMED_EVERY).max(least)
    }

    /// Returns how many bytes beside the backlog may be on their way over a rail without a
    /// confirmation: the spacing, and twice what it takes in a round trip.
    #[must_use]
    pub fn limit(&self, rail: u8, least: u64) -> u64 {
        let way = self.rails.get(usize::from(rail)).map_or(0, |rail| rail.parameters().way());
        let bytes = self.taken_in(rail, way.saturating_mul(4));
        self.spacing(rail, least).saturating_add(bytes)
    }

    /// Returns how many bytes a rail takes in a time.
    fn taken_in(&self, rail: u8, time: Ticks) -> u64 {
        let Some(rail) = self.rails.get(usize::from(rail)) else { return 0 };
        let bytes = (u128::from(time) << 10) / u128::from(rail.gap_per_byte.max(1));
        u64::try_from(bytes).unwrap_or(u64::MAX)
    }
}

/// Returns true for a time that far ahead: it is from before the clock began again.
const fn is_old(time: Ticks, now: Ticks) -> bool {
    time > now.saturating_add(FAR)
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

    /// Rails of 9 ns/B, between which a change takes 14 us.
    fn twins() -> [Rail; 2] {
        ["a", "b"].map(|name| Rail {
            gap_per_byte: 9 << 20,
            change: 14_000 << 10,
            ..Rail::named(name)
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
            host.choose_at(message(1001), &mut Toward::default())
        });
        assert_eq!(hosts.collect::<Vec<_>>(), [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0]);
    }

    #[test]
    fn a_rail_that_has_become_slower_takes_less_until_it_is_fast_again() {
        let mut host = Host::new(&two(), "vft", Segment::own()).unwrap();
        host.slower(0, 1 << 20, 2.0);
        assert!(!host.is_slower(0));
        host.slower(0, 1 << 20, 40.0);
        // A time that is known later and shorter is one of the same mark, or of a lesser one.
        host.slower(0, 1 << 20, 3.0);
        assert_eq!([host.rate(0), host.rate(1)], [40 << 20, 10 << 20]);
        assert_eq!(host.choose_at(message(1001), &mut Toward::default()), 1);
        host.slower(0, 40 << 20, f64::INFINITY);
        assert_eq!(host.rate(0), 1_000_000 << 20);
        host.as_fast(0);
        assert!(!host.is_slower(0));
        assert_eq!(host.choose_at(message(1001), &mut Toward::default()), 0);
    }

    /// A message of a thousand million bytes takes 1 and 10 s, beside which the time of the test is
    /// nothing: the tenth on the fast rail would arrive as early as the first on the slow one, and
    /// equals take the first. To look at the next rail changes nothing.
    #[test]
    fn large_messages_count_when_they_are_asked_for() {
        let mut host = Host::new(&two(), "vft", Segment::own()).unwrap();
        let mut turn = 0;
        let mut asked = |host: &mut Host, bytes, usable| {
            let [_, rail] = [(); 2].map(|()| host.next(bytes, usable, turn));
            host.taken(rail, bytes, usable, &mut turn);
            rail
        };
        let bytes = 1_000_000_000;
        let rails = [(); 22].map(|()| asked(&mut host, bytes, 3));
        let row = [[0; 10].as_slice(), &[1]].concat();
        assert_eq!(rails[..], [row.as_slice(), &row].concat());
        assert_eq!(asked(&mut host, bytes, 2), 1);
        let mut host = Host::new(&two(), "round-robin", Segment::own()).unwrap();
        assert_eq!([(); 4].map(|()| asked(&mut host, bytes, 3)), [0, 1, 0, 1]);
    }

    #[test]
    fn policies_that_take_turns_use_no_times() {
        let mut host = Host::new(&two(), "round-robin", Segment::own()).unwrap();
        let taken = [(); 4].map(|()| host.choose_at(message(1), &mut Toward::default()));
        assert_eq!(taken, [0, 1, 0, 1]);
        assert_eq!(host.segment.finish.0[0].load(Ordering::Relaxed), 0);
    }

    #[test]
    fn times_from_before_the_clock_began_again_count_as_past() {
        let mut host = Host::new(&two(), "vft", Segment::own()).unwrap();
        host.segment.finish.0[0].store(u64::MAX, Ordering::Relaxed);
        assert_eq!(host.choose_at(message(1001), &mut Toward::default()), 0);
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
        let mut choose = || host.choose(1000, 3, &mut Toward::default());
        assert_eq!(choose(), 1);
    }

    /// At 100 ns/B 5 ms are 50 000 bytes, and two round trips of 400 us another 8000; at 10 ns/B
    /// they are 500 000 and 80 000.
    #[test]
    fn the_limit_is_two_round_trips_more_than_the_spacing() {
        let rail = |rate: u64| Rail {
            latency: 200_000 << 10,
            gap_per_byte: rate << 20,
            ..Rail::named("x")
        };
        let host = Host::new(&[rail(100), rail(10)], "vft", Segment::own()).unwrap();
        assert_eq!([host.spacing(0, 131_072), host.limit(0, 131_072)], [131_072, 139_072]);
        assert_eq!([host.spacing(1, 131_072), host.limit(1, 131_072)], [500_000, 580_000]);
        assert_eq!(host.limit(MOST_RAILS as u8, 1), 1);
    }

    /// Messages of 1001 bytes keep a rail busy for 9 us, and a change takes 14: they stay. Those of
    /// 2001 bytes keep it busy for 18: the second is sent at 14, when the other rail is free, the
    /// third at 28, when the first is.
    #[test]
    fn messages_that_take_a_rail_for_less_than_a_change_stay() {
        let choices = |bytes: u64| {
            let mut host = Host::new(&twins(), "vft", Segment::own()).unwrap();
            [(); 6].map(|()| host.choose_at(message(bytes), &mut Toward::default()))
        };
        assert_eq!(choices(1001), [0; 6]);
        assert_eq!(choices(2001), [0, 1, 0, 1, 0, 1]);
    }

    /// To different processes: the first is sent at 0 and takes 9 us; that of 10 001 bytes follows
    /// it and keeps the rail busy until 99. The next is sent 14 us later, at 23, and changes rails;
    /// those behind it, at 37, 46 and so on to 91, stay. The one at 100 finds both free, and takes
    /// the first.
    #[test]
    fn messages_leave_a_rail_that_a_large_one_keeps_busy() {
        let mut host = Host::new(&twins(), "vft", Segment::own()).unwrap();
        let sizes = [1001, 10_001, 1001, 1001, 1001, 1001, 1001, 1001, 1001, 1001, 1001];
        let taken = sizes.map(|bytes| host.choose_at(message(bytes), &mut Toward::default()));
        assert_eq!(taken, [0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 0]);
    }

    /// To one process: the third, at 23, would arrive at 32 on the other rail, and wait there for
    /// the second, which arrives at 99. On that one's rail it arrives at 108, less than a change
    /// later. The fourth would arrive at 117, and changes rails; those behind it stay there.
    #[test]
    fn messages_stay_behind_one_that_they_would_wait_for() {
        let mut host = Host::new(&twins(), "vft", Segment::own()).unwrap();
        let mut toward = Toward::default();
        let sizes = [1001, 10_001, 1001, 1001, 1001, 1001, 1001, 1001, 1001, 1001, 1001];
        let taken = sizes.map(|bytes| host.choose_at(message(bytes), &mut toward));
        assert_eq!(taken, [0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1]);
    }

    /// Nine messages of 4097 bytes take 33 us each on a rail of 8 ns/B, and arrive until 345. A
    /// byte behind them, sent at 126, would arrive at 326 on a rail of 200 us, and wait there. To
    /// another process it takes that rail.
    #[test]
    fn the_end_of_a_burst_does_not_overtake_it() {
        let rail = |name, rate: u64, latency: u64| Rail {
            gap_per_byte: rate << 20,
            latency: latency << 10,
            change: 14_000 << 10,
            ..Rail::named(name)
        };
        let rails = [rail("fast", 8, 50_000), rail("slow", 80, 200_000)];
        let mut host = Host::new(&rails, "vft", Segment::own()).unwrap();
        let mut toward = Toward::default();
        let burst = [(); 9].map(|()| host.choose_at(message(4097), &mut toward));
        assert_eq!(burst, [0; 9]);
        assert_eq!(host.choose_at(message(1), &mut toward), 0);
        assert_eq!(host.choose_at(message(1), &mut Toward::default()), 1);
    }

    #[test]
    fn mistakes_name_what_is_known() {
        let error = |policy| Host::new(&two(), policy, Segment::own()).unwrap_err().to_string();
        assert!(error("vtf").starts_with("there is no policy `vtf`; did you mean `vft`?"));
        assert_eq!(error("single:x"), "there is no rail `x`; there are fast, slow");
    }
}
