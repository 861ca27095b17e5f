//! Accesses to the memory of others (MPI 4.1, section 12.3).

use std::ffi::{c_int, c_void};
use std::rc::Rc;

use rank_ipc::{Command, Shape};

use super::memory::Part;
use super::{Access, Window};
use crate::abi::{self, Handle, Status};
use crate::argument::{Number, Out};
use crate::datatype::basic::{Basic, Class};
use crate::datatype::{Datatype, Element};
use crate::error::Result;
use crate::op::{Builtin, Operation};
use crate::p2p::{self, Data};
use crate::request::Active;
use crate::{both_forms, check, control, mpi, mpi_functions};

/// The place at its target that an access names.
struct There {
    win: Handle,
    rank: c_int,
    displacement: isize,
    count: i64,
    datatype: Handle,
    /// It has a request of its own.
    by_request: bool,
}

/// A target whose memory is open, and the part of it.
struct Found<'w> {
    window: &'w Rc<Window>,
    target: u32,
    part: Part<'w>,
    datatype: Rc<Datatype>,
}

impl There {
    /// Finds the memory; nothing if the target is nobody.
    fn find<'w>(&self, window: &'w Rc<Window>) -> Result<Option<Found<'w>>> {
        check!(self.count >= 0, ERR_COUNT, "a count is negative: {}", self.count);
        let datatype = mpi().committed(self.datatype)?;
        let Some(target) = window.target(self.rank)? else { return Ok(None) };
        window.epoch.borrow_mut().access(target, self.by_request)?;
        let exposed = window.exposed.get(target as usize);
        let exposed = exposed.ok_or_else(|| window.wrong_rank(target))?;
        let (address, count) = (std::ptr::null_mut(), self.count as u64);
        let data = Data { address, count, datatype: Rc::clone(&datatype) };
        if window.flavor == abi::WIN_FLAVOR_DYNAMIC && target == window.comm.rank() {
            window.check_attached(self.displacement, &data)?;
        }
        let part = exposed.part(self.displacement, data)?;
        if window.epoch.borrow().is_passive() {
            control::settle();
        } else {
            mpi().port()?.order();
        }
        Ok(Some(Found { window, target, part, datatype }))
    }

    fn window(&self) -> Result<Rc<Window>> {
        mpi().window(self.win)
    }
}

impl Window {
    /// An error unless this rank has attached the memory.
    fn check_attached(&self, address: isize, data: &Data) -> Result {
        let (offset, bytes) = data.datatype.span(data.count);
        let start = address.wrapping_add(offset as isize) as usize;
        let within = |(from, length): &(usize, usize)| {
            start >= *from && start.saturating_add(bytes as usize) <= from.saturating_add(*length)
        };
        let known = data.bytes() == 0 || self.attached.borrow().iter().any(within);
        check!(known, ERR_RMA_RANGE, "memory that is not attached");
        Ok(())
    }
}

impl Found<'_> {
    /// The access travels: so many bytes go there and back. The own memory takes no message.
    fn travel(&self, there: u64, back: u64, brings: bool) -> Result<Active> {
        let to = self.window.world(self.target)?;
        if to == mpi().comms.me() {
            return Ok(Active::Own(Rc::clone(self.window)));
        }
        let mpi = mpi();
        let port = mpi.port()?;
        let ticket = port.start(&Command::Remote { to, bytes: there, answer: back });
        self.window.open.borrow_mut().push(Access { target: self.target, ticket, brings });
        Ok(Active::Send { ticket, contents: 0 })
    }
}

fn nobody() -> Active {
    Active::Done(Status::empty())
}

fn put(from: &Data, there: &There) -> Result<Active> {
    let window = there.window()?;
    let Some(found) = there.find(&window)? else { return Ok(nobody()) };
    found.part.write(&from.packed())?;
    found.travel(from.bytes(), 1, false)
}

fn get(into: &Data, there: &There) -> Result<Active> {
    let window = there.window()?;
    let Some(found) = there.find(&window)? else { return Ok(nobody()) };
    into.unpack(&found.part.read()?);
    found.travel(1, into.bytes(), true)
}

/// The arguments of an accumulation: the operation and what it combines with the target's memory,
/// and where to what was there before.
struct Given {
    op: Handle,
    from: *const c_void,
    count: i64,
    datatype: Handle,
    result: Option<Data>,
}

