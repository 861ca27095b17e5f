//! A text that is read as a quantity prints as one that is read as the same; an error points into
//! the text.

#![no_main]

use std::{fmt::Display, str::FromStr};

use libfuzzer_sys::fuzz_target;
use units::{Bandwidth, Bytes, Error, Time, TimePerByte};

fn check<T: FromStr<Err = Error> + Display + PartialEq>(text: &str) {
    match text.parse::<T>() {
        Ok(quantity) => {
            let printed = quantity.to_string();
            assert!(printed.parse().is_ok_and(|again: T| again == quantity), "{printed}");
        }
        Err(error) => {
            assert!(text.is_char_boundary(error.offset()), "{error}");
            assert!(!error.to_string().is_empty());
        }
    }
}

fuzz_target!(|text: &str| {
    check::<Time>(text);
    check::<Bytes>(text);
    check::<Bandwidth>(text);
    check::<TimePerByte>(text);
});
