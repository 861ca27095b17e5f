//! The lines of texts that the operations of a program come from.

use std::io;

use host::Activity;
use units::Time;

use crate::{
    Slice, SliceTable,
    table::{LineRow, TableOutput, Writer},
};

/// Most characters of a line that the table has.
const SHOWN: usize = 200;

/// The lines of operations: of the one text of a schedule, or of the traces of ranks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lines {
    /// The line of each operation, by rank and index, from 1; 0 if there is none.
    pub operations: Vec<Vec<u32>>,
    /// The text, if the operations of all ranks come from one.
    pub text: Option<Vec<u8>>,
}

/// The time that a line takes.
#[derive(Clone, Default)]
struct Spent {
    operations: u64,
    /// Busy time, by activity.
    busy: [Time; 3],
}

impl Lines {
    /// The line that a busy period comes from.
    pub fn of(&self, slice: &Slice) -> Option<u32> {
        let operations = self.operations.get(slice.rank as usize)?;
        operations.get(slice.operation? as usize).copied().filter(|line| *line > 0)
    }

    /// Writes `lines.csv`: the lines of the text that have operations, with the busy periods that
    /// come from them.
    ///
    /// # Errors
    /// If the table cannot be written, or kept busy periods cannot be read.
    pub fn write(&self, out: &mut impl TableOutput, slices: &SliceTable) -> io::Result<()> {
        let last = self.operations.iter().flatten().max().copied().unwrap_or_default();
        let mut spent = vec![Spent::default(); last as usize + 1];
        for line in self.operations.iter().flatten() {
            spent[*line as usize].operations += 1;
        }
        for slice in slices.read()? {
            let slice = slice?;
            let Some(line) = self.of(&slice) else { continue };
            let busy = &mut spent[line as usize].busy[slice.activity as usize];
            *busy = busy.saturating_add(slice.end.saturating_sub(slice.start));
        }
        let text = self.text.as_deref().unwrap_or_default();
        let numbered = (0..).zip(&spent).skip(1).zip(text.split(|byte| *byte == b'\n'));
        let rows = numbered.filter(|((_, spent), _)| spent.operations > 0);
        Writer::all(
            out,
            rows.map(|((line, spent), text)| {
                let [compute, send, receive] = spent.busy;
                let text = shown(text);
                LineRow { line, text, operations: spent.operations, compute, send, receive }
            }),
        )
    }
}

/// A line as text, without the blanks around it, up to its first [`SHOWN`] characters.
fn shown(line: &[u8]) -> std::borrow::Cow<'static, str> {
    let text = String::from_utf8_lossy(line);
    text.trim().chars().take(SHOWN).collect::<String>().into()
}

const _: () = assert!(
    Activity::Compute as u8 == 0 && Activity::Send as u8 == 1 && Activity::Receive as u8 == 2
);
