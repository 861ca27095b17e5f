//! Timelines in the JSON format of Chrome's tracing, which Perfetto, Speedscope and others read.
//!
//! Each rank is a process of the trace, and each of its CPUs a thread with an event for each busy
//! period. A flow leads from the start of a message's send to the start of its receive, where both
//! were recorded. A link of the network is a counter of its use in percent, where the network tells
//! of it. Times are microseconds with six decimals, so that they are exact. Events of a CPU stand
//! in the order of time.
//!
//! Source: "Trace Event Format", Google, revision of October 2016.

use std::io::{self, Write};

use host::Activity;
use units::Time;

use crate::Recorded;

/// Writes a timeline of the first `ranks` ranks.
pub fn write_chrome(out: &mut impl Write, ranks: u32, recorded: &Recorded) -> io::Result<()> {
    write!(out, "{{\"displayTimeUnit\":\"ns\",\"traceEvents\":[")?;
    let mut separator = "\n";
    let mut event = |out: &mut dyn Write, text: &str| {
        let result = write!(out, "{separator}{{{text}}}");
        separator = ",\n";
        result
    };
    for rank in 0..ranks {
        let name = format!("\"args\":{{\"name\":\"rank {rank}\"}}");
        event(out, &format!("\"ph\":\"M\",\"name\":\"process_name\",\"pid\":{rank},{name}"))?;
        let order = format!("\"args\":{{\"sort_index\":{rank}}}");
        event(
            out,
            &format!("\"ph\":\"M\",\"name\":\"process_sort_index\",\"pid\":{rank},{order}"),
        )?;
    }
    for slice in &recorded.slices {
        let place = format!("\"pid\":{},\"tid\":{}", slice.rank, slice.cpu);
        let (start, length) = (slice.start, slice.end.saturating_sub(slice.start));
        let (name, flow) = match slice.activity {
            Activity::Compute => ("compute", None),
            Activity::Send => ("send", Some("\"ph\":\"s\"")),
            Activity::Receive => ("receive", Some("\"ph\":\"f\",\"bp\":\"e\"")),
        };
        let known = slice.message.and_then(|id| Some((id, recorded.messages.get(id as usize)?)));
        let about = known.map_or_else(String::new, |(id, message)| {
            format!(
                ",\"args\":{{\"message\":{id},\"source\":{},\"destination\":{},\"bytes\":{}}}",
                message.source, message.destination, message.size
            )
        });
        let times = format!("\"ts\":{},\"dur\":{}", micros(start), micros(length));
        event(out, &format!("\"ph\":\"X\",\"name\":\"{name}\",{place},{times}{about}"))?;
        if let (Some((id, _)), Some(kind)) = (known, flow) {
            let flow = format!("{kind},\"name\":\"message\",\"cat\":\"message\",\"id\":{id}");
            event(out, &format!("{flow},{place},\"ts\":{}", micros(start)))?;
        }
    }
    for link in &recorded.links {
        let name = serde_json::Value::from(link.name.as_str());
        for &(at, load) in &link.loads {
            let percent = link.share(load) * 100.0;
            let place = format!("\"pid\":{ranks},\"ts\":{}", micros(at));
            let value = format!("\"args\":{{\"percent\":{percent:.3}}}");
            event(out, &format!("\"ph\":\"C\",\"name\":{name},{place},{value}"))?;
        }
    }
    writeln!(out, "\n]}}")
}

/// Microseconds with six decimals.
fn micros(time: Time) -> String {
    const PER_MICROSECOND: u64 = 1_000_000;
    format!("{}.{:06}", time.ps() / PER_MICROSECOND, time.ps() % PER_MICROSECOND)
}
