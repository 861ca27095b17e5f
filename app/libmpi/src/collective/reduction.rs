//! Reductions (MPI 4.1, sections 6.9 to 6.11).

use std::rc::Rc;

use rank_ipc::{Amount, Collective};

use super::{Board, Call, Contribution, Role, begin, role};
use crate::abi::Handle;
use crate::comm::Comm;
use crate::datatype::Datatype;
use crate::error::Result;
use crate::op::Operation;
use crate::p2p::Data;
use crate::request::Starter;
use crate::{check, mpi};

/// An operation and the datatype of what it combines.
#[derive(Clone, Debug)]
pub struct Reduction {
    datatype: Rc<Datatype>,
    operation: Operation,
}

/// Memory for elements in the layout of the program, aligned for any type.
struct Native {
    words: Vec<u128>,
    /// The distance in bytes from the first word to the address that a buffer of the program would
    /// have.
    offset: isize,
}

impl Native {
    fn new(datatype: &Datatype, count: u64) -> Self {
        let (start, bytes) = datatype.span(count);
        // The first byte comes to lie where its alignment is that of the program's address.
        let shift = (start as isize).rem_euclid(16);
        let words = vec![0; (bytes as usize).saturating_add(shift as usize).div_ceil(16) + 1];
        Self { words, offset: shift - start as isize }
    }

    fn address(&mut self) -> *mut u8 {
        self.words.as_mut_ptr().cast::<u8>().wrapping_offset(self.offset)
    }
}

impl Reduction {
    /// Checks that an operation is allowed for a datatype.
    pub fn new(op: Handle, datatype: &Rc<Datatype>) -> Result<Self> {
        let operation = mpi().op(op)?;
        operation.check_allowed(datatype)?;
        Ok(Self { datatype: Rc::clone(datatype), operation })
    }

    fn commutes(&self) -> bool {
        self.operation.commutes()
    }

    fn call(&self, collective: Collective) -> Call {
        let element = self.datatype.size().max(1);
        Call { collective, root: None, element, commutative: self.commutes() }
    }

    /// Combines packed operands in their order.
    fn combine<'a>(
        &self,
        parts: impl DoubleEndedIterator<Item = Result<&'a [u8]>>,
        count: u64,
    ) -> Result<Vec<u8>> {
        let datatype = &self.datatype;
        if count == 0 || datatype.size() == 0 {
            return Ok(Vec::new());
        }
        let mut parts = parts.rev();
        let (mut into, mut from) = (Native::new(datatype, count), Native::new(datatype, count));
        if let Some(last) = parts.next() {
            // SAFETY: the memory has room for so many.
            unsafe { datatype.unpack(last?, into.address(), count) };
        }
        for part in parts {
            // SAFETY: as above.
            unsafe { datatype.unpack(part?, from.address(), count) };
            // SAFETY: both have so many, in memory of their own.
            unsafe { self.operation.apply(from.address(), into.address(), count, datatype) }?;
        }
        let mut packed = vec![0; datatype.size().saturating_mul(count) as usize];
        // SAFETY: as above.
        unsafe { datatype.pack(into.address(), count, &mut packed) };
        Ok(packed)
    }
}

/// The contributions of the first ranks, all of which must have the same length (MPI 4.1, section
/// 6.9.1).
fn all<'b>(
    board: &'b Board,
    ranks: u32,
    bytes: u64,
) -> impl DoubleEndedIterator<Item = Result<&'b [u8]>> {
    (0..ranks).map(move |rank| {
        let part = board.peer(rank)?;
        check!(
            part.len() as u64 == bytes,
            ERR_TRUNCATE,
            "rank {rank} gives {} bytes to a reduction to which this rank gives {bytes}",
            part.len()
        );
        Ok(part)
    })
}

