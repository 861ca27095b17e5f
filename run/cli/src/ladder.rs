//! `heddle ladder`.

use std::{
    fmt::Write as _,
    io::{self, IsTerminal},
    path::Path,
};

use draw::{CategoryChart, Line};
use experiment::{
    Request,
    ladder::{Ladder, NOTHING, Rung, ladder, ladders},
};
use results::TimeColumn;
use serde_json::{Value, json};
use units::Time;

use crate::{
    arguments::{Format, Ladder as Arguments},
    exit::{Ending, Exit, complain, print},
    files::write_drawing,
    processes,
    progress::Terminal,
    stop,
};

/// Digits behind the point of a time in the table at most; JSON has all of them.
const DIGITS: usize = 6;

/// Ladders, each with the value of the setting that they differ in.
type Climbed = Vec<(String, Ladder)>;

/// Climbs the ladder, or one for each value of a key.
pub fn run(arguments: &Arguments) -> Result<(), Ending> {
    processes::refuse("ladder", "--threads N simulates on several cores")?;
    let request = Request {
        subject: Some(arguments.source.clone()),
        machine: arguments.machine.clone(),
        set: arguments.set.clone(),
        flags: arguments.flags.0.clone(),
        ..Request::default()
    };
    stop::watch(live::stop);
    let shown = io::stderr().is_terminal();
    let next = |name: &str| {
        if shown {
            results::show_status(io::stderr(), &format!("{name} …"));
        }
    };
    let climbed = climb(arguments, &request, next);
    if shown {
        results::show_status(io::stderr(), "");
    }
    report(arguments, &climbed?)
}

/// Climbs the ladder, or one for each value of a key.
fn climb(
    arguments: &Arguments,
    request: &Request,
    next: impl FnMut(&str),
) -> Result<Climbed, Ending> {
    let terminal = Terminal::default();
    let Some((key, values)) = over(&arguments.over)? else {
        return Ok(vec![(String::new(), ladder(request, &terminal, next)?)]);
    };
    let found = ladders(request, (key, &values), &terminal, next)?;
    Ok(values.iter().map(|value| format!("{key} = {value}")).zip(found).collect())
}

/// A key and its values, of the words of `--over`.
type Over<'a> = Option<(&'a str, Vec<&'a str>)>;

/// The key and its values: a single word has values between commas, several have a value each.
fn over(words: &[String]) -> Result<Over<'_>, Ending> {
    let Some((first, rest)) = words.split_first() else { return Ok(None) };
    let (key, values) =
        first.split_once('=').filter(|(_, values)| !values.is_empty()).ok_or_else(|| {
            let message = format!(
                "error: --over {first}: there is no value\n  help: write KEY=VALUE,VALUE, such as \
                 --over workload.size=1KiB,64KiB"
            );
            Ending::new(Exit::Usage, message)
        })?;
    if rest.is_empty() {
        return Ok(Some((key, values.split(',').collect())));
    }
    Ok(Some((key, [values].into_iter().chain(rest.iter().map(String::as_str)).collect())))
}

/// Prints and draws what was found.
fn report(arguments: &Arguments, climbed: &Climbed) -> Result<(), Ending> {
    let mut warnings: Vec<_> = climbed
        .iter()
        .flat_map(|(_, ladder)| &ladder.rungs)
        .flat_map(|rung| &rung.warnings)
        .collect();
    warnings.sort();
    warnings.dedup();
    for warning in warnings {
        complain(&format!("warning: {warning}"));
    }
    if let Some(file) = &arguments.plot {
        let drawing = plot(&arguments.source, climbed, arguments.absolute).draw();
        write_drawing(Path::new(file), &drawing)?;
    }
    match arguments.format {
        Format::Table => {
            let tables: Vec<_> =
                climbed.iter().map(|(value, ladder)| table(value, ladder)).collect();
            print(&tables.join("\n"))?;
        }
        Format::Json => {
            let all: Vec<_> =
                climbed.iter().map(|(value, ladder)| as_json(value, ladder)).collect();
            let all = if arguments.over.is_empty() {
                all.into_iter().next().unwrap_or_default()
            } else {
                json!(all)
            };
            print(&format!("{all:#}\n"))?;
        }
    }
    end(climbed, arguments.format == Format::Table)
}

