//! The steps of a measurement, and their order.
//!
//! A short pilot run finds how long messages take. From that follow the waits between messages,
//! which have to be clear of the gap, and how often everything is repeated within the time. Within
//! a repetition the order is random, so that a drift does not become a trend over the size.

use std::{collections::BTreeMap, fmt::Write as _};

use kernel::Random;
use samples::Operation;

/// The purpose of the random numbers that order steps.
const ORDER: u32 = 7;

/// The operations that programs know, in the order of their numbers on the wire.
pub const OPERATIONS: &[Operation] = &[
    Operation::RoundTrip,
    Operation::Send,
    Operation::Isend,
    Operation::Receive,
    Operation::ReceiveBusy,
    Operation::PingPong,
    Operation::Exchange,
    Operation::Touch,
    Operation::First,
    Operation::ALLREDUCE,
];

/// Those of streams, which have neither non-blocking sends nor collectives.
pub const STREAM: &[Operation] = &[
    Operation::RoundTrip,
    Operation::Send,
    Operation::Receive,
    Operation::ReceiveBusy,
    Operation::PingPong,
    Operation::Exchange,
    Operation::First,
];

/// Those of pairs among many hosts: what L, o, g, G, O and S follow from.
pub const PAIRS: &[Operation] = &[Operation::RoundTrip];

/// Those of one of these pairs by itself: what the model of flows takes besides.
pub const CALLS: &[Operation] = &[Operation::Send, Operation::Isend, Operation::Receive];

/// One measurement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The operation.
    pub operation: Operation,
    /// The number of messages.
    pub messages: u32,
    /// The wait between them, in nanoseconds.
    pub wait: u64,
    /// The size of each, in bytes.
    pub bytes: u64,
    /// The number of the repetition; none if it is a warm-up, whose time is not kept.
    pub repetition: Option<u32>,
}

impl Step {
    const fn new(operation: Operation, messages: u32, wait: u64, bytes: u64) -> Self {
        Self { operation, messages, wait, bytes, repetition: None }
    }

    /// Returns the fields of `samples.csv` that say what was measured, but for the run.
    pub fn fields(&self) -> String {
        let Self { messages, wait, bytes, .. } = self;
        let repetition = self.repetition.map_or(-1, i64::from);
        format!("{},{messages},{wait},{bytes},{repetition}", self.operation)
    }
}

/// Returns the text of a plan that the programs read.
pub fn text(steps: &[Step]) -> String {
    steps.iter().fold(String::new(), |mut text, step| {
        let _ = writeln!(text, "{}", step.fields().replace(',', " "));
        text
    })
}

/// The number of messages of a train.
const TRAIN: u32 = 16;
/// Trains are of messages up to this size.
const LONGEST_TRAIN: u64 = 65_536;
/// Costs of single calls are measured up to this size, round trips up to [`SIZES`]' last.
const LARGEST_CALL: u64 = 131_072;

/// The sizes of messages.
const SIZES: [u64; 22] = [
    1, 64, 256, 512, 1024, 2048, 3072, 4096, 6144, 8192, 12_288, 16_384, 24_576, 32_768, 49_152,
    65_536, 98_304, 131_072, 196_608, 262_144, 393_216, 524_288,
];

/// Repetitions of the pilot run, and the least of others.
const PILOT: u32 = 4;
const LEAST: u32 = 3;
/// More repetitions of a run say little more than they do.
const MOST: u32 = 60;

/// Returns the steps of the pilot run.
pub fn pilot() -> Vec<Step> {
    let trips = SIZES.map(|bytes| Step::new(Operation::RoundTrip, 1, 0, bytes));
    let trains = SIZES.map(|bytes| Step::new(Operation::RoundTrip, TRAIN, 0, bytes));
    let trains = trains.into_iter().filter(|step| step.bytes <= LONGEST_TRAIN);
    let cells: Vec<Step> = trips.into_iter().chain(trains).collect();
    repeated(&cells, PILOT, 0)
}

/// Returns cells in a random order, once to warm up and then as often as told.
fn repeated(cells: &[Step], repetitions: u32, run: u32) -> Vec<Step> {
    let random = Random::new(u64::from(run), ORDER);
    let mut steps = Vec::with_capacity(cells.len() * (repetitions as usize + 1));
    for repetition in std::iter::once(None).chain((0..repetitions).map(Some)) {
        let start = steps.len();
        steps.extend(cells.iter().map(|cell| Step { repetition, ..cell.clone() }));
        let entity = repetition.map_or(0, |repetition| repetition + 1);
        for place in (1..cells.len()).rev() {
            let other = random.below(entity, place as u64, place as u64 + 1) as usize;
            steps.swap(start + place, start + other);
        }
    }
    steps
}

