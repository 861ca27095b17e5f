//! The variables of the program, of which each rank has its own.
//!
//! The writable data of the executable and its shared libraries, their thread-local variables, the
//! C++ library's list of exceptions under way, and where `getopt` is among the arguments. Where a
//! rank runs, its copy is in place; those of the others are kept aside: small parts are copied,
//! large ones mapped ([`large`]).

use std::ops::Range;
use std::{ptr, slice};

use crate::objects::{self, First, Last, Part};
use crate::{large, pristine, symbol};

/// All of it.
#[derive(Clone, Debug, Default)]
pub struct Image {
    /// The parts that are copied.
    parts: Vec<Part>,
    /// Pages that are mapped.
    pub large: Vec<Part>,
    /// The address ranges of the executable and of each of the libraries.
    extents: Vec<Range<usize>>,
    /// The pages of their code.
    pub code: Vec<Range<usize>>,
    /// Their thread-local variables, as the loader numbers them, and how many bytes they are.
    locals: Vec<(usize, usize)>,
    /// Constructors of the libraries and of the executable, in the order in which they run.
    pub constructors: Vec<First>,
    /// Destructors of the same objects.
    pub destructors: Vec<Last>,
}

impl Image {
    /// The program's memory.
    pub fn find() -> Self {
        let mut image = Self::default();
        let objects = objects::of_each_rank();
        // The executable is the last.
        let libraries = objects.split_last().map_or(&[][..], |(_, libraries)| libraries);
        pristine::only(|variable| libraries.iter().any(|library| library.defines(variable)));
        image.destructors = objects.iter().rev().flat_map(|one| one.destructors.clone()).collect();
        for object in objects {
            for part in object.parts {
                match large::pages(part) {
                    Some(pages) => image.large.push(pages),
                    None => image.parts.push(part),
                }
            }
            image.extents.push(object.extent);
            image.code.extend(object.code);
            image.locals.extend(object.locals);
            image.constructors.extend(object.constructors);
        }
        if let Some(globals) = exceptions() {
            image.parts.push(Part { start: globals, length: 16, has_pages: false });
        }
        for (name, length) in [(c"optind", 4), (c"opterr", 4), (c"optopt", 4), (c"optarg", 8)] {
            // A program that names one has it among its own.
            let start = symbol(name).filter(|start: &*mut u8| !image.is_of_program(start.addr()));
            image.parts.extend(start.map(|start| Part { start, length, has_pages: false }));
        }
        image
    }

    /// The address ranges of the program's memory.
    pub fn places(&self) -> Vec<Range<usize>> {
        let all = self.parts.iter().chain(&self.large);
        all.map(|part| part.start.addr()..part.start.addr() + part.length).collect()
    }

    /// The address ranges of the executable and of each of the libraries.
    pub fn extents(&self) -> Vec<Range<usize>> {
        self.extents.clone()
    }

    /// The thread-local variables of this thread, by object.
    pub fn thread_locals(&self) -> Vec<(usize, Vec<u8>)> {
        let copy = |&(object, length): &(usize, usize)| {
            // SAFETY: so many bytes are there, this thread's.
            let bytes = unsafe { slice::from_raw_parts(objects::thread_locals(object), length) };
            (object, bytes.to_vec())
        };
        self.locals.iter().map(copy).collect()
    }

    /// The state of exceptions of this thread, if the program uses C++.
    pub fn exceptions() -> Option<[u8; 16]> {
        // SAFETY: by the C++ ABI a pointer and a number.
        exceptions().map(|globals| unsafe { globals.cast::<[u8; 16]>().read_unaligned() })
    }

    /// Gives this thread the variables of another.
    pub fn set_thread_locals(locals: &[(usize, Vec<u8>)], state: Option<[u8; 16]>) {
        for (object, bytes) in locals {
            let place = objects::thread_locals(*object);
            // SAFETY: as many bytes as the object has, this thread's, in which the program does not
            // run yet.
            unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), place, bytes.len()) };
        }
        if let Some((globals, state)) = exceptions().zip(state) {
            // SAFETY: as in `exceptions`.
            unsafe { globals.cast::<[u8; 16]>().write_unaligned(state) };
        }
    }

    /// The offset of a byte of it in a copy.
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

    /// The size of a copy.
    pub fn size(&self) -> usize {
        self.parts.iter().map(|part| part.length).sum()
    }

    /// True if an address is in the executable or one of the libraries.
    fn is_of_program(&self, address: usize) -> bool {
        self.extents.iter().any(|extent| extent.contains(&address))
    }

    /// The memory that a rank begins with: the executable's memory as it is, and that of the
    /// libraries as it was before they were constructed.
    pub fn fresh(&self) -> Vec<u8> {
        let mut copy = vec![0; self.size()];
        self.save(&mut copy);
        let mut rest = copy.as_mut_slice();
        for part in &self.parts {
            let (own, behind) = rest.split_at_mut(part.length);
            pristine::undo(part.start.addr(), own);
            rest = behind;
        }
        copy
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

#[cfg(test)]
mod tests {
    use super::*;

    /// An image of two parts, of 3 and 5 bytes, of which nothing else knows.
    fn of(first: &mut [u8; 3], second: &mut [u8; 5]) -> Image {
        let part = |bytes: &mut [u8]| Part {
            start: bytes.as_mut_ptr(),
            length: bytes.len(),
            has_pages: false,
        };
        Image { parts: vec![part(first), part(second)], ..Image::default() }
    }

    /// A copy holds one part behind the other, and puts each where it was.
    #[test]
    fn copies_come_back() {
        let (mut first, mut second) = (*b"abc", *b"defgh");
        let image = of(&mut first, &mut second);
        let mut copy = vec![0; image.size()];
        image.save(&mut copy);
        assert_eq!(copy, b"abcdefgh");
        image.restore(b"12345678");
        assert_eq!((&first, &second), (b"123", b"45678"));
        // What is too short fills as much as it has.
        image.restore(b"xyzw");
        assert_eq!((&first, &second), (b"xyz", b"w5678"));
    }

    #[test]
    fn places_in_a_copy() {
        let (mut first, mut second) = (*b"abc", *b"defgh");
        let (start, next) = (first.as_ptr().addr(), second.as_ptr().addr());
        let image = of(&mut first, &mut second);
        assert_eq!(image.offset(start + 2), Some(2));
        assert_eq!((image.offset(next), image.offset(next + 4)), (Some(3), Some(7)));
        assert_eq!(image.offset(next + 5).filter(|_| next + 5 != start), None);
        assert_eq!(image.places(), [start..start + 3, next..next + 5]);
    }
}
