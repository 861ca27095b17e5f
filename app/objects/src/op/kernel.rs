//! The predefined reductions, as loops over buffers: for each operation and element that the
//! standard lets it combine (MPI 4.1, sections 6.9.2 and 6.9.4), a function.
//!
//! Beyond the standard, as MPICH does: characters of C and Fortran are integers, and numbers with a
//! fraction may be combined logically. On processors other than x86-64 there are no reductions of
//! C's `long double` and of `REAL*16`.

use std::marker::PhantomData;

use super::Builtin;
use super::number::{Arithmetic, Complex, Half, Integer, Ordered, Truth};
#[cfg(target_arch = "x86_64")]
use super::number::{Extended, Quad};
use crate::datatype::Element;
use crate::datatype::basic::{Basic, Class, Float};

/// Combines so many elements of a buffer (left operands) with those of another (right operands),
/// which are replaced.
///
/// # Safety
/// Both buffers have so many elements, and one does not begin within the other.
pub type Kernel = unsafe fn(*const u8, *mut u8, u64);

/// One operation on one type.
trait Combine<T> {
    fn combine(left: T, right: T) -> T;
}

macro_rules! combine {
    ($($name:ident: $bound:path, |$left:ident, $right:ident| $result:expr;)*) => {$(
        struct $name;
        impl<T: $bound> Combine<T> for $name {
            fn combine($left: T, $right: T) -> T {
                $result
            }
        }
    )*};
}

combine! {
    Sum: Arithmetic, |left, right| left.plus(right);
    Product: Arithmetic, |left, right| left.times(right);
    Maximum: Ordered, |left, right| if right.less(left) { left } else { right };
    Minimum: Ordered, |left, right| if left.less(right) { left } else { right };
    And: Truth, |left, right| T::from_truth(left.is_true() && right.is_true());
    Or: Truth, |left, right| T::from_truth(left.is_true() || right.is_true());
    Xor: Truth, |left, right| T::from_truth(left.is_true() != right.is_true());
    BitAnd: Integer, |left, right| left & right;
    BitOr: Integer, |left, right| left | right;
    BitXor: Integer, |left, right| left ^ right;
}

/// A value and an index, as in a C structure.
#[repr(C)]
#[derive(Clone, Copy)]
struct Located<V, I> {
    value: V,
    index: I,
}

/// The extreme value, and of equal ones the lower index.
struct Extreme<C>(PhantomData<C>);

impl<V: Ordered, I: Ordered, C: Combine<V>> Combine<Located<V, I>> for Extreme<C> {
    fn combine(left: Located<V, I>, right: Located<V, I>) -> Located<V, I> {
        if left.value.less(right.value) || right.value.less(left.value) {
            let chosen = C::combine(left.value, right.value);
            // The one that is no more and no less than the chosen one is it.
            let is_left = !left.value.less(chosen) && !chosen.less(left.value);
            return if is_left { left } else { right };
        }
        if right.index.less(left.index) { right } else { left }
    }
}

unsafe fn run<T: Copy, C: Combine<T>>(from: *const u8, into: *mut u8, count: u64) {
    let (from, into) = (from.cast::<T>(), into.cast::<T>());
    for place in 0..count as usize {
        // SAFETY: the caller's. Buffers of packed data need not be aligned.
        unsafe {
            let (left, right) =
                (from.add(place).read_unaligned(), into.add(place).read_unaligned());
            into.add(place).write_unaligned(C::combine(left, right));
        }
    }
}

/// The function for an operation on an element, if it is defined.
pub fn kernel(operation: Builtin, element: Element) -> Option<Kernel> {
    match element {
        Element::One(basic) => one(operation, basic),
        Element::Pair(value, index, _) => pair(operation, value, index),
    }
}

