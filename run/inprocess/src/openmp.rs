//! The state that a library of OpenMP has for the thread on which all ranks run.
//!
//! A rank may call MPI in a parallel region, from the thread that it begins with
//! (`MPI_THREAD_FUNNELED`: `omp master`, or a team of one). While it waits, other ranks run on the
//! same thread, which may begin regions of their own. So what the library keeps of the thread, in
//! its thread-local variables, is put aside with the rank, and another rank begins with what such
//! variables are at first, or with what a rank left there that was in no region: a team of threads
//! is used by as many ranks as come outside of regions.
//!
//! Not modelled: the other threads of the region go on meanwhile, with the variables of whichever
//! rank runs. They are waited for until they sleep, as they do at the next barrier; if they do not
//! within [`PATIENCE`], this is said.

use std::cell::RefCell;
use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::Once;
use std::time::{Duration, Instant};

use heddle_mpi::threads::on_the_wall;

use crate::symbol;

/// The time that the other threads of a region are waited for, and the time between two looks.
const PATIENCE: Duration = Duration::from_millis(500);
const PAUSE: Duration = Duration::from_micros(100);

/// A library of OpenMP, as this thread sees it.
#[derive(Debug)]
pub struct OpenMp {
    /// The number of regions that the caller is in, and the number of those with more than one
    /// thread.
    level: extern "C" fn() -> c_int,
    active: Option<extern "C" fn() -> c_int>,
    variables: Variables,
    /// Copies that ranks left which were in no region.
    free: RefCell<Vec<Box<[u8]>>>,
}

/// The thread-local variables of a library in this thread.
#[derive(Debug)]
struct Variables {
    start: *mut u8,
    /// The contents that they have at first.
    fresh: Box<[u8]>,
}

impl Variables {
    /// The copy of what is in place.
    fn save(&self) -> Box<[u8]> {
        let mut copy = vec![0; self.fresh.len()].into_boxed_slice();
        // SAFETY: so many bytes are there, this thread's own; no code of the library runs now.
        unsafe { ptr::copy_nonoverlapping(self.start, copy.as_mut_ptr(), copy.len()) };
        copy
    }

    /// Puts a copy in place.
    fn restore(&self, copy: &[u8]) {
        let length = copy.len().min(self.fresh.len());
        // SAFETY: as in `save`; what the library has elsewhere points to the place, not the copy.
        unsafe { ptr::copy_nonoverlapping(copy.as_ptr(), self.start, length) };
    }

    /// The variables of the library that has an address.
    fn of(address: *mut c_void) -> Option<Self> {
        let mut about = MaybeUninit::<libc::Dl_info>::uninit();
        // SAFETY: it only asks.
        let found = unsafe { libc::dladdr(address, about.as_mut_ptr()) };
        // SAFETY: it was filled in.
        let base = (found != 0).then(|| unsafe { about.assume_init() }.dli_fbase.addr())?;
        let mut search = Search { base, found: None };
        // SAFETY: the function gets what it is made for, which lives until it returns.
        unsafe { libc::dl_iterate_phdr(Some(look), (&raw mut search).cast()) };
        search.found
    }
}

struct Search {
    base: usize,
    found: Option<Variables>,
}

/// Looks at one of the libraries of this process.
unsafe extern "C" fn look(about: *mut libc::dl_phdr_info, _: usize, search: *mut c_void) -> c_int {
    // SAFETY: `Variables::of` passes its own, and the system a description.
    let (about, search) = unsafe { (&*about, &mut *search.cast::<Search>()) };
    if about.dlpi_addr as usize != search.base || about.dlpi_tls_data.is_null() {
        return 0;
    }
    // SAFETY: the library has so many headers.
    let headers =
        unsafe { std::slice::from_raw_parts(about.dlpi_phdr, usize::from(about.dlpi_phnum)) };
    let Some(header) = headers.iter().find(|header| header.p_type == libc::PT_TLS) else {
        return 0;
    };
    let mut fresh = vec![0; header.p_memsz as usize].into_boxed_slice();
    let first = ptr::with_exposed_provenance::<u8>(search.base + header.p_vaddr as usize);
    let length = (header.p_filesz as usize).min(fresh.len());
    // SAFETY: the beginning of the variables is there, in the library.
    unsafe { ptr::copy_nonoverlapping(first, fresh.as_mut_ptr(), length) };
    search.found = Some(Variables { start: about.dlpi_tls_data.cast(), fresh });
    1
}

