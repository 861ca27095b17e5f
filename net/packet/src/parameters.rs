//! The parameters of a network.

use topology::Rate;
use units::{Time, TimePerByte};

use crate::{allocator::Allocation, arbiter::Arbitration};

/// The delay of a stage of a router.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delay {
    /// A number of cycles of the router.
    Cycles(u32),
    /// A time, which is rounded up to whole cycles.
    Time(Time),
}

/// The condition under which a packet may take a virtual channel of the next buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Switching {
    /// The buffer has room for the whole packet (Kermani and Kleinrock, "Virtual cut-through",
    /// 1979).
    CutThrough,
    /// The channel is free; flits wait along the way where there is no room (Dally and Seitz, "The
    /// torus routing chip", 1986).
    Wormhole,
}

/// The occasions on which a host chooses among the routes that a route set offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// Once for each pair of hosts.
    Pair,
    /// For each message.
    Message,
}

/// The rule by which a packet takes one of the channels of its host's link, which are injectors: at
/// the router each has a queue of its own. Where a host has several injection ports these are the
/// injectors, and each message takes one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Injector {
    /// The next one in turn that has room; of ports the next one in turn.
    Next,
    /// Of those that have room the one with most, and of equal ones the next in turn. Of ports that
    /// with the fewest flits before it, at the host and in the queue at the router.
    Shortest,
    /// The channel or port with the number of the port by which the packet leaves its first router,
    /// modulo their number: packets that go on in different directions do not wait for each other
    /// there.
    Direction,
}

/// Most virtual channels of a link.
pub(crate) const MOST_CHANNELS: u32 = 64;

/// The parameters of all routers, hosts and links; a link of the topology may have a rate and a
/// delay of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameters {
    /// Rate of the links.
    pub link: Rate,
    /// Rate of the links of hosts; as the others if `None`.
    pub host_link: Option<Rate>,
    /// Time of flight of the cables.
    pub cable: Time,
    /// Bytes of a flit, the unit of buffers and credits.
    pub flit: u32,
    /// Payload of a full packet in bytes.
    pub mtu: u32,
    /// Headers and checksums of a packet in bytes.
    pub header: u32,
    /// Cycles of a router in the time of a flit on a link.
    pub speed_up: u32,
    /// Route computation.
    pub route: Delay,
    /// Virtual-channel allocation: a cycle at least.
    pub vc_allocation: Delay,
    /// Switch allocation: a cycle at least.
    pub switch_allocation: Delay,
    /// Switch traversal.
    pub traversal: Delay,
    /// From when a flit has left a buffer to when its credit is on the cable.
    pub credit: Delay,
    /// From when a message enters its host's interface to when its first flit may be on the link.
    pub injection: Delay,
    /// Time of a byte in a host's memory; `None` if it takes none.
    pub memory: Option<TimePerByte>,
    /// Time of a byte in a host's DMA engine; `None` if it takes none.
    pub dma: Option<TimePerByte>,
    /// Time of a byte in a host's channel adapter; `None` if it takes none.
    pub adapter: Option<TimePerByte>,
    /// Virtual channels of a link; as many as the routing has lanes if `None`.
    pub channels: Option<u32>,
    /// Buffer behind a link, in flits per virtual channel; the round trip of a credit over the
    /// longest link and a packet if `None`.
    pub buffer: Option<u32>,
    /// Flits that may wait in a router's output port for the link.
    pub output_buffer: u32,
    /// The condition under which a packet may take a virtual channel.
    pub switching: Switching,
    /// The allocator of virtual channels.
    pub vc_allocator: Allocation,
    /// The allocator of the switch.
    pub switch_allocator: Allocation,
    /// Rounds of an allocation in a cycle.
    pub iterations: u32,
    /// The arbiters in both allocators.
    pub arbiter: Arbitration,
    /// In-transit priority: the probability with which, at an arbitration for an output channel,
    /// packets from hosts compete only if no packet in transit does (see
    /// `router/injection_control.rs`).
    pub transit_priority: f64,
    /// Local buffer restriction: packets for which the local buffer of a ring must have room before
    /// a packet from a host may take a channel of an adaptive routing.
    pub local_buffer: u32,
    /// The time for which a packet at the head of an input channel must have waited for an output
    /// channel before the two rules above apply in its router; always if `None`.
    pub congested_after: Option<Time>,
    /// Global threshold: the share of all buffers between routers beyond which, when it is full, no
    /// packet of a host enters the network; `None` for no limit.
    pub threshold: Option<f64>,
    /// The time between two words of routers about how full their buffers are; the longest way of a
    /// credit if `None`.
    pub threshold_update: Option<Time>,
    /// The rule by which a packet takes one of the channels of its host's link, or a message one of
    /// several injection ports.
    pub injector: Injector,
    /// The links side by side by which a host sends, each with one queue at its router; 1 for the
    /// link of the topology.
    pub injection_ports: u32,
    /// The links side by side by which a host receives.
    pub ejection_ports: u32,
    /// The occasions on which routes are chosen at the source.
    pub choice: Choice,
    /// True if messages of a pair of hosts are delivered in the order in which they enter.
    pub ordered: bool,
    /// Seed of all that is random: choices and random arbiters.
    pub seed: u64,
}

