//! Records that define something: a number below 16, the length of what follows, and that.

use super::varint;
use calls::Neighbours;

use crate::definitions::{Communicator, Definitions, Group, Moment, Offset};

/// A function outside the table: number, length of its name, name.
pub const NAME: u32 = 1;
/// A communicator: number, group, remote group (no runs for none).
pub const COMMUNICATOR: u32 = 2;
/// Neighbours of the rank: communicator, number of sources, sources, number of destinations, these.
pub const NEIGHBOURS: u32 = 3;
/// A measurement of the clock: time, what to add to the rank's clock for that of rank 0.
pub const CLOCK: u32 = 4;
/// The thread that made the calls that follow.
pub const THREAD: u32 = 5;
/// The time between the entry of the call that follows and the moment at which it looked at or
/// changed what ranks share, in a simulated run.
pub const MOMENT: u32 = 6;
/// The first number of a call.
pub const CALLS: u32 = 16;

/// Appends a group as runs: their number, then of each first rank, step and length.
pub fn put_group(out: &mut Vec<u8>, group: Option<&Group>) {
    let ranks = match group {
        None => &Vec::new(),
        Some(Group::All(count)) => {
            for number in [1, 0, varint::fold(1), u64::from(*count)] {
                varint::put(out, number);
            }
            return;
        }
        Some(Group::Ranks(ranks)) => ranks,
    };
    let mut runs = Vec::new();
    let mut rest = ranks.iter().map(|rank| i64::from(*rank)).peekable();
    while let Some(first) = rest.next() {
        let (mut last, mut count) = (first, 1);
        let step = rest.peek().map_or(1, |next| next - first);
        while let Some(next) = rest.next_if(|next| *next == last + step) {
            last = next;
            count += 1;
        }
        runs.push((first.cast_unsigned(), step, count));
    }
    varint::put(out, runs.len() as u64);
    for (first, step, count) in runs {
        varint::put(out, first);
        varint::put_signed(out, step);
        varint::put(out, count);
    }
}

fn take_group(bytes: &mut &[u8], ranks: u32) -> Option<Group> {
    let mut all = Vec::new();
    let runs = varint::take(bytes)?;
    for _ in 0..runs {
        let first = i64::try_from(varint::take(bytes)?).ok()?;
        let step = varint::take_signed(bytes)?;
        let count = varint::take(bytes)?;
        // A group has no rank twice.
        if count > u64::from(ranks) - all.len() as u64 {
            return None;
        }
        if runs == 1 && (first, step, count) == (0, 1, u64::from(ranks)) {
            return Some(Group::All(ranks));
        }
        for index in 0..count.cast_signed() {
            let rank = step.checked_mul(index).and_then(|way| first.checked_add(way))?;
            all.push(u32::try_from(rank).ok().filter(|rank| *rank < ranks)?);
        }
    }
    Some(Group::Ranks(all))
}

fn take_list(bytes: &mut &[u8]) -> Option<Vec<i64>> {
    let count = varint::take(bytes)?;
    // Each takes at least a byte.
    if count > bytes.len() as u64 {
        return None;
    }
    (0..count).map(|_| varint::take_signed(bytes)).collect()
}

/// The effect of a definition besides that on [`Definitions`].
pub enum Effect {
    Nothing,
    Thread(u32),
    Moment(Moment),
}

/// Takes in a definition. `None` if it is damaged. One that is not known is passed over.
pub fn apply(
    kind: u32,
    mut body: &[u8],
    (rank, ranks): (u32, u32),
    unit: u64,
    definitions: &mut Definitions,
) -> Option<Effect> {
    let bytes = &mut body;
    match kind {
        NAME => {
            let id = u32::try_from(varint::take(bytes)?).ok()?;
            let length = usize::try_from(varint::take(bytes)?).ok()?;
            let name = String::from_utf8_lossy(bytes.get(..length)?).into_owned();
            definitions.names.insert(id, name);
        }
        COMMUNICATOR => {
            let id = i64::try_from(varint::take(bytes)?).ok()?;
            let local = take_group(bytes, ranks)?;
            // No runs: it is no intercommunicator.
            let remote = Some(take_group(bytes, ranks)?).filter(|remote| !remote.is_empty());
            let me = local.place(rank)?;
            definitions.communicators.insert(id, Communicator { local, remote, me });
        }
        NEIGHBOURS => {
            let id = i64::try_from(varint::take(bytes)?).ok()?;
            let (sources, destinations) = (take_list(bytes)?, take_list(bytes)?);
            definitions.neighbours.insert(id, Neighbours { sources, destinations });
        }
        CLOCK => {
            let at = varint::take(bytes)?.checked_mul(unit)?;
            // Offsets between clocks count in nanoseconds, whatever the unit.
            let nanoseconds = varint::take_signed(bytes)?;
            definitions.offsets.push(Offset { at, nanoseconds });
        }
        MOMENT => {
            let after = varint::take(bytes)?.checked_mul(unit)?;
            // Older files do not tell turns.
            let turn = if bytes.is_empty() { 0 } else { varint::take(bytes)? };
            return Some(Effect::Moment(Moment { after, turn }));
        }
        THREAD => return Some(Effect::Thread(u32::try_from(varint::take(bytes)?).ok()?)),
        _ => {}
    }
    Some(Effect::Nothing)
}
