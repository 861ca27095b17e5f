//! Numbers of a program's buffers that Rust has no type for, and what reductions need of any
//! number.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::__m128i;
use std::ops::{BitAnd, BitOr, BitXor};

/// Numbers that can be added and multiplied.
pub trait Arithmetic: Copy {
    /// Their sum; of integers, as many bits of it as there are.
    #[must_use]
    fn plus(self, other: Self) -> Self;
    /// Their difference.
    #[must_use]
    fn minus(self, other: Self) -> Self;
    /// Their product.
    #[must_use]
    fn times(self, other: Self) -> Self;
}

/// Numbers of which one may be less than another.
pub trait Ordered: Copy {
    /// True if this one is less; it never is, if one of the two is not a number.
    fn less(self, other: Self) -> bool;
}

/// Values that stand for true or false.
pub trait Truth: Copy {
    /// True if it stands for true: all but 0 do.
    fn is_true(self) -> bool;
    /// 1 or 0.
    fn from_truth(truth: bool) -> Self;
}

/// Integers.
pub trait Integer: Arithmetic + Ordered + Truth
where
    Self: BitAnd<Output = Self> + BitOr<Output = Self> + BitXor<Output = Self>,
{
}

macro_rules! integers {
    ($($type:ty)*) => {$(
        impl Arithmetic for $type {
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
            fn times(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
        }
        impl Ordered for $type {
            fn less(self, other: Self) -> bool {
                self < other
            }
        }
        impl Truth for $type {
            fn is_true(self) -> bool {
                self != 0
            }
            fn from_truth(truth: bool) -> Self {
                truth.into()
            }
        }
        impl Integer for $type {}
    )*};
}

integers! { i8 u8 i16 u16 i32 u32 i64 u64 i128 }

macro_rules! floats {
    ($($type:ty)*) => {$(
        impl Arithmetic for $type {
            fn plus(self, other: Self) -> Self {
                self + other
            }
            fn minus(self, other: Self) -> Self {
                self - other
            }
            fn times(self, other: Self) -> Self {
                self * other
            }
        }
        impl Ordered for $type {
            fn less(self, other: Self) -> bool {
                self < other
            }
        }
        impl Truth for $type {
            fn is_true(self) -> bool {
                self != 0.0
            }
            fn from_truth(truth: bool) -> Self {
                u8::from(truth).into()
            }
        }
    )*};
}

floats! { f32 f64 }

/// A complex number.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Complex<T> {
    /// Real part.
    pub re: T,
    /// Imaginary part.
    pub im: T,
}

impl<T: Arithmetic> Arithmetic for Complex<T> {
    fn plus(self, other: Self) -> Self {
        Self { re: self.re.plus(other.re), im: self.im.plus(other.im) }
    }
    fn minus(self, other: Self) -> Self {
        Self { re: self.re.minus(other.re), im: self.im.minus(other.im) }
    }
    fn times(self, other: Self) -> Self {
        Self {
            re: self.re.times(other.re).minus(self.im.times(other.im)),
            im: self.re.times(other.im).plus(self.im.times(other.re)),
        }
    }
}

/// The smallest number of binary16, 2^-24, and the smallest with a leading digit, 2^-14.
const HALF_SMALLEST: f32 = 1.0 / 16_777_216.0;
const HALF_NORMAL: f32 = 1.0 / 16_384.0;

/// IEEE binary16. It is calculated with in binary32, which has enough digits that the result,
/// rounded, is the right one.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Half(pub u16);

impl Half {
    /// Converts to a wider type that has the same number.
    pub fn wide(self) -> f32 {
        let (sign, exponent, digits) = (self.0 >> 15, (self.0 >> 10) & 0x1f, self.0 & 0x3ff);
        let size = match exponent {
            0 => f32::from(digits) * HALF_SMALLEST,
            0x1f => f32::from_bits(0x7f80_0000 | u32::from(digits) << 13),
            _ => f32::from_bits((u32::from(exponent) + 127 - 15) << 23 | u32::from(digits) << 13),
        };
        if sign == 0 { size } else { -size }
    }

    /// The nearest number; of two, the even one.
    pub fn nearest(number: f32) -> Self {
        let sign = ((number.to_bits() >> 16) & 0x8000) as u16;
        let size = number.abs();
        let bits = size.to_bits();
        let rounded = if size.is_nan() {
            0x7e00
        } else if size >= 65520.0 {
            0x7c00
        } else if size < HALF_NORMAL {
            // Adding 1/2 leaves as many digits behind the point as a number without a leading digit
            // has here: 24.
            (size + 0.5).to_bits() - 0.5_f32.to_bits()
        } else {
            let odd = (bits >> 13) & 1;
            ((bits + 0xfff + odd) >> 13) - ((127 - 15) << 10)
        };
        Self(sign | rounded as u16)
    }
}

impl Arithmetic for Half {
    fn plus(self, other: Self) -> Self {
        Self::nearest(self.wide() + other.wide())
    }
    fn minus(self, other: Self) -> Self {
        Self::nearest(self.wide() - other.wide())
    }
    fn times(self, other: Self) -> Self {
        Self::nearest(self.wide() * other.wide())
    }
}

impl Ordered for Half {
    fn less(self, other: Self) -> bool {
        self.wide() < other.wide()
    }
}

