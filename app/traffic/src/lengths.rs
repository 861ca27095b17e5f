//! Distributions of the lengths of messages.

use units::Bytes;

/// The distribution of the lengths of messages, headers not included.
#[derive(Clone, Debug, PartialEq)]
pub enum Lengths {
    /// All alike.
    Fixed(u64),
    /// Every whole number of bytes between two, both included, alike.
    Uniform(u64, u64),
    /// Normal, rounded to whole bytes; what lies below zero is zero.
    Normal {
        /// Mean in bytes.
        mean: f64,
        /// Standard deviation in bytes.
        deviation: f64,
    },
    /// Lengths in bytes and their weights.
    Listed(Vec<(u64, f64)>),
}

/// Why lengths cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// A line of a file.
    #[error(
        "line {line}: expected a length and perhaps its weight, such as `2 KiB 0.5`, found `{text}`"
    )]
    Line {
        /// Its number, from 1.
        line: usize,
        /// The text of the line.
        text: String,
    },
    /// A file without lengths.
    #[error("there are no lengths with a weight above zero")]
    Empty,
}

impl Lengths {
    /// Two lengths, the first with a share of the messages.
    pub fn bimodal(short: u64, long: u64, share: f64) -> Self {
        Self::Listed(vec![(short, share), (long, 1.0 - share)])
    }

    /// Reads a list: one length per line, with its weight behind it if that is not 1; `#` begins a
    /// comment. All lines that cannot be read are named.
    pub fn read(text: &str) -> Result<Self, Vec<Unreadable>> {
        let (mut list, mut wrong) = (Vec::new(), Vec::new());
        for (line, text) in (1..).zip(text.lines()) {
            let text = text.split('#').next().unwrap_or_default().trim();
            if text.is_empty() {
                continue;
            }
            match entry(text) {
                Some(entry) => list.push(entry),
                None => wrong.push(Unreadable::Line { line, text: text.to_owned() }),
            }
        }
        if wrong.is_empty() && list.iter().all(|entry| entry.1 <= 0.0) {
            wrong.push(Unreadable::Empty);
        }
        if wrong.is_empty() { Ok(Self::Listed(list)) } else { Err(wrong) }
    }

    /// Lengths from text: `2 KiB`, `uniform:LEAST:MOST`, `normal:MEAN:DEVIATION`,
    /// `bimodal:SHORT:LONG:SHARE` with the share of the short ones; `None` if it is none of these,
    /// and an error, which says what is wrong, if it begins like one.
    pub fn parse(text: &str) -> Option<Result<Self, String>> {
        let parts: Vec<&str> = text.split(':').map(str::trim).collect();
        match parts[..] {
            [one] => one.parse::<Bytes>().ok().map(|bytes| Ok(Self::Fixed(bytes.get()))),
            [kind @ ("uniform" | "normal" | "bimodal"), ref figures @ ..] => {
                Some(Self::of(kind, figures))
            }
            _ => None,
        }
    }

    fn of(kind: &str, figures: &[&str]) -> Result<Self, String> {
        let bytes = |text: &str| {
            let length = text.parse::<Bytes>().map(Bytes::get);
            length.map_err(|_| format!("`{text}` is no length with its unit, such as `64B`"))
        };
        match (kind, figures) {
            ("uniform", &[least, most]) => {
                let (shortest, longest) = (bytes(least)?, bytes(most)?);
                if shortest > longest {
                    return Err(format!("the least length, {least}, is above the most, {most}"));
                }
                Ok(Self::Uniform(shortest, longest))
            }
            ("normal", &[mean, deviation]) => {
                Ok(Self::Normal { mean: bytes(mean)? as f64, deviation: bytes(deviation)? as f64 })
            }
            ("bimodal", &[short, long, share]) => {
                let part = share.parse().ok().filter(|part| (0.0..=1.0).contains(part));
                let part =
                    part.ok_or_else(|| format!("a share of {share} is not between 0 and 1"))?;
                Ok(Self::bimodal(bytes(short)?, bytes(long)?, part))
            }
            ("uniform", _) => Err("expected uniform:LEAST:MOST".to_owned()),
            ("normal", _) => Err("expected normal:MEAN:DEVIATION".to_owned()),
            _ => Err("expected bimodal:SHORT:LONG:SHARE".to_owned()),
        }
    }

    /// Returns true if all lengths are alike.
    pub const fn is_fixed(&self) -> bool {
        matches!(self, Self::Fixed(_))
    }

    /// The length below which a share `u` of the messages lies, 0 < u <= 1: drawing `u` draws a
    /// length.
    #[inline]
    pub fn quantile(&self, u: f64) -> u64 {
        match self {
            Self::Fixed(bytes) => *bytes,
            Self::Uniform(least, most) => {
                let count = most.saturating_sub(*least) as f64 + 1.0;
                least.saturating_add(whole(count * u - 0.5)).min(*most)
            }
            Self::Normal { mean, deviation } => whole(mean + deviation * normal(u)),
            Self::Listed(list) => {
                let all: f64 = list.iter().map(|entry| entry.1).sum();
                let mut left = u * all;
                let mut found = list.last().map_or(0, |entry| entry.0);
                for &(bytes, weight) in list {
                    left -= weight;
                    if left <= 0.0 {
                        found = bytes;
                        break;
                    }
                }
                found
            }
        }
    }

    /// The mean of a function of the length: exact for fixed and listed lengths, else over 4096
    /// quantiles.
    pub fn mean(&self, of: impl Fn(u64) -> f64) -> f64 {
        const STEPS: u32 = 4096;
        match self {
            Self::Fixed(bytes) => of(*bytes),
            Self::Listed(list) => {
                let all: f64 = list.iter().map(|entry| entry.1).sum();
                list.iter().map(|&(bytes, weight)| of(bytes) * weight).sum::<f64>() / all
            }
            _ => {
                let step = |step: u32| (f64::from(step) + 0.5) / f64::from(STEPS);
                let sum: f64 = (0..STEPS).map(|i| of(self.quantile(step(i)))).sum();
                sum / f64::from(STEPS)
            }
        }
    }
}

#[allow(clippy::cast_sign_loss, reason = "not negative")]
fn whole(value: f64) -> u64 {
    value.round().max(0.0) as u64
}

/// A length with its unit and perhaps a weight; a bare number counts bytes.
fn entry(text: &str) -> Option<(u64, f64)> {
    let length = |text: &str| {
        let bare = text.trim().parse().ok();
        bare.or_else(|| text.parse::<Bytes>().ok().map(Bytes::get))
    };
    if let Some(bytes) = length(text) {
        return Some((bytes, 1.0));
    }
    let (bytes, weight) = text.rsplit_once(char::is_whitespace)?;
    let weight = weight.parse().ok().filter(|weight: &f64| weight.is_finite() && *weight >= 0.0)?;
    Some((length(bytes)?, weight))
}

/// The standard normal distribution's quantile, to 4.5e-4. Source: Abramowitz and Stegun, "Handbook
/// of Mathematical Functions", formula 26.2.23.
pub(crate) fn normal(u: f64) -> f64 {
    let tail = if u < 0.5 { u } else { 1.0 - u };
    let t = (-2.0 * tail.max(1e-300).ln()).sqrt();
    let above = 2.515_517 + t * (0.802_853 + t * 0.010_328);
    let below = 1.0 + t * (1.432_788 + t * (0.189_269 + t * 0.001_308));
    let z = t - above / below;
    if u < 0.5 { -z } else { z }
}
