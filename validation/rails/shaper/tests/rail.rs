//! Descriptions of rails, and the mistakes in them.

use shaper::Rail;
use units::{Bandwidth, Time};

#[test]
fn a_rail_is_read() {
    let rail: Rail = "A:1Gb/s:50us".parse().expect("a rail");
    assert_eq!(rail.name, "A");
    assert_eq!(rail.rate, Bandwidth::from_bits_per_second(1_000_000_000));
    assert_eq!(rail.delay, Time::from_ps(50_000_000));
}

#[test]
fn mistakes_are_told() {
    let says = |text: &str, what: &str| {
        let mistake = text.parse::<Rail>().expect_err(text).to_string();
        assert!(mistake.contains(what), "{mistake}");
    };
    says("A:1Gb/s", "`A:1Gb/s` is not of the form NAME:RATE:DELAY");
    says("A:1Gb/s:50us:3", "is not of the form");
    says(":1Gb/s:50us", "`` cannot be the name of a device");
    says("ctl:1Gb/s:50us", "neither `lo` nor `ctl`");
    says("eth/0:1Gb/s:50us", "`eth/0` cannot be the name");
    says("sixteen-letters-:1Gb/s:50us", "1 to 15 letters");
    says("A:1Gb:50us", "rate of `A:1Gb:50us`: ");
    says("A:1Gb/s:50", "delay of `A:1Gb/s:50`: ");
    says("A:0Gb/s:50us", "the rate of `A` is zero");
}
