//! Arguments that programs hand in by address.
//!
//! Values of these types exist only as arguments of calls, so that what stands behind them is what
//! the standard says of the argument: null, or as many values of the type as the call is told. A
//! null address where there must be something is an error, `ERR_ARG`.

use std::ffi::{CStr, c_char, c_int};

use crate::check;
use crate::error::{Error, Result};

/// The address of values that the call reads.
#[repr(transparent)]
#[derive(Debug)]
pub struct In<T>(*const T);

/// The address of values that the call writes, and may read.
#[repr(transparent)]
#[derive(Debug)]
pub struct Out<T>(*mut T);

impl<T> Clone for In<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for In<T> {}

impl<T> Clone for Out<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Out<T> {}

impl<T> In<T> {
    /// Wraps an address that the program handed in.
    ///
    /// # Safety
    /// The address is null, or it has as many values of the type as the call will ask for, for as
    /// long as the call lasts.
    pub const unsafe fn new(address: *const T) -> Self {
        Self(address)
    }

    /// No values.
    pub const fn null() -> Self {
        Self(std::ptr::null())
    }

    /// The address.
    pub const fn address(self) -> *const T {
        self.0
    }
}

impl<T: Copy> In<T> {
    /// The value.
    pub fn get(self) -> Result<T> {
        check!(!self.0.is_null(), ERR_ARG, "a null pointer is no argument");
        // SAFETY: the program's argument.
        Ok(unsafe { self.0.read() })
    }

    /// A number of values. If it is 0, the address may be null.
    pub fn slice<'a>(self, count: impl TryInto<usize>) -> Result<&'a [T]> {
        let count = count.try_into().unwrap_or(0);
        if count == 0 {
            return Ok(&[]);
        }
        check!(!self.0.is_null(), ERR_ARG, "a null pointer is no array of {count} values");
        // SAFETY: the program's argument.
        Ok(unsafe { std::slice::from_raw_parts(self.0, count) })
    }
}

impl<T: Copy> In<T> {
    /// A list whose length is an argument, which must not be negative.
    pub fn list(self, length: c_int) -> Result<Vec<T>> {
        Ok(self.slice(count(length)?)?.to_vec())
    }
}

impl<T: Number> In<T> {
    /// A number of integers, of whatever width.
    pub fn numbers(self, count: impl TryInto<usize>) -> Result<Vec<i64>> {
        Ok(self.slice(count)?.iter().map(|number| number.wide()).collect())
    }
}

impl In<c_char> {
    /// The bytes of a string, if there is one.
    pub fn bytes(self) -> Option<Vec<u8>> {
        // SAFETY: the program's argument.
        (!self.0.is_null()).then(|| unsafe { CStr::from_ptr(self.0) }.to_bytes().to_vec())
    }

    /// A string; bytes that are no UTF-8 are replaced.
    pub fn string(self) -> Result<String> {
        check!(!self.0.is_null(), ERR_ARG, "a null pointer is no string");
        // SAFETY: the program's argument.
        Ok(unsafe { CStr::from_ptr(self.0) }.to_string_lossy().into_owned())
    }
}

impl<T: Copy> Out<T> {
    /// Wraps an address that the program handed in.
    ///
    /// # Safety
    /// The conditions are those of [`In::new`].
    pub const unsafe fn new(address: *mut T) -> Self {
        Self(address)
    }

    /// The address.
    pub const fn address(self) -> *mut T {
        self.0
    }

    /// The value that is there.
    pub fn get(self) -> Result<T> {
        In(self.0).get()
    }

    /// Writes the value.
    pub fn set(self, value: T) -> Result {
        check!(!self.0.is_null(), ERR_ARG, "a null pointer is no place for a result");
        // SAFETY: the program's argument.
        unsafe { self.0.write(value) };
        Ok(())
    }

    /// A number of values that are there. If it is 0, the address may be null.
    pub fn slice<'a>(self, count: usize) -> Result<&'a mut [T]> {
        if count == 0 {
            return Ok(&mut []);
        }
        check!(!self.0.is_null(), ERR_ARG, "a null pointer is no array of {count} values");
        // SAFETY: the program's argument.
        Ok(unsafe { std::slice::from_raw_parts_mut(self.0, count) })
    }

    /// The value at a place of an array.
    pub fn get_at(self, place: usize) -> Result<T> {
        Self(self.0.wrapping_add(place)).get()
    }

    /// Writes the value at a place of an array.
    pub fn set_at(self, place: usize, value: T) -> Result {
        Self(self.0.wrapping_add(place)).set(value)
    }

    /// Writes the first values of an array.
    pub fn set_all(self, values: impl IntoIterator<Item = T>) -> Result {
        values.into_iter().enumerate().try_for_each(|(place, value)| self.set_at(place, value))
    }
}

impl<T> Out<T> {
    /// No place.
    pub const fn null() -> Self {
        Self(std::ptr::null_mut())
    }

    /// True if the program wants no result.
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// An error if there is no place for a result: asked before something is made that would be
    /// lost.
    pub fn check(self) -> Result {
        check!(!self.0.is_null(), ERR_ARG, "a null pointer is no place for a result");
        Ok(())
    }
}

impl Out<c_char> {
    /// Writes bytes with a final 0, as much of them as `room` bytes hold; gives their number.
    pub fn set_bytes(self, bytes: &[u8], room: usize) -> Result<usize> {
        let length = bytes.len().min(room.saturating_sub(1));
        self.set_all(bytes.iter().take(length).copied().chain([0]).map(|byte| byte as c_char))?;
        Ok(length)
    }

    /// Writes a string with its final 0, as much of it as `room` bytes hold; gives its length.
    pub fn set_string(self, text: &str, room: usize) -> Result<usize> {
        let mut length = text.len().min(room.saturating_sub(1));
        while !text.is_char_boundary(length) {
            length -= 1;
        }
        let bytes = text.bytes().take(length).chain([0]);
        self.set_all(bytes.map(|byte| byte as c_char))?;
        Ok(length)
    }
}

/// A number of things, which must not be negative.
pub fn count(number: c_int) -> Result<usize> {
    match usize::try_from(number) {
        Ok(count) => Ok(count),
        Err(_) => Err(Error::new(crate::abi::ERR_ARG, format!("a number of {number}"))),
    }
}

/// An integer of a call, of whatever width.
pub trait Number: Copy {
    /// Its value.
    fn wide(self) -> i64;
    /// A value, or `UNDEFINED` if it does not fit.
    fn narrow(value: i64) -> Self;
}

impl Number for c_int {
    fn wide(self) -> i64 {
        self.into()
    }
    fn narrow(value: i64) -> Self {
        value.try_into().unwrap_or(crate::abi::UNDEFINED)
    }
}

impl Number for i64 {
    fn wide(self) -> i64 {
        self
    }
    fn narrow(value: i64) -> Self {
        value
    }
}

impl Number for isize {
    fn wide(self) -> i64 {
        self as i64
    }
    fn narrow(value: i64) -> Self {
        value as isize
    }
}