/// The end: that of a deadlock if there is one at any rung. The first is described below the
/// tables.
fn end(climbed: &Climbed, shown: bool) -> Result<(), Ending> {
    let rungs = climbed
        .iter()
        .flat_map(|(value, ladder)| ladder.rungs.iter().map(move |rung| (value.as_str(), rung)));
    let mut stuck = rungs.filter_map(|(value, rung)| Some((value, rung, rung.deadlock.as_ref()?)));
    let Some((value, rung, deadlock)) = stuck.next() else { return Ok(()) };
    if shown {
        let name =
            if value.is_empty() { rung.name.to_owned() } else { format!("{value}, {}", rung.name) };
        let ranks = rung.finish.len() as u64;
        print(&format!("\n{name}: {}", results::describe_deadlock(deadlock, ranks)))?;
    }
    Err(Ending::silent(Exit::Deadlock))
}

/// The rung that the others are compared with: the finest.
fn finest(ladder: &Ladder) -> Option<&Rung> {
    ladder.rungs.iter().rev().find(|rung| rung.makespan.is_some())
}

fn ratio(a: Time, b: Time) -> f64 {
    if b == Time::ZERO { f64::NAN } else { a.ps() as f64 / b.ps() as f64 }
}

/// By how much a time differs from the finest model's, in percent.
fn percent(a: Time, b: Time) -> String {
    if b == Time::ZERO {
        return "-".to_owned();
    }
    let percent = (ratio(a, b) - 1.0) * 100.0;
    if percent.abs() < 0.05 { "0.0".to_owned() } else { format!("{percent:+.1}") }
}

/// The time at which the first rank of a run ended.
fn first_end(rung: &Rung) -> Time {
    rung.finish.iter().min().copied().unwrap_or_default()
}

fn table(value: &str, ladder: &Ladder) -> String {
    let mut text = String::new();
    if !value.is_empty() {
        let _ = writeln!(text, "{value}");
    }
    let last = finest(ladder);
    let reference = last.and_then(|rung| rung.makespan).unwrap_or_default();
    let ended = ladder.rungs.iter().filter_map(|rung| Some((rung.makespan?, first_end(rung))));
    let column = TimeColumn::of(ended.flat_map(|(last, first)| [last, first]), DIGITS);
    let unit = column.unit();
    let [makespan, earliest] = ["makespan", "first end"].map(|name| format!("{name}, {unit}"));
    let _ = writeln!(
        text,
        "{:<15}{makespan:>16}{:>10}{earliest:>17}{:>13}{:>12}{:>9}",
        "model", "diff., %", "commun., %", "events", "wall, s"
    );
    for rung in &ladder.rungs {
        let makespan = rung.makespan.map_or("deadlock".to_owned(), |time| column.show(time));
        let or_none = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
        let difference = or_none(rung.makespan.map(|time| percent(time, reference)));
        let first = or_none(rung.makespan.map(|_| column.show(first_end(rung))));
        let share = or_none(rung.makespan.map(|_| format!("{:.1}", rung.communication * 100.0)));
        let _ = writeln!(
            text,
            "{:<15}{makespan:>16}{difference:>10}{first:>17}{share:>13}{:>12}{:>9.3}",
            rung.name, rung.events, rung.wall,
        );
    }
    for (name, why) in &ladder.missing {
        let _ = writeln!(text, "{name:<16}not run: {why}");
    }
    for remark in &ladder.remarks {
        let _ = writeln!(text, "remark          {remark}");
    }
    if let Some(last) = last {
        text += &disagreement(ladder, last);
    }
    text
}

/// The models that are compared: all but that without a network.
fn models(ladder: &Ladder) -> impl Iterator<Item = &Rung> {
    ladder.rungs.iter().filter(|rung| rung.name != NOTHING && rung.makespan.is_some())
}