/// Why a set of parameters makes no network.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Invalid {
    /// A buffer smaller than a packet under cut-through.
    #[error(
        "a buffer of {flits} flits cannot hold a packet of {packet}: under virtual cut-through \
         nothing could be sent"
    )]
    Buffer {
        /// Its size.
        flits: u32,
        /// Flits of a full packet.
        packet: u32,
    },
    /// A buffer smaller than two packets under bubble flow control.
    #[error(
        "a buffer of {flits} flits cannot hold two packets of {packet}: under bubble flow control \
         nothing could enter a ring"
    )]
    Bubble {
        /// Size of the buffer.
        flits: u32,
        /// Flits of a full packet.
        packet: u32,
    },
    /// Bubble flow control where buffers hold parts of packets.
    #[error("bubble flow control needs switching = \"cut-through\"")]
    Wormhole,
    /// A packet without payload or of too many flits.
    #[error(
        "a packet of {mtu} bytes of payload and {header} of headers has {packet} flits of {flit} \
         bytes; it must have a payload and at most 65535 flits"
    )]
    Packet {
        /// Payload.
        mtu: u32,
        /// Headers.
        header: u32,
        /// Bytes of a flit.
        flit: u32,
        /// Flits of all.
        packet: u32,
    },
    /// A time per flit that is zero or longer than 16 us.
    #[error("a flit takes {time} on {link}; it must be 1 ps to 16 us, and a cycle at least 1 ps")]
    Pace {
        /// The link.
        link: &'static str,
        /// The time.
        time: Time,
    },
    /// A probability that is none.
    #[error("ipr is not a probability from 0 to 1")]
    Priority,
    /// A time-out without a rule that it arms.
    #[error("congested-after arms ipr and lbr, and neither is set")]
    Unarmed,
    /// Words about buffers that nobody needs.
    #[error("threshold-update is the pace of threshold, which is not set")]
    NoThreshold,
    /// A share that is none.
    #[error("threshold is not a share from 0 to 1")]
    Threshold,
    /// Words of routers without a pause.
    #[error("threshold-update is {time}; it must be a cycle of {cycle} at least")]
    Update {
        /// The time between two words.
        time: Time,
        /// A cycle of a router.
        cycle: Time,
    },
    /// A local buffer that never has so much room.
    #[error("a buffer of {flits} flits never has room for {packets} packets of {packet} flits")]
    LocalBuffer {
        /// Its size.
        flits: u32,
        /// The packets for which it is to have room.
        packets: u32,
        /// Flits of a full packet.
        packet: u32,
    },
    /// A part of a host in which a flit takes longer than 16 us.
    #[error("a flit takes {time} by {key}; it must be at most 16 us")]
    Slow {
        /// The name of the parameter.
        key: &'static str,
        /// The time.
        time: Time,
    },
    /// A delay of more than a second: sums of them would leave the range of time.
    #[error("{key} is {time}; it must be at most 1 s")]
    Delay {
        /// The name of the parameter.
        key: &'static str,
        /// The time.
        time: Time,
    },
    /// An allocation that takes no time.
    #[error("{key} is 0; an allocation takes a cycle at least")]
    Instant {
        /// The name of the parameter.
        key: &'static str,
    },
    /// A number outside of its range.
    #[error("{key} is {value}; it must be {least} to {most}")]
    Range {
        /// The name of the parameter.
        key: &'static str,
        /// Its value.
        value: u32,
        /// The least value that it may have.
        least: u32,
        /// The largest one.
        most: u32,
    },
    /// More ports or channels of ejection than have numbers.
    #[error(
        "with several links for each host a device has {ports} ports, and a host {channels} \
         channels to receive by; they must be at most 65535 and 255"
    )]
    Bundle {
        /// The most ports of a device.
        ports: usize,
        /// Channels of the ejection ports of a host.
        channels: u32,
    },
    /// Fewer channels than the routing needs.
    #[error("there are {channels} virtual channels, and the routing needs {lanes}")]
    Channels {
        /// Virtual channels of a link.
        channels: u32,
        /// Lanes of the routing.
        lanes: u32,
    },
}

