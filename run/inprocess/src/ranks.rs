//! Ranks as coroutines, and who runs.

use std::cell::{Cell, RefCell, UnsafeCell};
use std::ffi::{CString, c_int, c_void};
use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::ptr;
use std::rc::Rc;
use std::sync::OnceLock;

use corosensei::stack::Stack;
use corosensei::{Coroutine, CoroutineResult, Yielder};
use heddle_mpi::simulator::RankOptions;
use heddle_mpi::state::{self, Mpi};
use live::{Launch, Lost, Runner};
use rank_ipc::{
    Channel, Client, Memory, MpiUse, RANKS_TURN, SIMULATORS_TURN, SimulatorGone, Suspend, Writer,
};
use std::sync::atomic::Ordering;

use crate::code::Code;
use crate::image::Image;
use crate::large::Large;
use crate::objects::{First, Last};
use crate::openmp::{self, OpenMp};
use crate::own_threads::{self, Carried, Own};
use crate::stacks::{Part, Stacks};
use crate::{descriptors, floats, keys, leave, objects, signals, start, threads};

/// The program's `main`.
pub type Main = extern "C" fn(c_int, *mut *mut i8, *mut *mut i8) -> c_int;

/// Bytes of a line of the cache.
const LINE: usize = 64;

/// Bytes of a stack that are asked for before its rank runs: what it uses first.
const WARM: usize = 3072;

/// A rank's stack, and where it is there.
pub type Ran = Coroutine<(), (), c_int, Part>;

/// A rank.
struct Rank {
    /// None once it has moved to a thread of its own.
    coroutine: Option<Ran>,
    own: &'static Own,
    /// Its copy of the program's variables, while another one runs.
    image: Vec<u8>,
    mpi: *mut Mpi,
    /// The part of its stack that it has used.
    used: Range<usize>,
    ended: Option<c_int>,
    /// The processor's state for its floating-point numbers, once it has run.
    floats: Option<floats::Environment>,
    /// The arguments that it is given.
    arguments: Vec<*mut i8>,
}

/// All ranks of the program.
pub struct Ranks {
    memory: Memory,
    copies: Rc<Copies>,
    /// The program's variables before it starts.
    fresh: Vec<u8>,
    all: UnsafeCell<Vec<Rank>>,
    /// The rank whose variables are in place.
    resident: Cell<Option<u32>>,
    /// The code that is given back before the first one runs.
    code: Cell<Code>,
    /// The folder that they run in, as long as they run.
    away: Option<Away>,
}

/// The process is where its ranks are to be, or go themselves. When this goes, it is back where the
/// command was given, from where that names files.
struct Away(Option<File>);

impl Away {
    fn to(folder: Option<&Path>) -> io::Result<Self> {
        // A folder that cannot be opened is not come back to.
        let here = File::open(".").ok();
        folder.map_or(Ok(()), std::env::set_current_dir)?;
        Ok(Self(here))
    }
}

impl Drop for Away {
    fn drop(&mut self) {
        if let Some(here) = &self.0 {
            // SAFETY: an open folder.
            unsafe { libc::fchdir(here.as_raw_fd()) };
        }
    }
}

// SAFETY: the simulator of ranks in one process runs on one thread, which is also that of all
// ranks.
unsafe impl Sync for Ranks {}

thread_local! {
    /// Of the rank that runs, the way back.
    static YIELDER: Cell<*const Yielder<(), ()>> = const { Cell::new(ptr::null()) };
    /// The code with which the running rank ends.
    static CODE: Cell<Option<c_int>> = const { Cell::new(None) };
    /// The depth of the last rank in its stack when it suspended itself.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
    static WAYS: RefCell<Vec<*const Yielder<(), ()>>> = const { RefCell::new(Vec::new()) };
    /// The rank that runs, if one does.
    static RUNNING: Cell<usize> = const { Cell::new(0) };
}

/// The program, as any thread of it knows it.
struct Program {
    extents: Vec<Range<usize>>,
    code: Vec<Range<usize>>,
    variables: Vec<Range<usize>>,
    destructors: Vec<Last>,
    /// Libraries that compute.
    computing: OnceLock<Vec<Range<usize>>>,
}

static PROGRAM: OnceLock<Program> = OnceLock::new();

