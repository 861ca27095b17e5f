//! Advice to the processor and the operating system about memory: lines that will be read soon, and
//! pieces that are large. It changes nothing but time.

/// Bytes of a cache line.
#[cfg(target_arch = "x86_64")]
const LINE: usize = 64;

/// Prefetches the cache lines of `place`, or the first few of them. It changes nothing but time.
#[inline]
pub fn prefetch<T: ?Sized>(place: &T) {
    prefetch_lines(place, 4);
}

/// Prefetches the cache lines of `place`, or the first of them up to a number.
#[inline]
#[allow(unsafe_code)]
pub fn prefetch_lines<T: ?Sized>(place: &T, most: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let start = std::ptr::from_ref(place).cast::<i8>();
        let lines = size_of_val(place).div_ceil(LINE).clamp(1, most.max(1));
        for line in 0..lines {
            // SAFETY: a prefetch reads nothing that the program can see and never faults, whatever
            // the address.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(start.wrapping_add(line * LINE)) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (place, most);
}

/// Returns an empty vector with room for `count` elements, in huge pages if it is large and the
/// system has them: page by page, the first touch of much memory costs more than what is done
/// there.
#[allow(unsafe_code)]
pub fn with_room<T>(count: usize) -> Vec<T> {
    let mut room: Vec<T> = Vec::with_capacity(count);
    #[cfg(target_os = "linux")]
    {
        const PAGE: usize = 4096;
        let spare = room.spare_capacity_mut();
        let (start, bytes) = (spare.as_mut_ptr().cast::<u8>(), size_of_val(spare));
        let skip = start.align_offset(PAGE);
        let bytes = bytes.saturating_sub(skip) / PAGE * PAGE;
        if bytes >= 4 << 20 {
            let start = start.wrapping_add(skip).cast();
            // SAFETY: the pages lie within the vector's own allocation, and the advice leaves their
            // contents alone. If it is refused, nothing is lost.
            let _ = unsafe { rustix::mm::madvise(start, bytes, rustix::mm::Advice::LinuxHugepage) };
        }
    }
    room
}
