//! A timeline as text: a row per CPU, whose cells show the activity that took most of their time.
//!
//! A cell cannot show messages, nor activities much shorter than itself; the timelines in
//! files have both.

use std::io::{self, Write};
use std::iter::repeat_n;

use host::RankTotals;
use units::Time;

use crate::format::{plural, time};
use crate::{Screen, Slice, SliceTable, Summary};

/// Ranks from this one on have no row, and so need no slices.
pub const GANTT_RANKS: u32 = 32;
/// Rows at most.
const ROWS: usize = GANTT_RANKS as usize;
/// Cells of a row at least, however narrow the terminal.
const LEAST_CELLS: usize = 24;
/// Columns between two labels of the axis at least.
const TICK_GAP: u128 = 12;

/// A state of a CPU.
struct State {
    symbol: &'static str,
    /// The symbol where there are no characters beyond ASCII.
    ascii: &'static str,
    /// Parameter of the terminal's colour command (ECMA-48, SGR); empty if there is nothing to
    /// colour.
    colour: &'static str,
    meaning: &'static str,
}

const fn state(
    [symbol, ascii]: [&'static str; 2],
    colour: &'static str,
    meaning: &'static str,
) -> State {
    State { symbol, ascii, colour, meaning }
}

/// All states, the activities in the order of [`host::Activity`]. If two take the same time of a
/// cell, the earlier one is shown.
static STATES: [State; 5] = [
    state(["█", "#"], "32", "compute"),
    state(["▀", "^"], "33", "send overhead"),
    state(["▄", "v"], "36", "receive overhead, with bytes"),
    state(["·", "."], "2", "waiting"),
    FINISHED,
];
const FINISHED: State = state([" ", " "], "", "");

/// Draws the activity of the CPUs of the first ranks, as wide as the screen but never less than 24
/// cells.
///
/// A rank waits until it finishes; one that is stuck in a deadlock waits until the end. CPUs
/// without any slice have no row, unless their rank would have none. At most 32 rows are drawn;
/// `slices` needs those of the first [`GANTT_RANKS`] ranks.
pub fn write_gantt(
    out: &mut impl Write,
    summary: &Summary,
    ranks: &[RankTotals],
    slices: &SliceTable,
    screen: Screen,
) -> io::Result<()> {
    let deadlock = summary.deadlock.as_ref();
    let last = deadlock.map_or(Time::ZERO, |deadlock| Time::from_ps(deadlock.at_ps));
    let end = ranks.iter().map(|totals| totals.finish).fold(last, Time::max);
    if end == Time::ZERO {
        return writeln!(out, "no timeline: nothing takes any time");
    }
    let drawn =
        |slice: &io::Result<Slice>| slice.as_ref().map_or(true, |slice| slice.rank < GANTT_RANKS);
    let slices = slices.read()?.take_while(drawn).collect::<io::Result<Vec<_>>>()?;
    let mut rows = rows(ranks.len(), &slices);
    let hidden_cpus = rows.len().saturating_sub(ROWS);
    rows.truncate(ROWS);
    let labels = labels(&rows);
    let margin = labels.iter().map(String::len).max().unwrap_or(0);
    let cells = usize::from(screen.width).saturating_sub(margin + 2).max(LEAST_CELLS);
    let Frame { line, tick, corners: [left, right], side, dots } = Frame::of(screen);
    let (times, ruler) = axis(end, cells, [line, tick]);
    writeln!(out, "{:margin$} {times}", "")?;
    writeln!(out, "{:margin$}{left}{ruler}{right}", "")?;
    for (row, label) in rows.iter().zip(&labels) {
        let stuck = |rank| deadlock.is_some_and(|all| all.pending.iter().any(|op| op.rank == rank));
        let finish = ranks.get(row.rank as usize).map_or(Time::ZERO, |totals| totals.finish);
        let until = if stuck(row.rank) { end } else { finish };
        write!(out, "{label:margin$}{side}")?;
        for run in states(row.slices, until, end, cells).chunk_by(|a, b| a.symbol == b.symbol) {
            if let Some(state) = run.first() {
                paint(out, state, run.len(), screen)?;
            }
        }
        writeln!(out, "{side}")?;
    }
    let last_rank = rows.last().map_or(0, |row| row.rank);
    if hidden_cpus > 0 {
        writeln!(out, "{dots} {} of rank {last_rank}", more(hidden_cpus, "CPU"))?;
    }
    let hidden_ranks = ranks.len().saturating_sub(last_rank as usize + 1);
    if hidden_ranks > 0 {
        writeln!(out, "{dots} {}", more(hidden_ranks, "rank"))?;
    }
    legend(out, margin, screen)
}

/// The characters around the rows.
struct Frame {
    line: char,
    tick: char,
    corners: [char; 2],
    side: char,
    dots: &'static str,
}

impl Frame {
    const fn of(screen: Screen) -> Self {
        if screen.unicode {
            Self { line: '─', tick: '┬', corners: ['┌', '┐'], side: '│', dots: "…" }
        } else {
            Self { line: '-', tick: '|', corners: ['+', '+'], side: '|', dots: "..." }
        }
    }
}

fn more(number: usize, what: &str) -> String {
    plural(number as u64, &format!("more {what}"))
}

/// A CPU and its slices.
struct Row<'a> {
    rank: u32,
    cpu: u8,
    slices: &'a [Slice],
}

