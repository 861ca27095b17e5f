//! Results are calculated by hand from the definitions of the operations.

// All numbers here are exact.
#![allow(clippy::float_cmp)]

use std::rc::Rc;

use super::number::{Arithmetic, Extended, Half, Ordered, Quad, Truth};
use super::{Builtin, Operation, builtin};
use crate::abi::{self, Handle};
use crate::datatype::Datatype;

fn named(handle: Handle) -> Rc<Datatype> {
    Rc::new(Datatype::named(handle).expect("a predefined datatype"))
}

fn reduce<T: Copy>(op: Handle, datatype: Handle, from: &[T], into: &mut [T]) {
    let op = Operation::Builtin(builtin(op).expect("a predefined operation"));
    let (count, datatype) = (from.len() as u64, named(datatype));
    op.check_allowed(&datatype).expect("allowed");
    // SAFETY: the slices have so many elements of the datatype.
    unsafe { op.apply(from.as_ptr().cast(), into.as_mut_ptr().cast(), count, &datatype) }
        .expect("applied");
}

fn reduced<T: Copy>(op: Handle, datatype: Handle, from: T, into: T) -> T {
    let mut result = [into];
    reduce(op, datatype, &[from], &mut result);
    result[0]
}

#[test]
fn integers() {
    let mut into = [1_i32, i32::MAX, -7];
    reduce(abi::SUM, abi::INT, &[5, 1, 3], &mut into);
    assert_eq!(into, [6, i32::MIN, -4]);
    assert_eq!(reduced(abi::PROD, abi::LONG, 6_i64, -7), -42);
    assert_eq!(reduced(abi::MAX, abi::SHORT, -3_i16, -4), -3);
    // As unsigned, 0xff is 255, as signed -1.
    assert_eq!(reduced(abi::MAX, abi::UNSIGNED_CHAR, 0xff_u8, 1), 0xff);
    assert_eq!(reduced(abi::MAX, abi::SIGNED_CHAR, 0xff_u8, 1), 1);
    assert_eq!(reduced(abi::BAND, abi::UINT64_T, 0b1100_u64, 0b1010), 0b1000);
    assert_eq!(reduced(abi::BOR, abi::BYTE, 0b1100_u8, 0b1010), 0b1110);
    assert_eq!(reduced(abi::BXOR, abi::INTEGER, 0b1100_i32, 0b1010), 0b0110);
    assert_eq!(reduced(abi::LXOR, abi::INT, 5_i32, 3), 0);
    assert_eq!(reduced(abi::LAND, abi::INT, 5_i32, 2), 1);
}

#[test]
fn numbers_with_a_fraction() {
    assert_eq!(reduced(abi::SUM, abi::DOUBLE, 0.5, 0.25), 0.75);
    assert_eq!(reduced(abi::MIN, abi::FLOAT, -0.5_f32, 0.25), -0.5);
    // (1+2i)(3-i) = 5+5i
    assert_eq!(reduced(abi::PROD, abi::C_DOUBLE_COMPLEX, [1.0, 2.0], [3.0, -1.0]), [5.0, 5.0]);
    assert_eq!(reduced(abi::SUM, abi::COMPLEX, [1_f32, 2.0], [3.0, -1.0]), [4.0, 1.0]);
    assert_eq!(reduced(abi::LOR, abi::LOGICAL, 0_i32, 7), 1);
    assert!(!reduced(abi::LAND, abi::C_BOOL, true, false));
}

#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
struct DoubleInt(f64, i32);

#[test]
fn extremes_and_where_they_are() {
    let max = |from, into| reduced(abi::MAXLOC, abi::DOUBLE_INT, from, into);
    assert_eq!(max(DoubleInt(2.0, 7), DoubleInt(1.0, 3)), DoubleInt(2.0, 7));
    assert_eq!(max(DoubleInt(1.0, 7), DoubleInt(2.0, 3)), DoubleInt(2.0, 3));
    // Of equal values the lower index.
    assert_eq!(max(DoubleInt(2.0, 7), DoubleInt(2.0, 3)), DoubleInt(2.0, 3));
    let min = |from, into| reduced(abi::MINLOC, abi::TWO_INT, from, into);
    assert_eq!(min([4, 1], [4, 2]), [4, 1]);
    assert_eq!(min([3, 9], [4, 2]), [3, 9]);
    assert_eq!(reduced(abi::MINLOC, abi::TWO_REAL, [3_f32, 2.0], [3.0, 1.0]), [3.0, 1.0]);
}

// Combinations that the standard does not define are refused with MPI_ERR_OP.
#[test]
fn refused() {
    let refused = [
        (Builtin::Band, abi::FLOAT),
        (Builtin::Max, abi::C_DOUBLE_COMPLEX),
        (Builtin::Sum, abi::BYTE),
        (Builtin::Band, abi::PACKED),
        (Builtin::Sum, abi::LOGICAL),
        (Builtin::Sum, abi::DOUBLE_INT),
        (Builtin::Minloc, abi::INT),
        (Builtin::Max, abi::WCHAR),
        (Builtin::Replace, abi::INT),
    ];
    for (builtin, datatype) in refused {
        let error = Operation::Builtin(builtin).check_allowed(&named(datatype));
        assert_eq!(error.expect_err("refused").code, abi::ERR_OP, "{builtin:?} {datatype:#x}");
    }
}

