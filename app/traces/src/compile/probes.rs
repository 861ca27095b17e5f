//! Messages that are found before they are received.

use super::keys::Purpose;
use super::post::{both, buffer};
use super::rank::{Compiler, Probed};
use crate::options::Mode;
use crate::record::{ANY, Arguments, PROC_NULL, UNKNOWN};
use crate::source::Stream;
use calls::Class;

/// A call receives the message that is in hand.
pub fn matched(
    compiler: &mut Compiler,
    arguments: &mut Arguments,
    immediate: bool,
) -> Result<(), String> {
    let (address, bytes) = buffer(arguments);
    let message = arguments.number();
    compiler.touch(address, bytes);
    let place = compiler.probed.iter().position(|probed| probed.message == message && message != 0);
    let probed = place.map(|place| compiler.probed.remove(place));
    if probed.is_none() && message != 0 {
        return Err("no probe before it found the message in hand".to_owned());
    }
    if let Some(probed) = probed {
        take(compiler, &probed, immediate);
    }
    Ok(())
}

/// The first message that was probed, and is not in hand, of those that a receive may take: by
/// communicator, source and tag.
pub fn place(compiler: &Compiler, (id, from, tag): (i64, i64, i64)) -> Option<usize> {
    let same = |said: i64, found: i64| said == ANY || said == found;
    compiler.probed.iter().position(|probed| {
        probed.communicator == id
            && probed.message == 0
            && same(from, probed.source)
            && same(tag, probed.tag)
    })
}

/// A call receives a message that was probed. If its sender may wait for an answer, it gets that
/// now.
pub fn take(compiler: &mut Compiler, probed: &Probed, immediate: bool) {
    (compiler.looks, compiler.times) = (0, 0);
    waits_for(compiler, probed, immediate);
    compiler.answer_to(probed.op);
}

/// A message that was probed is there; but the call may have to wait for the thread that has found
/// it.
fn waits_for(compiler: &mut Compiler, probed: &Probed, immediate: bool) {
    let found = compiler.out.draft.get(probed.op);
    let here = found.is_some_and(|op| usize::from(op.cpu) == compiler.now.thread);
    if here && compiler.options.mode == Mode::Gaps {
        return;
    }
    let target = if immediate { &mut compiler.now.ends } else { &mut compiler.now.waits };
    target.push(probed.op);
}

/// A probe receives the message that it finds; the call that receives it finds it done.
pub fn probe(
    compiler: &mut Compiler,
    class: Class,
    mut arguments: Arguments,
    stream: &Stream,
) -> Result<(), String> {
    let (from, _, id) = (arguments.number(), arguments.number(), arguments.number());
    let looks = matches!(class, Class::Iprobe | Class::Improbe);
    let found = if looks { arguments.number() } else { 1 };
    let message =
        if matches!(class, Class::Mprobe | Class::Improbe) { arguments.number() } else { 0 };
    let status = arguments.status();
    if from == PROC_NULL {
        return Ok(());
    }
    let is_simulated = stream.is_simulated() && compiler.options.mode == Mode::Gaps;
    if looks {
        compiler.look(class, stream);
        if is_simulated {
            compiler.turn();
        }
    }
    if found != 1 {
        return Ok(());
    }
    if status.source == UNKNOWN || status.tag == UNKNOWN {
        return Err("the trace does not say which message was found".to_owned());
    }
    let known = compiler.communicator(stream, id)?;
    let Some(from) = compiler.peer(known, status.source)? else { return Ok(()) };
    let again = compiler.probed.iter_mut().find(|probed| {
        (probed.communicator, probed.source, probed.tag) == (id, status.source, status.tag)
            && probed.message == 0
    });
    if let Some(probed) = again {
        probed.message = message;
        let probed = *probed;
        waits_for(compiler, &probed, false);
        return Ok(());
    }
    let bytes = status.bytes.max(0).cast_unsigned();
    let op = compiler.receive(from, id, Purpose::Tag(status.tag), bytes);
    compiler.now.finds = looks && is_simulated;
    if compiler.options.mode == Mode::Gaps {
        both(compiler, op);
    } else {
        compiler.now.starts.push(op);
        compiler.now.waits.push(op);
    }
    let (source, tag) = (status.source, status.tag);
    compiler.probed.push(Probed { communicator: id, source, tag, op, message });
    Ok(())
}
