//! Arguments of calls that no program can have made.

use crate::record::{ANY, PROC_NULL};
use calls::Collective;

fn count(count: i64) -> Result<(), String> {
    if count < 0 { Err(format!("a count of {count}: it is negative")) } else { Ok(()) }
}

/// A message: address, count and datatype, then rank and tag. To no process there may be anything.
pub fn message(values: &[i64], receives: bool) -> Result<(), String> {
    let &[_, elements, _, _, _, peer, tag, ..] = values else { return Ok(()) };
    if peer == PROC_NULL {
        return Ok(());
    }
    count(elements)?;
    if tag < 0 && !(receives && tag == ANY) {
        return Err(format!("a tag of {tag}: it is negative"));
    }
    Ok(())
}

/// A collective whose count means something on every rank; others are ignored on some, and in
/// place.
pub fn collective(operation: Collective, values: &[i64]) -> Result<(), String> {
    let place = match operation {
        Collective::Bcast => 1,
        Collective::Reduce
        | Collective::Allreduce
        | Collective::Scan
        | Collective::Exscan
        | Collective::ReduceScatterBlock => 2,
        _ => return Ok(()),
    };
    values.get(place).copied().map_or(Ok(()), count)
}
