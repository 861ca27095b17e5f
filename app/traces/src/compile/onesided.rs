//! One-sided operations as messages.
//!
//! A put is a message to the target, which answers; a get asks and is answered with the data; what
//! does both sends both. The target's part belongs to no call of its program: it waits for no
//! other operation, as if the network interface did it. What ends an epoch waits for the answers, and
//! `MPI_Win_fence` synchronises all, post and start, complete and wait exchange a message per pair. Not modelled: that locks
//! exclude each other.

use schedule::{Edge, Kind, Op};

use super::calls::{bytes, synchronise};
use super::emit::Shape;
use super::keys::Purpose;
use super::rank::{Compiler, Ranked, Remote};
use crate::format::table::Class;
use crate::record::{Arguments, PROC_NULL};
use crate::source::Stream;

/// A window, as its rank uses it.
#[derive(Clone, Debug, Default)]
pub struct Exposure {
    communicator: i64,
    /// Answers that are still to come, and their targets.
    open: Vec<(u32, u32)>,
    /// Those to which it was opened by `MPI_Win_post`, and those that it accesses since `MPI_Win_start`.
    posted: Vec<i64>,
    started: Vec<i64>,
}

impl Exposure {
    /// Operations of answers that are still to come.
    pub fn answers(&self) -> impl Iterator<Item = u32> {
        self.open.iter().map(|(_, answer)| *answer)
    }
}

/// Whether a call is about windows.
pub const fn is(class: Class) -> bool {
    matches!(
        class,
        Class::WinCreate
            | Class::WinFree
            | Class::Fence
            | Class::Post
            | Class::WinStart
            | Class::Complete
            | Class::WinWait
            | Class::WinTest
            | Class::Lock
            | Class::LockAll
            | Class::Flush
            | Class::FlushAll
            | Class::FlushLocal
            | Class::FlushLocalAll
            | Class::Put
            | Class::Get
            | Class::Accumulate
            | Class::GetAccumulate
            | Class::FetchAndOp
            | Class::CompareAndSwap
    )
}

/// Compiles such a call.
// Long because it lists the calls.
pub fn compile(
    compiler: &mut Compiler,
    class: Class,
    mut arguments: Arguments,
    stream: &Stream,
    immediate: bool,
) -> Result<(), String> {
    let mut shape = Shape::Completion;
    match class {
        Class::WinCreate => {
            create(compiler, arguments, stream)?;
            shape = Shape::Collective;
        }
        Class::WinFree | Class::Fence => {
            let id = arguments.number();
            answers(compiler, id, None)?;
            let communicator = exposure(compiler, id)?.communicator;
            synchronise(compiler, communicator, stream)?;
            shape = Shape::Collective;
        }
        Class::Post | Class::WinStart => {
            let group = arguments.list().to_vec();
            let id = arguments.number();
            notify(compiler, id, &group, (class == Class::Post, Purpose::Posted))?;
            let window = exposure(compiler, id)?;
            *(if class == Class::Post { &mut window.posted } else { &mut window.started }) = group;
            shape = Shape::Blocking;
        }
        Class::Complete => {
            let id = arguments.number();
            answers(compiler, id, None)?;
            let group = std::mem::take(&mut exposure(compiler, id)?.started);
            notify(compiler, id, &group, (true, Purpose::Completed))?;
            shape = Shape::Collective;
        }
        Class::WinWait | Class::WinTest => {
            let id = arguments.number();
            if class == Class::WinTest && arguments.number() != 1 {
                return Ok(());
            }
            let group = std::mem::take(&mut exposure(compiler, id)?.posted);
            notify(compiler, id, &group, (false, Purpose::Completed))?;
            shape = Shape::Blocking;
        }
        Class::Flush => {
            let (target, id) = (arguments.number(), arguments.number());
            answers(compiler, id, Some((target, stream)))?;
        }
        Class::FlushAll => {
            let id = arguments.number();
            answers(compiler, id, None)?;
        }
        // Local completion needs no answer, and a lock is asked for with the first operation.
        Class::Lock | Class::LockAll | Class::FlushLocal | Class::FlushLocalAll => {}
        _ => {
            access(compiler, class, arguments, stream)?;
            shape = Shape::Posted;
        }
    }
    if !immediate {
        compiler.frame(shape);
    }
    Ok(())
}

fn exposure<'c>(compiler: &'c mut Compiler, id: i64) -> Result<&'c mut Exposure, String> {
    let known = compiler.windows.get_mut(&id);
    known.ok_or_else(|| format!("window {id} was not made before"))
}

fn create(compiler: &mut Compiler, arguments: Arguments, stream: &Stream) -> Result<(), String> {
    let (communicator, id) = match arguments.rest() {
        // MPI_Win_create_dynamic, MPI_Win_allocate, MPI_Win_create.
        [communicator, id] | [communicator, _, id] | [_, _, communicator, id] => {
            (*communicator, *id)
        }
        _ => return Err("it has other arguments than it should".to_owned()),
    };
    compiler.windows.insert(id, Exposure { communicator, ..Exposure::default() });
    synchronise(compiler, communicator, stream)
}