/// The rows of as many whole ranks as it takes to have [`ROWS`] of them.
fn rows(ranks: usize, slices: &[Slice]) -> Vec<Row<'_>> {
    let mut rows: Vec<Row> = Vec::new();
    let mut cpus = slices.chunk_by(|a, b| (a.rank, a.cpu) == (b.rank, b.cpu)).peekable();
    for rank in (0..GANTT_RANKS).take(ranks) {
        let before = rows.len();
        if before >= ROWS {
            break;
        }
        let of_rank = |run: &&[Slice]| run.first().is_some_and(|slice| slice.rank == rank);
        while let Some(slices) = cpus.next_if(of_rank) {
            rows.push(Row { rank, cpu: slices.first().map_or(0, |slice| slice.cpu), slices });
        }
        if rows.len() == before {
            rows.push(Row { rank, cpu: 0, slices: &[] });
        }
    }
    rows
}

/// Returns the label of each row, with a blank after it. CPUs are named if there is any but the
/// first.
fn labels(rows: &[Row]) -> Vec<String> {
    let digits = |number: u32| number.to_string().len();
    let rank_digits = rows.last().map_or(0, |row| digits(row.rank));
    let last_cpu = rows.iter().map(|row| row.cpu).max().unwrap_or(0);
    let cpu_digits = digits(last_cpu.into());
    rows.iter()
        .map(|Row { rank, cpu, .. }| match last_cpu {
            0 => format!("rank {rank:>rank_digits$} "),
            _ => format!("rank {rank:>rank_digits$} cpu {cpu:>cpu_digits$} "),
        })
        .collect()
}

/// Labels and marks of the time axis, which is drawn with these two characters.
fn axis(end: Time, cells: usize, [line, mark]: [char; 2]) -> (String, String) {
    let (mut times, mut ruler) = (String::new(), String::new());
    let (end, columns) = (end.ps(), cells as u128);
    let step = step(TICK_GAP * u128::from(end), columns);
    for tick in (0..end).step_by(usize::try_from(step).unwrap_or(usize::MAX)) {
        let column = (u128::from(tick) * columns / u128::from(end)) as usize;
        ruler.extend(repeat_n(line, column.saturating_sub(ruler.chars().count())));
        ruler.push(mark);
        let label = if tick == 0 { "0".to_owned() } else { time(Time::from_ps(tick)) };
        let free = times.is_empty() || times.len() < column;
        if free && column + label.len() <= cells {
            times = format!("{times:column$}{label}");
        }
    }
    ruler.extend(repeat_n(line, cells.saturating_sub(ruler.chars().count())));
    (times, ruler)
}

/// The least of 1, 2, 5, 10, 20, 50, … that times `columns` is no less than `span`.
fn step(span: u128, columns: u128) -> u128 {
    let mut power = 1;
    loop {
        if let Some(step) =
            [1, 2, 5].map(|digit| digit * power).into_iter().find(|step| step * columns >= span)
        {
            return step;
        }
        power *= 10;
    }
}

/// Returns the state of each cell of a CPU that is busy by `slices` and otherwise waits until
/// `until`.
///
/// In units of 1 ps / `cells`, in which everything is whole, a cell lasts `end` and a time is its
/// picoseconds times `cells`.
fn states(slices: &[Slice], until: Time, end: Time, cells: usize) -> Vec<&'static State> {
    let fine = |time: Time| u128::from(time.ps()) * cells as u128;
    let length = u128::from(end.ps());
    let mut busy = vec![[0_u128; 3]; cells];
    for slice in slices {
        let (from, to) = (fine(slice.start), fine(slice.end));
        let first = (from / length) as usize;
        let past = to.div_ceil(length) as usize;
        let touched = busy.iter_mut().enumerate().take(past).skip(first);
        for (cell, activities) in touched {
            let start = cell as u128 * length;
            let share = to.min(start + length).saturating_sub(from.max(start));
            if let Some(total) = activities.get_mut(slice.activity as usize) {
                *total += share;
            }
        }
    }
    let cells = busy.into_iter().enumerate();
    cells
        .map(|(cell, [compute, send, receive])| {
            let busy = compute + send + receive;
            let open = fine(until).saturating_sub(cell as u128 * length).min(length);
            let waiting = open.saturating_sub(busy);
            let finished = length.saturating_sub(busy + waiting);
            // The last of the greatest from behind is the first of them.
            let shares = [compute, send, receive, waiting, finished];
            let most = STATES.iter().zip(shares).rev().max_by_key(|(_, share)| *share);
            most.map_or(&FINISHED, |(state, _)| state)
        })
        .collect()
}

fn paint(out: &mut impl Write, state: &State, times: usize, screen: Screen) -> io::Result<()> {
    let symbol = if screen.unicode { state.symbol } else { state.ascii };
    let text = symbol.repeat(times);
    if screen.colour && !state.colour.is_empty() {
        write!(out, "\x1b[{}m{text}\x1b[0m", state.colour)
    } else {
        out.write_all(text.as_bytes())
    }
}

fn legend(out: &mut impl Write, margin: usize, screen: Screen) -> io::Result<()> {
    write!(out, "{:margin$}", "")?;
    for (number, state) in STATES.iter().filter(|state| !state.meaning.is_empty()).enumerate() {
        write!(out, "{}", if number == 0 { " " } else { "   " })?;
        paint(out, state, 1, screen)?;
        write!(out, " {}", state.meaning)?;
    }
    writeln!(out)
}
