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
    pub fn send(&mut self, bytes: u64, time: f64) {
        self.0.push(Sample::simple(Operation::Send, bytes, self.0.len() as u32, time));
    }

    /// Estimates the parameters of the rail of this name. Where Measure's core cannot tell what the
    /// CPU costs from what the interface does, as on a loop within a host, rows of messages say
    /// what a message takes, whatever it waits for.
    pub fn fit(&self, name: &str) -> Result<Rail, Error> {
        let fitted = fit(&self.0, &Options { replicates: REPLICATES });
        let value = |key| fitted.parameters.get(key).map(|estimate| estimate.value);
        let rows = self.rows();
        let (Some(&(least, short)), Some(&(most, long))) = (rows.first(), rows.last()) else {
            return Err(Error::new("no rows of messages were timed"));
        };
        let slope = (long - short) / (most - least).max(1) as f64;
        let rate = value("G").unwrap_or(slope);
        let send = value("o_send").or(value("o")).unwrap_or_else(|| self.least_send());
        let receive = value("o_receive").or(value("o")).unwrap_or(send);
        let way = fitted.one_way.map_or_else(|| self.least_way(), |way| way.value);
        let latency = value("L").unwrap_or(way - send - receive);
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

    /// Returns half of the least round trip, in nanoseconds.
    fn least_way(&self) -> f64 {
        let alone = self
            .0
            .iter()
            .filter(|sample| sample.operation == Operation::RoundTrip && sample.messages == 1);
        alone.map(|sample| sample.time / 2.0).reduce(f64::min).unwrap_or(0.0)
    }

    /// Returns the least time of a send, in nanoseconds.
    fn least_send(&self) -> f64 {
        let sends = self.0.iter().filter(|sample| sample.operation == Operation::Send);
        sends.map(|sample| sample.time).reduce(f64::min).unwrap_or(0.0)
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
                samples.send(bytes, message);
            }
        }
        let rail = samples.fit("x").unwrap();
        let rate = rail.gap_per_byte as f64 / (1_u64 << 20) as f64;
        assert!((0.45..=0.55).contains(&rate), "{rate}");
        let way = (rail.send_overhead + rail.receive_overhead + rail.latency) >> 10;
        assert!((5800..=6300).contains(&way), "{way}");
    }

    #[test]
    fn no_times_are_an_error() {
        let error = Samples::default().fit("x").unwrap_err().to_string();
        assert_eq!(error, "no rows of messages were timed");
    }
}
