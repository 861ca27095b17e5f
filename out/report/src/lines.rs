//! The lines of a schedule's text: which take most time, and which the critical path goes through.

use std::{cmp::Reverse, collections::BinaryHeap, path::Path};

use results::{Artifact, LineRow, Reader};
use serde_json::{Value, json};
use units::Time;

use crate::{
    Error,
    activity::Chosen,
    blob::{Blobs, Column},
};

/// Most lines of the list of those that take most time.
const LINES: usize = 200;

/// A line by the time that it takes; of equal ones, the first in the text counts as greater.
type Ranked = (u64, Reverse<u32>);

/// The lines that take most time, and the text of those that the critical path goes through; null
/// if the folder does not have them.
pub fn read(
    folder: &Path,
    chosen: &Chosen,
    anonymous: bool,
    blobs: &mut Blobs,
) -> Result<Value, Error> {
    let path = Artifact::Lines.path(folder);
    if !path.is_file() {
        return Ok(Value::Null);
    }
    let mut most = BinaryHeap::<Reverse<(Ranked, Shown)>>::new();
    let (mut total, mut last) = (0_u64, 0);
    let (mut numbers, mut texts) = (Column::new(), Column::new());
    for row in Reader::<LineRow>::open(&path)? {
        let row = row?;
        total += 1;
        let text = if anonymous { "" } else { &*row.text };
        if chosen.lines.contains_key(&row.line) {
            numbers.difference(row.line.into(), last);
            last = row.line.into();
            texts.bytes(text.as_bytes());
            texts.bytes(b"\n");
        }
        let busy = [row.compute, row.send, row.receive];
        let sum = busy.iter().fold(Time::ZERO, |sum, part| sum.saturating_add(*part)).ps();
        let rank = (sum, Reverse(row.line));
        if most.len() < LINES || most.peek().is_some_and(|least| least.0.0 < rank) {
            let shown = Shown { text: text.to_owned(), operations: row.operations, busy };
            most.push(Reverse((rank, shown)));
            if most.len() > LINES {
                most.pop();
            }
        }
    }
    let rows = most.into_sorted_vec().into_iter().map(|Reverse(((_, line), shown))| {
        let [compute, send, receive] = shown.busy.map(Time::ps);
        json!({
            "line": line.0,
            "text": shown.text,
            "operations": shown.operations,
            "compute_ps": compute,
            "send_ps": send,
            "receive_ps": receive,
            "path_ps": chosen.lines.get(&line.0).copied().unwrap_or_default(),
        })
    });
    Ok(json!({
        "total": total,
        "rows": rows.collect::<Vec<_>>(),
        "on_path": blobs.add(numbers),
        "texts": blobs.add(texts),
    }))
}

/// A line that is shown.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Shown {
    text: String,
    operations: u64,
    busy: [Time; 3],
}
