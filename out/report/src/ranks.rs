//! The time and the messages of ranks, by groups of neighbours where there are many.

use std::path::Path;

use results::{Artifact, RankRow, Reader};
use serde_json::{Value, json};
use units::Time;

use crate::Error;

/// Most groups of ranks that are shown.
pub const GROUPS: u64 = 512;

/// The extent of a run: how many ranks it has, and until when it lasts.
#[derive(Clone, Copy, Debug, Default)]
pub struct Scale {
    /// Number of ranks.
    pub ranks: u64,
    /// The end of the run, or of its last rank.
    pub horizon: Time,
}

impl Scale {
    /// The number of groups if there may be `most`.
    pub fn groups(&self, most: u64) -> u64 {
        self.ranks.min(most)
    }

    /// The group of a rank, of `groups`.
    pub fn group(&self, rank: u32, groups: u64) -> u64 {
        (u64::from(rank) * groups).checked_div(self.ranks).unwrap_or_default()
    }

    /// The first rank of a group.
    pub fn first(&self, group: u64, groups: u64) -> u64 {
        group.saturating_mul(self.ranks).div_ceil(groups.max(1))
    }

    /// The error of a table that has a rank which the run does not have.
    pub fn check(&self, rank: u32, folder: &Path, artifact: Artifact) -> Result<(), Error> {
        if u64::from(rank) < self.ranks {
            return Ok(());
        }
        Err(Error::Contents {
            path: folder.join(artifact.file_name()),
            message: format!("rank {rank}, but the run has {} ranks", self.ranks),
        })
    }
}

fn rows(folder: &Path) -> Result<Option<Reader<RankRow>>, Error> {
    let path = Artifact::Ranks.path(folder);
    Ok(if path.is_file() { Some(Reader::open(&path)?) } else { None })
}

/// Finds the extent of a run that lasts at least until `end`; `ranks` is their number where there
/// is no table of them.
pub fn scale(folder: &Path, ranks: u64, end: Time) -> Result<Scale, Error> {
    let Some(rows) = rows(folder)? else { return Ok(Scale { ranks, horizon: end }) };
    let mut scale = Scale { ranks: 0, horizon: end };
    for row in rows {
        scale.ranks += 1;
        scale.horizon = scale.horizon.max(row?.finish);
    }
    Ok(scale)
}

/// The sums of a group.
#[derive(Clone, Default)]
struct Group {
    ranks: u64,
    finish: [u64; 2],
    sums: [u64; 7],
}

/// Sums up ranks by group.
pub fn read(folder: &Path, scale: &Scale) -> Result<Value, Error> {
    let Some(rows) = rows(folder)? else { return Ok(Value::Null) };
    let count = scale.groups(GROUPS);
    let mut groups = vec![Group::default(); count as usize];
    for (rank, row) in (0..).zip(rows) {
        let row = row?;
        let Some(group) = groups.get_mut(scale.group(rank, count) as usize) else { continue };
        let finish = row.finish.ps();
        let first = group.ranks == 0;
        group.finish[0] = if first { finish } else { group.finish[0].min(finish) };
        group.finish[1] = group.finish[1].max(finish);
        group.ranks += 1;
        // Several sends may be blocked at a time: of that, what remains of the rank's own time.
        let blocked = row.blocked.min(row.finish.saturating_sub(row.busy));
        let parts = [
            row.busy.ps(),
            row.finish.saturating_sub(row.busy).saturating_sub(blocked).ps(),
            blocked.ps(),
            row.sent_messages,
            row.sent_bytes,
            row.received_messages,
            row.received_bytes,
        ];
        for (sum, part) in group.sums.iter_mut().zip(parts) {
            *sum = sum.saturating_add(part);
        }
    }
    let column = |of: &dyn Fn(&Group) -> u64| groups.iter().map(of).collect::<Vec<_>>();
    Ok(json!({
        "count": scale.ranks,
        "ranks": column(&|group| group.ranks),
        "first_finish_ps": column(&|group| group.finish[0]),
        "finish_ps": column(&|group| group.finish[1]),
        "busy_ps": column(&|group| group.sums[0]),
        "waiting_ps": column(&|group| group.sums[1]),
        "blocked_ps": column(&|group| group.sums[2]),
        "sent_messages": column(&|group| group.sums[3]),
        "sent_bytes": column(&|group| group.sums[4]),
        "received_messages": column(&|group| group.sums[5]),
        "received_bytes": column(&|group| group.sums[6]),
    }))
}
