//! Programs to compare on: all patterns, and random schedules.

use std::fmt::Write as _;

use proptest::prelude::*;
use schedule::goal::Image;
use schedule::pattern::{NAMES, Options, Pattern};

/// One random choice; what it becomes depends on the ranks chosen so far.
#[derive(Clone, Debug)]
pub enum Step {
    /// A computation.
    Calc { rank: u32, length: u64, place: Place },
    /// A send and its receive.
    Message { from: u32, to: u32, size: u64, tag: u32, send: Place, receive: Place, odd: Odd },
}

/// The place of an operation.
#[derive(Clone, Debug)]
pub struct Place {
    pub cpu: u8,
    pub nic: u8,
    /// The distances back to the operations that it waits for; true if it waits for their start.
    pub after: Vec<(usize, bool)>,
    /// True if it comes before the operation that its rank had last.
    pub swapped: bool,
}

/// The unusual properties of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Odd {
    pub any_source: bool,
    pub any_tag: bool,
    /// The send's tag is -1.
    pub any_sent: bool,
    /// Bytes of the receive that the message does not have.
    pub room: u64,
    /// Only the send or only the receive exists.
    pub alone: Option<bool>,
}

/// A schedule as GOAL text.
pub fn text(ranks: u32, steps: &[Step]) -> String {
    let mut programs: Vec<Vec<(String, &Place)>> = vec![Vec::new(); ranks as usize];
    let mut put = |rank: u32, words: String, place| {
        let program = &mut programs[(rank % ranks) as usize];
        let end = program.len();
        let at =
            if matches!(place, &Place { swapped: true, .. }) { end.saturating_sub(1) } else { end };
        program.insert(at, (words, place));
    };
    for step in steps {
        match step {
            Step::Calc { rank, length, place } => {
                put(*rank, format!("calc {length} cpu {}", place.cpu), place);
            }
            Step::Message { from, to, size, tag, send, receive, odd } => {
                let (from, to) = (from % ranks, to % ranks);
                let tag = |any| if any { "-1".to_owned() } else { tag.to_string() };
                let source = if odd.any_source { "-1".to_owned() } else { from.to_string() };
                if odd.alone != Some(false) {
                    let words = format!("send {size}b to {to} tag {}", tag(odd.any_sent));
                    put(from, format!("{words} cpu {} nic {}", send.cpu, send.nic), send);
                }
                if odd.alone != Some(true) {
                    let room = size + odd.room;
                    let words = format!("recv {room}b from {source} tag {}", tag(odd.any_tag));
                    put(to, format!("{words} cpu {} nic {}", receive.cpu, receive.nic), receive);
                }
            }
        }
    }
    written(&programs)
}

fn written(programs: &[Vec<(String, &Place)>]) -> String {
    let mut text = format!("num_ranks {}\n", programs.len());
    for (rank, program) in programs.iter().enumerate() {
        writeln!(text, "rank {rank} {{").expect("a string grows");
        for (index, (words, _)) in program.iter().enumerate() {
            writeln!(text, "l{index}: {words}").expect("a string grows");
        }
        for (index, (_, place)) in program.iter().enumerate() {
            for (back, start) in &place.after {
                let Some(earlier) = index.checked_sub(*back) else { continue };
                let word = if *start { "irequires" } else { "requires" };
                writeln!(text, "l{index} {word} l{earlier}").expect("a string grows");
            }
        }
        text.push_str("}\n");
    }
    text
}

pub fn image(text: &str) -> Image {
    Image::from_text(text.as_bytes()).unwrap_or_else(|errors| panic!("{errors:?}\n{text}")).0
}

/// The variety of random schedules.
#[derive(Clone, Copy, Debug)]
pub struct Variety {
    pub resources: u8,
    /// True if messages and receives may be unmatched, sends may have any tag, and receives more
    /// room than their message has bytes.
    pub odd: bool,
    /// True if every receive has room for every message.
    pub roomy: bool,
    /// Sizes of messages.
    pub sizes: &'static [u64],
    pub steps: usize,
}

fn place(variety: Variety) -> impl Strategy<Value = Place> {
    let resources = variety.resources;
    let after = prop::collection::vec((1..4usize, prop::bool::weighted(0.25)), 0..3);
    (0..resources, 0..resources, after, prop::bool::weighted(0.15))
        .prop_map(|(cpu, nic, after, swapped)| Place { cpu, nic, after, swapped })
}

fn odd(variety: Variety) -> BoxedStrategy<Odd> {
    let rare = prop::bool::weighted(0.12);
    let plain = (rare, rare);
    let room = if variety.roomy { 9 } else { 0 };
    let plain = plain.prop_map(move |(any_source, any_tag)| Odd {
        any_source,
        any_tag,
        any_sent: false,
        room,
        alone: None,
    });
    if !variety.odd {
        return plain.boxed();
    }
    let room = prop_oneof![6 => Just(0), 1 => Just(1), 1 => Just(5)];
    let alone = prop_oneof![30 => Just(None), 1 => any::<bool>().prop_map(Some)];
    let rest = (plain, rare, room, alone);
    rest.prop_map(|(odd, any_sent, room, alone)| {
        let room = room + odd.room;
        Odd { any_sent, room, alone, ..odd }
    })
    .boxed()
}

fn step(variety: Variety) -> impl Strategy<Value = Step> {
    let calc = (0..8u32, 0..6u64, place(variety));
    let calc = calc.prop_map(|(rank, length, place)| Step::Calc { rank, length, place });
    let size = prop::sample::select(variety.sizes);
    let ends = (0..8u32, 0..8u32, size, 0..3u32);
    let message = (ends, place(variety), place(variety), odd(variety));
    let message = message.prop_map(|((from, to, size, tag), send, receive, odd)| Step::Message {
        from,
        to,
        size,
        tag,
        send,
        receive,
        odd,
    });
    prop_oneof![1 => calc, 4 => message]
}

/// A number of ranks and what they do.
pub fn schedules(variety: Variety) -> impl Strategy<Value = String> {
    let steps = prop::collection::vec(step(variety), 1..variety.steps);
    (1..7u32, steps).prop_map(|(ranks, steps)| text(ranks, &steps))
}

/// Every pattern of these ranks and bytes, with its name.
pub fn patterns(ranks: u32, size: u64) -> impl Iterator<Item = (&'static str, Pattern)> {
    NAMES.into_iter().map(move |name| {
        let mut options = Options::new(ranks, size);
        match name {
            "nway-dissemination" => options.ways = 2,
            "pipelined-ring" => options.segment = (size / 3).max(1),
            "halo1d" | "halo2d" | "halo3d" => {
                (options.steps, options.compute, options.allreduce) = (2, 700, Some(8));
            }
            "random" => options.steps = 3,
            _ => {}
        }
        (name, Pattern::build(name, &options).unwrap_or_else(|error| panic!("{name}: {error}")))
    })
}
