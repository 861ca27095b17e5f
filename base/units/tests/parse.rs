//! The texts that are read, and the errors for those that are not. Every value is worked out by
//! hand.

use units::{Bandwidth, Bytes, Error, Time, TimePerByte};

fn ps(text: &str) -> Result<u64, Error> {
    text.parse().map(Time::ps)
}

fn bytes(text: &str) -> Result<u64, Error> {
    text.parse().map(Bytes::get)
}

fn bits(text: &str) -> Result<u64, Error> {
    text.parse().map(Bandwidth::bits_per_second)
}

fn rate(text: &str) -> Result<(u64, u64), Error> {
    text.parse().map(TimePerByte::parts)
}

/// Checks the text of the error and the part of the input that begins at its offset.
fn check<T: std::fmt::Debug>(input: &str, result: Result<T, Error>, at: &str, text: &str) {
    let error = result.expect_err(input);
    assert_eq!(error.to_string(), text, "{input}");
    assert_eq!(&input[error.offset()..], at, "{input}");
}

#[test]
fn times() {
    assert_eq!(ps("2500ns"), Ok(2_500_000));
    assert_eq!(ps(" 1.4 us "), Ok(1_400_000));
    assert_eq!(ps("1.4\u{b5}s"), Ok(1_400_000));
    assert_eq!(ps("1.4 \u{3bc}s"), Ok(1_400_000));
    assert_eq!(ps("0.001 ns"), Ok(1));
    assert_eq!(ps("3 ms"), Ok(3_000_000_000));
    assert_eq!(ps("007.50 s"), Ok(7_500_000_000_000));
    assert_eq!(ps("2 min"), Ok(120_000_000_000_000));
    assert_eq!(ps("0.5 h"), Ok(1_800_000_000_000_000));
    assert_eq!(ps("0 s"), Ok(0));
    // 10^-15 h = 3.6 ps, so 5 × 10^-15 h = 18 ps.
    assert_eq!(ps("0.000000000000005 h"), Ok(18));
    assert_eq!(ps("18446744073709551615 ps"), Ok(u64::MAX));
    assert_eq!(ps("18446744.073709551615 s"), Ok(u64::MAX));
}

#[test]
fn sizes() {
    assert_eq!(bytes("15B"), Ok(15));
    assert_eq!(bytes("4 MiB"), Ok(4_194_304));
    assert_eq!(bytes("64KiB"), Ok(65_536));
    assert_eq!(bytes("1kB"), Ok(1_000));
    assert_eq!(bytes("2 GB"), Ok(2_000_000_000));
    assert_eq!(bytes("1.5 KiB"), Ok(1_536));
    assert_eq!(bytes("0.0009765625 KiB"), Ok(1));
    assert_eq!(bytes("15 EiB"), Ok(17_293_822_569_102_704_640));
}

#[test]
fn bandwidths() {
    assert_eq!(bits("100 Gb/s"), Ok(100_000_000_000));
    assert_eq!(bits("12.5 GB/s"), Ok(100_000_000_000));
    assert_eq!(bits("1MiB/s"), Ok(8_388_608));
    assert_eq!(bits("3 b/s"), Ok(3));
    assert_eq!(bits("0.125 B/s"), Ok(1));
}

#[test]
fn times_per_byte() {
    assert_eq!(rate("6ns/B"), Ok((6_000, 1)));
    assert_eq!(rate("0.5 ns/B"), Ok((500, 1)));
    assert_eq!(rate("155 ps/B"), Ok((155, 1)));
    assert_eq!(rate("0 ns / B"), Ok((0, 1)));
    // 10^6 / 2^10 = 5^6 / 2^4.
    assert_eq!(rate("1 us/KiB"), Ok((15_625, 16)));
    assert_eq!(rate("7 ps/3 B"), Ok((7, 3)));
    assert_eq!(rate("0.25 ps/B"), Ok((1, 4)));
    // 8 bit / 10^11 bit/s = 80 ps; 8 × 10^12 / (7 × 10^9) = 8000 / 7.
    assert_eq!(rate("100 Gb/s"), Ok((80, 1)));
    assert_eq!(rate("12.5 GB/s"), Ok((80, 1)));
    assert_eq!(rate("7 Gb/s"), Ok((8_000, 7)));
    assert_eq!(rate("1 h/0.5 EB"), Ok((9, 1_250)));
}

#[test]
fn bare_numbers() {
    let text = "a bare number has no unit: write \"2500 ns\" \
                (units of time: ps, ns, us, ms, s, min, h)";
    check("2500", ps("2500"), "", text);
    check("2500  ", ps("2500  "), "  ", text);
    assert!(matches!(bytes("0"), Err(Error::NoUnit { unit: "B", .. })));
    assert!(matches!(bits("1.5"), Err(Error::NoUnit { unit: "b/s", .. })));
    assert!(matches!(rate("6"), Err(Error::NoUnit { unit: "ns/B", .. })));
}

