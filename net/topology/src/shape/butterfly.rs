//! Butterflies: stages of switches that packets pass in one direction.
//!
//! Source: Dally and Towles, "Principles and Practices of Interconnection Networks", 2004, chapter
//! 4. A k-ary n-fly joins k^n hosts by n stages of k^(n-1) switches. A host sends into the first
//! stage by port 0 and receives from the last by port 1. Ports of a switch: k inputs, then k
//! outputs. Links carry data towards the later stage only; what runs the other way is credits.
//!
//! Between two stages output j of a switch leads to the switch whose number has j in place of one
//! digit: the highest one after the first stage, the next lower one after the second, and so on.

use super::{LIMIT, Plan, Shape, Size, Topology, product};
use crate::{Fault, Faults};

/// A k-ary n-fly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Butterfly {
    /// Inputs and outputs of a switch, k.
    pub radix: u32,
    /// Stages, n.
    pub stages: u32,
}

impl Butterfly {
    /// Number of switches of a stage.
    pub const fn width(self) -> u32 {
        self.radix.pow(self.stages - 1)
    }

    fn check(self) -> Result<(), Fault> {
        let Self { radix, stages } = self;
        if radix == 0 || stages == 0 {
            return Err(Fault::new("a butterfly's k and n start at 1"));
        }
        let levels = std::iter::repeat_n(radix, stages.min(64) as usize);
        let ports = product(levels.chain([2, stages]), LIMIT);
        if ports.is_none() || stages > 64 || 2 * radix > u16::MAX.into() {
            return Err(Fault::new("this butterfly is too large"));
        }
        Ok(())
    }

    /// The numbers of hosts, switches and links: those of a host are two, and so many are between
    /// two stages as there are hosts.
    pub(super) fn size(self) -> Result<Size, Fault> {
        self.check()?;
        let Self { radix, stages } = self;
        let hosts = self.width() * radix;
        let links = u64::from(hosts) * u64::from(stages + 1);
        Ok(Size::new((hosts, 2), [(self.width() * stages, 2 * radix)], links))
    }

    /// Hosts, switches and links.
    pub fn build(self) -> Result<Topology, Faults> {
        self.check()?;
        let Self { radix, stages } = self;
        let width = self.width();
        let hosts = width * radix;
        let mut plan = Plan::new(hosts, 2);
        for stage in 0..stages {
            for switch in 0..width {
                plan.switch(format!("s{stage}.{switch}"), 2 * radix as u16);
            }
        }
        for host in 0..hosts {
            let last = (stages - 1) * width;
            plan.link((host, 0), (plan.at(host / radix), host % radix));
            plan.link((host, 1), (plan.at(last + host / radix), radix + host % radix));
        }
        for stage in 1..stages {
            let digit = radix.pow(stages - stage - 1);
            for switch in 0..width {
                let own = switch / digit % radix;
                for input in 0..radix {
                    let before = switch - own * digit + input * digit;
                    let from = plan.at((stage - 1) * width + before);
                    plan.link((from, radix + own), (plan.at(stage * width + switch), input));
                }
            }
        }
        plan.build(Shape::Butterfly(self))
    }
}
