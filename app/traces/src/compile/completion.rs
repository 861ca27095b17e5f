//! Waiting for requests and testing them.

use schedule::Kind;

use super::emit::Shape;
use super::keys::Purpose;
use super::onesided;
use super::rank::{Compiler, NONE};
use super::request::Request;
use crate::options::Mode;
use crate::record::{Record, Status, UNKNOWN};
use crate::source::Stream;
use calls::{Class, Table};

const BLIND: &str = "the trace does not say which requests were completed: they are waited for \
                     where their handles are used again, or once all of them must be done";

/// Compiles a call that completes requests, or may.
pub fn complete(
    compiler: &mut Compiler,
    class: Class,
    record: &Record,
    stream: &Stream,
) -> Result<(), String> {
    let requests = requests(class, record);
    let is_active = |id: &i64| compiler.requests.get(id).is_some_and(|request| request.active);
    let repeats = stream.between().is_some() && class.is_look();
    let first = requests.first().copied();
    let (tested, times) = compiler.tested;
    // Without times, each look at the same request costs more than the one before it.
    let times = if repeats && tested == first { times + 1 } else { 1 };
    compiler.tested = (first, times);
    if class.is_look() && (!stream.is_simulated() || requests.iter().any(is_active)) {
        compiler.look(class, stream);
    }
    match class {
        Class::RequestFree => {
            let request = requests.first().and_then(|id| compiler.requests.remove(id));
            if let Some(request) = request.filter(|request| request.active) {
                free(compiler, &request);
            }
            return Ok(());
        }
        Class::Cancel => {
            ask_to_cancel(compiler, requests.first().copied().unwrap_or(0), stream);
            return Ok(());
        }
        _ => {}
    }
    let keeps = class != class.completing();
    match told(class, record, |request, status| {
        if keeps {
            is_done(compiler, stream, request, status);
        } else {
            finish(compiler, stream, request, status);
        }
    }) {
        Told::Some => {}
        Told::Nothing => {
            missed(compiler);
            return Ok(());
        }
        Told::Unknown => {
            if class.completing() != Class::Testsome {
                blind(compiler, stream, requests);
                compiler.frame(Shape::Completion);
            }
            return Ok(());
        }
    }
    if let (Some(window), true) = (compiler.now.window, compiler.now.waits.is_empty()) {
        onesided::idle(compiler, window, stream)?;
    }
    compiler.frame(Shape::Completion);
    Ok(())
}

/// The requests that a call is about.
fn requests(class: Class, record: &Record) -> &[i64] {
    let one = matches!(
        class.completing(),
        Class::Wait | Class::Test | Class::RequestFree | Class::Cancel
    );
    if one { record.values.get(..1).unwrap_or_default() } else { record.arguments().list() }
}

/// Frees a request that is under way. It still has to happen before the rank is at its end,
/// unless it is a receive that was to be cancelled: nobody learns whether a message came for it.
fn free(compiler: &mut Compiler, request: &Request) {
    for op in &request.ops {
        let kind = compiler.out.draft.get(*op).map(|op| op.kind);
        if request.cancelled && kind == Some(Kind::Recv) {
            compiler.void(*op);
        } else {
            compiler.freed.push(*op);
        }
    }
}

/// The statement of a call about its requests.
enum Told {
    /// These of them are done.
    Some,
    /// None of them is done.
    Nothing,
    /// Some are done, and the call does not say which.
    Unknown,
}

/// Goes through the requests of which a call says that they are done.
// Long because it lists the calls.
fn told(class: Class, record: &Record, mut done: impl FnMut(i64, Status)) -> Told {
    let class = class.completing();
    let mut arguments = record.arguments();
    let requests = requests(class, record);
    if matches!(class, Class::Wait | Class::Test) {
        arguments.number();
    } else {
        arguments.list();
    }
    let of = |index: i64| usize::try_from(index).ok().and_then(|index| requests.get(index));
    match class {
        Class::Wait | Class::Test => {
            if class != Class::Wait && arguments.number() != 1 {
                return Told::Nothing;
            }
            let status = arguments.status();
            for request in requests {
                done(*request, status);
            }
        }
        Class::Waitall | Class::Testall => {
            if class == Class::Testall && arguments.number() != 1 {
                return Told::Nothing;
            }
            let mut statuses = arguments.triples().iter().copied().map(status);
            for request in requests {
                done(*request, statuses.next().unwrap_or(Status::NOTHING));
            }
        }
        Class::Waitany | Class::Testany => {
            let index = arguments.number();
            if class == Class::Testany && arguments.number() != 1 {
                return Told::Nothing;
            }
            if index == UNKNOWN {
                return Told::Unknown;
            }
            let status = arguments.status();
            if let Some(request) = of(index) {
                done(*request, status);
            }
        }
        Class::Waitsome | Class::Testsome => {
            if arguments.clone().number() == UNKNOWN {
                return Told::Unknown;
            }
            let (indices, statuses) = (arguments.list(), arguments.triples());
            if indices.is_empty() && class == Class::Testsome {
                return Told::Nothing;
            }
            let mut statuses = statuses.iter().copied().map(status);
            for index in indices {
                let status = statuses.next().unwrap_or(Status::NOTHING);
                if let Some(request) = of(*index) {
                    done(*request, status);
                }
            }
        }
        _ => {}
    }
    Told::Some
}