impl Program {
    fn of(image: &Image) -> Self {
        Self {
            extents: image.extents(),
            code: image.code.clone(),
            variables: image.places(),
            destructors: image.destructors.clone(),
            computing: OnceLock::new(),
        }
    }
}

fn is_within(ranges: &[Range<usize>], address: usize) -> bool {
    ranges.iter().any(|range| range.contains(&address))
}

/// True if a rank is running on this thread.
pub fn is_rank() -> bool {
    !YIELDER.get().is_null() || own_threads::current().is_some()
}

/// The rank that runs on this thread.
pub fn running() -> Option<usize> {
    let own = own_threads::current().map(|own| own.rank);
    own.or_else(|| (!YIELDER.get().is_null()).then(|| RUNNING.get()))
}

/// True if this is of the program, by the C library's word on an object that something is
/// registered for.
pub fn is_of_program(object: *mut c_void) -> bool {
    object.is_null()
        || PROGRAM.get().is_some_and(|program| is_within(&program.extents, object.addr()))
}

/// True if ranks have their own of what is at an address.
pub fn is_variable(address: usize) -> bool {
    PROGRAM.get().is_some_and(|program| is_within(&program.variables, address))
}

/// The pages of the program's code.
pub fn code() -> &'static [Range<usize>] {
    PROGRAM.get().map_or(&[], |program| &program.code)
}

/// Libraries whose names begin so compute.
pub fn add_computing(names: &[&str]) {
    if let Some(program) = PROGRAM.get() {
        program.computing.get_or_init(|| objects::extents(names));
    }
}

/// True if an address is in a library that computes.
pub fn is_computing(address: usize) -> bool {
    let libraries = PROGRAM.get().and_then(|program| program.computing.get());
    libraries.is_some_and(|libraries| is_within(libraries, address))
}

/// The running rank does what is left to do at its end.
pub fn leave() {
    let destructors = PROGRAM.get().map_or(&[][..], |program| &program.destructors);
    if let Some(rank) = running() {
        leave::leave(rank, destructors);
    }
}

/// Ends the running rank: it never returns.
pub fn end(code: c_int) -> ! {
    if let Some(own) = own_threads::current() {
        own.end(code);
    }
    CODE.set(Some(code));
    loop {
        suspend();
    }
}

fn suspend() {
    let depth = 0_u8;
    DEPTH.set(ptr::from_ref(&depth).addr());
    // SAFETY: a rank runs, whose way back lives as long as its coroutine.
    if let Some(yielder) = unsafe { YIELDER.get().as_ref() } {
        yielder.suspend(());
    }
}

/// The copies of variables.
#[derive(Debug)]
struct Copies {
    image: Image,
    large: Rc<Large>,
    /// By rank; null before another one has run.
    of: Vec<Cell<*mut u8>>,
}

/// A rank's way to the simulator, and to the variables of others.
#[derive(Debug)]
struct Here {
    rank: u32,
    copies: Rc<Copies>,
    /// The library of OpenMP, if the program uses one and there are other ranks.
    openmp: Option<Rc<OpenMp>>,
    own: &'static Own,
}

impl Suspend for Here {
    fn suspend(&self, channel: &Channel) -> Result<(), SimulatorGone> {
        if self.own.has_moved() {
            channel.turn.store(SIMULATORS_TURN, Ordering::Release);
            self.own.wait_for_turn();
            return Ok(());
        }
        let region = self.openmp.as_ref().and_then(|openmp| openmp.leave_region());
        channel.turn.store(SIMULATORS_TURN, Ordering::Release);
        suspend();
        if let (Some(openmp), Some(region)) = (&self.openmp, region) {
            openmp.enter_region(&region);
        }
        Ok(())
    }

    fn move_to_own_thread(&self) -> bool {
        // Only the thread that a rank begins with can move.
        if YIELDER.get().is_null() || !self.own.may_start_threads {
            return false;
        }
        let threads = openmp::threads();
        self.own.want_to_move();
        suspend();
        openmp::set_threads(threads);
        true
    }

    fn address_of(&self, rank: u32, address: usize) -> usize {
        if let Some(place) = self.copies.large.place(rank as usize, address) {
            return place;
        }
        // Those of the rank that runs are where the program has them.
        let other = self.copies.of.get(rank as usize).filter(|_| rank != self.rank).map(Cell::get);
        match (other.filter(|copy| !copy.is_null()), self.copies.image.offset(address)) {
            (Some(copy), Some(offset)) => copy.wrapping_add(offset).addr(),
            _ => address,
        }
    }
}

