//! One-sided operations as messages.
//!
//! A put is a message to the target, which answers; a get asks and is answered with the data; what
//! does both sends both. The target's part belongs to no call of its program: it waits for no other
//! operation, as if the network interface did it. What ends an epoch waits for the answers, and
//! `MPI_Win_fence` synchronises all, post and start, complete and wait exchange a message per pair.
//! Locks exclude each other where the times of a simulated run tell who waited.

use std::ops::Range;

use rustc_hash::FxHashMap;
use schedule::{Edge, Kind, Op};

use super::completion::missed;
use super::emit::Shape;
use super::keys::Purpose;
use super::locks::{At, Held};
use super::post::{bytes, synchronise};
use super::rank::{Compiler, Ranked, Remote};
use crate::definitions::Moment;
use crate::options::{Mode, Options, Window};
use crate::record::{Arguments, PROC_NULL};
use crate::source::Stream;
use calls::{Class, Collective};

/// The types of a lock that nobody shares: Open MPI's, and MPICH's and that of the standard's
/// binary interface.
const EXCLUSIVE: [i64; 3] = [1, 234, 301];

/// Of this many flushes of a simulated run with nothing to wait for, one is a look.
const FLUSHES: u32 = 16;

/// A window, as its rank uses it.
#[derive(Clone, Debug, Default)]
pub struct Exposure {
    communicator: i64,
    /// The number of collectives that the communicator had seen when the window was made.
    number: i64,
    /// Answers that are still to come: their targets, and whether they bring data.
    open: Vec<(u32, u32, bool)>,
    /// The number of calls that completed accesses with nothing to wait for.
    idle: u32,
    /// The ranks to which it was opened by `MPI_Win_post`, and those that it accesses since
    /// `MPI_Win_start`.
    posted: Vec<i64>,
    started: Vec<i64>,
    /// Receives of what those tell to which it was opened, since it was asked for them.
    notices: Option<Vec<u32>>,
    /// Locks that are held, by target: the number of each among the rank's.
    held: FxHashMap<i64, usize>,
}

impl Exposure {
    /// Operations of answers and notices that are still to come.
    pub fn answers(&self) -> impl Iterator<Item = u32> {
        let answers = self.open.iter().map(|(_, answer, _)| *answer);
        answers.chain(self.notices.iter().flatten().copied())
    }
}