/// Returns what an open receive will be found to have matched, once it is done. `None` if that is
/// not known, or if the file cannot be looked through.
pub fn foreseen(stream: &Stream, receive: i64) -> Option<Status> {
    let mut stream = stream.ahead()?;
    let mut record = Record::default();
    let mut matched = None;
    while matched.is_none() && stream.next(&mut record).ok()? {
        let Some(call) = Table::get().by_id(record.id) else { continue };
        if call.class == Class::RequestFree && requests(call.class, &record).contains(&receive) {
            return None;
        }
        told(call.class, &record, |request, status| {
            if request == receive {
                matched = Some(status);
            }
        });
    }
    matched
}

/// A request is to be cancelled. In a simulated run, a receive is when the rank has come to that.
fn ask_to_cancel(compiler: &mut Compiler, id: i64, stream: &Stream) {
    let Some(request) = compiler.requests.get_mut(&id) else { return };
    request.cancelled = true;
    let (is_active, op) = (request.active, request.ops.first().copied());
    let kind = op.and_then(|op| compiler.out.draft.get(op)).map(|op| op.kind);
    if is_active
        && kind == Some(Kind::Recv)
        && stream.is_simulated()
        && compiler.options.mode == Mode::Gaps
    {
        (compiler.looks, compiler.times) = (0, 0);
        compiler.turn();
        compiler.pause();
    }
}

/// At least one of these requests is done, and nobody knows which. Where as many calls have said so
/// as there are requests, all are.
fn blind(compiler: &mut Compiler, stream: &Stream, ids: &[i64]) {
    let is_active = |id: &&i64| compiler.requests.get(id).is_some_and(|request| request.active);
    let active: Vec<i64> = ids.iter().filter(is_active).copied().collect();
    let Some(first) = ids.iter().find(|id| **id != 0).copied().filter(|_| !active.is_empty())
    else {
        return;
    };
    compiler.count(BLIND);
    let known = compiler.blind.iter().position(|(ids, _)| ids.first() == Some(&first));
    let place = known.unwrap_or(compiler.blind.len());
    if known.is_none() {
        compiler.blind.push((Vec::new(), 0));
    }
    let Some((array, done)) = compiler.blind.get_mut(place) else { return };
    *array = ids.iter().skip_while(|id| **id == 0).copied().collect();
    *done += 1;
    if *done >= active.len() {
        compiler.blind.swap_remove(place);
        for request in active {
            finish(compiler, stream, request, Status::NOTHING);
        }
    }
}

/// A look has found nothing. In a simulated run it takes what it costs; otherwise all of its time
/// is computation.
pub fn missed(compiler: &mut Compiler) {
    if compiler.looks > 0 {
        compiler.pause();
    }
}

fn status([source, tag, bytes]: [i64; 3]) -> Status {
    Status { source, tag, bytes }
}

/// The call waits for a request and is done with it; the status tells what an open receive has
/// matched.
fn finish(compiler: &mut Compiler, stream: &Stream, id: i64, status: Status) {
    is_done(compiler, stream, id, status);
    let known = compiler.requests.get_mut(&id).filter(|request| request.active);
    let Some(request) = known else { return };
    if request.persistent.is_none() {
        compiler.requests.remove(&id);
    } else {
        (request.active, request.cancelled) = (false, false);
    }
}

/// The call waits for a request, which another call may still complete. That one then has nothing
/// left to wait for.
fn is_done(compiler: &mut Compiler, stream: &Stream, id: i64, status: Status) {
    let known = compiler.requests.get_mut(&id).filter(|request| request.active);
    let Some(request) = known else { return };
    let (ops, open) = (std::mem::take(&mut request.ops), request.open.take());
    let (window, cancelled) = (request.window.take(), request.cancelled && status.source < 0);
    if let Some(communicator) = open {
        settle(compiler, stream, &ops, communicator, status);
    }
    if cancelled {
        // It never received anything.
        for op in &ops {
            cancel(compiler, *op);
        }
    }
    if let Some(window) = window {
        onesided::ended(compiler, window, &ops);
    }
    compiler.now.waits.extend(ops.iter().filter(|op| **op != NONE));
}

/// Takes out a receive that was cancelled. A send stays: no trace says whether it could still be
/// stopped, and MPI libraries hardly ever can.
fn cancel(compiler: &mut Compiler, op: u32) {
    match compiler.out.draft.get(op).map(|op| op.kind) {
        Some(Kind::Recv) => compiler.void(op),
        Some(Kind::Send) => {
            compiler
                .count("sends were to be cancelled; they are replayed as if that came too late");
        }
        _ => {}
    }
}

/// Gives an open receive the source and tag that it matched.
fn settle(
    compiler: &mut Compiler,
    stream: &Stream,
    ops: &[u32],
    communicator: i64,
    status: Status,
) {
    let tag = (status.tag >= 0).then(|| compiler.tag(communicator, Purpose::Tag(status.tag)));
    let known = compiler.communicator(stream, communicator).ok();
    let source = known.filter(|_| status.source >= 0);
    let source = source.and_then(|known| compiler.peer(known, status.source).ok().flatten());
    for op in ops {
        if let Some(op) = compiler.out.draft.get_mut(*op) {
            if op.peer == schedule::ANY
                && let Some(source) = source
            {
                op.peer = source;
            }
            if op.tag == schedule::ANY
                && let Some(tag) = tag
            {
                op.tag = tag;
            }
        }
        compiler.settle_log(*op);
    }
}
