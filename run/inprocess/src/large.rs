//! Large parts of the program's variables: pages of a file in memory, of which those of the running
//! rank are mapped in place. That costs a system call a part and a fault for each page that the
//! rank uses, whatever its size; what no rank has written takes no memory.

use std::cell::Cell;
use std::ffi::{CStr, c_void};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::rc::Rc;
use std::{io, ptr, slice};

use crate::objects::Part;
use crate::pristine;

/// From this size on, a part is large.
const LARGE: usize = 64 << 10;
const PAGE: usize = 4096;

/// The pages of a part, if they are many. What shares the first and the last with it is the same
/// for all ranks.
pub fn pages(part: Part) -> Option<Part> {
    let (start, end) = (part.start.addr(), part.start.addr() + part.length);
    let (from, to) = (start / PAGE * PAGE, end.next_multiple_of(PAGE));
    let pages = Part { start: part.start.wrapping_sub(start - from), length: to - from, ..part };
    (part.has_pages && part.length >= LARGE).then_some(pages)
}

/// A page that does not begin with zeros: its part, its place there, and what it begins with.
type Page = (usize, usize, Box<[u8]>);

/// The large parts for some ranks.
#[derive(Debug)]
pub struct Large {
    parts: Vec<Part>,
    file: Option<OwnedFd>,
    /// The address at which all of them are mapped, one rank behind the other.
    window: *mut u8,
    /// Bytes of a rank.
    each: usize,
    fresh: Vec<Page>,
    /// By rank, whether it has begun.
    begun: Vec<Cell<bool>>,
}

impl Large {
    /// Room for so many ranks.
    pub fn new(parts: Vec<Part>, ranks: usize) -> io::Result<Rc<Self>> {
        let each: usize = parts.iter().map(|part| part.length).sum();
        let begun = vec![Cell::new(false); ranks];
        let mut large =
            Self { parts, file: None, window: ptr::null_mut(), each, fresh: Vec::new(), begun };
        if each > 0 {
            large.map_all(each * ranks)?;
            large.keep_fresh();
        }
        Ok(Rc::new(large))
    }

    fn map_all(&mut self, length: usize) -> io::Result<()> {
        let file = file(c"heddle-variables", length)?;
        self.window = map(&file, ptr::null_mut(), length, 0, 0)?.cast();
        self.file = Some(file);
        Ok(())
    }

    fn keep_fresh(&mut self) {
        let mut copy = [0; PAGE];
        for (number, part) in self.parts.iter().enumerate() {
            for place in (0..part.length).step_by(PAGE) {
                let start = part.start.wrapping_add(place);
                // SAFETY: the program's memory.
                copy.copy_from_slice(unsafe { slice::from_raw_parts(start, PAGE) });
                pristine::undo(start.addr(), &mut copy);
                if copy.iter().any(|byte| *byte != 0) {
                    self.fresh.push((number, place, copy.into()));
                }
            }
        }
    }

    /// The address of a byte of the program for a rank, whoever runs.
    pub fn place(&self, rank: usize, address: usize) -> Option<usize> {
        let mut before = rank * self.each;
        for part in &self.parts {
            let within = address.wrapping_sub(part.start.addr());
            if within < part.length {
                return Some(self.window.addr() + before + within);
            }
            before += part.length;
        }
        None
    }

    /// Puts those of a rank in place.
    pub fn settle(&self, rank: usize) -> io::Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        if self.begun.get(rank).is_some_and(|begun| !begun.replace(true)) {
            for (part, place, bytes) in &self.fresh {
                let Some(part) = self.parts.get(*part) else { continue };
                let Some(to) = self.place(rank, part.start.addr() + place) else { continue };
                let to = self.window.wrapping_add(to - self.window.addr());
                // SAFETY: a page of the window, which nobody else has.
                unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len()) };
            }
        }
        let mut offset = rank * self.each;
        for part in &self.parts {
            map(file, part.start.cast(), part.length, libc::MAP_FIXED, offset)?;
            offset += part.length;
        }
        Ok(())
    }
}

/// A new file in memory, which takes what is written.
pub fn file(name: &CStr, length: usize) -> io::Result<OwnedFd> {
    // SAFETY: a name.
    let file = unsafe { libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC) };
    if file < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: a new file, this process's own.
    let file = unsafe { OwnedFd::from_raw_fd(file) };
    let size = libc::off_t::try_from(length).map_err(io::Error::other)?;
    // SAFETY: as above.
    if unsafe { libc::ftruncate(file.as_raw_fd(), size) } != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(file)
}

fn map(
    file: &OwnedFd,
    place: *mut c_void,
    length: usize,
    flags: i32,
    offset: usize,
) -> io::Result<*mut c_void> {
    let (protection, flags) =
        (libc::PROT_READ | libc::PROT_WRITE, flags | libc::MAP_SHARED | libc::MAP_NORESERVE);
    let offset = libc::off_t::try_from(offset).map_err(io::Error::other)?;
    // SAFETY: pages of the file, wherever the system likes, or in place of variables of which ranks
    // have their own.
    let mapped = unsafe { libc::mmap(place, length, protection, flags, file.as_raw_fd(), offset) };
    if mapped == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(mapped) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(start: *mut u8, length: usize) -> Part {
        Part { start, length, has_pages: true }
    }

    /// Parts from 64 KiB on are mapped, by whole pages; smaller ones, and those that share their
    /// pages, are not.
    #[test]
    fn pages_of_a_part() {
        let at = |address: usize| ptr::without_provenance_mut(address);
        let whole = pages(part(at(0x1000_0010), LARGE)).expect("a large part");
        assert_eq!((whole.start.addr(), whole.length), (0x1000_0000, LARGE + PAGE));
        assert!(pages(part(at(0x1000_0000), LARGE - 1)).is_none());
        assert!(pages(Part { has_pages: false, ..part(at(0x1000_0000), LARGE) }).is_none());
    }

    /// Each of two ranks begins with what was there, and finds what it wrote itself, whoever ran
    /// between; another rank's is found where it is kept.
    #[test]
    fn ranks_have_pages_of_their_own() {
        let file = file(c"program", 2 * PAGE).expect("a file");
        let start = map(&file, ptr::null_mut(), 2 * PAGE, 0, 0).expect("pages").cast::<u8>();
        let place = start.wrapping_add(PAGE + 3);
        // SAFETY, here and below: a byte of the pages above, or of a rank's in their place.
        unsafe { *place = 7 };
        let large = Large::new(vec![part(start, 2 * PAGE)], 2).expect("room");
        for (rank, found, written) in [(0, 7, 10), (1, 7, 11), (0, 10, 12), (1, 11, 13)] {
            large.settle(rank).expect("pages");
            assert_eq!(unsafe { *place }, found, "rank {rank}");
            unsafe { *place = written };
        }
        let of = |rank| large.place(rank, place.addr()).expect("of the program");
        let kept = [0, 1].map(|rank| unsafe { *(of(rank) as *const u8) });
        assert_eq!(kept, [12, 13]);
        assert_eq!(large.place(0, start.addr() + 2 * PAGE), None);
    }
}
