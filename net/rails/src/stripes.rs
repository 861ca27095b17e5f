//! Large messages in parts, which take several rails at once.

use crate::parameters::Ticks;
use crate::scheduler::{MOST_RAILS, Message, Part, Parts, Rail};

/// The way in which a large message is split.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stripes {
    /// It is not: one rail takes it.
    #[default]
    None,
    /// In parts of equal size.
    Equal,
    /// In parts in proportion to the bandwidth of the rails, 1/G, or to their weights.
    Bandwidth,
    /// In parts that arrive at the same time.
    WaterFilling,
}

/// Splits a message over the usable rails, and notes that these are busy.
pub(crate) fn split(stripes: Stripes, rails: &mut [Rail], message: Message) -> Parts {
    let mut shares = [0; MOST_RAILS];
    match stripes {
        Stripes::None | Stripes::Equal => by_weight(rails, message, &mut shares, |_| 1 << 40),
        Stripes::Bandwidth => {
            by_weight(rails, message, &mut shares, |rail| {
                (1 << 60) / u128::from(rail.parameters.share().max(1))
            });
        }
        Stripes::WaterFilling => filled(rails, message, &mut shares),
    }
    let (mut parts, mut now) = (Parts::default(), message.now);
    for ((rail, number), bytes) in rails.iter_mut().zip(0..).zip(shares) {
        // A message without bytes is one part.
        if bytes > 0 || message.bytes == 0 && message.can_take(number) && parts.is_empty() {
            rail.finish = rail.ready(now).saturating_add(rail.parameters.busy(bytes));
            now = now.saturating_add(rail.parameters.send_overhead);
            parts.push(Part { rail: number as u8, bytes });
        }
    }
    parts
}

/// Splits in proportion to weights: each rail takes its share of what is left, rounded.
fn by_weight(
    rails: &[Rail],
    message: Message,
    shares: &mut [u64; MOST_RAILS],
    weight: impl Fn(&Rail) -> u128,
) {
    let usable = |number: &usize| message.can_take(*number);
    let mut weights: u128 = (0..rails.len()).filter(usable).map(|it| weight(&rails[it])).sum();
    let mut left = u128::from(message.bytes);
    for number in (0..rails.len()).filter(usable) {
        let own = weight(&rails[number]);
        let share = (left * own + weights / 2) / weights.max(1);
        (left, weights) = (left - share, weights - own);
        shares[number] = share as u64;
    }
}

/// Splits so that all parts arrive at one time T: the one that solves
/// sum of max(0, 1 + (T - t - 2o - L - g)/G) = s, where t is the VFT of a rail, or the time at
/// which the overheads of the parts before it are over. Rails without a share get nothing.
fn filled(rails: &[Rail], message: Message, shares: &mut [u64; MOST_RAILS]) {
    let mut takes = [false; MOST_RAILS];
    for (number, takes) in takes.iter_mut().enumerate().take(rails.len()) {
        *takes = message.can_take(number);
    }
    // The overheads of rails that turn out to get nothing are not paid: without them there is more
    // for the others, so that the shares are computed again.
    loop {
        let starts = starts(rails, takes, message.now);
        let given = level(rails, &starts, message.bytes, shares);
        let dry = (0..rails.len()).find(|&number| takes[number] && shares[number] == 0);
        match dry {
            Some(number) if given => takes[number] = false,
            _ => return,
        }
    }
}

/// Returns the time at which each rail could deliver the first byte of its part, and keep its
/// interface for g; the end of time for rails that take no part.
fn starts(rails: &[Rail], takes: [bool; MOST_RAILS], now: Ticks) -> [Ticks; MOST_RAILS] {
    let (mut starts, mut now) = ([Ticks::MAX; MOST_RAILS], now);
    for (number, rail) in rails.iter().enumerate() {
        if takes[number] {
            let way = rail.parameters.way().saturating_add(rail.parameters.gap);
            starts[number] = rail.ready(now).saturating_add(way);
            now = now.saturating_add(rail.parameters.send_overhead);
        }
    }
    starts
}

/// Finds the least T at which the shares are enough, and cuts them to the message's size, from the
/// last rail on. Returns false if there is no such T.
fn level(
    rails: &[Rail],
    starts: &[Ticks; MOST_RAILS],
    bytes: u64,
    shares: &mut [u64; MOST_RAILS],
) -> bool {
    let share = |number: usize, time: Ticks| -> u64 {
        let Some(passed) = time.checked_sub(starts[number]) else { return 0 };
        let rate = u128::from(rails[number].parameters.gap_per_byte);
        let more = (u128::from(passed) << 10).checked_div(rate).unwrap_or(u128::MAX >> 1);
        u64::try_from(more + 1).unwrap_or(u64::MAX).min(bytes)
    };
    let enough = |time| {
        let all = (0..rails.len()).map(|number| u128::from(share(number, time))).sum::<u128>();
        all >= u128::from(bytes)
    };
    let (mut low, mut high) = (0, Ticks::MAX - 1);
    if !enough(high) {
        return false;
    }
    while low < high {
        let middle = low + (high - low) / 2;
        if enough(middle) { high = middle } else { low = middle + 1 }
    }
    let mut left = bytes;
    shares.fill(0);
    for (number, own) in shares.iter_mut().enumerate().take(rails.len()) {
        *own = share(number, low).min(left);
        left -= *own;
    }
    true
}
