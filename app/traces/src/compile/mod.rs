//! Traces to a schedule.
//!
//! Each rank is compiled on its own, in parallel with the others; mode `Aligned` takes them a piece
//! at a time and finds out for what each call waited. Then what needs all ranks is done: one-sided
//! operations get their part at the target, windows lose messages of which only one end lies
//! within, and tags of all communicators are brought into one space. Of a trace, one block or line
//! is in memory at a time, of the schedule what can still change; the rest lies in a temporary
//! file.

mod align;
mod between;
mod completion;
mod emit;
mod keys;
mod local;
mod locks;
mod look;
mod onesided;
mod post;
mod probes;
mod rank;
mod refused;
mod request;
mod run;
mod send;
mod synchronous;
mod unlisted;

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use schedule::goal::{Image, Spill, assemble};
use units::Time;

use crate::options::{Clocks, Mode, Options, Window};
use crate::source::{Form, OpenError, Traces};
pub use between::BEYOND;
use keys::Numbers;
use rank::{Known, Ranked, Shared};
use run::Run;
use synchronous::Answers;

/// A schedule made of traces.
#[derive(Debug)]
pub struct Compiled {
    /// The schedule. Its unit of time is the picosecond.
    pub image: Image,
    /// Warnings about the traces.
    pub warnings: Vec<String>,
    /// The number of calls that were read.
    pub calls: u64,
    /// The calls of each rank of the schedule in order, if they were asked for.
    pub marks: Vec<Vec<Mark>>,
}

/// A call in the schedule. It lasts from the end of the computation before it to the start of what
/// comes before the thread's next call. Those that post nothing and wait for nothing have no mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The number of the call in the table of calls.
    pub call: u32,
    /// The thread that makes it.
    pub thread: u32,
    /// The operation that begins when the call before it ends: the computation before this call, or
    /// the sleep before that.
    pub first: u32,
    /// The computation before it.
    pub before: u32,
    /// The first of the operations that were made for it: those before `Mark::posted` of the next
    /// call are, apart from `first` and `before`.
    pub posted: u32,
    /// The line of the rank's file on which it stands, from 1; 0 if the trace is no text.
    pub line: u32,
}

/// The reason why there is no schedule.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file cannot be read.
    #[error("error: {0}")]
    Open(#[from] OpenError),
    /// Everything that is wrong with the traces, ready to be shown.
    #[error("{}", .0.join(""))]
    Traces(Vec<String>),
    /// The schedule, which lies in a temporary file, cannot be written.
    #[error("error: the schedule cannot be kept in a temporary file: {0}")]
    Store(#[from] io::Error),
    /// The options contradict the traces.
    #[error("error: {0}")]
    Options(String),
    /// A file that is made of the traces cannot be written.
    #[error("error: {}: {error}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
}

/// Carries out a task for each item, on several threads; the results come in the order of the
/// items.
fn parallel<T: Send, R: Send>(
    items: Vec<T>,
    threads: usize,
    task: impl Fn(T) -> R + Sync,
) -> Vec<R> {
    let slots: Vec<_> = items.into_iter().map(|item| Mutex::new((Some(item), None))).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(slot) = slots.get(next.fetch_add(1, Ordering::Relaxed)) {
            let item = slot.lock().ok().and_then(|mut slot| slot.0.take());
            let result = item.map(&task);
            if let Ok(mut slot) = slot.lock() {
                slot.1 = result;
            }
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads.min(slots.len()) {
            // What cannot be started, the others do.
            let _ = thread::Builder::new().spawn_scoped(scope, work);
        }
        work();
    });
    slots.into_iter().filter_map(|slot| slot.into_inner().ok()?.1).collect()
}

/// Makes a schedule of traces.
pub fn compile(traces: &Traces, options: &Options) -> Result<Compiled, Error> {
    let recorded = match options.clocks {
        Clocks::Recorded => true,
        Clocks::Init => false,
        Clocks::Default => traces.form == Form::Heddle && options.mode == Mode::Aligned,
    };
    let (compiled, late) = compile_by(traces, options, recorded, Known::default())?;
    if late == 0 || recorded || options.clocks == Clocks::Init {
        return Ok(compiled);
    }
    // The ranks did not leave MPI_Init together: messages came before they were sent. Perhaps the
    // clocks that were measured do better.
    let (measured, later) = compile_by(traces, options, true, Known::default())?;
    Ok(if later < late { measured } else { compiled })
}

