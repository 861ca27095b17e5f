//! Finds the place in the program of a call of MPI.
//!
//! The stack is walked when a rank cannot go on, and in each call if calls are told, there only by
//! return addresses up to the first one of the program. Lines are known of programs that were
//! compiled with `-g`, functions of those that were not stripped.

use std::backtrace::Backtrace;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr::null_mut;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rank_ipc::{Locate, Place};
use rustc_hash::{FxBuildHasher, FxHashMap};

/// The state of a walk over the stack, which is libgcc's.
#[repr(C)]
struct Context {
    _opaque: [u8; 0],
}

// Rust's standard library is linked with these.
unsafe extern "C" {
    fn _Unwind_Backtrace(
        each: extern "C" fn(*mut Context, *mut c_void) -> c_int,
        data: *mut c_void,
    ) -> c_int;
    fn _Unwind_GetIP(context: *mut Context) -> usize;
}

/// Values of `_Unwind_Reason_Code`.
const GO_ON: c_int = 0;
const END: c_int = 4;

/// Functions of which each of our libraries that programs load defines one.
const OURS: [&CStr; 3] = [c"PMPI_Init", c"pmpi_init_", c"mpi_init_f08_"];

/// The addresses of this process, whose ranks have the program's code in common.
#[derive(Debug)]
struct Known {
    /// The places of calls.
    places: FxHashMap<usize, Option<Place>>,
    /// True for addresses that belong to the library.
    ours: FxHashMap<usize, bool>,
}

static KNOWN: Mutex<Known> = Mutex::new(Known {
    places: FxHashMap::with_hasher(FxBuildHasher),
    ours: FxHashMap::with_hasher(FxBuildHasher),
});

fn known() -> MutexGuard<'static, Known> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A walk over the stack.
struct Walk {
    known: MutexGuard<'static, Known>,
    /// The first address that is not of the library.
    found: usize,
}

/// The stack of the calling thread, which is in a call of MPI.
#[derive(Debug)]
pub struct Stack;

impl Locate for Stack {
    fn caller(&self) -> usize {
        let mut walk = Walk { known: known(), found: 0 };
        // SAFETY: `frame` is called with the walk while this runs.
        unsafe { _Unwind_Backtrace(frame, (&raw mut walk).cast()) };
        walk.found
    }

    fn place(&self, caller: usize) -> Option<Place> {
        if caller == 0 {
            return None;
        }
        let named = || named(&format!("{:#}", Backtrace::force_capture()), caller);
        known().places.entry(caller).or_insert_with(named).clone()
    }
}

/// Looks at a frame: the first one that is not of the library ends the walk.
extern "C" fn frame(context: *mut Context, walk: *mut c_void) -> c_int {
    // SAFETY: the context of the walk that is under way.
    let address = unsafe { _Unwind_GetIP(context) };
    if address == 0 {
        return END;
    }
    // SAFETY: that of `caller`, which waits.
    let walk = unsafe { &mut *walk.cast::<Walk>() };
    if *walk.known.ours.entry(address).or_insert_with(|| is_ours(address)) {
        return GO_ON;
    }
    walk.found = address;
    END
}