/// Leaves the process or the rank whose `main` has returned this code.
#[inline(never)]
fn ended(code: c_int) -> c_int {
    start::leave_forked(code);
    leave();
    code
}

/// The stack of a rank, on which nothing runs so far: of a program's `main` and its constructors,
/// with arguments that stay where they are.
fn coroutine(
    rank: u32,
    stack: Part,
    (main, constructors): (Main, Vec<First>),
    given: &mut [*mut i8],
) -> Ran {
    let words = given.as_mut_ptr();
    // Behind them is a null.
    let number = c_int::try_from(given.len() - 1).unwrap_or(c_int::MAX);
    Coroutine::with_stack(stack, move |yielder: &Yielder<(), ()>, ()| {
        begun(rank as usize, yielder);
        // SAFETY: the C library's variable.
        let environment = unsafe { environ };
        for constructor in constructors {
            constructor(number, words, environment);
        }
        ended(main(number, words, environment))
    })
}

/// The first of a rank. Not in one function with its end, which may be on another thread.
#[inline(never)]
fn begun(rank: usize, yielder: &Yielder<(), ()>) {
    YIELDER.set(yielder);
    WAYS.with_borrow_mut(|ways| {
        if let Some(way) = ways.get_mut(rank) {
            *way = yielder;
        }
    });
}

impl Ranks {
    /// The ranks of a program, with the arguments that it was started with.
    pub fn new(programs: &[Launch], main: Main, arguments: &[CString]) -> io::Result<Self> {
        let (code, resident, away) = (Cell::new(Code::find()), Cell::new(None), None);
        let count: u32 = programs.iter().map(|program| program.ranks).sum();
        heddle_mpi::extra::running(false);
        let memory = Memory::private(count)?;
        let writer = Writer::new(memory, 0);
        leave::construct_streams();
        let openmp = if count > 1 { OpenMp::find().map(Rc::new) } else { None };
        let image = Image::find();
        // There is one program in a process.
        let _ = PROGRAM.set(Program::of(&image));
        // SAFETY: never freed.
        let state = |_| unsafe { &*Box::into_raw(Box::<Mpi>::default()) };
        let states: Vec<&'static Mpi> = (0..count).map(state).collect();
        let threads = own_threads::of_ranks(&states, objects::may_start_threads());
        let of = vec![Cell::new(ptr::null_mut()); count as usize];
        let large = Large::new(image.large.clone(), count as usize)?;
        let copies = Rc::new(Copies { image: image.clone(), large, of });
        let fresh = image.fresh();
        let stacks = Stacks::new(count)?;
        let options = RankOptions::new(|name| {
            let mut said = programs.iter().flat_map(|program| &program.environment);
            said.find(|(known, _)| known == name).map(|(_, value)| value.clone())
        });
        let places: Rc<[Range<usize>]> = image.places().into();
        let rank = |rank: u32| {
            let known = states.get(rank as usize).copied().ok_or(io::ErrorKind::NotFound)?;
            let mpi = ptr::from_ref(known).cast_mut();
            let own = threads.get(rank as usize).copied().ok_or(io::ErrorKind::NotFound)?;
            let here = Here { rank, copies: Rc::clone(&copies), openmp: openmp.clone(), own };
            let port = Client::new(writer.clone(), rank, count, Box::new(here), end);
            heddle_mpi::simulator::hold(known, port, options, Rc::clone(&places));
            let mut given: Vec<*mut i8> =
                arguments.iter().map(|word| word.clone().into_raw()).collect();
            given.push(ptr::null_mut());
            let stack = stacks.of(rank as usize)?;
            let top = stack.base().get();
            let program = (main, image.constructors.clone());
            let coroutine = Some(coroutine(rank, stack, program, &mut given));
            let (image, used) = (Vec::new(), top..top);
            Ok(Rank {
                coroutine,
                own,
                image,
                mpi,
                used,
                ended: None,
                floats: None,
                arguments: given,
            })
        };
        let ranks: Vec<Rank> = (0..count).map(rank).collect::<io::Result<_>>()?;
        WAYS.set(vec![ptr::null(); count as usize]);
        signals::watch();
        live::adopt();
        Ok(Self { memory, copies, fresh, all: UnsafeCell::new(ranks), resident, code, away })
    }

