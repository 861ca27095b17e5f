//! The table on the terminal after a run.

use std::fmt::Write as _;
use std::io::{self, Write};

use schedule::goal::Cycle;
use units::Time;

use crate::format::{bytes, count, plural, printable, seconds, time};
use crate::{CriticalPathSummary, DeadlockSummary, OwnCycle, Pending, Performance, Summary};

/// Pending operations of a deadlock that are shown; `summary.json` has more.
const SHOWN: usize = 20;
/// Ranks of a cycle that are shown.
const CYCLE: usize = 40;
/// Width of the labels.
const LABEL: usize = 15;

/// Writes the summary of a run for people.
pub fn write_terminal(
    out: &mut impl Write,
    summary: &Summary,
    performance: &Performance,
) -> io::Result<()> {
    let mut text = String::new();
    // Writing into a string does not fail.
    let _ = render(&mut text, summary, performance);
    out.write_all(printable(&text).as_bytes())
}

fn render(text: &mut String, summary: &Summary, performance: &Performance) -> std::fmt::Result {
    if let Some(deadlock) = &summary.deadlock {
        render_deadlock(text, deadlock, summary.ranks)?;
    }
    if let (Some(makespan), Some(path)) = (summary.makespan_ps, &summary.critical_path) {
        render_path(text, makespan, path, summary.ranks)?;
    }
    let rate = |value| format!("{}/s", count(value));
    let messages = format!(
        "{} ({}), {}",
        summary.messages,
        bytes(summary.bytes),
        rate(performance.messages_per_second)
    );
    row(text, "messages", &messages)?;
    let signals = match summary.signals {
        0 => String::new(),
        signals => format!(", and {signals} signals of the network"),
    };
    let rate = performance
        .events_per_second
        .map_or_else(String::new, |value| format!(", {}", rate(value)));
    let events = format!("{}{signals}{rate}", summary.events);
    row(text, "events", &events)?;
    let threads = plural(performance.threads as u64, "thread");
    let workers = match performance.processes {
        Some(processes) => format!("{processes} processes of {threads}"),
        None => threads,
    };
    let time = format!(
        "{} simulating, {} in all, {} CPU, {workers}",
        seconds(performance.simulation_seconds),
        seconds(performance.wall_seconds),
        seconds(performance.cpu_seconds)
    );
    row(text, "time", &time)?;
    if let Some(peak) = performance.peak_rss_bytes {
        row(text, "peak memory", &bytes(peak))?;
    }
    for remark in &summary.remarks {
        row(text, "remark", remark)?;
    }
    Ok(())
}

fn row(text: &mut String, label: &str, value: &str) -> std::fmt::Result {
    writeln!(text, "{label:LABEL$} {value}")
}

fn render_path(
    text: &mut String,
    makespan: u64,
    path: &CriticalPathSummary,
    ranks: u64,
) -> std::fmt::Result {
    row(text, "makespan", &time(Time::from_ps(makespan)))?;
    let ends = format!("ends on rank {} of {ranks}", path.rank);
    row(text, "critical path", &ends)?;
    let parts = [
        ("  compute", path.compute_ps),
        ("  overhead", path.overhead_ps),
        ("  latency", path.latency_ps),
        ("  bandwidth", path.bandwidth_ps),
        ("  contention", path.contention_ps),
        ("  waiting", path.waiting_ps),
    ]
    .map(|(label, ps)| (label, ps, time(Time::from_ps(ps))));
    let width = parts.iter().map(|part| part.2.len()).max().unwrap_or(0);
    for (label, ps, shown) in parts {
        let share = 100.0 * ps as f64 / makespan.max(1) as f64;
        row(text, label, &format!("{shown:>width$}  {share:5.1} %"))?;
    }
    Ok(())
}

/// Names the ranks that can never finish, of so many, and the operation that each waits for.
pub fn describe_deadlock(deadlock: &DeadlockSummary, ranks: u64) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = render_deadlock(&mut text, deadlock, ranks);
    text
}