impl Delay {
    /// The delay in picoseconds for a router whose cycle takes so many.
    #[inline]
    pub fn ps(self, cycle: u64) -> u64 {
        match self {
            Self::Cycles(cycles) => u64::from(cycles).saturating_mul(cycle),
            Self::Time(time) => time.ps().div_ceil(cycle.max(1)).saturating_mul(cycle),
        }
    }
}

/// The time of a flit of so many bytes at a rate, rounded to the nearest picosecond.
pub(crate) fn flit_time(rate: Rate, flit: u32) -> Time {
    let cost = rate.bandwidth().time_per_byte().map(|time| time.cost(flit.into()));
    cost.unwrap_or(Time::MAX)
}

pub(crate) fn is_pace(time: Time) -> bool {
    (1..1 << 24).contains(&time.ps())
}

/// Returns true if a time of flight or of a stage is one that a network may have.
pub(crate) fn is_delay(time: Time) -> bool {
    time <= Time::from_ps(1_000_000_000_000)
}

impl Parameters {
    /// Time of one cycle of the routers in picoseconds.
    pub fn cycle(&self) -> u64 {
        let flit = flit_time(self.link, self.flit).ps();
        (flit / u64::from(self.speed_up.max(1))).max(1)
    }

    /// Time of a head in a router that nothing delays.
    pub fn pipeline(&self) -> Time {
        let stages = [self.route, self.vc_allocation, self.switch_allocation, self.traversal];
        let cycle = self.cycle();
        Time::from_ps(stages.iter().fold(0, |sum, stage| stage.ps(cycle).saturating_add(sum)))
    }

    /// The times of a flit in a host's memory, DMA engine and channel adapter.
    pub fn node(&self) -> [Time; 3] {
        let cost =
            |time: Option<TimePerByte>| time.map_or(Time::ZERO, |time| time.cost(self.flit.into()));
        [self.memory, self.dma, self.adapter].map(cost)
    }

    /// Flits of a packet with this payload.
    pub const fn flits(&self, payload: u32) -> u32 {
        let flits = payload.saturating_add(self.header).div_ceil(self.flit);
        if flits == 0 { 1 } else { flits }
    }

    /// Packets of a message and the flits of all of them: an empty message is one packet.
    pub fn message_flits(&self, bytes: u64) -> (u64, u64) {
        let mtu = u64::from(self.mtu).max(1);
        let full = bytes.saturating_sub(1) / mtu;
        let last = self.flits((bytes - full * mtu) as u32);
        let flits = full.saturating_mul(self.flits(self.mtu).into());
        (full + 1, flits.saturating_add(last.into()))
    }

