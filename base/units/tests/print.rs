//! The printed form of quantities, which reads back as the same value.

use std::fmt::{Debug, Display};
use std::str::FromStr;

use proptest::prelude::*;
use units::{Bandwidth, Bytes, Error, Time, TimePerByte};

#[test]
fn times() {
    for (ps, text) in [
        (0, "0 ns"),
        (1, "1 ps"),
        (999, "999 ps"),
        (2_500_000, "2.5 us"),
        (5_654_000, "5.654 us"),
        (12_345_678, "12345.678 ns"),
        (1_000_000_000_000, "1 s"),
        (90_000_000_000_000, "90 s"),
        (7_200_000_000_000_000, "2 h"),
        (u64::MAX, "18446744073709551.615 ns"),
    ] {
        assert_eq!(Time::from_ps(ps).to_string(), text);
    }
    assert_eq!(format!("{:>8}|{:<7}|", Time::from_ps(1_000), Time::ZERO), "    1 ns|0 ns   |");
}

#[test]
fn sizes() {
    for (bytes, text) in [
        (0, "0 B"),
        (15, "15 B"),
        (1_000, "1 kB"),
        (1_500, "1.5 kB"),
        (1_536, "1.5 KiB"),
        (65_535, "65535 B"),
        (65_536, "64 KiB"),
        (4 << 20, "4 MiB"),
        (2_000_000_000, "2 GB"),
        (u64::MAX, "18446744073709551615 B"),
    ] {
        assert_eq!(Bytes::new(bytes).to_string(), text);
    }
}

#[test]
fn bandwidths() {
    for (bits, text) in [
        (0, "0 b/s"),
        (100_000_000_000, "100 Gb/s"),
        (12_288_000_000, "12.288 Gb/s"),
        (8_388_608, "8 Mib/s"),
        (7, "7 b/s"),
    ] {
        assert_eq!(Bandwidth::from_bits_per_second(bits).to_string(), text);
    }
}

#[test]
fn times_per_byte() {
    for (ps, bytes, text) in [
        (0, 5, "0 ns/B"),
        (6_000, 1, "6 ns/B"),
        (155, 1, "155 ps/B"),
        (1, 2, "0.5 ps/B"),
        (1_000_000, 1_024, "976.5625 ps/B"),
        (8_000, 7, "7 Gb/s"),
        (7, 3, "7 ps/3 B"),
        (7_000, 3_000_000, "7 ps/3 kB"),
    ] {
        let rate = TimePerByte::new(ps, bytes).map(|rate| rate.to_string());
        assert_eq!(rate.as_deref(), Some(text));
    }
}

fn reads_back<T>(value: T) -> Result<(), TestCaseError>
where
    T: Copy + Debug + Display + PartialEq + FromStr<Err = Error>,
{
    let text = value.to_string();
    prop_assert_eq!(text.parse(), Ok(value), "{}", text);
    Ok(())
}

/// Numbers of all magnitudes, round ones among them.
fn numbers() -> impl Strategy<Value = u64> {
    let shifted = (any::<u64>(), 0..64).prop_map(|(value, shift)| value >> shift);
    let round = (any::<u16>(), 0..15_u32)
        .prop_map(|(value, zeros)| u64::from(value).saturating_mul(10_u64.pow(zeros)));
    let binary = (any::<u16>(), 0..48).prop_map(|(value, shift)| u64::from(value) << shift);
    prop_oneof![shifted, round, binary]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn printed_values_read_back(value in numbers(), per in numbers()) {
        reads_back(Time::from_ps(value))?;
        reads_back(Bytes::new(value))?;
        reads_back(Bandwidth::from_bits_per_second(value))?;
        reads_back(TimePerByte::new(value, per.max(1)).unwrap_or(TimePerByte::ZERO))?;
    }

    #[test]
    fn any_text_is_read_or_refused_at_a_place_within_it(text in "[0-9./ a-zA-Zµμ%-]{0,12}|.{0,9}") {
        let errors = [
            text.parse::<Time>().err(),
            text.parse::<Bytes>().err(),
            text.parse::<Bandwidth>().err(),
            text.parse::<TimePerByte>().err(),
        ];
        for error in errors.into_iter().flatten() {
            prop_assert!(text.is_char_boundary(error.offset()), "{}", error);
            prop_assert!(!error.to_string().is_empty());
        }
    }
}