fn render_deadlock(text: &mut String, deadlock: &DeadlockSummary, ranks: u64) -> std::fmt::Result {
    let at = time(Time::from_ps(deadlock.at_ps));
    let stuck = deadlock.ranks;
    let all = plural(ranks, "rank");
    writeln!(text, "deadlock at {at}: {stuck} of {all} can never finish")?;
    // Of a live rank, the first line tells how many operations it waits for.
    let same = |one: &Pending, other: &Pending| {
        one.rank == other.rank && one.operations.is_some() && other.operations.is_some()
    };
    let lines: Vec<_> = deadlock.pending.chunk_by(same).filter_map(<[_]>::first).collect();
    for pending in lines.iter().take(SHOWN) {
        render_pending(text, pending)?;
    }
    let further = lines.len().saturating_sub(SHOWN);
    if further > 0 {
        writeln!(text, "  and {}", plural(further as u64, "further operation"))?;
    }
    for cycle in deadlock.own_cycles.iter().take(SHOWN) {
        render_own_cycle(text, cycle)?;
    }
    let further = deadlock.own_cycles.len().saturating_sub(SHOWN);
    if further > 0 {
        writeln!(text, "  and {}", plural(further as u64, "further rank"))?;
    }
    if let Some(first) = deadlock.cycle.first() {
        let mut shown: Vec<String> =
            deadlock.cycle.iter().take(CYCLE).map(u32::to_string).collect();
        let hidden = deadlock.cycle.len().saturating_sub(CYCLE);
        if hidden > 0 {
            shown.push(format!("({hidden} more)"));
        }
        shown.push(first.to_string());
        row(text, "cycle", &shown.join(" -> "))?;
    }
    Ok(())
}

/// Writes the operations of a rank that wait for each other in the words of `heddle check`.
fn render_own_cycle(text: &mut String, found: &OwnCycle) -> std::fmt::Result {
    let OwnCycle { rank, operations, stuck, line } = found;
    let first = operations.first().copied().unwrap_or(0);
    let line = line.map(|line| format!(" (line {line})")).unwrap_or_default();
    let cycle = Cycle { rank: *rank, operations: operations.clone(), stuck: *stuck };
    writeln!(text, "  rank {rank}, operation {first}{line}: {cycle}")
}

/// One line such as `  rank 3 waits in recv of 10 B from rank 1, tag 7 (line 12: l1: recv 10b from
/// 1 tag 7)`.
fn render_pending(text: &mut String, pending: &Pending) -> std::fmt::Result {
    if let (Some(operations), Some(call)) = (pending.operations, &pending.text) {
        return render_call(text, pending, operations, call);
    }
    let state = if pending.started { "waits in" } else { "has not started" };
    write!(text, "  rank {} {state} {}", pending.rank, pending.kind)?;
    render_envelope(text, pending)?;
    match (pending.line, &pending.text) {
        (Some(line), Some(source)) => write!(text, " (line {line}: {})", source.trim())?,
        (Some(line), None) => write!(text, " (line {line})")?,
        (None, _) => write!(text, " (operation {})", pending.index)?,
    }
    writeln!(text)
}

/// Writes where a live rank waits, such as `  rank 3 waits in MPI_Waitall at ring.c:12 for 2
/// operations, the first recv of 10 B from rank 1, tag 7`.
fn render_call(
    text: &mut String,
    pending: &Pending,
    operations: u64,
    call: &str,
) -> std::fmt::Result {
    write!(text, "  rank {} waits in ", pending.rank)?;
    if pending.earlier {
        write!(text, "a blocking {}", pending.kind)?;
        render_envelope(text, pending)?;
        return writeln!(text, ", before {call}");
    }
    write!(text, "{call}")?;
    // Those of a collective are none of the program's.
    if pending.peer.is_some() {
        match operations {
            1 => write!(text, " for {}", pending.kind)?,
            _ => write!(text, " for {operations} operations, the first {}", pending.kind)?,
        }
        render_envelope(text, pending)?;
    }
    writeln!(text)
}

/// Size, peer and tag of a message.
fn render_envelope(text: &mut String, pending: &Pending) -> std::fmt::Result {
    let any = |value: i64, name: &str| match value {
        -1 => format!("any {name}"),
        value => format!("{name} {value}"),
    };
    if let Some(peer) = pending.peer {
        let preposition = if pending.kind == "send" { "to" } else { "from" };
        let peer = any(peer, "rank");
        write!(text, " of {} B {preposition} {peer}", pending.size)?;
    }
    if let Some(tag) = pending.tag {
        write!(text, ", {}", any(tag, "tag"))?;
    }
    Ok(())
}
