//! The index of time-independent traces: it lists one file per rank, or one file for all ranks.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::source::OpenError;
use crate::text::lines::{Lines, Span};

/// The parts of a file that all ranks share, by rank.
pub type Spans = Arc<[Arc<[Span]>]>;

/// Returns the files that an index lists, one per rank, and the lines of each rank if all ranks
/// share one file.
pub fn read(path: &Path) -> Result<(Vec<PathBuf>, Option<Spans>), OpenError> {
    let fail = |error| OpenError::Io { path: path.to_owned(), error };
    let text = units::text::read(path).map_err(fail)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let names =
        text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let files: Vec<_> = names.map(|name| folder.join(name)).collect();
    match files.as_slice() {
        [] => Err(OpenError::NoFiles(path.to_owned())),
        [one] => {
            let spans = spans(one)?;
            Ok((vec![one.clone(); spans.len()], Some(spans)))
        }
        _ => Ok((files, None)),
    }
}

/// Finds the lines of each rank in a file of all. There are as many ranks as it has lines of; a
/// line that names no rank goes to the first one, whose reader reports it.
fn spans(path: &Path) -> Result<Spans, OpenError> {
    let fail = |error| OpenError::Io { path: path.to_owned(), error };
    let mut lines = Lines::new(units::text::open(path).map_err(fail)?);
    let mut ranks: FxHashMap<u64, Vec<Span>> = FxHashMap::default();
    loop {
        let start = lines.end();
        if !lines.next().map_err(fail)? {
            break;
        }
        let line = lines.take();
        let word = line.split(u8::is_ascii_whitespace).find(|word| !word.is_empty());
        let rank = word
            .filter(|word| !word.starts_with(b"#"))
            .map(|word| str::from_utf8(word).ok().and_then(|word| word.parse().ok()).unwrap_or(0));
        lines.give_back(line);
        let Some(rank) = rank else { continue };
        let own = ranks.entry(rank).or_default();
        match own.last_mut().filter(|span| span.end == start) {
            Some(span) => (span.end, span.count) = (lines.end(), span.count + 1),
            None => own.push(Span { start, end: lines.end(), line: lines.number(), count: 1 }),
        }
    }
    if ranks.is_empty() {
        return Err(OpenError::NoActions(path.to_owned()));
    }
    let count = ranks.len() as u64;
    if let Some(rank) = (0..count).find(|rank| !ranks.contains_key(rank)) {
        let next = ranks.keys().copied().filter(|next| *next > rank).min().unwrap_or(count);
        let [rank, next] = [rank, next].map(|rank| usize::try_from(rank).unwrap_or(usize::MAX));
        return Err(OpenError::Gap { folder: path.to_owned(), rank, next });
    }
    Ok((0..count).map(|rank| ranks.remove(&rank).unwrap_or_default().into()).collect())
}
