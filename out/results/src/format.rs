//! Figures and texts in the form in which people read them.

use std::borrow::Cow;

/// A count in at most four digits and a decimal prefix: `950`, `1.23 k`, `45.6 M`.
pub(crate) fn count(value: f64) -> String {
    let mut scaled = value;
    let mut prefix = "";
    for larger in ["k", "M", "G", "T", "P", "E"] {
        if scaled < 999.5 {
            break;
        }
        scaled /= 1000.0;
        prefix = larger;
    }
    let digits = match scaled {
        s if prefix.is_empty() || s >= 99.95 => 0,
        s if s >= 9.995 => 1,
        _ => 2,
    };
    let separator = if prefix.is_empty() { "" } else { " " };
    format!("{scaled:.digits$}{separator}{prefix}")
}

/// Bytes with a binary prefix: `950 B`, `1.5 KiB`.
pub(crate) fn bytes(value: u64) -> String {
    let mut scaled = value as f64;
    let mut unit = "B";
    for larger in ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"] {
        if scaled < 1023.95 {
            break;
        }
        scaled /= 1024.0;
        unit = larger;
    }
    let digits = usize::from(unit != "B");
    format!("{scaled:.digits$} {unit}")
}

/// A span of real time: `12.3 ms`, `4.56 s`, `12 min 5 s`, `3 h 2 min`.
pub(crate) fn seconds(value: f64) -> String {
    let whole = value.round();
    match value {
        v if v < 0.000_999_5 => format!("{:.0} us", v * 1e6),
        v if v < 0.999_5 => format!("{:.1} ms", v * 1e3),
        v if v < 99.5 => format!("{v:.2} s"),
        v if v < 3599.5 => format!("{:.0} min {:.0} s", (whole / 60.0).floor(), whole % 60.0),
        _ => {
            format!("{:.0} h {:.0} min", (whole / 3600.0).floor(), (whole % 3600.0 / 60.0).floor())
        }
    }
}

/// Simulated time, exactly, in the largest unit that leaves a whole part: `5.654 us`.
pub fn time(time: units::Time) -> String {
    let ps = time.ps();
    let (unit, digits) = match ps {
        0..1_000 => ("ps", 0),
        1_000..1_000_000 => ("ns", 3),
        1_000_000..1_000_000_000 => ("us", 6),
        1_000_000_000..1_000_000_000_000 => ("ms", 9),
        _ => ("s", 12),
    };
    let scale = 10_u64.pow(digits);
    let (whole, rest) = (ps / scale, ps % scale);
    if rest == 0 {
        return format!("{whole} {unit}");
    }
    let fraction = format!("{rest:0width$}", width = digits as usize);
    format!("{whole}.{} {unit}", fraction.trim_end_matches('0'))
}

/// Times that stand below each other, in one unit: the largest in which the greatest has a whole
/// part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    unit: &'static str,
    /// Digits behind the point that a picosecond needs.
    exact: usize,
    /// Digits behind the point that are shown.
    digits: usize,
}

impl Column {
    /// The column for some times, with at most so many digits behind the point, and no more than
    /// the times need.
    pub fn of(times: impl Iterator<Item = units::Time> + Clone, most: usize) -> Self {
        let greatest = times.clone().max().unwrap_or_default();
        let (unit, exact) = match greatest.ps() {
            0..1_000 => ("ps", 0),
            1_000..1_000_000 => ("ns", 3),
            1_000_000..1_000_000_000 => ("us", 6),
            1_000_000_000..1_000_000_000_000 => ("ms", 9),
            _ => ("s", 12),
        };
        let needed = |time: units::Time| {
            let zeros =
                (0..exact).take_while(|zeros| time.ps().is_multiple_of(10_u64.pow(*zeros + 1)));
            exact as usize - zeros.count()
        };
        let digits = times.map(needed).max().unwrap_or(0).min(most);
        Self { unit, exact: exact as usize, digits }
    }

