//! Slices that lie side by side.
//!
//! A system of many processes reads a little of each in turn. If every part of a process is an
//! allocation of its own, the parts lie on as many pages, and the processor waits for the addresses
//! of pages as much as for the contents. Here slices are cut off large pieces of memory, one behind
//! the other, each from a cache line on; large pieces are in huge pages where the system has them.

use std::cell::RefCell;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::sync::Arc;

use crate::with_room;

/// A cache line.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Line {
    _bytes: [u8; 64],
}

/// Lines in the first piece of a thread; each further one has twice as many as the last.
const FIRST: usize = 1 << 10;
/// Most lines in a piece, unless a slice needs more: 32 MiB.
const MOST: usize = 1 << 19;

/// A slice that lies beside those that its thread has made before and after it. The memory of a
/// piece is free when all its slices are dropped.
pub struct Packed<T> {
    start: NonNull<T>,
    count: usize,
    /// Keeps the memory of the slice until this is dropped.
    _piece: Arc<Vec<Line>>,
}

/// The piece that a thread cuts slices off, and the lines that are taken.
struct Current {
    piece: Arc<Vec<Line>>,
    start: *mut Line,
    taken: usize,
}

thread_local! {
    static CURRENT: RefCell<Option<Current>> = const { RefCell::new(None) };
}

impl Current {
    fn new(lines: usize) -> Self {
        let mut piece = with_room(lines);
        let start = piece.as_mut_ptr();
        Self { piece: Arc::new(piece), start, taken: 0 }
    }

    fn room(&self) -> usize {
        self.piece.capacity() - self.taken
    }
}

/// Takes lines that nobody has, in the piece that is returned with them.
fn take(lines: usize) -> (*mut Line, Arc<Vec<Line>>) {
    CURRENT.with_borrow_mut(|current| {
        let last = current.as_ref().map_or(FIRST / 2, |current| current.piece.capacity());
        let fits = current.take().filter(|current| current.room() >= lines);
        let next = || Current::new((2 * last).min(MOST).max(lines));
        let current = current.insert(fits.unwrap_or_else(next));
        let start = current.start.wrapping_add(current.taken);
        current.taken += lines;
        (start, Arc::clone(&current.piece))
    })
}

impl<T: Copy> From<&[T]> for Packed<T> {
    #[allow(unsafe_code)]
    fn from(values: &[T]) -> Self {
        const { assert!(align_of::<T>() <= align_of::<Line>(), "a line suits the type") };
        let (start, piece) = take(size_of_val(values).div_ceil(size_of::<Line>()));
        let start = start.cast::<T>();
        // SAFETY: the lines from `start` on lie within the capacity of the piece, are aligned for
        // the type, have room for all values, and belong to this slice alone.
        unsafe { std::ptr::copy_nonoverlapping(values.as_ptr(), start, values.len()) };
        // SAFETY: a pointer into an allocation is not null, and that of a vector without one
        // dangles.
        let start = unsafe { NonNull::new_unchecked(start) };
        Self { start, count: values.len(), _piece: piece }
    }
}

impl<T> Deref for Packed<T> {
    type Target = [T];

    #[inline]
    #[allow(unsafe_code)]
    fn deref(&self) -> &[T] {
        // SAFETY: so many values were written there, which this slice alone owns, and it keeps the
        // piece.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.count) }
    }
}

impl<T> DerefMut for Packed<T> {
    #[inline]
    #[allow(unsafe_code)]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.count) }
    }
}

impl<T: Copy> Clone for Packed<T> {
    fn clone(&self) -> Self {
        Self::from(&**self)
    }
}

impl<T: std::fmt::Debug> std::fmt::Debug for Packed<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

// SAFETY: a slice owns its values as a box does; the piece is only ever counted and freed.
#[allow(unsafe_code)]
unsafe impl<T: Send> Send for Packed<T> {}
// SAFETY: as above.
#[allow(unsafe_code)]
unsafe impl<T: Sync> Sync for Packed<T> {}

#[cfg(test)]
mod tests {
    use super::*;

    /// Slices that are made, fewer where Miri interprets the test.
    const SLICES: u32 = if cfg!(miri) { 90 } else { 3000 };

    #[test]
    fn slices_keep_their_values() {
        let make = |number: u32| Packed::from(&vec![number; number as usize % 700][..]);
        let mut all: Vec<Packed<u32>> = (0..SLICES).map(make).collect();
        for value in all.iter_mut().flat_map(|slice| slice.iter_mut()) {
            *value += 1;
        }
        let copies = all.clone();
        let moved = std::thread::spawn(move || all.iter().step_by(2).cloned().collect::<Vec<_>>());
        let moved = moved.join().unwrap();
        for (number, slice) in (0..).zip(&copies) {
            assert_eq!(slice[..], vec![number + 1; number as usize % 700]);
        }
        assert!(moved.iter().zip(copies.iter().step_by(2)).all(|(a, b)| a[..] == b[..]));
    }

    #[test]
    fn slices_lie_side_by_side_in_lines() {
        let [first, second] = [1_u64, 2].map(|value| Packed::from(&[value; 9][..]));
        let [first, second] = [first, second].map(|slice| slice.as_ptr().addr());
        assert_eq!((first % 64, second - first), (0, 128));
    }
}
