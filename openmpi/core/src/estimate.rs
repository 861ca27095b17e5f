//! The parameters of a rail from times that were measured over it.

use std::collections::BTreeMap;

use calibrate::{Operation, Options, Sample, fit};

use crate::{
    Error,
    rail::{Rail, per_byte, ticks},
};

/// Times of round trips and sends over one rail.
#[derive(Debug, Default)]
pub struct Samples(Vec<Sample>);

/// The kind of a time, within which times are compared: the operation, the messages of a row,
/// whether there are pauses between them, and the size.
type Kind = (Operation, u32, bool, u64);

/// Replicates: only the values are used, and their intervals must exist.
const REPLICATES: u32 = 40;

impl Samples {
    /// Adds the time, in nanoseconds, of `messages` messages of `bytes` bytes with `delay`
    /// nanoseconds between them, and one answer of that size.
    pub fn trip(&mut self, messages: u32, delay: f64, bytes: u64, time: f64) {
        let repetition = self.0.len() as u32;
        let simple = Sample::simple(Operation::RoundTrip, bytes, repetition, time);
        self.0.push(Sample { messages, delay, ..simple });
    }

    /// Adds the time, in nanoseconds, that the CPU took to send a message of `bytes` bytes.
    pub fn sent(&mut self, bytes: u64, time: f64) {
        self.0.push(Sample::simple(Operation::Send, bytes, self.0.len() as u32, time));
    }

    /// Estimates the parameters of the rail of this name. Where Measure's core cannot tell what the
    /// CPU costs from what the interface does, as on a loop within a host, rows of messages say
    /// what a message takes, whatever it waits for.
    pub fn fit(&self, name: &str) -> Result<Rail, Error> {
        let quiet = self.fastest_quarter();
        let fitted = fit(&quiet.0, &Options { replicates: REPLICATES });
        let value = |key| fitted.parameters.get(key).map(|estimate| estimate.value);
        let rows = quiet.rows();
        let (Some(&(least, short)), Some(&(most, long))) = (rows.first(), rows.last()) else {
            return Err(Error::new("no rows of messages were timed"));
        };
        let slope = (long - short) / (most - least).max(1) as f64;
        // Single messages that were disturbed make what a further one takes too short.
        let slope = if slope > 0.0 { slope } else { quiet.slope_of_whole_rows() };
        // Rows show the rate directly; where it is far from that, the times were disturbed.
        let is_near = |rate: &f64| (0.9..1.11).contains(&(rate / slope));
        let rate = value("G").filter(is_near).unwrap_or(slope);
        // The CPU is not busy for longer than a send has taken, nor, at both ends, for longer than
        // a message is on its way; L is the rest of that.
        let way = (quiet.way() - rate * least.saturating_sub(1) as f64).max(0.0);
        let busy = quiet.send().min(way / 2.0);
        let send = value("o_send").or(value("o")).unwrap_or(busy).min(busy);
        let receive = value("o_receive").or(value("o")).unwrap_or(send).min(busy);
        let latency = way - send - receive;
        // g is not more than messages of any size leave beside their bytes. Transports that gather
        // small messages of a row take less for each than what a pause between them shows, and a g
        // that is too long drives messages to slower rails.
        let beside = rows.iter().map(|(bytes, time)| time - rate * bytes.saturating_sub(1) as f64);
        let most_gap = beside.fold(short, f64::min).max(0.0);
        let gap = value("g").or(fitted.hidden_gap).unwrap_or(short).min(most_gap);
        let rail = Rail {
            send_overhead: ticks(send),
            receive_overhead: ticks(receive),
            latency: ticks(latency),
            gap: ticks(gap),
            gap_per_byte: per_byte(rate),
            ..Rail::named(name)
        };
        let is_useful = rail.is_possible() && rail.gap_per_byte > 0;
        is_useful.then_some(rail).ok_or_else(|| {
            Error::new(format!("a byte takes {rate} ns over rail {name} by its measured times"))
        })
    }