fn one(operation: Builtin, Basic { class, size, .. }: Basic) -> Option<Kernel> {
    match (class, size) {
        (Class::Signed | Class::Character, 1) => integer::<i8>(operation),
        (Class::Signed, 2) => integer::<i16>(operation),
        (Class::Signed, 4) => integer::<i32>(operation),
        (Class::Signed, 8) => integer::<i64>(operation),
        (Class::Signed, 16) => integer::<i128>(operation),
        (Class::Unsigned, 1) => integer::<u8>(operation),
        (Class::Unsigned, 2) => integer::<u16>(operation),
        (Class::Unsigned, 4) => integer::<u32>(operation),
        (Class::Unsigned, 8) => integer::<u64>(operation),
        (Class::Byte, 1) => bitwise::<u8>(operation),
        (Class::Logical, 1) => logical::<u8>(operation),
        (Class::Logical, 2) => logical::<u16>(operation),
        (Class::Logical, 4) => logical::<u32>(operation),
        (Class::Logical, 8) => logical::<u64>(operation),
        (Class::Logical, 16) => logical::<i128>(operation),
        (Class::Float(format), _) => match format {
            Float::Half => real::<Half>(operation),
            Float::Single => real::<f32>(operation),
            Float::Double => real::<f64>(operation),
            #[cfg(target_arch = "x86_64")]
            Float::Extended => real::<Extended>(operation),
            #[cfg(target_arch = "x86_64")]
            Float::Quad => real::<Quad>(operation),
            #[cfg(not(target_arch = "x86_64"))]
            _ => None,
        },
        (Class::Complex(format), _) => match format {
            Float::Half => complex::<Half>(operation),
            Float::Single => complex::<f32>(operation),
            Float::Double => complex::<f64>(operation),
            #[cfg(target_arch = "x86_64")]
            Float::Extended => complex::<Extended>(operation),
            #[cfg(target_arch = "x86_64")]
            Float::Quad => complex::<Quad>(operation),
            #[cfg(not(target_arch = "x86_64"))]
            _ => None,
        },
        _ => None,
    }
}

fn integer<T: Integer>(operation: Builtin) -> Option<Kernel> {
    bitwise::<T>(operation).or_else(|| real::<T>(operation))
}

fn bitwise<T: Integer>(operation: Builtin) -> Option<Kernel> {
    Some(match operation {
        Builtin::Band => run::<T, BitAnd>,
        Builtin::Bor => run::<T, BitOr>,
        Builtin::Bxor => run::<T, BitXor>,
        _ => return None,
    })
}

fn logical<T: Truth>(operation: Builtin) -> Option<Kernel> {
    Some(match operation {
        Builtin::Land => run::<T, And>,
        Builtin::Lor => run::<T, Or>,
        Builtin::Lxor => run::<T, Xor>,
        _ => return None,
    })
}

fn complex<T: Arithmetic>(operation: Builtin) -> Option<Kernel> {
    Some(match operation {
        Builtin::Sum => run::<Complex<T>, Sum>,
        Builtin::Prod => run::<Complex<T>, Product>,
        _ => return None,
    })
}

fn real<T: Arithmetic + Ordered + Truth>(operation: Builtin) -> Option<Kernel> {
    Some(match operation {
        Builtin::Sum => run::<T, Sum>,
        Builtin::Prod => run::<T, Product>,
        Builtin::Max => run::<T, Maximum>,
        Builtin::Min => run::<T, Minimum>,
        _ => return logical::<T>(operation),
    })
}

fn pair(operation: Builtin, value: Basic, index: Basic) -> Option<Kernel> {
    match (index.class, index.size) {
        (Class::Signed, 4) => with_index::<i32>(operation, value),
        (Class::Unsigned, 4) => with_index::<u32>(operation, value),
        (Class::Signed, 8) => with_index::<i64>(operation, value),
        (Class::Unsigned, 8) => with_index::<u64>(operation, value),
        (Class::Float(Float::Single), 4) => located::<f32, f32>(operation),
        (Class::Float(Float::Double), 8) => located::<f64, f64>(operation),
        _ => None,
    }
}

fn with_index<I: Ordered>(operation: Builtin, value: Basic) -> Option<Kernel> {
    match (value.class, value.size) {
        (Class::Signed, 1) => located::<i8, I>(operation),
        (Class::Signed, 2) => located::<i16, I>(operation),
        (Class::Signed, 4) => located::<i32, I>(operation),
        (Class::Signed, 8) => located::<i64, I>(operation),
        (Class::Unsigned, 1) => located::<u8, I>(operation),
        (Class::Unsigned, 2) => located::<u16, I>(operation),
        (Class::Unsigned, 4) => located::<u32, I>(operation),
        (Class::Unsigned, 8) => located::<u64, I>(operation),
        (Class::Float(Float::Single), _) => located::<f32, I>(operation),
        (Class::Float(Float::Double), _) => located::<f64, I>(operation),
        #[cfg(target_arch = "x86_64")]
        (Class::Float(Float::Extended), _) => located::<Extended, I>(operation),
        _ => None,
    }
}

fn located<V: Ordered, I: Ordered>(operation: Builtin) -> Option<Kernel> {
    Some(match operation {
        Builtin::Minloc => run::<Located<V, I>, Extreme<Minimum>>,
        Builtin::Maxloc => run::<Located<V, I>, Extreme<Maximum>>,
        _ => return None,
    })
}
