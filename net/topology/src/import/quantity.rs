//! Numbers with units as SimGrid's platform files write them: the unit follows without a space, and
//! a number without one is in bytes per second, seconds or flop per second. Source: the comments of
//! `simgrid.dtd`, and SimGrid 3.32's list of units.

const DECIMAL: &[&str] = &["k", "M", "G", "T", "P", "E", "Z", "Y"];
const BINARY: &[&str] = &["Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "Zi", "Yi"];
const WORDS: &[&str] = &["kilo", "mega", "giga", "tera", "peta", "exa", "zeta", "yotta"];

/// A bandwidth, such as `125MBps`, `1Gbps` or `1GiBps`, in bytes per second.
pub fn bandwidth(text: &str) -> Option<f64> {
    let (value, unit) = split(text)?;
    let (prefix, bytes) = match unit {
        "" => ("", 1.0),
        unit => match unit.strip_suffix("Bps") {
            Some(prefix) => (prefix, 1.0),
            None => (unit.strip_suffix("bps")?, 0.125),
        },
    };
    let factor = power(prefix, DECIMAL, 1000.0).or_else(|| power(prefix, BINARY, 1024.0))?;
    finite(value * (bytes * factor))
}

/// A time, such as `50us`, in seconds.
pub fn seconds(text: &str) -> Option<f64> {
    let (value, unit) = split(text)?;
    let factor = match unit {
        "ps" => 1e-12,
        "ns" => 1e-9,
        "us" => 1e-6,
        "ms" => 1e-3,
        "" | "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        "d" => 86_400.0,
        "w" => 604_800.0,
        _ => return None,
    };
    finite(value * factor)
}

/// A speed of computation, such as `1Gf` or `1megaflops`, in flop per second.
pub fn flops(text: &str) -> Option<f64> {
    let (value, unit) = split(text)?;
    let factor = match unit {
        "" => Some(1.0),
        unit => match unit.strip_suffix("flops") {
            Some(prefix) => power(prefix, WORDS, 1000.0),
            None => power(unit.strip_suffix('f')?, DECIMAL, 1000.0),
        },
    };
    finite(value * factor?)
}

fn power(prefix: &str, prefixes: &[&str], base: f64) -> Option<f64> {
    if prefix.is_empty() {
        return Some(1.0);
    }
    let exponent = prefixes.iter().position(|known| *known == prefix)? + 1;
    // At most eight prefixes.
    #[allow(clippy::cast_possible_wrap)]
    Some(base.powi(exponent as i32))
}

/// A number, which may be negative, and what follows it.
fn split(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let is_number = |c: char| c.is_ascii_digit() || c == '.';
    // From the longest: an E may begin an exponent or a unit, as in 1e9Bps and 1EBps.
    let mut ends = text.char_indices().rev().filter(|(_, c)| is_number(*c)).map(|(at, _)| at + 1);
    ends.find_map(|end| {
        let value = text.get(..end)?.parse::<f64>().ok()?;
        Some((value, text.get(end..)?))
    })
}

fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}