/// The ranks, calls and links on which the models disagree most.
fn disagreement(ladder: &Ladder, last: &Rung) -> String {
    let mut text = String::new();
    for rung in models(ladder).filter(|rung| rung.name != last.name) {
        let far = |(a, b): (&Time, &Time)| a.ps().abs_diff(b.ps());
        let pairs = rung.finish.iter().zip(&last.finish).enumerate();
        let apart = pairs.filter(|(_, pair)| far(*pair) > 0);
        let Some((rank, (ours, theirs))) =
            apart.max_by_key(|(rank, pair)| (far(*pair), usize::MAX - rank))
        else {
            continue;
        };
        let _ = writeln!(
            text,
            "{} and {} disagree most on rank {rank}: {}, {}",
            rung.name,
            last.name,
            results::time(*ours),
            results::time(*theirs)
        );
    }
    let mut calls: Vec<_> = last
        .calls
        .iter()
        .map(|(name, spent)| {
            let times = || {
                models(ladder).map(|rung| rung.calls.get(name).map_or(0, |spent| spent.time.ps()))
            };
            let spread = times().max().unwrap_or(0) - times().min().unwrap_or(0);
            (spread, &**name, spent.count)
        })
        .filter(|(spread, ..)| *spread > 0)
        .collect();
    calls.sort_unstable_by(|a, b| b.cmp(a));
    for (_, name, count) in calls.iter().take(3) {
        let times: Vec<_> = models(ladder)
            .map(|rung| {
                let time = rung.calls.get(*name).map_or(Time::ZERO, |spent| spent.time);
                format!("{} {}", rung.name, results::time(time))
            })
            .collect();
        let _ = writeln!(text, "{name}, {count} calls, all ranks: {}", times.join(", "));
    }
    if let Some(rung) = ladder.rungs.iter().rev().find(|rung| !rung.links.is_empty()) {
        let makespan = rung.makespan.unwrap_or_default().ps() as f64 * 1e-12;
        for link in rung.links.iter().filter(|_| makespan > 0.0).take(3) {
            let busy = link.bytes / link.bandwidth / makespan * 100.0;
            // What rounds to nothing tells nothing.
            if busy < 0.05 {
                break;
            }
            let _ = writeln!(text, "{} uses {:.1} % of link {}", rung.name, busy, link.link);
        }
    }
    text
}

fn as_json(value: &str, ladder: &Ladder) -> Value {
    let rung = |rung: &Rung| {
        let calls: Vec<_> = rung
            .calls
            .iter()
            .map(|(name, spent)| {
                json!({ "call": **name, "count": spent.count, "time_ps": spent.time.ps() })
            })
            .collect();
        let links: Vec<_> = rung
            .links
            .iter()
            .map(|link| {
                json!({ "link": link.link, "bytes": link.bytes, "bandwidth": link.bandwidth })
            })
            .collect();
        json!({
            "model": rung.name,
            "makespan_ps": rung.makespan.map(Time::ps),
            "finish_ps": rung.finish.iter().map(|time| time.ps()).collect::<Vec<_>>(),
            "communication": rung.communication,
            "events": rung.events,
            "wall_seconds": rung.wall,
            "deadlock": rung.deadlock,
            "calls": calls,
            "links": links,
        })
    };
    let missing: Vec<_> =
        ladder.missing.iter().map(|(name, why)| json!({ "model": name, "missing": why })).collect();
    let rungs: Vec<_> = ladder.rungs.iter().map(rung).collect();
    json!({ "over": value, "rungs": rungs, "missing": missing, "remarks": ladder.remarks })
}

/// The makespans of all models: relative to the finest if there are several ladders, unless they
/// are to be absolute.
fn plot(title: &str, climbed: &Climbed, absolute: bool) -> CategoryChart {
    let several = climbed.len() > 1;
    let times = climbed.iter().flat_map(|(_, ladder)| &ladder.rungs);
    let column = TimeColumn::of(times.filter_map(|rung| rung.makespan), usize::MAX);
    let y = if several && !absolute {
        "makespan / that of the finest model".to_owned()
    } else {
        format!("makespan, {}", column.unit())
    };
    let mut plot = CategoryChart { title: title.to_owned(), y, ..CategoryChart::default() };
    if !several {
        let rungs = climbed.iter().flat_map(|(_, ladder)| &ladder.rungs);
        let rungs: Vec<_> = rungs.filter_map(|rung| Some((rung.name, rung.makespan?))).collect();
        plot.places = rungs.iter().map(|(name, _)| (*name).to_owned()).collect();
        let points = rungs.iter().map(|(_, time)| Some(column.value(*time))).collect();
        plot.lines.push(Line { name: String::new(), points });
        return plot;
    }
    let (key, _) =
        climbed.first().and_then(|(value, _)| value.split_once(" = ")).unwrap_or_default();
    key.clone_into(&mut plot.x);
    let value = |text: &String| text.split_once(" = ").map_or("", |(_, value)| value).to_owned();
    plot.places = climbed.iter().map(|(text, _)| value(text)).collect();
    let names =
        climbed.first().map(|(_, ladder)| models(ladder).map(|rung| rung.name).collect::<Vec<_>>());
    for name in names.unwrap_or_default() {
        let point = |(_, ladder): &(String, Ladder)| {
            let own = ladder.rungs.iter().find(|rung| rung.name == name)?.makespan?;
            if absolute {
                return Some(column.value(own));
            }
            let reference = finest(ladder)?.makespan?;
            Some(ratio(own, reference)).filter(|ratio| ratio.is_finite())
        };
        plot.lines
            .push(Line { name: name.to_owned(), points: climbed.iter().map(point).collect() });
    }
    plot
}