    /// Everything that is wrong with the parameters for a route set of `lanes` lanes.
    pub fn check(&self, lanes: u8) -> Vec<Invalid> {
        let mut wrong = Vec::new();
        let Self { mtu, header, flit, .. } = *self;
        let ranges = [
            ("flit", flit, 1, 1 << 16),
            ("speed-up", self.speed_up, 1, 64),
            ("channels", self.channels.unwrap_or(1), 1, MOST_CHANNELS),
            ("iterations", self.iterations, 1, 64),
            ("buffer", self.buffer.unwrap_or(1), 1, 1 << 24),
            ("output-buffer", self.output_buffer, 1, 1 << 24),
            ("injection-ports", self.injection_ports, 1, 64),
            ("ejection-ports", self.ejection_ports, 1, 64),
        ];
        let outside =
            ranges.into_iter().filter(|(_, value, least, most)| !(least..=most).contains(&value));
        wrong.extend(outside.map(|(key, value, least, most)| Invalid::Range {
            key,
            value,
            least,
            most,
        }));
        self.check_rules(&mut wrong);
        if flit == 0 {
            return wrong;
        }
        let packet = self.flits(mtu);
        if mtu == 0 || packet > u16::MAX.into() {
            wrong.push(Invalid::Packet { mtu, header, flit, packet });
        }
        if let Some(flits) = self.buffer
            && self.switching == Switching::CutThrough
            && flits < packet
        {
            wrong.push(Invalid::Buffer { flits, packet });
        }
        let time = flit_time(self.link, flit);
        if !is_pace(time) || time.ps() < self.speed_up.into() {
            wrong.push(Invalid::Pace { link: "a link", time });
        }
        let keys = ["memory-rate", "dma-rate", "hca-rate"];
        let host_link = self.host_link.map(|rate| ("host-link", flit_time(rate, flit)));
        let parts = keys.into_iter().zip(self.node()).chain(host_link);
        let slow = parts.filter(|(_, time)| time.ps() >= 1 << 24);
        wrong.extend(slow.map(|(key, time)| Invalid::Slow { key, time }));
        self.check_delays(&mut wrong);
        if let Some(channels) = self.channels
            && channels < lanes.into()
        {
            wrong.push(Invalid::Channels { channels, lanes: lanes.into() });
        }
        wrong
    }

    /// Checks the rules of injection control.
    fn check_rules(&self, wrong: &mut Vec<Invalid>) {
        if !(0.0..=1.0).contains(&self.transit_priority) {
            wrong.push(Invalid::Priority);
        }
        if self.threshold.is_some_and(|share| !(0.0..=1.0).contains(&share)) {
            wrong.push(Invalid::Threshold);
        }
        if self.threshold.is_none() && self.threshold_update.is_some() {
            wrong.push(Invalid::NoThreshold);
        }
        let armed = self.transit_priority > 0.0 || self.local_buffer > 0;
        if self.congested_after.is_some() && !armed {
            wrong.push(Invalid::Unarmed);
        }
    }

    fn check_delays(&self, wrong: &mut Vec<Invalid>) {
        let cycle = self.cycle();
        let stages = [
            ("route-delay", self.route),
            ("vc-allocation-delay", self.vc_allocation),
            ("switch-allocation-delay", self.switch_allocation),
            ("traversal-delay", self.traversal),
            ("credit-delay", self.credit),
            ("injection-delay", self.injection),
        ];
        let times = stages.map(|(key, delay)| (key, Time::from_ps(delay.ps(cycle))));
        let update = self.threshold_update.map(|time| ("threshold-update", time));
        let long = times.into_iter().chain([("cable", self.cable)]).chain(update);
        let long = long.filter(|&(_, time)| !is_delay(time));
        wrong.extend(long.map(|(key, time)| Invalid::Delay { key, time }));
        let instant = times[1..3].iter().filter(|(_, time)| *time == Time::ZERO);
        wrong.extend(instant.map(|&(key, _)| Invalid::Instant { key }));
        let cycle = Time::from_ps(cycle);
        let short = self.threshold_update.filter(|&time| time < cycle);
        wrong.extend(short.map(|time| Invalid::Update { time, cycle }));
    }
}
