//! The variables of shared libraries as they are before any constructor has run.
//!
//! This library is initialised before all others (`-z initfirst`, see the build script), even before the C library is: so what runs then
//! does without allocation, and without the environment.

use std::cell::UnsafeCell;
use std::ffi::{c_int, c_void};
use std::ptr;

use crate::objects::{self, Part};

/// At most so many parts of libraries are kept; libraries beyond that are shared by all ranks.
const MOST: usize = 1024;

struct Kept {
    number: usize,
    objects: usize,
    /// Where a part is, how long it is, and where its copy is.
    of: [(usize, usize, usize); MOST],
}

struct Shelf(UnsafeCell<Kept>);

// SAFETY: it is written while there is one thread, before anything else runs.
unsafe impl Sync for Shelf {}

static KEPT: Shelf = Shelf(UnsafeCell::new(Kept { number: 0, objects: 0, of: [(0, 0, 0); MOST] }));

// Before the other constructors of this library.
#[used]
#[unsafe(link_section = ".init_array.00001")]
static FIRST: objects::First = first;

extern "C" fn first(_: c_int, _: *mut *mut i8, environment: *mut *mut i8) {
    // SAFETY: nothing else runs yet. The C library sets its variable to the same later; what is constructed meanwhile looks at it.
    unsafe {
        if environ.is_null() {
            environ = environment;
        }
        libc::dl_iterate_phdr(Some(keep), KEPT.0.get().cast());
    }
}

/// Keeps the writable parts of a library of which ranks have their own. The executable, which comes first, is not begun by the dynamic linker.
unsafe extern "C" fn keep(info: *mut libc::dl_phdr_info, _: usize, kept: *mut c_void) -> c_int {
    // SAFETY: what `first` passes, and what the loader promises.
    let (kept, info) = unsafe { (&mut *kept.cast::<Kept>(), &*info) };
    kept.objects += 1;
    if kept.objects == 1 || objects::is_shared(info) {
        return 0;
    }
    objects::parts(info, |part| {
        let Some(free) = kept.of.get_mut(kept.number) else { return };
        let (protection, flags) =
            (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: new memory, into which the part is copied.
        unsafe {
            let copy = libc::mmap(ptr::null_mut(), part.length.max(1), protection, flags, -1, 0);
            if copy != libc::MAP_FAILED {
                copy_written(std::slice::from_raw_parts(part.start, part.length), copy.cast());
                *free = (part.start.addr(), part.length, copy.addr());
                kept.number += 1;
            }
        }
    });
    0
}

fn kept() -> &'static [(usize, usize, usize)] {
    // SAFETY: it is not written any more.
    let kept = unsafe { &*KEPT.0.get() };
    kept.of.get(..kept.number).unwrap_or_default()
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

/// Whether the contents are known that a part of a library had.
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