/// Returns whether a call is about windows.
pub const fn is(class: Class) -> bool {
    matches!(
        class,
        Class::Collective(Collective::WinCreate | Collective::WinFree | Collective::Fence)
            | Class::Post
            | Class::WinStart
            | Class::Complete
            | Class::WinWait
            | Class::WinTest
            | Class::Lock
            | Class::LockAll
            | Class::Unlock
            | Class::UnlockAll
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
        Class::Collective(Collective::WinCreate) => {
            create(compiler, arguments, stream)?;
            shape = Shape::Collective;
        }
        Class::Collective(_) => {
            let id = arguments.number();
            answers(compiler, id, None, false)?;
            waited(compiler);
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
            answers(compiler, id, None, false)?;
            waited(compiler);
            let group = std::mem::take(&mut exposure(compiler, id)?.started);
            notify(compiler, id, &group, (true, Purpose::Completed))?;
            shape = Shape::Blocking;
        }
        Class::WinWait => shape = end_exposure(compiler, arguments.number())?,
        Class::WinTest => {
            let (id, done) = (arguments.number(), arguments.number() == 1);
            listen(compiler, id)?;
            compiler.look(class, stream);
            if !done {
                missed(compiler);
                return Ok(());
            }
            compiler.looks = 0;
            shape = end_exposure(compiler, id)?;
        }
        Class::Flush | Class::FlushLocal => {
            let (target, id) = (arguments.number(), arguments.number());
            flush(compiler, id, Some(target), (class == Class::FlushLocal, stream))?;
        }
        Class::FlushAll | Class::FlushLocalAll => {
            flush(compiler, arguments.number(), None, (class == Class::FlushLocalAll, stream))?;
        }
        Class::Lock => {
            let (kind, target) = (arguments.number(), arguments.number());
            if target != PROC_NULL {
                let id = arguments.number();
                lock(compiler, id, (target..target + 1, EXCLUSIVE.contains(&kind)), stream)?;
            }
            shape = Shape::Blocking;
        }
        Class::LockAll => {
            let id = arguments.number();
            let communicator = exposure(compiler, id)?.communicator;
            let ranks = compiler.communicator(stream, communicator)?.local.len();
            lock(compiler, id, (0..ranks.into(), false), stream)?;
            shape = Shape::Blocking;
        }
        Class::Unlock => {
            let (target, id) = (arguments.number(), arguments.number());
            flush(compiler, id, Some(target), (false, stream))?;
            waited(compiler);
            unlock(compiler, id, target..target + 1, stream)?;
        }
        Class::UnlockAll => {
            let id = arguments.number();
            flush(compiler, id, None, (false, stream))?;
            waited(compiler);
            let communicator = exposure(compiler, id)?.communicator;
            let ranks = compiler.communicator(stream, communicator)?.local.len();
            unlock(compiler, id, 0..ranks.into(), stream)?;
        }
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
    synchronise(compiler, communicator, stream)?;
    let number = compiler.collectives.get(&communicator).copied().unwrap_or(0);
    compiler.windows.insert(id, Exposure { communicator, number, ..Exposure::default() });
    Ok(())
}

/// The first test of an epoch posts the receives of what ends it.
fn listen(compiler: &mut Compiler, id: i64) -> Result<(), String> {
    let window = exposure(compiler, id)?;
    if window.notices.is_some() {
        return Ok(());
    }
    let group = std::mem::take(&mut window.posted);
    notify(compiler, id, &group, (false, Purpose::Completed))?;
    exposure(compiler, id)?.notices = Some(compiler.now.ends.clone());
    compiler.frame_part(Shape::Posted);
    Ok(())
}

/// The call waits for what ends the epoch of `MPI_Win_post`.
fn end_exposure(compiler: &mut Compiler, id: i64) -> Result<Shape, String> {
    let window = exposure(compiler, id)?;
    if let Some(notices) = window.notices.take() {
        compiler.now.waits.extend(notices);
        return Ok(Shape::Completion);
    }
    let group = std::mem::take(&mut window.posted);
    notify(compiler, id, &group, (false, Purpose::Completed))?;
    Ok(Shape::Blocking)
}

impl Compiler<'_> {
    /// The time of a moment of the current call, and its turn.
    const fn at(&self, moment: Moment) -> At {
        (self.now.enter.saturating_add(moment.after), moment.turn)
    }
}

/// Asks for the locks of some targets of a window.
fn lock(
    compiler: &mut Compiler,
    id: i64,
    (targets, alone): (Range<i64>, bool),
    stream: &Stream,
) -> Result<(), String> {
    let Options { window, mode, .. } = compiler.options;
    if *window != Window::All || *mode != Mode::Gaps || !stream.is_simulated() {
        return Ok(());
    }
    compiler.turn();
    let moment = stream.definitions().moment;
    let asked = moment.map_or((compiler.now.enter, 0), |moment| compiler.at(moment));
    let leave = compiler.now.leave;
    let &mut Exposure { communicator, number, .. } = exposure(compiler, id)?;
    for target in targets {
        let lock = (communicator, number, target);
        let which = compiler.out.held.len();
        compiler.out.held.push(Held { lock, alone, asked, leave, until: (u64::MAX, 0) });
        exposure(compiler, id)?.held.insert(target, which);
        if let Some(from) = compiler.grants.and_then(|grants| grants.from(compiler.rank, which)) {
            notify(compiler, id, &[from], (false, |window| Purpose::Granted(window, target)))?;
        }
    }
    Ok(())
}

/// Gives locks back, and tells those who waited for them, of one target after the other.
fn unlock(
    compiler: &mut Compiler,
    id: i64,
    targets: Range<i64>,
    stream: &Stream,
) -> Result<(), String> {
    let moment = stream.definitions().moment;
    let until = moment.map_or((compiler.now.leave, 0), |moment| compiler.at(moment));
    if !exposure(compiler, id)?.held.is_empty() {
        compiler.turn();
    }
    for target in targets {
        let Some(which) = exposure(compiler, id)?.held.remove(&target) else { continue };
        if let Some(held) = compiler.out.held.get_mut(which) {
            held.until = until;
        }
        if let Some(grants) = compiler.grants {
            let to = grants.to(compiler.rank, which);
            notify(compiler, id, to, (true, |window| Purpose::Granted(window, target)))?;
            compiler.frame_part(Shape::Blocking);
        }
    }
    Ok(())
}