    /// Places the ranks in the folder in which their program is to run.
    pub fn placed(mut self, programs: &[Launch]) -> io::Result<Self> {
        let folder = programs.iter().find_map(|program| program.directory.as_deref());
        self.away = Some(Away::to(folder)?);
        Ok(self)
    }

    /// Puts the variables of a rank in place.
    fn settle(&self, ranks: &mut [Rank], rank: u32) {
        if self.resident.get() == Some(rank) {
            return;
        }
        let image = &self.copies.image;
        let before = self.resident.replace(Some(rank)).map(|old| old as usize);
        before.into_iter().for_each(threads::leaves);
        if before.is_none() {
            // Nothing of a rank has run so far: what is open now is not the ranks'.
            descriptors::protect();
            self.code.take().give_back();
        }
        if let Some((old, place)) =
            before.and_then(|old| ranks.get_mut(old).zip(self.copies.of.get(old)))
        {
            old.image.resize(image.size(), 0);
            image.save(&mut old.image);
            place.set(old.image.as_mut_ptr());
        }
        if let Some(new) = ranks.get(rank as usize) {
            let copy = if new.image.is_empty() { &self.fresh } else { &new.image };
            image.restore(copy);
        }
        if let Err(error) = self.copies.large.settle(rank as usize) {
            eprintln!("error: the variables of rank {rank} cannot be mapped: {error}");
            std::process::abort();
        }
        keys::exchange(before, rank as usize);
    }

    /// Lets a rank run, from a moment on, until it suspends itself or ends.
    fn run(&self, rank: u32, now: u64) -> Option<c_int> {
        // SAFETY: one thread; what a rank does while it runs does not come here.
        let ranks = unsafe { &mut *self.all.get() };
        let own = ranks.get(rank as usize)?;
        if own.ended.is_some() {
            return own.ended;
        }
        self.settle(ranks, rank);
        let own = ranks.get_mut(rank as usize)?;
        state::run_as(own.mpi);
        heddle_mpi::extra::running(true);
        signals::runs(rank, now);
        let ended = match own.coroutine.take() {
            Some(coroutine) => self.switch(own, coroutine),
            None => own.own.run(),
        };
        heddle_mpi::extra::running(false);
        signals::rests();
        // As much of it as a process has.
        own.ended = ended.map(|code| code & 0xff);
        own.ended
    }

    /// Switches to the stack of a rank, until it suspends itself, ends or moves. Gives the code if
    /// it has ended.
    fn switch(&self, own: &mut Rank, mut coroutine: Ran) -> Option<c_int> {
        let rank = own.own.rank;
        RUNNING.set(rank);
        YIELDER.set(WAYS.with_borrow(|ways| ways.get(rank).copied()).unwrap_or(ptr::null()));
        let outside = floats::Environment::now();
        own.floats.unwrap_or(outside).set();
        let outcome = coroutine.resume(());
        let floats = floats::Environment::now();
        own.floats = Some(floats);
        outside.set();
        YIELDER.set(ptr::null());
        if own.own.wants_to_move() {
            own.used.start = own.used.end;
            return own.own.begin(coroutine, Carried::of(rank, &self.copies.image, floats));
        }
        own.coroutine = Some(coroutine);
        own.used.start = DEPTH.get();
        match outcome {
            CoroutineResult::Return(code) => Some(code),
            CoroutineResult::Yield(()) => CODE.take(),
        }
    }
}

impl Ranks {
    /// Flushes what ranks have written that will not end by themselves any more.
    fn flush(&self) {
        // SAFETY: as in `run`.
        let ranks = unsafe { &mut *self.all.get() };
        let stuck = |(_, rank): &(usize, &Rank)| rank.ended.is_none() && !rank.image.is_empty();
        let stuck = ranks.iter().enumerate().filter(stuck).map(|(number, _)| number as u32);
        for rank in stuck.collect::<Vec<_>>() {
            self.settle(ranks, rank);
            heddle_mpi::simulator::flush_streams();
        }
    }