/// The plan of the runs after the pilot.
#[derive(Clone, Debug)]
pub struct Plan {
    cells: Vec<Step>,
    first: bool,
    /// The number of repetitions in a run.
    pub repetitions: u32,
    /// The largest size.
    pub largest: u64,
    /// The time that a run takes as far as the pilot run tells, in nanoseconds.
    pub length: f64,
}

/// The times of one size, in nanoseconds: of a round trip, and of each further message.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Times {
    bytes: u64,
    trip: f64,
    gap: f64,
}

impl Times {
    /// Takes the least times of a pilot run, which nothing disturbed.
    fn of_pilot(pilot: &[(Step, f64, f64)]) -> Vec<Self> {
        let least = |bytes: u64, messages: u32| {
            let same = |step: &Step| (step.bytes, step.messages) == (bytes, messages);
            let all = pilot.iter().filter(|(step, ..)| same(step)).map(|(_, time, _)| *time);
            all.min_by(f64::total_cmp)
        };
        let mut found: Vec<Self> = Vec::new();
        for bytes in SIZES {
            let Some(trip) = least(bytes, 1) else { continue };
            let train = least(bytes, TRAIN);
            let gap = train.map_or(trip / 2.0, |time| (time - trip) / f64::from(TRAIN - 1));
            found.push(Self { bytes, trip, gap: gap.max(trip / 200.0) });
        }
        found
    }

    /// A wait that is clear of the gap.
    fn clear(&self) -> u64 {
        whole(2.0 * self.gap + 1000.0)
    }

    /// A wait after which a message is there, with the sender's way to send it.
    fn arrival(&self) -> u64 {
        whole(1.5 * self.trip + 20_000.0)
    }

    /// The time of a step of this size.
    fn of(&self, step: &Step) -> f64 {
        let further = f64::from(step.messages - 1);
        match step.operation {
            Operation::RoundTrip => self.trip + further * (self.gap + step.wait as f64),
            Operation::Receive | Operation::ReceiveBusy => 2.0 * self.trip + step.wait as f64,
            Operation::Exchange | Operation::Collective(_) => (2.0 + further) * self.trip,
            _ => 2.0 * self.trip,
        }
    }
}

/// A time in whole nanoseconds.
#[expect(clippy::cast_sign_loss, reason = "times are positive")]
fn whole(time: f64) -> u64 {
    time.clamp(0.0, 1e15).round() as u64
}

impl Plan {
    /// Plans runs of `length` nanoseconds each.
    pub fn new(pilot: &[(Step, f64, f64)], operations: &[Operation], length: f64) -> Self {
        Self::of_times(Times::of_pilot(pilot), operations, length)
    }

    /// Plans the same runs for several pairs, from the pilot run of each: waits are clear of the
    /// slowest pair's gap, and `length` nanoseconds are enough for it.
    pub fn of_pairs<'a>(
        pilots: impl Iterator<Item = &'a [(Step, f64, f64)]>,
        operations: &[Operation],
        length: f64,
    ) -> Self {
        let mut slowest: BTreeMap<u64, Times> = BTreeMap::new();
        for times in pilots.flat_map(Times::of_pilot) {
            let known = slowest.entry(times.bytes).or_insert(times);
            (known.trip, known.gap) = (known.trip.max(times.trip), known.gap.max(times.gap));
        }
        Self::of_times(slowest.into_values().collect(), operations, length)
    }

    fn of_times(mut times: Vec<Times>, operations: &[Operation], length: f64) -> Self {
        loop {
            let cells = cells(&times, operations);
            // Before each step both sides say that they are ready.
            let ready = times.first().map_or(0.0, |smallest| smallest.trip);
            let once: f64 = cells.iter().map(|(step, time)| ready + time.of(step)).sum();
            #[expect(clippy::cast_sign_loss, reason = "the ratio is positive")]
            let fits = (length / once.max(1.0)) as u32;
            // Half of the sizes are enough for what small messages tell.
            if fits > LEAST || times.len() <= SIZES.len() / 2 {
                let repetitions = fits.saturating_sub(1).clamp(LEAST, MOST);
                return Self {
                    cells: cells.into_iter().map(|(step, _)| step).collect(),
                    first: operations.contains(&Operation::First),
                    repetitions,
                    largest: times.last().map_or(0, |last| last.bytes),
                    length: once * f64::from(repetitions + 1),
                };
            }
            times.pop();
        }
    }

    /// Returns the steps of a run.
    pub fn run(&self, run: u32) -> Vec<Step> {
        let first = Step { repetition: Some(0), ..Step::new(Operation::First, 1, 0, 1) };
        let first = self.first.then_some(first);
        first.into_iter().chain(repeated(&self.cells, self.repetitions, run + 1)).collect()
    }
}