// 1.5 is 0x3e00, 2^-24 the smallest number; 2049 lies between 2048 and 2050 and goes to the even
// one; 65520 is too large.
#[test]
fn half_precision() {
    let cases = [
        (1.5, 0x3e00),
        (-2.0, 0xc000),
        (1.0 / 16_777_216.0, 1),
        (1.0 / 33_554_432.0, 0),
        (3.0 / 33_554_432.0, 2),
        (1.0 / 16_384.0, 0x0400),
        (65504.0, 0x7bff),
        (65519.0, 0x7bff),
        (65520.0, 0x7c00),
        (2049.0, 0x6800),
        (2051.0, 0x6802),
    ];
    for (number, bits) in cases {
        assert_eq!(Half::nearest(number), Half(bits), "{number}");
    }
    // Each of them survives the way there and back.
    for bits in 0..0x7c00 {
        assert_eq!(Half::nearest(Half(bits).wide()), Half(bits));
    }
    assert_eq!(reduced(abi::SUM, abi::REAL2, 0x3e00_u16, 0x3e00), 0x4200);
    assert!(Half::nearest(f32::NAN).wide().is_nan());
}

const fn extended(head: u16, digits: u64) -> Extended {
    Extended(((head as u128) << 64 | digits as u128).to_le_bytes())
}

// 1 + 2^-63 is a long double and no double.
#[test]
#[cfg_attr(miri, ignore = "calculates with instructions of the x87")]
fn long_double() {
    let one = extended(0x3fff, 1 << 63);
    let last = extended(0x3fff - 63, 1 << 63);
    let sum = extended(0x3fff, (1 << 63) + 1);
    assert_eq!(one.plus(last), sum);
    assert_eq!(sum.minus(last), one);
    // 1.5 * -2 = -3
    assert_eq!(
        extended(0x3fff, 3 << 62).times(extended(0xc000, 1 << 63)),
        extended(0xc000, 3 << 62)
    );
    assert!(one.less(sum) && !sum.less(one) && !one.less(one));
    let not_a_number = extended(0x7fff, 3 << 62);
    assert!(!one.less(not_a_number) && !not_a_number.less(one));
    assert!(one.is_true() && !Extended::from_truth(false).is_true());
    assert_eq!(reduced(abi::MAX, abi::LONG_DOUBLE, one, sum), sum);
}

// 1 + 2^-112 is the next number after 1; 1.5 * -2 = -3.
#[test]
#[cfg_attr(miri, ignore = "calculates with functions of the compiler's library")]
fn quadruple_precision() {
    let number = |head: u128, digits: u128| Quad(head << 112 | digits);
    let (one, last) = (number(0x3fff, 0), number(0x3fff - 112, 0));
    assert_eq!(one.plus(last), number(0x3fff, 1));
    assert_eq!(number(0x3fff, 1).minus(one), last);
    assert_eq!(number(0x3fff, 1 << 111).times(number(0xc000, 0)), number(0xc000, 1 << 111));
    assert!(one.less(number(0x3fff, 1)) && number(0xbfff, 0).less(one));
    assert!(number(0xbfff, 1).less(number(0xbfff, 0)) && !one.less(number(0x7fff, 1)));
    assert!(!number(0x8000, 0).less(number(0, 0)));
    assert_eq!(reduced(abi::SUM, abi::REAL16, one, one), number(0x4000, 0));
}

// An accumulation takes derived datatypes of one kind of element, and REPLACE.
#[test]
fn accumulations() {
    let int = named(abi::INT);
    let contents = crate::datatype::Contents::default();
    let of = crate::datatype::build::vector(contents, 2, 1, 8, &int).expect("a vector");
    let of = Rc::new(of);
    assert!(Operation::Builtin(Builtin::Sum).check_accumulate(&of).is_ok());
    assert!(Operation::Builtin(Builtin::Sum).check_allowed(&of).is_err());
    let mut into = [[1, 0, 0, 0], [2, 0, 0, 0]].concat();
    let from = [[3, 0, 0, 0], [4, 0, 0, 0]].concat();
    Operation::Builtin(Builtin::Sum).apply_packed(&from, &mut into, &of).expect("applied");
    assert_eq!(into, [[4, 0, 0, 0], [6, 0, 0, 0]].concat());
    Operation::Builtin(Builtin::Replace).apply_packed(&from, &mut into, &of).expect("applied");
    assert_eq!(into, from);
}

// Of pairs, which are not taken for what they consist of.
#[test]
fn accumulations_of_pairs() {
    let vector = |old: &Rc<Datatype>| {
        let types = vec![Rc::clone(old)];
        let contents = crate::datatype::Contents { types, ..Default::default() };
        Rc::new(crate::datatype::build::vector(contents, 2, 1, 64, old).expect("a vector"))
    };
    let allowed =
        |builtin, of: &Rc<Datatype>| Operation::Builtin(builtin).check_accumulate(of).is_ok();
    for pair in [abi::TWO_INT, abi::DOUBLE_INT, abi::LONG_DOUBLE_INT] {
        let nested = vector(&vector(&named(pair)));
        assert!(allowed(Builtin::Minloc, &nested) && allowed(Builtin::Replace, &nested));
        assert!(!allowed(Builtin::Sum, &nested), "{pair:#x}");
        assert_eq!(nested.pair().expect("pairs").handle(), pair);
    }
    assert!(!allowed(Builtin::Maxloc, &vector(&named(abi::INT))));
}
