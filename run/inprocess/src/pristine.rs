//! The variables of shared libraries as they are before any constructor has run, also those of
//! which the executable has a copy that all use (copy relocations).
//!
//! This library is initialised before all others (`-z initfirst`, see the build script), even
//! before the C library is: so what runs then does without allocation, and without the environment.

use std::cell::UnsafeCell;
use std::ffi::{CStr, c_int, c_void};
use std::ptr;

use crate::objects::{self, Part};

/// At most so many parts of libraries are kept; libraries beyond that are shared by all ranks.
const MOST: usize = 1024;

struct Kept {
    number: usize,
    objects: usize,
    /// The address of each part, its length, and the address of its copy.
    of: [(usize, usize, usize); MOST],
    /// Of a variable that the executable has a copy of, where its name is, else 0.
    names: [usize; MOST],
}

struct Shelf(UnsafeCell<Kept>);

// SAFETY: it is written while there is one thread, before any rank runs.
unsafe impl Sync for Shelf {}

static KEPT: Shelf =
    Shelf(UnsafeCell::new(Kept { number: 0, objects: 0, of: [(0, 0, 0); MOST], names: [0; MOST] }));

// Before the other constructors of this library.
#[used]
#[unsafe(link_section = ".init_array.00001")]
static FIRST: objects::First = first;

extern "C" fn first(_: c_int, _: *mut *mut i8, environment: *mut *mut i8) {
    // SAFETY: nothing else runs yet. The C library sets its variable to the same later; what is
    // constructed meanwhile looks at it.
    unsafe {
        if environ.is_null() {
            environ = environment;
        }
        libc::dl_iterate_phdr(Some(keep), KEPT.0.get().cast());
    }
}

impl Kept {
    /// Keeps what is at a place.
    fn add(&mut self, start: *const u8, length: usize, name: usize) {
        let number = self.number;
        let (Some(free), Some(its)) = (self.of.get_mut(number), self.names.get_mut(number)) else {
            return;
        };
        let (protection, flags) =
            (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: new memory, into which the part is copied.
        unsafe {
            let copy = libc::mmap(ptr::null_mut(), length.max(1), protection, flags, -1, 0);
            if copy != libc::MAP_FAILED {
                copy_written(std::slice::from_raw_parts(start, length), copy.cast());
                (*free, *its) = ((start.addr(), length, copy.addr()), name);
                self.number += 1;
            }
        }
    }
}

/// Keeps the writable parts of a library of which ranks have their own. The executable, which comes
/// first, is not begun by the dynamic linker; of that, copies of variables of libraries are kept.
unsafe extern "C" fn keep(info: *mut libc::dl_phdr_info, _: usize, kept: *mut c_void) -> c_int {
    // SAFETY: what `first` passes, and what the loader promises.
    let (kept, info) = unsafe { (&mut *kept.cast::<Kept>(), &*info) };
    kept.objects += 1;
    if kept.objects == 1 {
        objects::copied(info, |start, length, name| kept.add(start, length, name.as_ptr().addr()));
    } else if !objects::is_shared(info) {
        objects::parts(info, |part| kept.add(part.start, part.length, 0));
    }
    0
}

/// Of the executable's copies of variables, only those stay as they were that are of a rank's own.
pub fn only(is_own: impl Fn(&CStr) -> bool) {
    // SAFETY: no rank runs yet.
    let kept = unsafe { &mut *KEPT.0.get() };
    for ((_, length, _), name) in kept.of.iter_mut().zip(&kept.names).take(kept.number) {
        // SAFETY: a name in the executable.
        if *name != 0 && !is_own(unsafe { CStr::from_ptr(*name as *const _) }) {
            *length = 0;
        }
    }
}

fn kept() -> &'static [(usize, usize, usize)] {
    // SAFETY: it is not written any more.
    let kept = unsafe { &*KEPT.0.get() };
    kept.of.get(..kept.number).unwrap_or_default()
}

/// The number of objects that there were.
pub fn objects() -> usize {
    // SAFETY: it is not written any more.
    unsafe { &*KEPT.0.get() }.objects
}

/// Copies pages into new memory, but for those of zeros.
unsafe fn copy_written(pages: &[u8], copy: *mut u8) {
    for (number, page) in pages.chunks(4096).enumerate() {
        if page.iter().any(|byte| *byte != 0) {
            let to = copy.wrapping_add(4096 * number);
            // SAFETY: by contract there are as many bytes.
            unsafe { ptr::copy_nonoverlapping(page.as_ptr(), to, page.len()) };
        }
    }
}

/// True if the contents are known that a part of a library had.
pub fn knows(part: &Part) -> bool {
    kept().iter().any(|(start, ..)| *start == part.start.addr())
}

/// Gives a copy of what begins at an address the contents that libraries had there.
pub fn undo(address: usize, copy: &mut [u8]) {
    for (start, length, was) in kept() {
        let (from, to) = ((*start).max(address), (start + length).min(address + copy.len()));
        if let Some(place) = copy.get_mut(from.saturating_sub(address)..to.saturating_sub(address))
            && from < to
        {
            // SAFETY: so many bytes were kept.
            let was =
                unsafe { std::slice::from_raw_parts((was + from - start) as *const u8, to - from) };
            place.copy_from_slice(was);
        }
    }
}

unsafe extern "C" {
    static mut environ: *mut *mut i8;
}
