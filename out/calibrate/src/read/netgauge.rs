//! The output file of Netgauge's pattern `loggp`: medians of PRTT(1, 0, s), PRTT(n, 0, s) and
//! PRTT(n, d, s) with d = PRTT(1, 0, s), in microseconds, and its own estimates, of which only the
//! receiver's overhead is used, since that was measured by itself.
//!
//! Source: the header that Netgauge writes into the file.

use super::{Mistake, Reading, collected, positive, rows, size};
use crate::samples::{Operation, Sample};

pub fn read(text: &str) -> Result<Reading, Vec<Mistake>> {
    let header = text.lines().find(|line| line.contains("PRTT(1,0,s)")).unwrap_or_default();
    // The comment sign stands before the first name.
    let receiver = header.split_whitespace().position(|name| name == "o_r").map(|place| place - 1);
    let lines = collected(rows(text).map(|(line, fields)| {
        let bytes = size(line, fields.first().unwrap_or(&""))?;
        let messages = fields.get(1).and_then(|text| text.parse::<u32>().ok());
        let messages = messages.filter(|n| (2..1 << 24).contains(n)).ok_or_else(|| {
            Mistake::new(line, "expected a number of messages, at least 2, behind the size")
        })?;
        let time = |place: usize| {
            Ok::<_, Mistake>(1000.0 * positive(line, "a round trip time", fields.get(place))?)
        };
        let (single, train, delayed) = (time(2)?, time(3)?, time(4)?);
        let trip = |messages, delay, time| Sample {
            messages,
            delay,
            ..Sample::simple(Operation::RoundTrip, bytes, 0, time)
        };
        let mut samples =
            vec![trip(1, 0.0, single), trip(messages, 0.0, train), trip(messages, single, delayed)];
        let overhead = receiver.and_then(|place| fields.get(place)?.parse::<f64>().ok());
        // Netgauge's difference of two times can be negative.
        let overhead = overhead.filter(|us| *us > 0.0 && us.is_finite());
        samples.extend(
            overhead.map(|us| Sample::simple(Operation::ReceiveBusy, bytes, 0, us * 1000.0)),
        );
        Ok(samples)
    }))?;
    let note = "Netgauge keeps medians only: intervals are from their scatter about the lines; its \
                own L, o_s, g and G are not used";
    Ok(Reading { samples: lines.concat(), notes: vec![note.to_owned()] })
}