impl OpenMp {
    /// The library that the program uses, if it does.
    pub fn find() -> Option<Self> {
        let level: extern "C" fn() -> c_int = symbol(c"omp_get_level")?;
        let active = symbol(c"omp_get_active_level");
        // Asked for once, its variables have a place in this thread.
        level();
        let variables = Variables::of(level as *mut c_void)?;
        Some(Self { level, active, variables, free: RefCell::default() })
    }

    /// The rank that runs waits. If it is in a parallel region, gives what belongs to that, and has
    /// another state in place.
    pub fn leave_region(&self) -> Option<Box<[u8]>> {
        if (self.level)() == 0 {
            return None;
        }
        if self.active.is_none_or(|active| active() > 0) {
            on_the_wall(wait_for_others);
        }
        let own = self.variables.save();
        let free = self.free.borrow_mut().pop();
        self.variables.restore(free.as_ref().unwrap_or(&self.variables.fresh));
        Some(own)
    }

    /// The rank that was in a region goes on: nobody else is in one now.
    pub fn enter_region(&self, own: &[u8]) {
        self.free.borrow_mut().push(self.variables.save());
        self.variables.restore(own);
    }
}

/// The number of threads that the library starts a region with, on this thread.
pub fn threads() -> Option<c_int> {
    let most: extern "C" fn() -> c_int = symbol(c"omp_get_max_threads")?;
    Some(most())
}

/// Sets that number for this thread.
pub fn set_threads(number: Option<c_int>) {
    if let (Some(number), now) = (number, threads())
        && now != Some(number)
    {
        let set: Option<extern "C" fn(c_int)> = symbol(c"omp_set_num_threads");
        if let Some(set) = set {
            set(number);
        }
    }
}

/// Waits until all other threads sleep.
fn wait_for_others() {
    static SAID: Once = Once::new();
    let since = Instant::now();
    while others_run() {
        if since.elapsed() > PATIENCE {
            SAID.call_once(|| {
                eprintln!(
                    "warning: threads of a parallel region compute while their rank is in MPI, and \
                     may see the variables of others: ranks share a process; without --in-process, \
                     each has its own"
                );
            });
            return;
        }
        std::thread::sleep(PAUSE);
    }
}

/// Returns whether another thread of this process runs or is about to (proc(5), `stat`).
fn others_run() -> bool {
    let own = heddle_mpi::threads::me().to_string();
    let threads = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let mut others = threads.filter(|thread| thread.file_name().to_str() != Some(&own));
    others.any(|thread| {
        let stat = std::fs::read_to_string(thread.path().join("stat")).unwrap_or_default();
        // Behind the name, which may hold anything.
        let state = stat.rsplit_once(") ").map(|(_, rest)| rest);
        state.is_some_and(|state| state.starts_with('R'))
    })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    thread_local! {
        static OWN: std::cell::Cell<u64> = const { std::cell::Cell::new(5) };
    }

    /// The variables of this thread in the library that has them, which is here the executable:
    /// what a copy held comes back, and what they are at first is in the file.
    #[test]
    fn variables_of_a_thread() {
        let place = OWN.with(|own| ptr::from_ref(own).addr());
        let code = variables_of_a_thread as fn() as *mut c_void;
        let variables = Variables::of(code).expect("thread-local variables");
        let start = variables.start.addr();
        assert!((start..start + variables.fresh.len()).contains(&place));
        let at = place - start;
        assert_eq!(variables.fresh[at..at + 8], 5_u64.to_le_bytes());
        OWN.set(6);
        let copy = variables.save();
        OWN.set(7);
        let mut changed = variables.save();
        changed[at..at + 8].copy_from_slice(&copy[at..at + 8]);
        variables.restore(&changed);
        assert_eq!(OWN.get(), 6);
    }

    /// A thread that computes is seen.
    #[test]
    fn a_thread_that_runs() {
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
            let seen = (0..1000).any(|_| {
                std::thread::sleep(PAUSE);
                others_run()
            });
            done.store(true, Ordering::Relaxed);
            assert!(seen);
        });
    }
}