/// The call waits for the answers of a target, or of all.
fn answers(compiler: &mut Compiler, id: i64, target: Option<(i64, &Stream)>) -> Result<(), String> {
    let target = match target {
        None => None,
        Some((rank, stream)) => {
            let communicator = exposure(compiler, id)?.communicator;
            let known = compiler.communicator(stream, communicator)?;
            compiler.peer(known, rank)?
        }
    };
    let window = exposure(compiler, id)?;
    let mut waits = Vec::new();
    window.open.retain(|(to, answer)| {
        let mine = target.is_none_or(|target| target == *to);
        if mine {
            waits.push(*answer);
        }
        !mine
    });
    compiler.now.waits.extend(waits);
    Ok(())
}

/// A byte to, or from, each rank of a group.
fn notify(
    compiler: &mut Compiler,
    id: i64,
    group: &[i64],
    (send, purpose): (bool, Purpose),
) -> Result<(), String> {
    let communicator = exposure(compiler, id)?.communicator;
    for rank in group {
        let rank = u32::try_from(*rank).ok().filter(|rank| *rank < compiler.ranks);
        let peer = compiler.place(rank.ok_or("the group names a rank that does not exist")?);
        let op = if send {
            compiler.send(peer, communicator, purpose, 1)
        } else {
            compiler.receive(peer, communicator, purpose, 1)
        };
        compiler.now.starts.push(op);
        compiler.now.ends.push(op);
    }
    Ok(())
}

/// An access to the memory of a target.
// Long because it lists the arguments of the calls.
fn access(
    compiler: &mut Compiler,
    class: Class,
    mut arguments: Arguments,
    stream: &Stream,
) -> Result<(), String> {
    let mut buffer = |arguments: &mut Arguments| {
        let (address, count, datatype) =
            (arguments.number(), arguments.number(), arguments.datatype());
        let bytes = bytes(count, datatype);
        compiler.touch(address, bytes);
        bytes
    };
    // Bytes on the way there and back; those without data still take a byte.
    let (there, back, target, id) = match class {
        Class::FetchAndOp => {
            let (_, _, datatype) = (arguments.number(), arguments.number(), arguments.datatype());
            // Target, operator, window.
            let (target, _, id) = (arguments.number(), arguments.number(), arguments.number());
            (bytes(1, datatype), bytes(1, datatype), target, id)
        }
        Class::CompareAndSwap => {
            (0..3).for_each(|_| {
                arguments.number();
            });
            let datatype = arguments.datatype();
            let (target, id) = (arguments.number(), arguments.number());
            (bytes(2, datatype), bytes(1, datatype), target, id)
        }
        _ => {
            let first = buffer(&mut arguments);
            let second = if class == Class::GetAccumulate { buffer(&mut arguments) } else { first };
            let target = arguments.number();
            arguments.number();
            arguments.datatype();
            if matches!(class, Class::Accumulate | Class::GetAccumulate) {
                arguments.number();
            }
            let id = arguments.number();
            match class {
                Class::Get => (1, first, target, id),
                Class::GetAccumulate => (first, second, target, id),
                _ => (first, 1, target, id),
            }
        }
    };
    let communicator = exposure(compiler, id)?.communicator;
    let known = compiler.communicator(stream, communicator)?;
    let Some(to) = compiler.peer(known, target)?.filter(|_| target != PROC_NULL) else {
        return Ok(());
    };
    // Its own memory takes no message.
    if to == compiler.out.place {
        return Ok(());
    }
    let send = compiler.send(to, communicator, Purpose::Remote, there);
    let answer = compiler.receive(to, communicator, Purpose::Answer, back);
    compiler.now.starts.extend([send, answer]);
    compiler.now.ends.push(answer);
    let (tag, answer_tag) =
        (compiler.tag(communicator, Purpose::Remote), compiler.tag(communicator, Purpose::Answer));
    if compiler.inside {
        compiler.out.remote.push(Remote {
            target: to,
            bytes: there,
            answer_bytes: back,
            tag,
            answer: answer_tag,
        });
    }
    exposure(compiler, id)?.open.push((to, answer));
    Ok(())
}

/// Gives the targets their part.
pub fn serve(ranked: &mut [Ranked]) {
    let mut served: Vec<(u32, Remote)> = Vec::new();
    for rank in ranked.iter_mut() {
        let origin = rank.place;
        served.extend(std::mem::take(&mut rank.remote).into_iter().map(|remote| (origin, remote)));
    }
    let mut index = vec![0; ranked.len()];
    for (position, rank) in ranked.iter().enumerate() {
        if let Some(slot) = index.get_mut(rank.place as usize) {
            *slot = position;
        }
    }
    for (origin, remote) in served {
        let position = index.get(remote.target as usize);
        let Some(target) = position.and_then(|position| ranked.get_mut(*position)) else {
            continue;
        };
        let op = |kind, tag, size| Op { kind, peer: origin, tag, size, cpu: 0, nic: 0 };
        let receive = target.draft.op(op(Kind::Recv, remote.tag, remote.bytes));
        let answer = target.draft.op(op(Kind::Send, remote.answer, remote.answer_bytes));
        target.draft.depend(answer, receive, Edge::Done);
    }
}
