//! The operations that each call posts.

use calls::{Amount, Call, Class, Collective, CollectiveCall, How};
use smallvec::{SmallVec, smallvec};

use super::emit::{CollectiveNumber, Posting, Shape};
use super::keys::Purpose;
use super::rank::Compiler;
use super::request::{Persistent, Request, Round};
use super::{completion, onesided, probes, refused, send};
use crate::definitions::Group;
use crate::record::{ANY, Arguments, Datatype, PROC_NULL, ROOT, Record, Status, UNKNOWN};
use crate::source::Stream;

/// Bytes of a count of a datatype.
pub fn bytes(count: i64, datatype: Datatype) -> u64 {
    let bytes = i128::from(count.max(0)) * i128::from(datatype.size.max(0));
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

/// Compiles a call.
pub fn compile(
    compiler: &mut Compiler,
    call: &Call,
    record: &Record,
    stream: &Stream,
) -> Result<(), String> {
    if call.how == How::Persistent {
        return prepare(compiler, call.class, record);
    }
    match call.class {
        Class::Start => {
            let request = record.arguments().number();
            start(compiler, &[request], stream)
        }
        Class::Startall => {
            let mut arguments = record.arguments();
            start(compiler, arguments.list(), stream)
        }
        Class::Wait
        | Class::Waitany
        | Class::Waitall
        | Class::Waitsome
        | Class::Test
        | Class::Testany
        | Class::Testall
        | Class::Testsome
        | Class::RequestGetStatus
        | Class::RequestGetStatusAny
        | Class::RequestGetStatusAll
        | Class::RequestGetStatusSome
        | Class::RequestFree
        | Class::Cancel => completion::complete(compiler, call.class, record, stream),
        Class::Spawn => {
            Err("processes that join the world at run time have no place in a schedule".to_owned())
        }
        _ => {
            let immediate = call.how == How::Immediate;
            let id = record.values.last().copied().unwrap_or(0);
            compiler.now.request = id;
            let open = post(compiler, call.class, record.arguments(), stream, immediate)?;
            if immediate {
                let ops = SmallVec::from_slice(&compiler.now.ends);
                reuse(compiler, id);
                compiler.frame(Shape::Posted);
                let window = compiler.now.window;
                let request = Request { ops, active: true, open, window, ..Request::default() };
                compiler.requests.insert(id, request);
            }
            Ok(())
        }
    }
}

/// Notes a call that is made at `MPI_Start`.
fn prepare(compiler: &mut Compiler, class: Class, record: &Record) -> Result<(), String> {
    // The request is the last value.
    let (request, values) = record.values.split_last().ok_or("it has no arguments")?;
    let round = match class {
        Class::Collective(operation) => {
            refused::collective(operation, record.arguments().rest())?;
            let id = shared(operation, &mut record.arguments(), 1).communicator;
            let made = compiler.persistent.entry(id).or_default();
            *made += 1;
            Some(Round { made: *made, number: 0 })
        }
        _ => None,
    };
    let persistent = Some(Persistent { class, values: values.into(), round });
    compiler.requests.insert(*request, Request { persistent, ..Request::default() });
    Ok(())
}

/// A request whose number is used again was completed in a way that the trace does not tell: it is
/// waited for.
fn reuse(compiler: &mut Compiler, id: i64) {
    if let Some(old) = compiler.requests.remove(&id)
        && old.active
    {
        compiler.late.extend(old.ops);
        // One of those that some call has seen done.
        for (_, done) in compiler.blind.iter_mut().filter(|(array, _)| array.contains(&id)) {
            *done = done.saturating_sub(1);
        }
    }
}

/// Starts persistent requests.
fn start(compiler: &mut Compiler, ids: &[i64], stream: &Stream) -> Result<(), String> {
    for id in ids.iter().filter(|id| **id != 0) {
        let request = compiler.requests.get_mut(id);
        let Some(persistent) = request.and_then(|request| request.persistent.as_mut()) else {
            return Err(
                "the request was made by no call that is known to make persistent ones".to_owned()
            );
        };
        let Persistent { class, values, round } = persistent.clone();
        if let Some(next) = &mut persistent.round {
            next.number += 1;
        }
        let record = Record { values: values.into_vec(), ..Record::default() };
        let before = compiler.now.ends.len();
        compiler.now.request = *id;
        let open = match (class, round) {
            (Class::Collective(operation), Some(round)) => {
                collective(compiler, operation, record.arguments(), (&[], Some(round)), stream)?;
                None
            }
            _ => post(compiler, class, record.arguments(), stream, true)?,
        };
        let ops = compiler.now.ends.get(before..).map(SmallVec::from_slice).unwrap_or_default();
        if let Some(request) = compiler.requests.get_mut(id) {
            (request.ops, request.active, request.open) = (ops, true, open);
        }
        if stream.is_simulated() {
            // There, each is a call of its own.
            compiler.frame_part(Shape::Posted);
        }
    }
    compiler.frame(Shape::Posted);
    Ok(())
}

/// Posts the messages of a call. Blocking ones are framed as well. Gives the communicator of a
/// receive whose source or tag is open.
fn post(
    compiler: &mut Compiler,
    class: Class,
    mut arguments: Arguments,
    stream: &Stream,
    immediate: bool,
) -> Result<Option<i64>, String> {
    let mut open = None;
    let mut shape = Shape::Blocking;
    match class {
        Class::Send | Class::Ssend => {
            send::plain(compiler, class, &mut arguments, stream, immediate)?;
        }
        Class::Bsend => {
            send::buffered(compiler, &mut arguments, stream)?;
            shape = Shape::Posted;
        }
        Class::BufferDetach => {
            compiler.now.waits.append(&mut compiler.buffered);
            shape = Shape::Completion;
        }
        Class::Recv => open = receive(compiler, &mut arguments, None, stream, immediate)?,
        Class::Sendrecv | Class::SendrecvReplace => {
            open = sendrecv(compiler, class, arguments, stream, immediate)?;
        }
        Class::Probe | Class::Mprobe | Class::Iprobe | Class::Improbe => {
            probes::probe(compiler, class, arguments, stream)?;
            if compiler.now.ends.is_empty() {
                shape = Shape::Completion;
            }
        }
        Class::Mrecv => {
            probes::matched(compiler, &mut arguments, immediate)?;
            shape = Shape::Completion;
        }
        _ if onesided::is(class) => {
            return onesided::compile(compiler, class, arguments, stream, immediate).map(|()| None);
        }
        Class::IntercommCreate => {
            let told = leaders(compiler, arguments, stream)?;
            collective(compiler, Collective::Create, arguments, (&told, None), stream)?;
            shape = Shape::Collective;
        }
        Class::Collective(operation) => {
            collective(compiler, operation, arguments, (&[], None), stream)?;
            shape = Shape::Collective;
        }
        _ => return Err("this is no call that starts an operation".to_owned()),
    }
    if !immediate {
        compiler.frame(shape);
    }
    Ok(open)
}

/// A buffer of messages: address and bytes.
pub fn buffer(arguments: &mut Arguments) -> (i64, u64) {
    let (address, count, datatype) = (arguments.number(), arguments.number(), arguments.datatype());
    (address, bytes(count, datatype))
}

pub fn both(compiler: &mut Compiler, op: u32) {
    compiler.now.starts.push(op);
    compiler.now.ends.push(op);
}

/// Posts a receive. The status, if it follows, tells an open source and tag.
fn receive(
    compiler: &mut Compiler,
    arguments: &mut Arguments,
    communicator: Option<i64>,
    stream: &Stream,
    immediate: bool,
) -> Result<Option<i64>, String> {
    refused::message(arguments.rest(), true)?;
    let (address, bytes) = buffer(arguments);
    let (from, tag) = (arguments.number(), arguments.number());
    let id = communicator.unwrap_or_else(|| arguments.number());
    let status = if immediate { Status::NOTHING } else { arguments.status() };
    let known = compiler.communicator(stream, id)?;
    if from == PROC_NULL {
        return Ok(None);
    }
    compiler.touch(address, bytes);
    // A message that was probed was received by the probe.
    let (from, tag) = exact((from, tag), status);
    let mut found = probes::place(compiler, (id, from, tag));
    if immediate && found.is_some() && (from == ANY || tag == ANY) {
        // Whether the receive takes it shows when that is done.
        let status = completion::foreseen(stream, compiler.now.request);
        let matched = exact((from, tag), status.unwrap_or(Status::NOTHING));
        found = probes::place(compiler, (id, matched.0, matched.1));
    }
    if let Some(place) = found {
        let probed = compiler.probed.remove(place);
        probes::take(compiler, &probed, immediate);
        return Ok(None);
    }
    let source = if from == ANY { schedule::ANY } else { compiler.peer(known, from)?.unwrap_or(0) };
    let bytes = if status.bytes >= 0 { status.bytes.cast_unsigned() } else { bytes };
    let op = compiler.receive(source, id, Purpose::Tag(tag), bytes);
    both(compiler, op);
    Ok((from == ANY || tag == ANY).then_some(id))
}

/// Returns what a receive asks for, or has matched.
fn exact((from, tag): (i64, i64), status: Status) -> (i64, i64) {
    let exact =
        |said: i64, matched: i64| if said == ANY && matched != UNKNOWN { matched } else { said };
    (exact(from, status.source), exact(tag, status.tag))
}

fn sendrecv(
    compiler: &mut Compiler,
    class: Class,
    mut arguments: Arguments,
    stream: &Stream,
    immediate: bool,
) -> Result<Option<i64>, String> {
    refused::message(arguments.rest(), false)?;
    let (address, sent) = buffer(&mut arguments);
    let (to, tag) = (arguments.number(), arguments.number());
    if class == Class::Sendrecv {
        refused::message(arguments.rest(), true)?;
    }
    let (into, received) =
        if class == Class::Sendrecv { buffer(&mut arguments) } else { (address, sent) };
    let (from, from_tag) = (arguments.number(), arguments.number());
    let id = arguments.number();
    let status = if immediate { Status::NOTHING } else { arguments.status() };
    // Both halves as calls of their own would have them.
    let datatype = |bytes: u64| [1, bytes.cast_signed(), bytes.cast_signed()];
    let [a, b, c] = datatype(sent);
    let half = [address, 1, a, b, c, to, tag];
    send::send(
        compiler,
        &mut Record { values: half.to_vec(), ..Record::default() }.arguments(),
        Some(id),
        false,
        stream,
    )?;
    let [a, b, c] = datatype(received);
    let half = [into, 1, a, b, c, from, from_tag, status.source, status.tag, status.bytes];
    let half = Record { values: half.to_vec(), ..Record::default() };
    let sent = compiler.now.ends.clone();
    let open = receive(compiler, &mut half.arguments(), Some(id), stream, immediate)?;
    if let ([send], false) = (sent.as_slice(), immediate)
        && compiler.now.ends == sent
    {
        // With nobody to receive from, it is a send.
        compiler.blocking(*send);
    }
    Ok(open)
}

/// The number of reductions that a program made and that do not commute.
const NOT_COMMUTATIVE: i64 = 33;

/// The arguments of a collective: bytes sent and received, root, communicator.
struct Shared {
    sends: Amount,
    receives: Amount,
    buffers: SmallVec<[(i64, u64); 2]>,
    root: Option<i64>,
    /// Bytes of an element, and whether the reduction commutes.
    element: u64,
    commutative: bool,
    communicator: i64,
}

/// A buffer with one count: what it holds for each, and its memory for `blocks` of them.
fn block(arguments: &mut Arguments, blocks: u64) -> (Amount, (i64, u64)) {
    let (address, bytes) = buffer(arguments);
    (Amount::Each(bytes), (address, bytes.saturating_mul(blocks)))
}

/// The sum of sizes, or the largest number if it is larger.
fn total(each: &[u64]) -> u64 {
    each.iter().fold(0, |total, bytes| total.saturating_add(*bytes))
}

/// A buffer with a list of counts.
fn blocks(arguments: &mut Arguments, wide: bool) -> (Amount, (i64, u64)) {
    let address = arguments.number();
    let counts = arguments.list();
    let each: Vec<_> = if wide {
        let datatypes = arguments.triples();
        let of = |(count, [id, size, extent]): (&i64, &[i64; 3])| {
            bytes(*count, Datatype { id: *id, size: *size, extent: *extent })
        };
        counts.iter().zip(datatypes).map(of).collect()
    } else {
        let datatype = arguments.datatype();
        counts.iter().map(|count| bytes(*count, datatype)).collect()
    };
    let total = total(&each);
    (Amount::List(each), (address, total))
}

// Long because it lists the arguments of all collectives.
fn shared(operation: Collective, arguments: &mut Arguments, ranks: u64) -> Shared {
    use Collective as C;
    let nothing = || (Amount::Each(0), (0, 0));
    let mut rooted = false;
    let (mut element, mut commutative) = (1, true);
    // Reductions the program made are the only ones that may not commute.
    let operator = |arguments: &mut Arguments| arguments.number() != NOT_COMMUTATIVE;
    let (sends, receives) = match operation {
        C::Bcast => {
            rooted = true;
            let one = block(arguments, 1);
            (one.clone(), one)
        }
        C::Gather => {
            rooted = true;
            (block(arguments, 1), block(arguments, ranks))
        }
        C::Scatter => {
            rooted = true;
            (block(arguments, ranks), block(arguments, 1))
        }
        C::Gatherv => {
            rooted = true;
            (block(arguments, 1), blocks(arguments, false))
        }
        C::Scatterv => {
            rooted = true;
            (blocks(arguments, false), block(arguments, 1))
        }
        C::Allgather | C::NeighborAllgather => (block(arguments, 1), block(arguments, ranks)),
        C::Allgatherv | C::NeighborAllgatherv => {
            let from = block(arguments, 1);
            // SMPI's choice looks at elements: the datatype stands behind the address and the
            // counts.
            let mut ahead = *arguments;
            let _ = (ahead.number(), ahead.list());
            element = ahead.datatype().size.max(1).cast_unsigned();
            (from, blocks(arguments, false))
        }
        C::Alltoall | C::NeighborAlltoall => (block(arguments, ranks), block(arguments, ranks)),
        C::Alltoallv | C::NeighborAlltoallv => (blocks(arguments, false), blocks(arguments, false)),
        C::Alltoallw | C::NeighborAlltoallw => (blocks(arguments, true), blocks(arguments, true)),
        C::Reduce | C::Allreduce | C::Scan | C::Exscan | C::ReduceScatterBlock => {
            rooted = operation == C::Reduce;
            let (from, into) = (arguments.number(), arguments.number());
            let (count, datatype) = (arguments.number(), arguments.datatype());
            commutative = operator(arguments);
            element = datatype.size.max(1).cast_unsigned();
            let bytes = bytes(count, datatype);
            ((Amount::Each(bytes), (from, bytes)), (Amount::Each(bytes), (into, bytes)))
        }
        C::ReduceScatter => {
            let (from, into) = (arguments.number(), arguments.number());
            let counts = arguments.list();
            let datatype = arguments.datatype();
            commutative = operator(arguments);
            element = datatype.size.max(1).cast_unsigned();
            let each: Vec<_> = counts.iter().map(|count| bytes(*count, datatype)).collect();
            let total = total(&each);
            ((Amount::List(each.clone()), (from, total)), (Amount::List(each), (into, total)))
        }
        _ => (nothing(), nothing()),
    };
    let root = rooted.then(|| arguments.number());
    let (sends, first) = sends;
    let (receives, second) = receives;
    let buffers = smallvec![first, second];
    let communicator = arguments.number();
    Shared { sends, receives, buffers, root, element, commutative, communicator }
}

/// The leaders of two groups that are to have an intercommunicator tell each other who is in them,
/// four bytes a rank and eight for the communicator; then each group has a collective of its own.
/// Gives the leader's messages.
fn leaders(
    compiler: &mut Compiler,
    mut arguments: Arguments,
    stream: &Stream,
) -> Result<SmallVec<[u32; 2]>, String> {
    let [local, leader, peers, remote, tag] = std::array::from_fn(|_| arguments.number());
    let local = compiler.communicator(stream, local)?;
    if i64::from(local.me) != leader {
        return Ok(SmallVec::new());
    }
    let made = arguments.number();
    let made = stream.definitions().communicators.get(&made);
    let others = made.and_then(|made| made.remote.as_ref()).map_or(0, Group::len);
    let Some(peer) = compiler.peer(compiler.communicator(stream, peers)?, remote)? else {
        return Ok(SmallVec::new());
    };
    let bytes = |ranks: u32| 8 + 4 * u64::from(ranks);
    let send = compiler.send(peer, peers, Purpose::Leaders(tag), bytes(local.local.len()));
    let receive = compiler.receive(peer, peers, Purpose::Leaders(tag), bytes(others));
    both(compiler, send);
    both(compiler, receive);
    Ok(SmallVec::from([send, receive]))
}

/// The messages of a collective, behind the operations `before`; with a `round`, those of a
/// persistent one.
// Long because it binds one description of a collective from many arguments.
fn collective(
    compiler: &mut Compiler,
    operation: Collective,
    mut arguments: Arguments,
    (before, round): (&[u32], Option<Round>),
    stream: &Stream,
) -> Result<(), String> {
    refused::collective(operation, arguments.rest())?;
    // What a buffer of several blocks holds depends on the communicator, which stands behind it.
    let mut what = shared(operation, &mut arguments.clone(), 1);
    let mut id = what.communicator;
    if operation == Collective::CreateGroup {
        // Only those in the new communicator take part.
        arguments.number();
        arguments.number();
        id = arguments.number();
        if id == crate::record::NULL {
            return Ok(());
        }
    } else {
        let ranks = compiler.communicator(stream, id)?.peers().len();
        what = shared(operation, &mut arguments, u64::from(ranks));
    }
    // A send buffer in place: its own count means nothing.
    if matches!(operation, Collective::Allgather | Collective::Alltoall)
        && what.buffers.first().is_some_and(|b| b.0 == 1)
    {
        what.sends = what.receives.clone();
    }
    if matches!(operation, Collective::Alltoallv | Collective::Alltoallw)
        && what.buffers.first().is_some_and(|b| b.0 == 1)
    {
        what.sends = what.receives.clone();
    }
    let communicator = compiler.communicator(stream, id)?;
    if operation == Collective::ReduceScatter {
        // What is mine comes from everyone.
        let mine = what.sends.of(communicator.me as usize);
        what.receives = Amount::List(vec![mine; communicator.peers().len() as usize]);
    }
    for (address, bytes) in &what.buffers {
        compiler.touch(*address, *bytes);
    }
    let whole = communicator.remote.is_none()
        && communicator.local.len() == compiler.ranks
        && matches!(communicator.local, Group::All(_));
    let copies = if whole { compiler.options.copies } else { 1 };
    let local = communicator.local.len();
    let remote = communicator.remote.as_ref().map_or(0, Group::len);
    let root = match what.root {
        None => None,
        Some(ROOT) if remote > 0 => Some(communicator.me),
        Some(PROC_NULL) if remote > 0 => None,
        Some(root) => {
            let limit = if remote > 0 { remote } else { local };
            let valid = u32::try_from(root).ok().filter(|root| *root < limit);
            let root = valid
                .ok_or_else(|| format!("root {root}, but the communicator has {limit} ranks"))?;
            Some(if remote > 0 { local + root } else { root })
        }
    };
    let number = round.map_or_else(
        || {
            let next = compiler.collectives.entry(id).or_default();
            *next += 1;
            CollectiveNumber::Called(*next - 1)
        },
        CollectiveNumber::Started,
    );
    // A list of counts holds for the ranks of each copy.
    let over = |amount: Amount| match amount {
        Amount::List(list) => Amount::List(list.repeat(copies as usize)),
        each @ Amount::Each(_) => each,
    };
    let parts = if remote > 0 { (local, remote) } else { (local * copies, 0) };
    let described = CollectiveCall {
        collective: operation,
        ranks: parts.0,
        me: communicator.me + if copies > 1 { compiler.copy() * local } else { 0 },
        remote: parts.1,
        root,
        element: what.element,
        commutative: what.commutative,
        sends: over(what.sends),
        receives: over(what.receives),
        neighbours: stream.definitions().neighbours.get(&id),
    };
    let members = |compiler: &Compiler, rank: u32| {
        if copies > 1 {
            return compiler.place_of_all(rank);
        }
        let group = communicator.remote.as_ref().filter(|_| rank >= local);
        let own = match group {
            Some(remote) => remote.rank(rank - local),
            None => communicator.local.rank(rank),
        };
        compiler.place(own.unwrap_or(0))
    };
    let expand = compiler.options.expand;
    let mut posting = Posting {
        compiler,
        communicator: id,
        collective: number,
        number: 0,
        before,
        members: &members,
    };
    expand.expand(&described, &mut posting)
}

/// A barrier among the members of a communicator, as part of another call.
pub fn synchronise(compiler: &mut Compiler, id: i64, stream: &Stream) -> Result<(), String> {
    let record = Record { values: vec![id], ..Record::default() };
    collective(compiler, Collective::Barrier, record.arguments(), (&[], None), stream)
}
