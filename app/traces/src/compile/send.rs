//! Sends, by their modes.

use super::keys::Purpose;
use super::post::{both, buffer};
use super::rank::Compiler;
use super::refused;
use super::synchronous::{self, STANDARD};
use crate::record::Arguments;
use crate::source::Stream;
use calls::Class;

/// A send by itself. A synchronous one waits for its answer, if there are answers.
pub fn plain(
    compiler: &mut Compiler,
    class: Class,
    arguments: &mut Arguments,
    stream: &Stream,
    immediate: bool,
) -> Result<(), String> {
    let is_synchronous = class == Class::Ssend;
    let is_answered = is_synchronous && compiler.answers.is_some();
    if is_synchronous && !is_answered {
        compiler.count(STANDARD);
    }
    send(compiler, arguments, None, is_answered, stream)?;
    let blocks = !immediate && !is_answered;
    if let Some(&send) = compiler.now.ends.last().filter(|_| blocks) {
        compiler.blocking(send);
    }
    Ok(())
}

/// A send from the program's buffer: only that buffer's end waits for it, and that of the rank.
pub fn buffered(
    compiler: &mut Compiler,
    arguments: &mut Arguments,
    stream: &Stream,
) -> Result<(), String> {
    let before = compiler.now.ends.len();
    send(compiler, arguments, None, false, stream)?;
    compiler.buffered.extend(compiler.now.ends.drain(before..));
    Ok(())
}

/// A send, in a communicator that is given or comes next.
pub fn send(
    compiler: &mut Compiler,
    arguments: &mut Arguments,
    communicator: Option<i64>,
    is_answered: bool,
    stream: &Stream,
) -> Result<(), String> {
    refused::message(arguments.rest(), false)?;
    let (address, bytes) = buffer(arguments);
    let (to, tag) = (arguments.number(), arguments.number());
    let id = communicator.unwrap_or_else(|| arguments.number());
    let known = compiler.communicator(stream, id)?;
    if let Some(to) = compiler.peer(known, to)? {
        compiler.touch(address, bytes);
        let op = compiler.send(to, id, Purpose::Tag(tag), bytes);
        both(compiler, op);
        if is_answered {
            synchronous::expect(compiler, op, to, id);
        }
    }
    Ok(())
}