impl Truth for Half {
    fn is_true(self) -> bool {
        self.wide() != 0.0
    }
    fn from_truth(truth: bool) -> Self {
        Self::nearest(f32::from(u8::from(truth)))
    }
}

/// IEEE binary128. The compiler's run-time library calculates.
#[repr(C, align(16))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quad(pub u128);

const QUAD_SIGN: u128 = 1 << 127;
const QUAD_INFINITY: u128 = 0x7fff << 112;
const QUAD_ONE: u128 = 0x3fff << 112;

#[cfg(target_arch = "x86_64")]
fn bits(number: u128) -> __m128i {
    // SAFETY: both are any 128 bits.
    unsafe { std::mem::transmute(number) }
}

#[cfg(target_arch = "x86_64")]
fn number(bits: __m128i) -> u128 {
    // SAFETY: as above.
    unsafe { std::mem::transmute(bits) }
}

#[cfg(target_arch = "x86_64")]
macro_rules! quad_by {
    ($function:ident, $one:expr, $other:expr) => {{
        unsafe extern "C" {
            // Its arguments and result are of a type that Rust does not have yet.
            fn $function();
        }
        let mut result: __m128i = bits($one.0);
        // SAFETY: the function takes two numbers in the first vector registers and gives one in the
        // first of them.
        unsafe {
            std::arch::asm!(
                "call {function}",
                function = sym $function,
                inout("xmm0") result,
                inout("xmm1") bits($other.0) => _,
                clobber_abi("C"),
            );
        }
        Quad(number(result))
    }};
}

#[cfg(target_arch = "x86_64")]
impl Arithmetic for Quad {
    fn plus(self, other: Self) -> Self {
        quad_by!(__addtf3, self, other)
    }
    fn minus(self, other: Self) -> Self {
        quad_by!(__subtf3, self, other)
    }
    fn times(self, other: Self) -> Self {
        quad_by!(__multf3, self, other)
    }
}

impl Ordered for Quad {
    fn less(self, other: Self) -> bool {
        let (one, two) = (self.0 & !QUAD_SIGN, other.0 & !QUAD_SIGN);
        if one > QUAD_INFINITY || two > QUAD_INFINITY || one | two == 0 {
            return false;
        }
        match (self.0 & QUAD_SIGN != 0, other.0 & QUAD_SIGN != 0) {
            (false, false) => one < two,
            (true, true) => one > two,
            (negative, _) => negative,
        }
    }
}

impl Truth for Quad {
    fn is_true(self) -> bool {
        self.0 & !QUAD_SIGN != 0
    }
    fn from_truth(truth: bool) -> Self {
        Self(if truth { QUAD_ONE } else { 0 })
    }
}

/// The 80 bits of the x87, which calculates.
#[cfg(target_arch = "x86_64")]
#[repr(C, align(16))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extended(pub [u8; 16]);

#[cfg(target_arch = "x86_64")]
macro_rules! extended_by {
    ($instruction:literal, $one:expr, $other:expr) => {{
        let (one, other) = ($one, $other);
        let mut result = one;
        // SAFETY: the x87's stack is empty between functions; two numbers are loaded, and what they
        // become is stored.
        unsafe {
            std::arch::asm!(
                "fld tbyte ptr [{one}]",
                "fld tbyte ptr [{other}]",
                $instruction,
                "fstp tbyte ptr [{result}]",
                one = in(reg) &raw const one,
                other = in(reg) &raw const other,
                result = in(reg) &raw mut result,
                out("st(0)") _, out("st(1)") _, out("st(2)") _, out("st(3)") _,
                out("st(4)") _, out("st(5)") _, out("st(6)") _, out("st(7)") _,
                options(nostack),
            );
        }
        result
    }};
}

#[cfg(target_arch = "x86_64")]
impl Arithmetic for Extended {
    fn plus(self, other: Self) -> Self {
        extended_by!("faddp st(1), st", self, other)
    }
    fn minus(self, other: Self) -> Self {
        extended_by!("fsubp st(1), st", self, other)
    }
    fn times(self, other: Self) -> Self {
        extended_by!("fmulp st(1), st", self, other)
    }
}

#[cfg(target_arch = "x86_64")]
impl Ordered for Extended {
    fn less(self, other: Self) -> bool {
        let above: u8;
        // SAFETY: as above; both numbers are taken off the stack.
        unsafe {
            std::arch::asm!(
                "fld tbyte ptr [{one}]",
                "fld tbyte ptr [{other}]",
                "fcomip st, st(1)",
                "seta {above}",
                "fstp st(0)",
                one = in(reg) &raw const self,
                other = in(reg) &raw const other,
                above = out(reg_byte) above,
                out("st(0)") _, out("st(1)") _, out("st(2)") _, out("st(3)") _,
                out("st(4)") _, out("st(5)") _, out("st(6)") _, out("st(7)") _,
                options(nostack),
            );
        }
        above != 0
    }
}

#[cfg(target_arch = "x86_64")]
impl Truth for Extended {
    fn is_true(self) -> bool {
        u128::from_le_bytes(self.0) & 0x7fff_ffff_ffff_ffff_ffff != 0
    }
    fn from_truth(truth: bool) -> Self {
        let one = 0x3fff_8000_0000_0000_0000_u128;
        Self(if truth { one.to_le_bytes() } else { [0; 16] })
    }
}