    /// The unit of the column.
    pub const fn unit(&self) -> &'static str {
        self.unit
    }

    /// A time in the unit of the column.
    pub fn value(&self, time: units::Time) -> f64 {
        time.ps() as f64 / 10_u64.pow(self.exact as u32) as f64
    }

    /// A time of the column, without its unit, rounded half up to its digits.
    pub fn show(&self, time: units::Time) -> String {
        let lost = 10_u128.pow((self.exact - self.digits) as u32);
        let scale = 10_u128.pow(self.digits as u32);
        let value = (u128::from(time.ps()) + lost / 2) / lost;
        match self.digits {
            0 => value.to_string(),
            digits => format!("{}.{:0digits$}", value / scale, value % scale),
        }
    }
}

/// A peer or a tag as GOAL writes it: -1 for the wildcard.
pub(crate) fn or_any(value: u32) -> i64 {
    if value == schedule::ANY { -1 } else { i64::from(value) }
}

/// Replaces the control characters of a text, apart from tabs and line ends, by their escapes:
/// names and lines from files must not move the cursor of a terminal or change its colours. Where
/// characters are not UTF-8, an ellipsis becomes three dots.
pub fn printable(text: &str) -> Cow<'_, str> {
    let harmful = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    let text = crate::screen::shown(text);
    if !text.contains(harmful) {
        return text;
    }
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        if harmful(character) {
            safe.extend(character.escape_default());
        } else {
            safe.push(character);
        }
    }
    Cow::Owned(safe)
}

/// `1 thread`, `2 threads`.
pub fn plural(number: u64, one: &str) -> String {
    format!("{number} {one}{}", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Time;

    #[test]
    fn counts_have_three_digits() {
        let shown = [0.0, 950.4, 999.6, 1234.0, 45_600.0, 999_600.0, 1.5e9].map(count);
        assert_eq!(shown, ["0", "950", "1.00 k", "1.23 k", "45.6 k", "1.00 M", "1.50 G"]);
    }

    #[test]
    fn bytes_use_binary_prefixes() {
        let shown = [0, 1023, 1024, 1536, 1 << 20, 3 << 30].map(bytes);
        assert_eq!(shown, ["0 B", "1023 B", "1.0 KiB", "1.5 KiB", "1.0 MiB", "3.0 GiB"]);
    }

    #[test]
    fn real_time_loses_digits_as_it_grows() {
        let shown = [0.000_012, 0.012_34, 4.561, 179.7, 725.0, 10_920.0].map(seconds);
        assert_eq!(shown, ["12 us", "12.3 ms", "4.56 s", "3 min 0 s", "12 min 5 s", "3 h 2 min"]);
    }

    /// One unit for all, as many digits as they need, and no more than wanted.
    #[test]
    fn times_of_a_column_have_one_unit() {
        let shown = |times: &[u64], most| {
            let times = times.iter().map(|ps| Time::from_ps(*ps));
            let column = Column::of(times.clone(), most);
            (column.unit(), times.map(|time| column.show(time)).collect::<Vec<_>>().join(" "))
        };
        assert_eq!(shown(&[1_500_000, 20_000, 0], 6), ("us", "1.50 0.02 0.00".to_owned()));
        assert_eq!(shown(&[1_234_567_891, 999], 6), ("ms", "1.234568 0.000001".to_owned()));
        assert_eq!(shown(&[2_000_000, 5_000_000], 6), ("us", "2 5".to_owned()));
        assert_eq!(shown(&[999, 1], 3), ("ps", "999 1".to_owned()));
        assert_eq!(shown(&[], 3), ("ps", String::new()));
    }

    /// ESC starts commands of terminals (ECMA-48), as does U+009B.
    #[test]
    fn control_characters_are_escaped() {
        let text = "error: \u{1b}[2Ja\u{9b}31m\r\n  b\tc é";
        assert_eq!(printable(text), "error: \\u{1b}[2Ja\\u{9b}31m\\r\n  b\tc é");
    }

    #[test]
    fn simulated_time_is_exact() {
        let shown =
            [0, 999, 1_000, 5_654_000, 1_000_000_001, u64::MAX].map(|ps| time(Time::from_ps(ps)));
        assert_eq!(
            shown,
            ["0 ps", "999 ps", "1 ns", "5.654 us", "1.000000001 ms", "18446744.073709551615 s"]
        );
    }
}