#[test]
fn not_numbers() {
    let expected = |found| format!("expected a number such as 12 or 1.5, found \"{found}\"");
    for (input, found) in [
        (" ns", "ns"),
        ("-3 ns", "-3"),
        ("1,5 ns", "1,5"),
        ("1.2.3 ns", "1.2.3"),
        (".5 ns", ".5"),
        ("5. ns", "5."),
        ("+1 ns", "+1"),
        ("1_000 ns", "1_000"),
        ("/s", "/s"),
    ] {
        let at = input.trim_start();
        check(input, ps(input), at, &expected(found));
        assert_eq!(rate(input).map_err(|e| e.to_string()), Err(expected(found)));
    }
    check("", ps(""), "", "there is no time here: write it as \"2500 ns\"");
    check("  ", bytes("  "), "  ", "there is no size here: write it as \"64 KiB\"");
}

#[test]
fn unknown_units() {
    check(
        "1.4 mz",
        ps("1.4 mz"),
        "mz",
        "unknown unit \"mz\", did you mean \"ms\"? (units of time: ps, ns, us, ms, s, min, h)",
    );
    check(
        "5 parsec",
        ps("5 parsec"),
        "parsec",
        "unknown unit \"parsec\" (units of time: ps, ns, us, ms, s, min, h)",
    );
    let nearest = |result: Result<u64, Error>| match result {
        Err(Error::UnknownUnit { nearest, .. }) => nearest,
        _ => None,
    };
    assert_eq!(nearest(bytes("1 KB")), Some("kB"));
    assert_eq!(nearest(bytes("1 Mib")), None, "bits, which have an error of their own");
    assert_eq!(nearest(bits("1 Gbps")), Some("Gb/s"));
    assert_eq!(nearest(bits("100 Gb/sec")), Some("Gb/s"));
    assert_eq!(nearest(ps("3 NS")), Some("ns"));
    // The two halves of a rate are looked up on their own.
    check(
        "6 nz/B",
        rate("6 nz/B"),
        "nz/B",
        "unknown unit \"nz\", did you mean \"ns\"? (units of time: ps, ns, us, ms, s, min, h)",
    );
    assert_eq!(rate("6 ns/kib").unwrap_err().offset(), 5);
    assert!(matches!(
        rate("6 ns"),
        Err(Error::UnknownUnit { nearest: Some("ns/B"), offset: 2, .. })
    ));
}

#[test]
fn bits_are_not_bytes() {
    let text = "\"b\" counts bits: write \"B\" for bytes";
    check("10 b", bytes("10 b"), "b", text);
    check("6 ns/b", rate("6 ns/b"), "b", text);
    check("10Mib", bytes("10Mib"), "Mib", "\"Mib\" counts bits: write \"MiB\" for bytes");
}

#[test]
fn out_of_range() {
    let text = "out of range: the largest time is 18446744.073709551615 s (213 days)";
    check(
        "18446744073709551616 ps",
        ps("18446744073709551616 ps"),
        "18446744073709551616 ps",
        text,
    );
    check("5125 h", ps("5125 h"), "5125 h", text);
    let long = format!("{} s", "9".repeat(60));
    check(&long, ps(&long), &long, text);
    check(
        "16 EiB",
        bytes("16 EiB"),
        "16 EiB",
        "out of range: the largest size is 18446744073709551615 B",
    );
    assert!(matches!(rate("99999999999 s/B"), Err(Error::OutOfRange { .. })));
}

#[test]
fn too_fine() {
    let text = "below the resolution: a time is a whole multiple of 1 ps";
    check("0.1 ps", ps("0.1 ps"), "0.1 ps", text);
    check(" 1.0001 ns", ps(" 1.0001 ns"), "1.0001 ns", text);
    let long = format!("0.{}1 s", "0".repeat(60));
    check(&long, ps(&long), &long, text);
    check(
        "0.5 B",
        bytes("0.5 B"),
        "0.5 B",
        "below the resolution: a size is a whole multiple of 1 B",
    );
    assert!(matches!(bits("0.1 b/s"), Err(Error::TooFine { .. })));
    assert!(matches!(rate("0.0000000000001 ps/EiB"), Err(Error::TooFine { .. })));
}

#[test]
fn zero_has_no_inverse() {
    let text = "\"0 Gb/s\" is zero and gives no time per byte";
    check(" 0 Gb/s", rate(" 0 Gb/s"), "0 Gb/s", text);
    check("1 s/ 0 B", rate("1 s/ 0 B"), "0 B", "\"0 B\" is zero and gives no time per byte");
}

#[test]
fn nearest_words() {
    let known = ["gather", "scatter", "halo1d", "halo2d", "random"];
    let cases = [
        ("gahter", Some("gather")),
        ("GATHER", Some("gather")),
        ("halo4d", Some("halo1d")),
        ("scater", Some("scatter")),
        ("broadcast", None),
        ("", None),
    ];
    for (word, expected) in cases {
        assert_eq!(units::nearest(word, &known), expected, "{word}");
    }
    assert_eq!(units::nearest("Mb", &["MB", "Mb"]), Some("Mb"));
    assert_eq!(units::nearest("x", &["s"]), None);
    assert_eq!(units::nearest("x", &[]), None);
}
