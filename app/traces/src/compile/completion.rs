//! Waiting for requests and testing them.

use schedule::Kind;

use super::emit::Shape;
use super::keys::Purpose;
use super::onesided;
use super::probes::{self, Probed};
use super::rank::{Compiler, NONE, Request};
use crate::format::table::Class;
use crate::options::Mode;
use crate::record::{Record, Status, UNKNOWN};
use crate::source::Stream;

const BLIND: &str = "the trace does not say which requests were completed: they are waited for where their handles are used \
                     again, or once all of them must be done";

/// Compiles a call that completes requests, or may.
// Long because it lists the calls.
pub fn complete(
    compiler: &mut Compiler,
    class: Class,
    record: &Record,
    stream: &Stream,
) -> Result<(), String> {
    let mut arguments = record.arguments();
    let one = matches!(class, Class::Wait | Class::Test | Class::RequestFree | Class::Cancel);
    let single = [if one { arguments.number() } else { 0 }];
    let requests = if one { single.as_slice() } else { arguments.list() };
    let is_active = |id: &i64| compiler.requests.get(id).is_some_and(|request| request.active);
    if class.is_look() && (!stream.is_simulated() || requests.iter().any(is_active)) {
        compiler.look(class, stream);
    }
    match class {
        Class::Wait => finish(compiler, stream, requests, arguments.status()),
        Class::Test => {
            let flag = arguments.number();
            if flag != 1 {
                missed(compiler);
                return Ok(());
            }
            finish(compiler, stream, requests, arguments.status());
        }
        Class::Waitall | Class::Testall => {
            if class == Class::Testall && arguments.number() != 1 {
                missed(compiler);
                return Ok(());
            }
            let statuses = arguments.triples();
            for (index, request) in requests.iter().enumerate() {
                let status = statuses.get(index).copied().map_or(Status::NOTHING, status);
                finish(compiler, stream, &[*request], status);
            }
        }
        Class::Waitany | Class::Testany => {
            let index = arguments.number();
            if class == Class::Testany && arguments.number() != 1 {
                missed(compiler);
                return Ok(());
            }
            if index == UNKNOWN {
                blind(compiler, stream, requests);
                compiler.frame(Shape::Completion);
                return Ok(());
            }
            let request = usize::try_from(index).ok().and_then(|index| requests.get(index));
            finish(compiler, stream, request.copied().as_slice(), arguments.status());
        }
        Class::Waitsome | Class::Testsome => {
            if arguments.clone().number() == UNKNOWN {
                if class == Class::Waitsome {
                    blind(compiler, stream, requests);
                    compiler.frame(Shape::Completion);
                }
                return Ok(());
            }
            let (indices, statuses) = (arguments.list(), arguments.triples());
            if indices.is_empty() && class == Class::Testsome {
                missed(compiler);
                return Ok(());
            }
            for (place, index) in indices.iter().enumerate() {
                let request = usize::try_from(*index).ok().and_then(|index| requests.get(index));
                let status = statuses.get(place).copied().map_or(Status::NOTHING, status);
                finish(compiler, stream, request.copied().as_slice(), status);
            }
        }
        Class::RequestFree => {
            let request = single.first().and_then(|id| compiler.requests.remove(id));
            // What was freed still has to happen before the rank is at its end.
            if let Some(request) = request.filter(|request| request.active) {
                probed(compiler, &request, Status::NOTHING);
                compiler.freed.extend(request.ops);
            }
            return Ok(());
        }
        _ => {
            ask_to_cancel(compiler, single[0], stream);
            return Ok(());
        }
    }
    if let (Some(window), true) = (compiler.now.own, compiler.now.waits.is_empty()) {
        onesided::idle(compiler, window, stream)?;
    }
    compiler.frame(Shape::Completion);
    Ok(())
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

/// At least one of these requests is done, and nobody knows which. Where as many calls have said so as there are requests, all are.
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
        finish(compiler, stream, &active, Status::NOTHING);
    }
}

/// A look has found nothing. In a simulated run it takes what it costs; otherwise all of its time is computation.
pub fn missed(compiler: &mut Compiler) {
    if compiler.looks > 0 {
        compiler.pause();
    }
}

fn status([source, tag, bytes]: [i64; 3]) -> Status {
    Status { source, tag, bytes }
}

/// The call waits for requests; the status tells what an open receive has matched.
fn finish(compiler: &mut Compiler, stream: &Stream, ids: &[i64], status: Status) {
    for id in ids {
        let Some(request) = compiler.requests.get_mut(id).filter(|request| request.active) else {
            continue;
        };
        request.active = false;
        let done = request.clone();
        let cancelled = request.cancelled && status.source < 0;
        if request.persistent.is_none() {
            compiler.requests.remove(id);
        } else {
            request.cancelled = false;
        }
        if cancelled {
            // It never received anything.
            for op in &done.ops {
                cancel(compiler, *op);
            }
        } else {
            settle(compiler, stream, &done, status);
        }
        compiler.now.own = done.own.or(compiler.now.own);
        compiler.now.waits.extend(done.ops.iter().filter(|op| **op != NONE));
    }
}

/// Takes out a receive that was cancelled. A send stays: no trace says whether it could still be stopped, and
/// MPI libraries hardly ever can.
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

/// An open receive was done; gives the message if a probe had found it, of those that could be. The probe has received it.
pub fn probed(compiler: &mut Compiler, request: &Request, status: Status) -> Option<Probed> {
    let open = request.open?;
    let receive = *request.ops.last()?;
    let exact = |said: i64, matched: i64| if matched < 0 { said } else { matched };
    let (from, tag) = (exact(open.from, status.source), exact(open.tag, status.tag));
    let is = |probed: &Probed| probed.is(open.communicator, from, tag) && probed.op <= receive;
    let place = compiler.probed.iter().position(is)?;
    let probed = compiler.probed.remove(place);
    compiler.void(receive);
    compiler.out.answered.extend(open.answer.map(|place| (probed.op, place)));
    Some(probed)
}

/// Gives an open receive the source and tag that it matched.
fn settle(compiler: &mut Compiler, stream: &Stream, request: &Request, status: Status) {
    let Some(open) = request.open else { return };
    if let Some(probed) = probed(compiler, request, status) {
        return probes::waits_for(compiler, &probed, false);
    }
    let communicator = open.communicator;
    let tag = (status.tag >= 0).then(|| compiler.tag(communicator, Purpose::Tag(status.tag)));
    let known = compiler.communicator(stream, communicator).ok();
    let source = known.filter(|_| status.source >= 0);
    let source = source.and_then(|known| compiler.peer(known, status.source).ok().flatten());
    for op in &request.ops {
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
