//! Telling the processor what will be read soon.

/// Bytes of a cache line.
#[cfg(target_arch = "x86_64")]
const LINE: usize = 64;

/// Asks for the cache lines in which `place` lies, or the first few of them. It changes nothing but
/// time.
#[inline]
#[allow(unsafe_code)]
pub fn prefetch<T: ?Sized>(place: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let start = std::ptr::from_ref(place).cast::<i8>();
        let lines = size_of_val(place).div_ceil(LINE).clamp(1, 4);
        for line in 0..lines {
            // SAFETY: a prefetch reads nothing that the program can see and never faults, whatever
            // the address.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(start.wrapping_add(line * LINE)) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = place;
}