/// Makes a schedule by one choice of clocks; with it comes how many calls returned too early. Once
/// more, if ranks waited for locks, or if there are synchronous sends, with what is `known` then;
/// and again if only then it shows which messages that were probed are some.
fn compile_by(
    traces: &Traces,
    options: &Options,
    recorded: bool,
    known: Known,
) -> Result<(Compiled, u64), Error> {
    let ranks = traces.ranks();
    let total = u64::from(ranks) * u64::from(options.copies);
    check(options, total)?;
    let processors = || thread::available_parallelism().map_or(1, usize::from);
    let threads = if options.threads == 0 { processors() } else { options.threads };
    let bases = if recorded { bases(traces, threads)? } else { Vec::new() };
    let (numbers, spill) = (Numbers::default(), Spill::new(total as u32));
    let shared = Shared { options, numbers: &numbers, spill: &spill, ranks, known };
    let mut runs = runs(traces, shared, total as u32, threads, &bases)?;
    let grants = if known.grants.is_none() { locks::grants(&mut runs, ranks) } else { None };
    let answers = known.answers.is_none() && synchronous::want_answers(&mut runs, options);
    if answers || grants.is_some() {
        drop(runs);
        let all = Answers::default();
        let answers = if answers { Some(&all) } else { known.answers };
        let known = Known { answers, grants: grants.as_ref().or(known.grants) };
        return compile_by(traces, options, recorded, known);
    }
    let all = options.window == Window::All;
    let mut said = if all { Vec::new() } else { align::balance(&mut runs) };
    let (unmet, only) = known.answers.map_or((0, None), |_| synchronous::answer(&mut runs));
    if let Some(only) = only {
        drop(runs);
        return compile_by(traces, options, recorded, Known { answers: Some(&only), ..known });
    }
    if unmet > 0 {
        said.push(format!(
            "{unmet} synchronous sends do not wait: the traces do not tell their receives"
        ));
    }
    let mut late = 0;
    if options.mode == Mode::Aligned {
        let (count, more) = align::align(&mut runs, options.recorded_on, threads)?;
        late = count;
        said.extend(more);
    }
    let mut ranked: Vec<Ranked> = runs.into_iter().map(Run::end).collect();
    judge(&mut ranked, options.window)?;
    let mut warnings = warnings(&ranked);
    warnings.extend(said);
    let calls = ranked.iter().map(|rank| rank.calls).sum::<u64>() / u64::from(options.copies);
    let (image, marks) = joined(ranked, options, numbers, spill)?;
    Ok((Compiled { image, warnings, calls, marks }, late))
}

/// The ranks as one schedule, with the marks of each.
fn joined(
    mut ranked: Vec<Ranked>,
    options: &Options,
    numbers: Numbers,
    spill: Spill,
) -> Result<(Image, Vec<Vec<Mark>>), Error> {
    onesided::serve(&mut ranked);
    let total = ranked.len();
    let room = |wanted| if wanted { total } else { 0 };
    let marks = by_place(&mut ranked, room(options.marks), |rank| &mut rank.marks);
    let blocking = by_place(&mut ranked, room(options.blocking), |rank| &mut rank.blocking);
    let sleeps = by_place(&mut ranked, room(options.blocking), |rank| &mut rank.sleeps);
    let looks = by_place(&mut ranked, room(options.blocking), |rank| &mut rank.looks);
    let tag = numbers.tags();
    let tag = tag.as_ref().map(|tag| tag as &dyn Fn(u32) -> u32);
    ranked.sort_by_key(|rank| rank.place);
    let parts = ranked.into_iter().map(|rank| rank.draft.finish(&spill));
    let parts = parts.collect::<io::Result<Vec<_>>>()?;
    let mut image = assemble(parts, spill, tag)?;
    if options.blocking {
        image.set_blocking(blocking);
        image.set_sleeps(sleeps);
        image.set_looks(looks);
    }
    Ok((image, marks))
}

/// The traces of so many ranks, compiled to their ends; or only opened, if the recorded run is
/// followed while it is compiled. A window cuts messages before that.
fn runs<'a>(
    traces: &Traces,
    shared: Shared<'a>,
    total: u32,
    threads: usize,
    bases: &[Clock],
) -> Result<Vec<Run<'a>>, Error> {
    let Shared { options, ranks, .. } = shared;
    let at_once = options.mode != Mode::Aligned || options.window != Window::All;
    let runs = parallel((0..total).collect(), threads, |task| {
        let rank = task % ranks;
        let clock = bases.get(rank as usize).cloned().flatten();
        let mut run = Run::new(traces, shared, (rank, task / ranks), clock)?;
        run.advance(if at_once { u64::MAX } else { 0 })?;
        Ok(run)
    });
    runs.into_iter().collect()
}