fn accumulate(given: &Given, there: &There) -> Result<Active> {
    let window = there.window()?;
    let op = mpi().op(given.op)?;
    // Then nothing is read.
    let nothing = given.op == abi::NO_OP;
    check!(!nothing || given.result.is_some(), ERR_OP, "MPI_NO_OP accumulates nothing");
    let from =
        if nothing { None } else { Some(Data::new(given.from, given.count, given.datatype)?) };
    let Some(found) = there.find(&window)? else { return Ok(nobody()) };
    if given.count > 0 {
        op.check_accumulate(&found.datatype)?;
    }
    let mut old = found.part.read()?;
    if let Some(result) = &given.result {
        result.unpack(&old);
    }
    let sent = from.as_ref().map_or(0, Data::bytes);
    if let Some(from) = from.filter(|from| from.bytes() > 0) {
        combine(&op, &from.packed(), &mut old, &found.datatype)?;
        found.part.write(&old)?;
    }
    let back = given.result.as_ref().map_or(1, Data::bytes);
    found.travel(sent, back, given.result.is_some())
}

/// Combines packed data of a datatype: `into = from op into`.
fn combine(op: &Operation, from: &[u8], into: &mut [u8], datatype: &Rc<Datatype>) -> Result {
    let replaces = matches!(op, Operation::Builtin(Builtin::Replace));
    let Some(pair) = datatype.pair().filter(|_| !replaces) else {
        return Ok(op.apply_packed(from, into, datatype)?);
    };
    // Pairs are combined as they lie in memory, with their gaps.
    let count = (from.len().min(into.len()) as u64).checked_div(pair.size()).unwrap_or(0);
    let room = count.saturating_mul(pair.extent() as u64) as usize;
    let (mut left, mut right) = (vec![0; room], vec![0; room]);
    // SAFETY: there is room for so many pairs, whose lower bound is 0.
    unsafe {
        pair.unpack(from, left.as_mut_ptr(), count);
        pair.unpack(into, right.as_mut_ptr(), count);
        op.apply(left.as_ptr(), right.as_mut_ptr(), count, pair)?;
        pair.pack(right.as_ptr(), count, into);
    }
    Ok(())
}

/// Compares one element with the target's, and replaces that if they are equal.
fn compare_and_swap(new: &Data, compared: &Data, old: &Data, there: &There) -> Result<Active> {
    let window = there.window()?;
    let Some(found) = there.find(&window)? else { return Ok(nobody()) };
    let before = found.part.read()?;
    old.unpack(&before);
    if compared.packed() == before {
        found.part.write(&new.packed())?;
    }
    found.travel(new.bytes().saturating_mul(2), old.bytes(), true)
}

/// An error unless a datatype is a predefined one; `integers` if it must be one that can be
/// compared bit by bit.
fn check_predefined(datatype: Handle, integers: bool) -> Result {
    let known = mpi().committed(datatype)?;
    let fits = match known.element() {
        Some(
            Element::One(Basic { class: Class::Float(_) | Class::Complex(_), .. })
            | Element::Pair(..),
        ) => !integers,
        Some(Element::One(_)) => true,
        None => false,
    };
    check!(fits, ERR_TYPE, "the datatype is not one for this call");
    Ok(())
}

/// The call returns while the access goes on, which the window knows.
fn go_on(access: Result<Active>) -> Result {
    access?;
    mpi().port()?.called(Shape::Posted);
    Ok(())
}

