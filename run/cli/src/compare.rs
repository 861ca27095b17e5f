//! `heddle compare`.

use std::{
    collections::BTreeSet,
    fmt::Write as _,
    io::{self, Write as _},
    path::Path,
};

use experiment::{
    Failure,
    compare::{Comparison, RankTime, Side, Spent, compare},
};
use results::TimeColumn;
use serde_json::{Value, json};
use units::Time;

use crate::{
    arguments::{Compare, Format},
    exit::{Ending, complain, print},
    files::to_file,
};

/// Digits behind the point of a time in the table at most; JSON has all of them.
const DIGITS: usize = 6;

/// Compares two runs.
pub fn run(arguments: &Compare) -> Result<(), Ending> {
    let paths = [Path::new(&arguments.a), Path::new(&arguments.b)];
    let comparison = match &arguments.timeline {
        None => compare(paths, None)?,
        Some(file) => {
            let mut found = Err(Failure::Input(String::new()));
            let written = to_file(Path::new(file), |out| {
                found = compare(paths, Some((Path::new(file), out)));
                // A file that tells half of it is not kept.
                found.as_ref().map_or(Err(io::ErrorKind::Other.into()), |_| out.flush())
            });
            match found {
                Ok(comparison) => written.map(|()| comparison)?,
                Err(failure) => return Err(failure.into()),
            }
        }
    };
    let warnings = comparison.a.warnings.iter().chain(&comparison.b.warnings);
    let warnings: BTreeSet<_> = warnings.collect();
    for warning in warnings {
        complain(&format!("warning: {warning}"));
    }
    match arguments.format {
        Format::Json => print(&format!("{:#}\n", as_json(&comparison))),
        Format::Table => print(&as_table(&comparison, arguments.per_rank)),
    }
}

/// The column for times, in one unit.
fn column<'t>(times: impl Iterator<Item = &'t Time> + Clone) -> TimeColumn {
    TimeColumn::of(times.copied(), DIGITS)
}

/// A time of a column, with the unit of all.
fn shown(column: TimeColumn, time: Time) -> String {
    format!("{} {}", column.show(time), column.unit())
}

/// By how much the second is longer, in percent.
fn difference(a: Time, b: Time) -> String {
    if a == Time::ZERO {
        return if b == Time::ZERO { "0.00 %".to_owned() } else { "-".to_owned() };
    }
    format!("{:+.2} %", (b.ps() as f64 / a.ps() as f64 - 1.0) * 100.0)
}

fn row(text: &mut String, cells: &[&str]) {
    let mut line = format!("{:<28}", cells.first().unwrap_or(&""));
    for cell in cells.get(1..).unwrap_or_default() {
        let _ = write!(line, "{cell:>18}");
    }
    text.push_str(line.trim_end());
    text.push('\n');
}

fn as_table(comparison: &Comparison, per_rank: bool) -> String {
    let Comparison { a, b } = comparison;
    let mut text = String::new();
    for (letter, side) in [("A", a), ("B", b)] {
        let kind = if side.recorded { "recorded" } else { "simulated" };
        let _ = writeln!(text, "{letter}  {}, {kind}, {} ranks", side.name, side.rank_count());
    }
    text.push('\n');
    row(&mut text, &["", "A", "B", "B - A"]);
    let wholes = [
        ("makespan", [a.makespan(), b.makespan()]),
        ("in calls, all ranks", [a.in_calls(), b.in_calls()]),
        ("outside, all ranks", [a.outside(), b.outside()]),
    ];
    let times = column(wholes.iter().flat_map(|(_, both)| both));
    for (name, [a, b]) in wholes {
        row(&mut text, &[name, &shown(times, a), &shown(times, b), &difference(a, b)]);
    }
    text.push('\n');
    row(&mut text, &["call", "number A", "number B", "time A", "time B", "B - A"]);
    let calls = by_call(a, b);
    let times = column(calls.iter().flat_map(|(_, a, b)| [&a.time, &b.time]));
    for (name, a, b) in calls {
        let (number, other) = (a.count.to_string(), b.count.to_string());
        let (first, second) = (shown(times, a.time), shown(times, b.time));
        row(&mut text, &[name, &number, &other, &first, &second, &difference(a.time, b.time)]);
    }
    if per_rank {
        ranks_table(&mut text, &by_rank(a, b));
    }
    text
}

fn ranks_table(text: &mut String, ranks: &[(u32, RankTime, RankTime)]) {
    text.push('\n');
    row(text, &["rank", "end A", "end B", "B - A", "in calls A", "in calls B", "B - A"]);
    let ends = column(ranks.iter().flat_map(|(_, a, b)| [&a.end, &b.end]));
    let calls = column(ranks.iter().flat_map(|(_, a, b)| [&a.calls.time, &b.calls.time]));
    for (rank, a, b) in ranks {
        let cells = [
            rank.to_string(),
            shown(ends, a.end),
            shown(ends, b.end),
            difference(a.end, b.end),
            shown(calls, a.calls.time),
            shown(calls, b.calls.time),
            difference(a.calls.time, b.calls.time),
        ];
        row(text, &cells.each_ref().map(String::as_str));
    }
}

/// The calls of either run.
fn by_call<'s>(a: &'s Side, b: &'s Side) -> Vec<(&'s str, Spent, Spent)> {
    let mut names: Vec<_> = a.calls.keys().chain(b.calls.keys()).collect();
    names.sort();
    names.dedup();
    let of = |side: &Side, name: &String| side.calls.get(name).copied().unwrap_or_default();
    names.into_iter().map(|name| (name.as_str(), of(a, name), of(b, name))).collect()
}

/// The ranks that made calls in either run.
fn by_rank(a: &Side, b: &Side) -> Vec<(u32, RankTime, RankTime)> {
    let ranks: BTreeSet<_> = a.ranks.keys().chain(b.ranks.keys()).copied().collect();
    let of = |side: &Side, rank: u32| side.ranks.get(&rank).copied().unwrap_or_default();
    ranks.into_iter().map(|rank| (rank, of(a, rank), of(b, rank))).collect()
}

fn as_json(comparison: &Comparison) -> Value {
    let Comparison { a, b } = comparison;
    let whole = |side: &Side| {
        json!({
            "name": side.name,
            "recorded": side.recorded,
            "makespan_ps": side.makespan().ps(),
            "in_calls_ps": side.in_calls().ps(),
            "outside_ps": side.outside().ps(),
        })
    };
    let spent = |spent: Spent| json!({ "count": spent.count, "time_ps": spent.time.ps() });
    let calls: Vec<_> = by_call(a, b)
        .into_iter()
        .map(|(name, a, b)| json!({ "call": name, "a": spent(a), "b": spent(b) }))
        .collect();
    let of = |rank: RankTime| json!({ "end_ps": rank.end.ps(), "calls": spent(rank.calls) });
    let ranks: Vec<_> = by_rank(a, b)
        .into_iter()
        .map(|(rank, a, b)| json!({ "rank": rank, "a": of(a), "b": of(b) }))
        .collect();
    json!({ "a": whole(a), "b": whole(b), "calls": calls, "ranks": ranks })
}