pub fn reduce(
    from: Data,
    into: Option<Data>,
    op: Handle,
    root: i32,
    comm: Handle,
) -> Result<Starter> {
    let comm = mpi().comm(comm)?;
    let (role, number) = role(&comm, root)?;
    if role == Role::Bystander {
        // Its other arguments mean nothing.
        return Ok(Box::new(move || {
            let nothing = (Amount::Each(0), Amount::Each(0));
            begin(&comm, &Call::new(Collective::Reduce), nothing, Contribution::none(), |_| Ok(()))
        }));
    }
    let reduction = Reduction::new(op, &from.datatype)?;
    Ok(Box::new(move || {
        let call = Call { root: number, ..reduction.call(Collective::Reduce) };
        let bytes = from.bytes();
        let amounts = (Amount::Each(bytes), Amount::Each(bytes));
        let gives = !comm.is_inter() || matches!(role, Role::Member(_));
        let contribution = if gives {
            Contribution::new(bytes, |room| from.pack(room))?
        } else {
            Contribution::none()
        };
        let (into, reduction, ranks) = (into.clone(), reduction.clone(), comm.peers().size());
        begin(&comm, &call, amounts, contribution, move |board| {
            if let Some(into) = into.filter(|_| role == Role::Root) {
                into.unpack(&reduction.combine(all(board, ranks, bytes), into.count)?);
            }
            Ok(())
        })
    }))
}

pub fn allreduce(from: Data, into: Data, op: Handle, comm: Handle) -> Result<Starter> {
    let comm = mpi().comm(comm)?;
    let reduction = Reduction::new(op, &from.datatype)?;
    Ok(Box::new(move || {
        let bytes = from.bytes();
        let contribution = Contribution::new(bytes, |room| from.pack(room))?;
        let amounts = (Amount::Each(bytes), Amount::Each(bytes));
        let (into, reduction, ranks) = (into.clone(), reduction.clone(), comm.peers().size());
        let is_inter = comm.is_inter();
        begin(&comm, &reduction.call(Collective::Allreduce), amounts, contribution, move |board| {
            let work = || reduction.combine(all(board, ranks, bytes), into.count);
            // Each of two groups gets the other's result.
            if is_inter {
                into.unpack(&work()?);
            } else {
                into.unpack(board.shared(work)?);
            }
            Ok(())
        })
    }))
}

/// Scan, or exscan, which leaves out the own contribution.
pub fn scan(
    class: Collective,
    from: Data,
    into: Data,
    op: Handle,
    comm: Handle,
) -> Result<Starter> {
    let comm = mpi().intracomm(comm)?;
    let reduction = Reduction::new(op, &from.datatype)?;
    Ok(Box::new(move || {
        let bytes = from.bytes();
        let contribution = Contribution::new(bytes, |room| from.pack(room))?;
        let amounts = (Amount::Each(bytes), Amount::Each(bytes));
        let ranks = comm.rank + u32::from(class == Collective::Scan);
        let (into, reduction) = (into.clone(), reduction.clone());
        begin(&comm, &reduction.call(class), amounts, contribution, move |board| {
            if ranks > 0 {
                into.unpack(&reduction.combine(all(board, ranks, bytes), into.count)?);
            }
            Ok(())
        })
    }))
}

/// Reduces, and gives each rank a part of so many elements: `counts` by rank.
pub fn reduce_scatter(
    class: Collective,
    from: Data,
    into: Data,
    counts: Vec<u64>,
    (op, comm): (Handle, Handle),
) -> Result<Starter> {
    let comm = mpi().comm(comm)?;
    let reduction = Reduction::new(op, &from.datatype)?;
    check_counts(&comm, &counts)?;
    Ok(Box::new(move || {
        let size = from.datatype.size();
        let bytes = from.bytes();
        let contribution = Contribution::new(bytes, |room| from.pack(room))?;
        let mine = counts.get(comm.rank as usize).copied().unwrap_or(0);
        let amounts = match class {
            Collective::ReduceScatter => {
                let list = counts.iter().map(|count| count * size).collect();
                (Amount::List(list), Amount::List(vec![mine * size; comm.peers().size() as usize]))
            }
            _ => (Amount::Each(mine * size), Amount::Each(mine * size)),
        };
        let start = (size * counts.iter().take(comm.rank as usize).sum::<u64>()) as usize;
        let end = start + (mine * size) as usize;
        let (into, reduction, ranks) = (into.clone(), reduction.clone(), comm.peers().size());
        begin(&comm, &reduction.call(class), amounts, contribution, move |board| {
            let parts = all(board, ranks, bytes);
            let parts = parts.map(|part| Ok(part?.get(start..end).unwrap_or_default()));
            into.unpack(&reduction.combine(parts, mine)?);
            Ok(())
        })
    }))
}

fn check_counts(comm: &Comm, counts: &[u64]) -> Result {
    check!(
        counts.len() == comm.size() as usize,
        ERR_COUNT,
        "{} counts for {} ranks",
        counts.len(),
        comm.size()
    );
    Ok(())
}