both_forms! {
    fn Put | Put_c (
        origin: *const c_void, count: Count, datatype: Handle, rank: c_int, displacement: isize,
        target_count: Count, target_type: Handle, win: Handle
    ) about Win(win) {
        let there = There {
            win, rank, displacement, count: target_count.wide(), datatype: target_type,
            by_request: false
        };
        there.window()?;
        go_on(put(&Data::new(origin, count, datatype)?, &there))
    }

    fn Rput | Rput_c (
        origin: *const c_void, count: Count, datatype: Handle, rank: c_int, displacement: isize,
        target_count: Count, target_type: Handle, win: Handle, request: Out<Handle>
    ) about Win(win) {
        request.check()?;
        let there = There {
            win, rank, displacement, count: target_count.wide(), datatype: target_type,
            by_request: true
        };
        there.window()?;
        p2p::posted(put(&Data::new(origin, count, datatype)?, &there)?, request)
    }

    fn Get | Get_c (
        origin: *mut c_void, count: Count, datatype: Handle, rank: c_int, displacement: isize,
        target_count: Count, target_type: Handle, win: Handle
    ) about Win(win) {
        let there = There {
            win, rank, displacement, count: target_count.wide(), datatype: target_type,
            by_request: false
        };
        there.window()?;
        go_on(get(&Data::new(origin, count, datatype)?, &there))
    }

    fn Rget | Rget_c (
        origin: *mut c_void, count: Count, datatype: Handle, rank: c_int, displacement: isize,
        target_count: Count, target_type: Handle, win: Handle, request: Out<Handle>
    ) about Win(win) {
        request.check()?;
        let there = There {
            win, rank, displacement, count: target_count.wide(), datatype: target_type,
            by_request: true
        };
        there.window()?;
        p2p::posted(get(&Data::new(origin, count, datatype)?, &there)?, request)
    }

    fn Accumulate | Accumulate_c (
        origin: *const c_void, count: Count, datatype: Handle, rank: c_int, displacement: isize,
        target_count: Count, target_type: Handle, op: Handle, win: Handle
    ) about Win(win) {
        let there = There {
            win, rank, displacement, count: target_count.wide(), datatype: target_type,
            by_request: false
        };
        let given = Given { op, from: origin, count: count.wide(), datatype, result: None };
        go_on(accumulate(&given, &there))
    }

    fn Raccumulate | Raccumulate_c (
        origin: *const c_void, count: Count, datatype: Handle, rank: c_int, displacement: isize,
        target_count: Count, target_type: Handle, op: Handle, win: Handle, request: Out<Handle>
    ) about Win(win) {
        request.check()?;
        let there = There {
            win, rank, displacement, count: target_count.wide(), datatype: target_type,
            by_request: true
        };
        let given = Given { op, from: origin, count: count.wide(), datatype, result: None };
        p2p::posted(accumulate(&given, &there)?, request)
    }

    fn Get_accumulate | Get_accumulate_c (
        origin: *const c_void, count: Count, datatype: Handle, result: *mut c_void,
        result_count: Count, result_type: Handle, rank: c_int, displacement: isize,
        target_count: Count, target_type: Handle, op: Handle, win: Handle
    ) about Win(win) {
        let there = There {
            win, rank, displacement, count: target_count.wide(), datatype: target_type,
            by_request: false
        };
        there.window()?;
        let result = Some(Data::new(result, result_count, result_type)?);
        let given = Given { op, from: origin, count: count.wide(), datatype, result };
        go_on(accumulate(&given, &there))
    }

    fn Rget_accumulate | Rget_accumulate_c (
        origin: *const c_void, count: Count, datatype: Handle, result: *mut c_void,
        result_count: Count, result_type: Handle, rank: c_int, displacement: isize,
        target_count: Count, target_type: Handle, op: Handle, win: Handle, request: Out<Handle>
    ) about Win(win) {
        request.check()?;
        let there = There {
            win, rank, displacement, count: target_count.wide(), datatype: target_type,
            by_request: true
        };
        there.window()?;
        let result = Some(Data::new(result, result_count, result_type)?);
        let given = Given { op, from: origin, count: count.wide(), datatype, result };
        p2p::posted(accumulate(&given, &there)?, request)
    }
}

mpi_functions! {
    fn Fetch_and_op(
        origin: *const c_void, result: *mut c_void, datatype: Handle, rank: c_int,
        displacement: isize, op: Handle, win: Handle
    ) about Win(win) {
        let there = There { win, rank, displacement, count: 1, datatype, by_request: false };
        there.window()?;
        check_predefined(datatype, false)?;
        let result = Some(Data::new(result, 1, datatype)?);
        go_on(accumulate(&Given { op, from: origin, count: 1, datatype, result }, &there))
    }

    fn Compare_and_swap(
        origin: *const c_void, compare: *const c_void, result: *mut c_void, datatype: Handle,
        rank: c_int, displacement: isize, win: Handle
    ) about Win(win) {
        let there = There { win, rank, displacement, count: 1, datatype, by_request: false };
        there.window()?;
        check_predefined(datatype, true)?;
        let [new, compared] = [Data::new(origin, 1, datatype)?, Data::new(compare, 1, datatype)?];
        go_on(compare_and_swap(&new, &compared, &Data::new(result, 1, datatype)?, &there))
    }
}
