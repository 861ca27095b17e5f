//! The times of a message that is alone in the network, as a closed form.

use ::network::Uncontended;
use topology::Header;
use units::Time;

use crate::{Fabric, parameters::FLIT};

impl Fabric {
    /// The times of a message on an idle network whose sinks do not pause and whose buffers cover
    /// the round trips of its path, by the closed form of a chain of stages: the head's way, and
    /// then the pace of the slowest of generator, crossbars, links and sink for each further flit.
    ///
    /// `None` if the route does not lead there.
    pub fn uncontended(&self, header: &Header, bytes: u64) -> Option<Uncontended> {
        let parameters = &self.parameters;
        if header.source == header.destination {
            return Some(Uncontended::default());
        }
        let (_, flits) = parameters.message_flits(bytes);
        let sink = parameters.sink.ps();
        let mut head = 0_u64;
        let mut leaving = parameters.generator.ps();
        let mut slowest = leaving.max(sink);
        self.walk(header, |device, _, link| {
            head += link.cable;
            slowest = slowest.max(link.flit.into());
            if self.is_host(device) {
                leaving = leaving.max(link.flit.into());
            } else {
                head += parameters.latency_in.ps() + parameters.latency_out.ps();
                slowest = slowest.max(parameters.crossbar.map_or(0, Time::ps));
            }
        })?;
        // A message of one short flit takes its part of the sink's pace.
        let short = (bytes + u64::from(parameters.header)).min(FLIT.into());
        let last = match flits {
            1 => (sink * short + u64::from(FLIT) / 2) / u64::from(FLIT),
            _ => sink,
        };
        let time = |per_flit: u64| Time::from_ps(per_flit.saturating_mul(flits));
        Some(Uncontended {
            latency: Time::from_ps(head),
            transit: Time::from_ps((flits - 1).saturating_mul(slowest).saturating_add(head + last)),
            leaving: time(leaving),
            draining: if flits == 1 { Time::from_ps(last) } else { time(sink) },
        })
    }
}