/// Takes something of each rank and puts it in the order of the schedule's ranks, of which there
/// are `count`.
fn by_place<T>(
    ranked: &mut [Ranked],
    count: usize,
    part: impl Fn(&mut Ranked) -> &mut Vec<T>,
) -> Vec<Vec<T>> {
    let mut parts: Vec<_> = (0..count).map(|_| Vec::new()).collect();
    for rank in ranked {
        if let Some(slot) = parts.get_mut(rank.place as usize) {
            *slot = std::mem::take(part(rank));
        }
    }
    parts
}

fn check(options: &Options, total: u64) -> Result<(), Error> {
    if options.copies == 0 || total >= u64::from(u32::MAX) {
        return Err(Error::Options(format!(
            "{} copies of the ranks cannot be made",
            options.copies
        )));
    }
    if options.map.is_empty() {
        return Ok(());
    }
    let mut places = options.map.clone();
    places.sort_unstable();
    if places.len() as u64 == total && (0..).zip(&places).all(|(rank, place)| rank == *place) {
        return Ok(());
    }
    Err(Error::Options(format!("the map must name each of the {total} ranks once")))
}

/// Fails with all errors of the traces, or if the window leaves nothing of them.
fn judge(ranked: &mut [Ranked], window: Window) -> Result<(), Error> {
    let errors: Vec<_> =
        ranked.iter_mut().flat_map(|rank| std::mem::take(&mut rank.errors)).collect();
    if !errors.is_empty() {
        return Err(Error::Traces(errors));
    }
    if ranked.iter().any(|rank| !rank.draft.is_empty()) {
        return Ok(());
    }
    let there_is = match window {
        Window::All => return Ok(()),
        Window::Collectives(..) => {
            let collectives = ranked.iter().map(|rank| rank.world).max().unwrap_or(0);
            format!("they have {collectives} collectives of all ranks")
        }
        Window::Times(..) => {
            let last = ranked.iter().map(|rank| rank.last_call).max().unwrap_or(0);
            format!("no call begins in it, the last one begins at {}", Time::from_ps(last))
        }
    };
    Err(Error::Options(format!("there is nothing of the traces in the window: {there_is}")))
}

/// The map from a rank's time to the common time: points (its own, the common one) in picoseconds,
/// between which time runs evenly.
type Clock = Option<Vec<(u64, i128)>>;

/// The clocks of all ranks as they were measured. The traces are read once for it.
fn bases(traces: &Traces, threads: usize) -> Result<Vec<Clock>, Error> {
    let scanned = parallel((0..traces.ranks()).collect(), threads, |rank| scan(traces, rank));
    let mut scanned = scanned.into_iter().collect::<Result<Vec<_>, _>>()?;
    let first = scanned.iter().map(|(_, init)| *init).min().unwrap_or(0);
    for (points, _) in &mut scanned {
        for (_, common) in points {
            *common -= first;
        }
    }
    Ok(scanned.into_iter().map(|(points, _)| Some(points)).collect())
}

/// The clock of a rank and the common time at which it left `MPI_Init`.
fn scan(traces: &Traces, rank: u32) -> Result<(Vec<(u64, i128)>, i128), Error> {
    let mut stream = traces.open(rank)?;
    let mut record = crate::record::Record::default();
    let mut init = 0;
    while stream.next(&mut record)? {
        if record.call().is_some_and(|call| call.class == calls::Class::Init) {
            init = record.leave;
        }
    }
    let start = i128::from(stream.start()) * 1000;
    let mut offsets: BTreeMap<u64, i64> = BTreeMap::new();
    for offset in &stream.definitions().offsets {
        offsets.insert(offset.at, offset.nanoseconds);
    }
    if offsets.is_empty() {
        offsets.insert(0, 0);
    }
    let point = |(at, nanoseconds): (u64, i64)| {
        (at, start + i128::from(at) + i128::from(nanoseconds) * 1000)
    };
    let points: Vec<_> = offsets.into_iter().map(point).collect();
    let common = rank::common(&points, init);
    Ok((points, common))
}

fn warnings(ranked: &[Ranked]) -> Vec<String> {
    let mut warnings: Vec<_> = ranked.iter().flat_map(|rank| rank.warnings.clone()).collect();
    let mut totals: BTreeMap<&str, (u64, u32)> = BTreeMap::new();
    for rank in ranked {
        for (what, count) in &rank.counts {
            let total = totals.entry(what).or_insert((0, rank.rank));
            total.0 += count;
        }
    }
    let total = |(what, (count, rank)): (&str, (u64, u32))| {
        let times = if count == 1 { "once".to_owned() } else { format!("{count} times") };
        let first = if count == 1 { "" } else { " first" };
        format!("{times}, on rank {rank}{first}: {what}")
    };
    warnings.extend(totals.into_iter().map(total));
    warnings
}