/// True if a function that returns to this address was called by the library: by this one, one that
/// is between it and the program, or a tool that has the names of MPI's functions.
fn is_ours(address: usize) -> bool {
    // A call may be the last instruction of its function.
    let Some(object) = object(address - 1) else { return false };
    let own = object_of(frame as *const () as usize);
    // SAFETY: null, or a string of the object.
    let name = |name| unsafe { CStr::from_ptr(name) }.to_str().unwrap_or_default();
    if own.is_some_and(|own| own == object.dli_fbase)
        || !object.dli_sname.is_null() && is_called(name(object.dli_sname))
    {
        return true;
    }
    // SAFETY: a string; the object is there already.
    let library = unsafe { libc::dlopen(object.dli_fname, libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
    if library.is_null() {
        return false;
    }
    let defines = |function: &&CStr| {
        // SAFETY: the library is there, and the name is a string.
        let place = unsafe { libc::dlsym(library, function.as_ptr()) };
        !place.is_null() && object_of(place.addr()) == Some(object.dli_fbase)
    };
    let defines = OURS.iter().any(defines);
    // SAFETY: the handle from above.
    unsafe { libc::dlclose(library) };
    defines
}

/// True if a function is one that programs call.
fn is_called(name: &str) -> bool {
    let begins = |starts: &[&str]| starts.iter().any(|start| name.starts_with(start));
    begins(&["MPI_", "PMPI_"]) || (begins(&["mpi_", "pmpi_"]) && name.ends_with('_'))
}

/// The executable or library that an address is in, and the function if it is exported.
fn object(address: usize) -> Option<libc::Dl_info> {
    // SAFETY: all zero is valid.
    let mut info: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: any address may be asked about.
    let found = unsafe { libc::dladdr(std::ptr::without_provenance(address), &raw mut info) };
    (found != 0 && !info.dli_fname.is_null()).then_some(info)
}

/// The beginning of the executable or library that an address is in.
fn object_of(address: usize) -> Option<*mut c_void> {
    object(address).map(|object| object.dli_fbase)
}

/// The place of a frame in a list of them: `N: ADDRESS - NAME` lines, each followed by a line
/// `at FILE:LINE` or `at FILE:LINE:COLUMN` where that is known. Of functions that were put in line
/// there, the innermost one comes first.
fn named(frames: &str, address: usize) -> Option<Place> {
    let mut lines = frames.lines().map(str::trim);
    let start = format!("{address:#x} - ");
    let name = lines.find_map(|line| {
        let (number, rest) = line.split_once(": ")?;
        number.parse::<u32>().ok()?;
        rest.trim_start().strip_prefix(&start)
    })?;
    let place = lines.next().and_then(|next| next.strip_prefix("at "));
    let file = place.map(|place| place.rsplit('/').next().unwrap_or(place));
    let mut parts = file.iter().flat_map(|file| file.split(':'));
    match (parts.next(), parts.next()) {
        (Some(name), Some(line)) => Some(Place::Line(format!("{name}:{line}"))),
        _ => (name != "<unknown>").then(|| Place::Function(demangled(name))),
    }
}

/// The name of a function as it stands in the text of a program in C++, whose library knows it.
fn demangled(name: &str) -> String {
    type Demangle =
        unsafe extern "C" fn(*const c_char, *mut c_char, *mut usize, *mut c_int) -> *mut c_char;
    let Some(mangled) = CString::new(name).ok().filter(|_| name.starts_with("_Z")) else {
        return name.to_owned();
    };
    // SAFETY: the name is a string.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"__cxa_demangle".as_ptr()) };
    // SAFETY: null, or the function of the interface of C++ (Itanium C++ ABI, section 3.4), of this
    // type.
    let demangle: Option<Demangle> = unsafe { std::mem::transmute(found) };
    let Some(demangle) = demangle else { return name.to_owned() };
    // SAFETY: a string; the answer is null, or a string that the caller frees.
    unsafe {
        let plain = demangle(mangled.as_ptr(), null_mut(), null_mut(), null_mut());
        if plain.is_null() {
            return name.to_owned();
        }
        let text = CStr::from_ptr(plain).to_string_lossy().into_owned();
        libc::free(plain.cast());
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_frame_of_the_program() {
        let frames = "   0:     0x7f0000000010 - std::backtrace::Backtrace::force_capture\n\
                      \x20  1:     0x7f0000000020 - <heddle_mpi::Thing as core::ops::Fn>::call\n\
                      \x20                              at /build/p2p.rs:7:3\n\
                      \x20  2:     0x7f0000000030 - PMPI_Recv\n";
        let with = |program: &str| named(&format!("{frames}{program}"), 0x56_0000_0040);
        let line = |line: &str| Some(Place::Line(line.to_owned()));
        let function = |function: &str| Some(Place::Function(function.to_owned()));
        let main = "   3:       0x5600000040 - main\n";
        assert_eq!(with(&format!("{main}             at ./src/ring.c:42:9\n")), line("ring.c:42"));
        assert_eq!(with(&format!("{main}             at /a/ring.f90:7\n")), line("ring.f90:7"));
        let inlined = "   3:       0x5600000040 - exchange\n             at ./a.h:3:1\n\
                       \x20                        main\n             at ./a.c:9:1\n";
        assert_eq!(with(inlined), line("a.h:3"));
        let outer = "   3:       0x5600000040 - solve\n   4:       0x5600000050 - main\n\
                     \x20            at ./a.c:1:1\n";
        assert_eq!(with(outer), function("solve"));
        let with_namespaces = "   3:       0x5600000040 - solver: a - b\n";
        assert_eq!(with(with_namespaces), function("solver: a - b"));
        assert_eq!(with("   3:       0x5600000040 - <unknown>\n"), None);
        assert_eq!(with("   3:       0x5600000041 - main\n"), None);
        assert_eq!(with(""), None);
    }

    /// Addresses in a list of frames are written as the search for them expects.
    #[test]
    fn an_address_has_a_place() {
        let frames = format!("{:#}", Backtrace::force_capture());
        let address = frames.lines().find_map(|line| {
            let (address, _) = line.split_once("0x")?.1.split_once(" - ")?;
            usize::from_str_radix(address, 16).ok()
        });
        assert!(address.is_some_and(|address| frames.contains(&format!("{address:#x} - "))));
    }
}
