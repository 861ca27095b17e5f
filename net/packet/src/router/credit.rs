//! Credits: the room in the next buffers, as it becomes known.

use network::Record;
use units::Time;

use super::{NEVER, NONE, Router};
use crate::{fabric::Fabric, model::Out, signal::Signal};

impl Router {
    /// A flit of an input channel leaves its buffer: the device before gets the credit.
    pub(super) fn return_credit<O: Out>(&self, net: &Fabric, now: u64, input: u32, out: &mut O) {
        let Some((link, channel)) = self.link_before(net, input) else { return };
        let at = now + net.delays.switch_allocation + net.delays.credit + link.cable;
        out.send(link.peer, Time::from_ps(at), Signal::Credit { port: link.plug, channel });
    }

    /// The buffer behind an output channel has room for a flit more.
    pub(super) fn credit<O: Out>(
        &mut self,
        net: &Fabric,
        now: u64,
        (port, channel): (u16, u8),
        out: &mut O,
    ) {
        let number = self.number(port, channel);
        let Some(output) = self.outputs.get_mut(number as usize) else { return };
        output.credits += 1;
        let (owner, from) = (output.owner, std::mem::replace(&mut output.stalled, NEVER));
        if O::LISTENS && from != NEVER && from < now {
            let record = Record::Stalled { port, lane: channel, from: Time::from_ps(from) };
            out.record(Time::from_ps(now), record);
        }
        if from != NEVER && owner != NONE {
            self.refresh(owner, now);
            self.wake(net, now);
        } else if owner == NONE && !self.asking.is_empty() && net.needed(1) > 0 {
            self.grantable = true;
            self.wake(net, now);
        }
    }
}