    /// Returns the fastest quarter of the times of each kind: what disturbs a measurement of less
    /// than a second, another process or another machine, only makes times longer, and where
    /// processors are shared it disturbs most of them.
    fn fastest_quarter(&self) -> Self {
        let mut kinds: Vec<(Kind, Vec<&Sample>)> = Vec::new();
        for sample in &self.0 {
            let kind =
                (sample.operation.clone(), sample.messages, sample.delay > 0.0, sample.bytes);
            match kinds.iter_mut().find(|(known, _)| *known == kind) {
                Some((_, of)) => of.push(sample),
                None => kinds.push((kind, vec![sample])),
            }
        }
        let quarter = |(_, mut of): (Kind, Vec<&Sample>)| {
            of.sort_by(|one, other| one.time.total_cmp(&other.time));
            let kept = of.len().div_ceil(4);
            of.into_iter().take(kept).cloned().collect::<Vec<_>>()
        };
        Self(kinds.into_iter().flat_map(quarter).collect())
    }

    /// Returns for each size, the least first, the median time of a further message in a row, in
    /// nanoseconds.
    fn rows(&self) -> Vec<(u64, f64)> {
        let mut times: BTreeMap<u64, [Vec<f64>; 2]> = BTreeMap::new();
        let mut further: BTreeMap<u64, u32> = BTreeMap::new();
        for sample in &self.0 {
            if sample.operation == Operation::RoundTrip && sample.delay == 0.0 {
                let is_row = sample.messages > 1;
                times.entry(sample.bytes).or_default()[usize::from(is_row)].push(sample.time);
                further.insert(sample.bytes, sample.messages.saturating_sub(1));
            }
        }
        let row = |(bytes, [alone, row]): (u64, [Vec<f64>; 2])| {
            let further = f64::from(*further.get(&bytes)?).max(1.0);
            Some((bytes, ((median(row)? - median(alone)?) / further).max(0.0)))
        };
        times.into_iter().filter_map(row).collect()
    }

    /// Returns what a byte takes by the longest rows, in nanoseconds, from their whole times: n
    /// messages and the answer are n - 1 gaps and two ways, each longer by G for a byte.
    fn slope_of_whole_rows(&self) -> f64 {
        let rows = self.0.iter().filter(|sample| sample.messages > 1 && sample.delay == 0.0);
        let Some(most) = rows.clone().max_by_key(|sample| sample.bytes) else { return 0.0 };
        let time = |bytes: u64| {
            let alike = rows.clone().filter(|it| it.messages == most.messages && it.bytes == bytes);
            median(alike.map(|sample| sample.time).collect())
        };
        let alike = rows.clone().filter(|sample| sample.messages == most.messages);
        let least = alike.map(|sample| sample.bytes).min().unwrap_or(most.bytes);
        let bytes = (most.bytes - least).max(1) as f64 * f64::from(most.messages + 1);
        time(most.bytes).zip(time(least)).map_or(0.0, |(long, short)| (long - short) / bytes)
    }

    /// Returns half of the median round trip of one message of the least size, in nanoseconds.
    fn way(&self) -> f64 {
        self.smallest(&Operation::RoundTrip) / 2.0
    }

    /// Returns the median time of a send of the least size, in nanoseconds.
    fn send(&self) -> f64 {
        self.smallest(&Operation::Send)
    }

    /// Returns the median time of an operation with one message of the least size, in nanoseconds.
    fn smallest(&self, operation: &Operation) -> f64 {
        let of_one = |sample: &&Sample| sample.operation == *operation && sample.messages == 1;
        let least = self.0.iter().filter(of_one).map(|sample| sample.bytes).min();
        let of = self.0.iter().filter(of_one).filter(|sample| Some(sample.bytes) == least);
        median(of.map(|sample| sample.time).collect()).unwrap_or(0.0)
    }
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// PRTT(n, d, s) = 2 (o + L + o + G (s-1)) + (n-1) max(o + d, g + G (s-1)), which is Measure's
    /// model without noise.
    #[test]
    fn exact_times_give_the_parameters_back() {
        let [o, latency, g, rate] = [1500.0, 20_000.0, 3000.0, 8.0];
        let mut samples = Samples::default();
        for bytes in [64_u64, 1024, 4096, 16_384] {
            let long = rate * (bytes - 1) as f64;
            for (messages, delay) in [(1, 0.0), (9, 0.0), (9, 400_000.0)] {
                let between = f64::max(o + delay, g + long);
                let way = o + latency + o + long;
                let time = f64::from(messages - 1) * between + 2.0 * way;
                for extra in [0.0, 1.0, 2.0] {
                    samples.trip(messages, delay, bytes, time + extra);
                    samples.sent(bytes, o + extra);
                }
            }
        }
        let rail = samples.fit("x").unwrap();
        let close = |found: u64, expected: f64, unit: f64| {
            let found = found as f64 / unit;
            assert!((found - expected).abs() <= 0.01 * expected + 5.0, "{found} for {expected}");
        };
        close(rail.send_overhead, o, 1024.0);
        close(rail.latency, latency, 1024.0);
        close(rail.gap, g, 1024.0);
        close(rail.gap_per_byte, rate, (1_u64 << 20) as f64);
    }