/// Returns what is measured at these sizes, each with the times of its size.
fn cells<'a>(times: &'a [Times], operations: &[Operation]) -> Vec<(Step, &'a Times)> {
    let mut cells = Vec::new();
    let mut add =
        |operation: Operation, messages, wait: &dyn Fn(&Times) -> u64, every: usize, most: u64| {
            // A reduction is of numbers of eight bytes.
            let least = if operation == Operation::ALLREDUCE { 8 } else { 0 };
            let within = times.iter().filter(|time| (least..=most).contains(&time.bytes));
            let sizes = within.step_by(every);
            let step = |time: &'a Times| {
                (Step::new(operation.clone(), messages, wait(time), time.bytes), time)
            };
            if operations.contains(&operation) {
                cells.extend(sizes.map(step));
            }
        };
    let none = |_: &Times| 0;
    add(Operation::RoundTrip, 1, &none, 1, u64::MAX);
    add(Operation::RoundTrip, TRAIN, &none, 1, LONGEST_TRAIN);
    add(Operation::RoundTrip, TRAIN, &Times::clear, 3, LONGEST_TRAIN);
    add(Operation::Send, 1, &none, 1, 2 * LARGEST_CALL);
    add(Operation::Isend, 1, &none, 1, LARGEST_CALL);
    add(Operation::Receive, 1, &Times::arrival, 1, LARGEST_CALL);
    add(Operation::ReceiveBusy, 1, &Times::arrival, 3, LARGEST_CALL);
    add(Operation::PingPong, 1, &none, 6, LARGEST_CALL);
    add(Operation::Exchange, 2, &none, 3, LARGEST_CALL);
    add(Operation::Touch, 1, &none, 4, 2 * LARGEST_CALL);
    add(Operation::ALLREDUCE, 2, &none, 5, LARGEST_CALL);
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Times of a pilot run on a network with L + 2 o = 25 us, o = 5 us and so many nanoseconds a
    /// byte.
    fn times(per_byte: f64) -> Vec<(Step, f64, f64)> {
        let time = |step: &Step| {
            let cost = per_byte * step.bytes as f64;
            50_000.0 + 2.0 * cost + f64::from(step.messages - 1) * cost.max(5000.0)
        };
        pilot().into_iter().map(|step| (step.clone(), time(&step), 0.0)).collect()
    }

    #[test]
    fn waits_are_clear_of_the_gap() {
        let plan = Plan::new(&times(8.0), OPERATIONS, 1e9);
        let waits = plan.cells.iter().filter(|step| step.wait > 0);
        for step in waits.filter(|step| step.operation == Operation::RoundTrip) {
            assert!(step.wait as f64 > 1.5 * (8.0 * step.bytes as f64).max(5000.0), "{step:?}");
        }
        assert_eq!(plan.largest, 524_288);
        assert!(plan.length <= 1e9 && plan.repetitions >= LEAST, "{plan:?}");
    }

    /// The plan of a fast and a slow pair is that of the slow one.
    #[test]
    fn pairs_have_the_plan_of_the_slowest() {
        let of = |pilots: &[Vec<(Step, f64, f64)>]| {
            Plan::of_pairs(pilots.iter().map(Vec::as_slice), PAIRS, 1e9)
        };
        let both = of(&[times(8.0), times(0.1)]);
        let slow = of(&[times(8.0)]);
        assert_eq!((both.cells.clone(), both.largest), (slow.cells, slow.largest));
        assert_ne!(both.cells, of(&[times(0.1)]).cells);
    }

    /// At 1 us a byte the largest message alone takes two seconds.
    #[test]
    fn a_slow_network_has_fewer_sizes() {
        let plan = Plan::new(&times(1000.0), OPERATIONS, 1e9);
        assert!(plan.largest < 65_536 && plan.repetitions >= LEAST, "{plan:?}");
    }

    /// Each repetition has all cells once, in another order, and so has each run.
    #[test]
    fn the_order_is_random() {
        let plan = Plan::new(&times(0.1), STREAM, 1e8);
        let run = plan.run(0);
        assert_eq!(run[0].operation, Operation::First);
        let parts: Vec<Vec<Step>> = run[1..]
            .chunks(plan.cells.len())
            .map(|part| part.iter().map(|step| Step { repetition: None, ..step.clone() }).collect())
            .collect();
        assert_eq!(parts.len(), plan.repetitions as usize + 1);
        assert_ne!(parts[0], parts[1]);
        let key = |step: &Step| (step.operation.clone(), step.messages, step.wait, step.bytes);
        let sorted = |part: &[Step]| {
            let mut part = part.to_vec();
            part.sort_by_key(key);
            part
        };
        assert!(parts.iter().all(|part| sorted(part) == sorted(&plan.cells)));
        assert_ne!(plan.run(1)[1..], run[1..]);
        assert!(!text(&run).contains("isend") && text(&run).starts_with("first 1 0 1 0\n"));
    }
}