    /// Tells whether a rank uses MPI.
    fn usage(&self, rank: u32) -> MpiUse {
        // SAFETY: as in `run`; what MPI keeps of a rank is never freed.
        let ranks = unsafe { &*self.all.get() };
        // SAFETY: as above.
        let own = ranks.get(rank as usize).map(|own| unsafe { &*own.mpi });
        own.map_or(MpiUse::Never, heddle_mpi::environment::usage)
    }
}

impl Rank {
    /// Asks for the memory that a rank needs at once when it runs: others have run since, and one
    /// line after the other would be waited for.
    fn warm(&self) {
        let mpi = self.mpi.addr()..self.mpi.addr() + size_of::<Mpi>();
        fetch(self.used.start..self.used.end.min(self.used.start + WARM));
        fetch(mpi);
    }
}

/// Asks for memory, a line at a time.
fn fetch(part: Range<usize>) {
    for line in part.step_by(LINE) {
        // SAFETY: memory of this process that may hold anything, which is not read.
        kernel::prefetch(unsafe { &*(line as *const MaybeUninit<u8>) });
    }
}

impl Drop for Rank {
    fn drop(&mut self) {
        // A rank that was suspended has no destructors of its own that could run: its stack is let
        // go.
        if let Some(mut coroutine) = self.coroutine.take() {
            // SAFETY: nothing on the stack is used again.
            unsafe { coroutine.force_reset() };
        }
        self.arguments.clear();
    }
}

impl Runner for Ranks {
    fn memory(&self) -> &Memory {
        &self.memory
    }

    fn resume(&self, rank: u32, now: u64) -> Result<(), Lost> {
        let lost = |how: &str, code| {
            let used = self.usage(rank) != MpiUse::Never;
            Lost { how: how.to_owned(), code, used }
        };
        let channel = self.memory.channel(rank).ok_or_else(|| lost("it has no channel", 1))?;
        channel.turn.store(RANKS_TURN, Ordering::Release);
        let ended = self.run(rank, now);
        // All ranks have the same channel.
        if channel.turn.swap(SIMULATORS_TURN, Ordering::AcqRel) == SIMULATORS_TURN {
            return Ok(());
        }
        let usage = self.usage(rank);
        match ended.unwrap_or(1) {
            _ if usage == MpiUse::Before => Err(lost("it exited", 0)),
            0 => Err(lost("it exited without MPI_Finalize", i32::from(usage == MpiUse::Now))),
            code => Err(lost(&format!("it exited with code {code} before MPI_Finalize"), code)),
        }
    }

    fn prefetch(&self, rank: u32, next: bool) {
        // SAFETY: as in `run`.
        let ranks = unsafe { &*self.all.get() };
        let Some(own) = ranks.get(rank as usize) else { return };
        if next {
            own.warm();
        } else {
            let start = ptr::from_ref(own).addr();
            fetch(start..start + size_of::<Rank>());
        }
    }

    fn release(&self, rank: u32, now: u64) {
        if let Some(channel) = self.memory.channel(rank) {
            channel.turn.store(RANKS_TURN, Ordering::Release);
            self.run(rank, now);
            channel.turn.store(SIMULATORS_TURN, Ordering::Release);
        }
    }

    fn end(&mut self, at_once: bool) -> c_int {
        self.flush();
        self.away = None;
        // What is written from now on is the simulator's.
        cli::write_to_the_limit();
        if self.copies.of.len() > 1 {
            for name in objects::loaded_by_program() {
                eprintln!(
                    "heddle: the program has loaded {name}, whose variables all ranks shared; \
                     without --in-process, each has its own"
                );
            }
        }
        let ended: Vec<_> = self.all.get_mut().iter().map(|own| own.ended).collect();
        let codes = (0..).zip(ended).filter_map(|(rank, code)| Some((rank, code?)));
        // Of others, their ends have been told.
        let has_left = |(rank, _): &(u32, c_int)| !at_once || self.usage(*rank) == MpiUse::Before;
        let codes: Vec<_> = codes.filter(has_left).collect();
        if let Some(said) = live::exited(codes.iter().copied()) {
            eprintln!("{said}");
        }
        let failed = codes.iter().find(|(_, code)| *code != 0);
        if at_once { 1 } else { failed.map_or(0, |(_, code)| *code) }
    }
}

unsafe extern "C" {
    static environ: *mut *mut i8;
}
