//! The processor's state for floating-point numbers: rounding, traps, and what it has noted of
//! exceptions. Each rank has its own, and the simulator.

use std::arch::asm;

/// The registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Environment {
    first: u32,
    second: u32,
}

#[cfg(target_arch = "x86_64")]
impl Environment {
    /// The state as it is now: MXCSR, and the control word of the x87.
    pub fn now() -> Self {
        let (mut first, mut second) = (0_u32, 0_u16);
        // SAFETY: they are stored where there is room.
        unsafe {
            asm!("stmxcsr [{}]", in(reg) &raw mut first, options(nostack));
            asm!("fnstcw [{}]", in(reg) &raw mut second, options(nostack));
        }
        Self { first, second: u32::from(second) }
    }

    /// Puts it in place.
    pub fn set(self) {
        if self == Self::now() {
            return;
        }
        let second = self.second as u16;
        // SAFETY: what was stored before.
        unsafe {
            asm!("ldmxcsr [{}]", in(reg) &raw const self.first, options(nostack));
            asm!("fldcw [{}]", in(reg) &raw const second, options(nostack));
        }
    }
}

#[cfg(target_arch = "aarch64")]
impl Environment {
    /// The state as it is now: FPCR and FPSR.
    pub fn now() -> Self {
        let (first, second): (u64, u64);
        // SAFETY: they are read.
        unsafe {
            asm!("mrs {}, fpcr", out(reg) first, options(nostack));
            asm!("mrs {}, fpsr", out(reg) second, options(nostack));
        }
        Self { first: first as u32, second: second as u32 }
    }

    /// Puts it in place.
    pub fn set(self) {
        if self == Self::now() {
            return;
        }
        // SAFETY: what was read before.
        unsafe {
            asm!("msr fpcr, {}", in(reg) u64::from(self.first), options(nostack));
            asm!("msr fpsr, {}", in(reg) u64::from(self.second), options(nostack));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    unsafe extern "C" {
        safe fn fesetround(mode: i32) -> i32;
        safe fn fegetround() -> i32;
    }
    /// `FE_UPWARD` of the C library.
    const UPWARD: i32 = if cfg!(target_arch = "x86_64") { 0x800 } else { 0x40_0000 };

    /// State that the C library sets is taken over, and comes back: a third of 1 is larger when it
    /// is rounded up, and as ever afterwards.
    #[test]
    fn rounding_comes_back() {
        let third = || std::hint::black_box(1.0_f64) / std::hint::black_box(3.0);
        let (before, nearest) = (Environment::now(), third());
        assert_eq!(fesetround(UPWARD), 0);
        let (upward, larger) = (Environment::now(), third());
        before.set();
        assert_eq!((fegetround(), third().to_bits()), (0, nearest.to_bits()));
        upward.set();
        assert_eq!((fegetround(), third().to_bits()), (UPWARD, larger.to_bits()));
        assert!(larger > nearest);
        before.set();
        assert_eq!(Environment::now(), before);
    }
}