    /// A loop within a host, where the CPU copies each byte: a message of a row takes 2000 ns and
    /// 0.5 ns/B, and half a round trip 6000 ns and 1 ns/B.
    #[test]
    fn where_bytes_cost_the_cpu_rows_say_what_they_take() {
        let mut samples = Samples::default();
        for bytes in [64_u64, 1024, 8192, 32_768] {
            let [way, message] = [6000.0 + bytes as f64, 2000.0 + 0.5 * bytes as f64];
            for repetition in 0..3 {
                let noise = 10.0 * f64::from(repetition);
                samples.trip(1, 0.0, bytes, 2.0 * way + noise);
                samples.trip(9, 0.0, bytes, 2.0 * way + 8.0 * message + noise);
                samples.trip(9, 40_000.0, bytes, 2.0 * way + 8.0 * (message + 40_000.0) + noise);
                samples.sent(bytes, message);
            }
        }
        let rail = samples.fit("x").unwrap();
        let rate = rail.gap_per_byte as f64 / (1_u64 << 20) as f64;
        assert!((0.45..=0.55).contains(&rate), "{rate}");
        let way = (rail.send_overhead + rail.receive_overhead + rail.latency) >> 10;
        assert!((5800..=6300).contains(&way), "{way}");
    }

    /// A third of the times is longer by up to 10 ms, as if the processor had been taken away.
    #[test]
    fn disturbed_times_are_left_out() {
        let mut samples = Samples::default();
        let mut turn = 0_u32;
        for bytes in [64_u64, 1024, 8192, 32_768] {
            let long = 8.0 * (bytes - 1) as f64;
            for _ in 0..9 {
                turn += 1;
                let late =
                    if turn.is_multiple_of(3) { f64::from(turn * 7 % 11) * 1e6 } else { 0.0 };
                let way = 30_000.0 + long;
                let messages = if bytes <= 1024 { 33 } else { 9 };
                let further = f64::from(messages - 1);
                samples.trip(1, 0.0, bytes, 2.0 * way + late);
                samples.trip(messages, 0.0, bytes, 2.0 * way + further * (3000.0 + long) + late);
                let paused = further * f64::max(401_500.0, 3000.0 + long);
                samples.trip(messages, 400_000.0, bytes, 2.0 * way + paused);
                samples.sent(bytes, 1500.0 + late);
            }
        }
        let rail = samples.fit("x").unwrap();
        let rate = rail.gap_per_byte as f64 / (1_u64 << 20) as f64;
        assert!((7.5..8.5).contains(&rate), "{rate}");
        let way = (rail.send_overhead + rail.receive_overhead + rail.latency) >> 10;
        assert!((28_000..33_000).contains(&way), "{way}");
    }

    /// Single messages of 32 KiB were disturbed each time, so that a further one in a row seems to
    /// take nothing. Rows of 9 show 8 ns/B: 10 * 8 * 24 576 ns between 8 KiB and 32 KiB.
    #[test]
    fn whole_rows_stand_in_for_single_messages() {
        let mut samples = Samples::default();
        for bytes in [64_u64, 1024, 8192, 32_768] {
            let long = 8.0 * (bytes - 1) as f64;
            let messages = if bytes <= 1024 { 33 } else { 9 };
            let late = if bytes == 32_768 { 1e7 } else { 0.0 };
            for _ in 0..4 {
                let row = f64::from(messages - 1) * (3000.0 + long) + 2.0 * (30_000.0 + long);
                samples.trip(1, 0.0, bytes, 2.0 * (30_000.0 + long) + late);
                samples.trip(messages, 0.0, bytes, row);
                samples.sent(bytes, 1500.0);
            }
        }
        assert!((samples.slope_of_whole_rows() - 8.0).abs() < 1e-9);
        let rate = samples.fit("x").unwrap().gap_per_byte as f64 / (1_u64 << 20) as f64;
        assert!((7.5..8.5).contains(&rate), "{rate}");
    }

    #[test]
    fn no_times_are_an_error() {
        let error = Samples::default().fit("x").unwrap_err().to_string();
        assert_eq!(error, "no rows of messages were timed");
    }
}
