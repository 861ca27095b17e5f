//! Probabilities, exact to 18 decimals.

/// A probability in units of 10^-18.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probability(u64);

/// The decimals of a probability.
const DECIMALS: i32 = 18;
/// Certainty.
const ONE: u64 = 10_u64.pow(DECIMALS as u32);

impl Probability {
    /// The probability as a number.
    pub const fn get(self) -> f64 {
        self.0 as f64 / ONE as f64
    }

    /// The probability in millionths, rounded down.
    pub const fn millionths(self) -> u32 {
        (self.0 / (ONE / 1_000_000)) as u32
    }

    /// Reads a number from 0 to 1 such as `0.001` or `1e-12`; `None` if it is none or has more than
    /// 18 decimals.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
        let is_number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        let sign = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        if !is_number(whole) || !is_number(fraction) || !is_number(sign) {
            return None;
        }
        let fraction = fraction.trim_end_matches('0');
        let digits = format!("{whole}{fraction}");
        let digits = digits.trim_start_matches('0');
        if digits.is_empty() {
            return Some(Self(0));
        }
        let significant = digits.trim_end_matches('0');
        let zeros = i32::try_from(digits.len() - significant.len()).ok()?;
        let decimals = i32::try_from(fraction.len()).ok()?;
        let exponent = exponent.parse::<i32>().ok()?;
        let shift = exponent.checked_sub(decimals)?.checked_add(zeros)?.checked_add(DECIMALS)?;
        let scale = 10_u64.checked_pow(u32::try_from(shift).ok()?)?;
        let units = significant.parse::<u64>().ok()?.checked_mul(scale)?;
        (units <= ONE).then_some(Self(units))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        let cases = [
            ("0", 0.0),
            ("0.0", 0.0),
            ("0e9999", 0.0),
            ("1", 1.0),
            ("1.000", 1.0),
            ("100e-2", 1.0),
            ("0.25", 0.25),
            ("1e-12", 1e-12),
            ("2.5E-4", 0.000_25),
            ("0.001e+1", 0.01),
            ("1e-18", 1e-18),
            ("0000.500000000000000000000", 0.5),
        ];
        for (text, value) in cases {
            assert_eq!(Probability::parse(text).map(Probability::get), Some(value), "{text}");
        }
    }

    #[test]
    fn no_probabilities() {
        for text in [
            "",
            "-0.1",
            "1.1",
            "1e1",
            "1e-19",
            "0.1234567890123456789",
            "nan",
            "inf",
            "1e",
            "e-3",
            ".5",
            "5%",
            "1e99999999999",
            "1e-99999999999",
            "99999999999999999999",
            "0x1",
            "1_0",
        ] {
            assert_eq!(Probability::parse(text), None, "{text}");
        }
    }
}
