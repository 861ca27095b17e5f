//! Traces as a workload.

use std::{collections::BTreeMap, path::Path};

use results::{Call, Recorded};
use traces::{
    Compiled, Mark,
    format::table::Table,
    options::{Clocks, Flits, Ideal, Mode, Options, Scale, Window},
    pinning::Pinning,
    source::Traces,
};
use units::{Time, TimePerByte};

use crate::{
    configuration::{Configuration, Request},
    diagnostic::{Diagnostic, Mistakes},
    run::Failure,
};

/// Checks the settings of traces against each other.
pub(crate) fn check(configuration: &Configuration) -> Result<(), Vec<Diagnostic>> {
    let said =
        |names: &[&'static str]| names.iter().find(|name| configuration.is_said(name)).copied();
    let collectives = said(&["traces.from-collective", "traces.to-collective"]);
    let times = said(&["traces.from", "traces.to"]);
    let mut mistakes = Vec::new();
    if let (Some(_), Some(time)) = (collectives, times) {
        let message = "a window between collectives has no times";
        mistakes.push(configuration.mistake(time, message));
    }
    let order =
        |from: Option<u64>, to: Option<u64>| from.zip(to).is_some_and(|(from, to)| from >= to);
    let time = |name| configuration.time(name).map(Time::ps);
    let empty = [
        (
            "traces.to-collective",
            order(
                configuration.count("traces.from-collective"),
                configuration.count("traces.to-collective"),
            ),
        ),
        ("traces.to", order(time("traces.from"), time("traces.to"))),
    ];
    for (name, _) in empty.into_iter().filter(|(_, empty)| *empty) {
        mistakes.push(configuration.mistake(name, "the window ends before it begins"));
    }
    if mistakes.is_empty() { Ok(()) } else { Err(mistakes) }
}

fn window(configuration: &Configuration) -> Window {
    let said = |name| configuration.is_said(name);
    let time = |name, default| configuration.time(name).map_or(default, Time::ps);
    if said("traces.from") || said("traces.to") {
        Window::Times(time("traces.from", 0), time("traces.to", u64::MAX))
    } else if said("traces.from-collective") || said("traces.to-collective") {
        let count = |name, default| configuration.count(name).unwrap_or(default);
        Window::Collectives(
            count("traces.from-collective", 0),
            count("traces.to-collective", u64::MAX),
        )
    } else {
        Window::All
    }
}

fn options(configuration: &Configuration) -> Options<'static> {
    let time = |name| configuration.time(name).unwrap_or(Time::ZERO).ps();
    let (picoseconds, bytes) =
        configuration.per_byte("traces.pin-per-byte").unwrap_or(TimePerByte::ZERO).parts();
    let pinning = Pinning {
        per_byte: picoseconds / bytes.max(1),
        per_call: time("traces.pin-per-call"),
        limit: configuration.bytes("traces.pin-limit").map(units::Bytes::get),
    };
    let costs = pinning.per_byte > 0 || pinning.per_call > 0;
    Options {
        mode: match configuration.word("traces.mode") {
            "durations" => Mode::Durations,
            "aligned" => Mode::Aligned,
            _ => Mode::Gaps,
        },
        clocks: match configuration.word("traces.clocks") {
            "init" => Clocks::Init,
            "recorded" => Clocks::Recorded,
            _ => Clocks::Default,
        },
        recorded_on: match configuration.word("traces.recorded-on") {
            "infiniband-ddr-simula" => &Flits,
            _ => &Ideal,
        },
        scale: Scale {
            all: configuration.factor("traces.scale").unwrap_or(1.0),
            ..Scale::default()
        },
        pinning: costs.then_some(pinning),
        connect: time("traces.connect"),
        copies: configuration.count("traces.copies").unwrap_or(1) as u32,
        window: window(configuration),
        threads: 0,
        ..Options::default()
    }
}

/// Reads traces and makes a schedule of them.
/// With it comes, if `marks` is set, where its calls are.
pub(crate) fn compile(
    path: &Path,
    configuration: &Configuration,
    marks: bool,
) -> Result<Compiled, Failure> {
    let traces = Traces::find(path).map_err(|error| Failure::Input(format!("error: {error}")))?;
    let options = Options { marks, ..options(configuration) };
    traces::compile(&traces, &options).map_err(|error| Failure::Input(error.to_string()))
}

/// The calls of a schedule in simulated time.
pub(crate) fn calls(compiled: &Compiled, recorded: &Recorded) -> Vec<Call> {
    let mut calls = Vec::new();
    let mut computations = recorded.computations.as_slice();
    for (rank, marks) in (0..).zip(&compiled.marks) {
        let behind = computations.partition_point(|computation| computation.rank <= rank);
        let (own, rest) = computations.split_at(behind);
        computations = rest;
        let when = |mark: &Mark| {
            let found = own.binary_search_by_key(&mark.before, |computation| computation.index);
            let found = found.ok().and_then(|place| own.get(place));
            found.map_or((Time::MAX, Time::MAX), |found| (found.start, found.end))
        };
        // When the thread's next call begins, found from behind.
        let mut next: BTreeMap<u32, Time> = BTreeMap::new();
        let first = calls.len();
        for mark in marks.iter().rev() {
            let (start, enter) = when(mark);
            let leave = next.insert(mark.thread, start).unwrap_or(enter);
            let name = Table::get().by_id(mark.call).map_or("", |call| call.name);
            calls.push(Call { rank, thread: mark.thread, name, enter, leave });
        }
        if let Some(own) = calls.get_mut(first..) {
            own.reverse();
        }
    }
    calls
}

/// The schedule of the traces that a request names, with what is odd about them; `None` if it names none.
pub fn compiled_traces(request: &Request) -> Result<Option<Compiled>, Failure> {
    let subject = request.subject.as_deref().unwrap_or_default();
    if !Traces::names(Path::new(subject)) {
        return Ok(None);
    }
    let configuration = Configuration::read(request)?;
    check(&configuration).map_err(Mistakes)?;
    compile(Path::new(subject), &configuration, false).map(Some)
}