/// The call waits for the answers of a target, or of all; if it is `local`, for those that bring
/// data.
fn answers(
    compiler: &mut Compiler,
    id: i64,
    target: Option<u32>,
    local: bool,
) -> Result<(), String> {
    let window = exposure(compiler, id)?;
    let mut waits = Vec::new();
    window.open.retain(|(to, answer, brings)| {
        let mine = target.is_none_or(|target| target == *to) && (*brings || !local);
        if mine {
            waits.push(*answer);
        }
        !mine
    });
    compiler.now.waits.extend(waits);
    Ok(())
}

/// Makes the rest of the call wait for the answers.
fn waited(compiler: &mut Compiler) {
    if compiler.options.mode == Mode::Gaps && !compiler.now.waits.is_empty() {
        compiler.frame_part(Shape::Completion);
    }
}

/// The call waits for the answers of a target, or of all.
fn flush(
    compiler: &mut Compiler,
    id: i64,
    target: Option<i64>,
    (local, stream): (bool, &Stream),
) -> Result<(), String> {
    let communicator = exposure(compiler, id)?.communicator;
    let target = match target {
        Some(PROC_NULL) => return Ok(()),
        Some(rank) => compiler.peer(compiler.communicator(stream, communicator)?, rank)?,
        None => None,
    };
    answers(compiler, id, target, local)?;
    if compiler.now.waits.is_empty() {
        idle(compiler, id, stream)?;
    }
    Ok(())
}

/// The request of an access was completed: no later call waits for its answer.
pub fn ended(compiler: &mut Compiler, id: i64, ops: &[u32]) {
    if ops.is_empty() {
        compiler.now.window = Some(id);
    } else if let Some(window) = compiler.windows.get_mut(&id) {
        window.open.retain(|(_, answer, _)| !ops.contains(answer));
    }
}

/// Notes that there was nothing to wait for: in a simulated run that is at times a look.
pub fn idle(compiler: &mut Compiler, id: i64, stream: &Stream) -> Result<(), String> {
    let window = exposure(compiler, id)?;
    window.idle = window.idle.wrapping_add(1);
    if window.idle.is_multiple_of(FLUSHES) {
        compiler.look(Class::WinTest, stream);
    }
    Ok(())
}

/// A byte to, or from, each rank of a group.
fn notify(
    compiler: &mut Compiler,
    id: i64,
    group: &[i64],
    (send, purpose): (bool, impl Fn(i64) -> Purpose),
) -> Result<(), String> {
    let &mut Exposure { communicator, number, .. } = exposure(compiler, id)?;
    let purpose = purpose(number);
    for rank in group {
        let rank = u32::try_from(*rank).ok().filter(|rank| *rank < compiler.ranks);
        let peer = compiler.place(rank.ok_or("the group names a rank that does not exist")?);
        let op = if send {
            let send = compiler.send(peer, communicator, purpose, 1);
            if group.len() == 1 {
                compiler.blocking(send);
            }
            send
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
    if exposure(compiler, id)?.held.contains_key(&target) {
        // Others may look at what it does at any time.
        compiler.turn();
    }
    compiler.now.window = Some(id);
    // Its own memory takes no message.
    if to == compiler.out.place {
        return Ok(());
    }
    let number = compiler.accesses;
    compiler.accesses = number.wrapping_add(1);
    let (request, reply) = (Purpose::Remote(number), Purpose::Answer(number));
    let send = compiler.send(to, communicator, request, there);
    let answer = compiler.receive(to, communicator, reply, back);
    compiler.now.starts.extend([send, answer]);
    compiler.now.ends.push(answer);
    let (tag, answer_tag) =
        (compiler.tag(communicator, request), compiler.tag(communicator, reply));
    if compiler.inside {
        compiler.out.remote.push(Remote {
            target: to,
            bytes: there,
            answer_bytes: back,
            tag,
            answer: answer_tag,
        });
    }
    let brings = !matches!(class, Class::Put | Class::Accumulate);
    exposure(compiler, id)?.open.push((to, answer, brings));
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
