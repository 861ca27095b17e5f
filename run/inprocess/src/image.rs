//! The variables of the program, of which each rank has its own.
//!
//! The writable data of the executable and its thread-local variables, the C++ library's list of exceptions under way, and where `getopt` is among the arguments. Where a rank
//! runs, its copy is in place; those of the others are kept aside.

use std::ffi::{c_int, c_void};
use std::ptr;

use crate::symbol;

/// Memory that ranks take turns to use.
#[derive(Clone, Copy, Debug)]
struct Part {
    start: *mut u8,
    length: usize,
}

/// All of it.
#[derive(Clone, Debug, Default)]
pub struct Image {
    parts: Vec<Part>,
    /// The executable's constructors.
    pub constructors: Vec<extern "C" fn(c_int, *mut *mut i8, *mut *mut i8)>,
    /// Its destructors, in the order in which they run.
    pub destructors: Vec<extern "C" fn()>,
}

impl Image {
    /// Nothing.
    pub const fn none() -> Self {
        Self { parts: Vec::new(), constructors: Vec::new(), destructors: Vec::new() }
    }

    /// The program's memory.
    pub fn find() -> Self {
        let mut image = Self::default();
        // SAFETY: the function is called for each object while this lives; it stops at the first, the executable.
        unsafe { libc::dl_iterate_phdr(Some(object), ptr::from_mut(&mut image).cast()) };
        if let Some(globals) = exceptions() {
            image.parts.push(Part { start: globals, length: 16 });
        }
        for (name, length) in [(c"optind", 4), (c"opterr", 4), (c"optopt", 4), (c"optarg", 8)] {
            // A program that names one has it among its own.
            let start = symbol(name).filter(|start: &*mut u8| image.offset(start.addr()).is_none());
            image.parts.extend(start.map(|start| Part { start, length }));
        }
        image
    }

    /// Where it is.
    pub fn places(&self) -> Vec<std::ops::Range<usize>> {
        self.parts.iter().map(|part| part.start.addr()..part.start.addr() + part.length).collect()
    }

    /// Where a byte of it is in a copy.
    pub fn offset(&self, address: usize) -> Option<usize> {
        let mut before = 0;
        for part in &self.parts {
            let within = address.wrapping_sub(part.start.addr());
            if within < part.length {
                return Some(before + within);
            }
            before += part.length;
        }
        None
    }

    /// Its size.
    pub fn size(&self) -> usize {
        self.parts.iter().map(|part| part.length).sum()
    }

    /// Copies what is in place.
    pub fn save(&self, copy: &mut [u8]) {
        let mut rest = copy;
        for part in &self.parts {
            let (own, behind) = rest.split_at_mut(part.length.min(rest.len()));
            // SAFETY: the program's writable memory; only this thread runs.
            unsafe { ptr::copy_nonoverlapping(part.start, own.as_mut_ptr(), own.len()) };
            rest = behind;
        }
    }

    /// Puts a copy in place.
    pub fn restore(&self, copy: &[u8]) {
        let mut rest = copy;
        for part in &self.parts {
            let (own, behind) = rest.split_at(part.length.min(rest.len()));
            // SAFETY: as in `save`; what runs here keeps nothing there.
            unsafe { ptr::copy_nonoverlapping(own.as_ptr(), part.start, own.len()) };
            rest = behind;
        }
    }
}

/// The state of exceptions of this thread, if the program uses C++.
fn exceptions() -> Option<*mut u8> {
    // The C++ ABI gives this function this type.
    let get: extern "C" fn() -> *mut u8 = symbol(c"__cxa_get_globals")?;
    Some(get())
}

/// Takes in the executable, which comes first.
unsafe extern "C" fn object(info: *mut libc::dl_phdr_info, _: usize, image: *mut c_void) -> c_int {
    // SAFETY: what `find` passes, and what the loader promises.
    let (image, info) = unsafe { (&mut *image.cast::<Image>(), &*info) };
    // SAFETY: the executable's program headers.
    let headers =
        unsafe { std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) };
    let base = info.dlpi_addr as usize;
    let read_only = headers.iter().find(|header| header.p_type == libc::PT_GNU_RELRO);
    let fixed =
        read_only.map_or(0, |header| base + (header.p_vaddr + header.p_memsz) as usize) & !4095;
    for header in headers {
        let start = base + header.p_vaddr as usize;
        let end = start + header.p_memsz as usize;
        match header.p_type {
            libc::PT_LOAD if header.p_flags & libc::PF_W != 0 => {
                let start = start.max(fixed.min(end));
                image.parts.push(Part { start: start as *mut u8, length: end - start });
            }
            libc::PT_TLS if !info.dlpi_tls_data.is_null() => {
                let length = header.p_memsz as usize;
                image.parts.push(Part { start: info.dlpi_tls_data.cast(), length });
            }
            libc::PT_DYNAMIC => functions(image, base, start),
            _ => {}
        }
    }
    1
}

/// Entries of the dynamic section.
const INIT: i64 = 12;
const FINI: i64 = 13;
const INIT_ARRAY: i64 = 25;
const FINI_ARRAY: i64 = 26;
const INIT_ARRAY_SIZE: i64 = 27;
const FINI_ARRAY_SIZE: i64 = 28;

/// Finds the executable's constructors and destructors.
fn functions(image: &mut Image, base: usize, dynamic: usize) {
    let dynamic = dynamic as *const (i64, usize);
    // SAFETY: the dynamic section ends with an entry 0.
    let entries = (0..).map(|place| unsafe { *dynamic.wrapping_add(place) });
    let entries: Vec<_> = entries.take_while(|(kind, _)| *kind != 0).collect();
    let entry = |wanted| entries.iter().find(|(kind, _)| *kind == wanted).map(|entry| entry.1);
    let known = |single, list, size| {
        let (single, list) = (entry(single), entry(list).zip(entry(size)));
        // SAFETY: so many addresses are there, relocated by now.
        let array = list.map_or(&[][..], |(list, bytes)| unsafe {
            std::slice::from_raw_parts((base + list) as *const usize, bytes / 8)
        });
        let array = array.iter().copied().filter(|place| *place != 0 && *place != usize::MAX);
        single.map(|place| base + place).into_iter().chain(array).collect::<Vec<usize>>()
    };
    let first = known(INIT, INIT_ARRAY, INIT_ARRAY_SIZE).into_iter();
    let last = known(FINI, FINI_ARRAY, FINI_ARRAY_SIZE).into_iter().rev();
    // SAFETY: they are functions of these types.
    unsafe {
        image.constructors = first.map(|place| std::mem::transmute::<usize, _>(place)).collect();
        image.destructors = last.map(|place| std::mem::transmute::<usize, _>(place)).collect();
    }
}
