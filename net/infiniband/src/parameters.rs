//! The parameters of a network.

use topology::Rate;
use units::Time;

use crate::{arbiter::Tables, congestion::Control, losses::Losses, sink::Hiccups};

/// Bytes of a flit; credits count flits.
pub const FLIT: u32 = 64;

/// The way in which a host chooses among the routes that a route set offers at the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// Once for each pair of hosts and service level, which keeps messages in order.
    Pair,
    /// For each message: messages of one pair may overtake each other.
    Message,
}

/// The parameters of all devices and links; a link of the topology may have a rate and a delay of
/// its own.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameters {
    /// Rate of the links.
    pub link: Rate,
    /// Time of flight of the cables.
    pub cable: Time,
    /// Time in a switch before a head can be arbitrated: lookup and crossbar request.
    pub latency_in: Time,
    /// Time in a switch after arbitration, before a head is on the cable.
    pub latency_out: Time,
    /// Time from when a flit leaves an input buffer to when its credit is on the cable.
    pub credit_delay: Time,
    /// True if a short last flit takes the time of a full one; if not, it takes the time of its
    /// bytes.
    pub padded: bool,
    /// Time from one flow-control packet of a port to the next; 0 if they take no time on the link.
    pub update: Time,
    /// Time of one flit through the crossbar; that of the output's link if `None`.
    pub crossbar: Option<Time>,
    /// The number of packets that may leave one input port at once.
    pub max_being_sent: u16,
    /// Input buffer of a switch port, in flits per lane.
    pub buffer: u32,
    /// Input buffer of a host, in flits per lane.
    pub host_buffer: u32,
    /// Output buffer of a switch port, in flits.
    pub output_buffer: u32,
    /// Payload of a full packet in bytes.
    pub mtu: u32,
    /// Headers and checksums of a packet in bytes.
    pub header: u32,
    /// Time of one flit out of a host's memory; that of its link if that is longer.
    pub generator: Time,
    /// Time of one flit into a host's memory.
    pub sink: Time,
    /// Pauses of the hosts' sinks.
    pub hiccups: Hiccups,
    /// Tables of the virtual lane arbiters; equal shares for all lanes if `None`.
    pub arbiter: Option<Tables>,
    /// True if messages are acknowledged; where packets get lost, they always are.
    pub acknowledge: bool,
    /// Losses, if packets get lost.
    pub losses: Option<Losses>,
    /// Congestion control, if it is on.
    pub congestion: Option<Control>,
    /// The choice of routes at the source.
    pub choice: Choice,
    /// Seed of what is random: choices and the lengths of pauses.
    pub seed: u64,
}

/// Why a set of parameters makes no network.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Invalid {
    /// A buffer smaller than a packet.
    #[error(
        "{key} holds {flits} flits, less than one packet of {packet} flits: nothing could be sent"
    )]
    Buffer {
        /// The name of the parameter.
        key: &'static str,
        /// Its size.
        flits: u32,
        /// Flits of a full packet.
        packet: u32,
    },
    /// A packet of no or too many flits.
    #[error(
        "a packet of {mtu} bytes of payload and {header} of headers has {packet} flits; it must \
         have 1 to 255, and a payload"
    )]
    Packet {
        /// Payload.
        mtu: u32,
        /// Headers.
        header: u32,
        /// Flits of both.
        packet: u32,
    },
    /// A time per flit that is zero or longer than 16 us.
    #[error("{key} takes {time} per flit of 64 bytes; it must be 1 ps to 16 us")]
    Pace {
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
    /// Pauses that leave no time between them.
    #[error(
        "a pause of {pause} every {period} leaves no time to receive, or the poll after it always \
         falls into another"
    )]
    Hiccups {
        /// Mean length.
        pause: Time,
        /// Period.
        period: Time,
    },
    /// A lane that no arbitration table serves.
    #[error(
        "the route set uses {lanes} lanes, but lane {lane} has no weight in either arbitration \
         table"
    )]
    Unserved {
        /// Lanes in use.
        lanes: u8,
        /// The one without a share.
        lane: u8,
    },
    /// More lanes than there are.
    #[error("the route set uses {lanes} lanes; InfiniBand has 15 for data")]
    Lanes {
        /// Lanes in use.
        lanes: u8,
    },
    /// A value that the standard does not have.
    #[error("{key} is {value}; the largest is {largest}")]
    Control {
        /// The name of the parameter.
        key: &'static str,
        /// Its value.
        value: u64,
        /// The largest value that it may have.
        largest: u64,
    },
    /// A probability that is none.
    #[error("{key} is {value}; a probability is a number from 0 to 1")]
    Probability {
        /// The name of the parameter.
        key: &'static str,
        /// Its value.
        value: String,
    },
    /// A reliable connection whose packets could overtake each other.
    #[error(
        "where packets get lost, all messages of a pair of hosts must take one route: a packet \
         that overtakes another one looks like a loss"
    )]
    Overtaking,
    /// A time-out that is over before anything can have been answered.
    #[error("ack-timeout is {time}; it must be at least 1 ns and at most 8796 s")]
    Timeout {
        /// The time.
        time: Time,
    },
    /// No packet may ever leave an input port.
    #[error("max-being-sent is 0: no packet could leave an input port")]
    BeingSent,
}

impl Parameters {
    /// Flits of a full packet.
    pub fn packet_flits(&self) -> u32 {
        self.mtu.saturating_add(self.header).div_ceil(FLIT)
    }

    /// The time that a last flit of `last` bytes saves on a link of `flit` per flit.
    #[inline]
    pub(crate) const fn short(&self, flit: u32, last: u8) -> u64 {
        let bytes = FLIT.saturating_sub(last as u32);
        if self.padded { 0 } else { flit as u64 * bytes as u64 / FLIT as u64 }
    }

    /// Packets of a message and the flits of all of them: an empty message is one packet of
    /// headers.
    pub fn message_flits(&self, bytes: u64) -> (u64, u64) {
        let mtu = u64::from(self.mtu).max(1);
        let flits = |payload: u64| (payload + u64::from(self.header)).div_ceil(FLIT.into());
        let full = bytes.saturating_sub(1) / mtu;
        (full + 1, full.saturating_mul(flits(mtu)).saturating_add(flits(bytes - full * mtu)))
    }

    /// Everything that is wrong with the parameters for a route set of `lanes` lanes.
    pub fn check(&self, lanes: u8) -> Vec<Invalid> {
        let mut wrong = Vec::new();
        let packet = self.packet_flits();
        if self.mtu == 0 || self.header == 0 || packet > 255 {
            let (mtu, header) = (self.mtu, self.header);
            wrong.push(Invalid::Packet { mtu, header, packet });
        }
        let buffers = [
            ("buffer", self.buffer),
            ("host-buffer", self.host_buffer),
            ("output-buffer", self.output_buffer),
        ];
        let small = buffers.into_iter().filter(|&(_, flits)| flits < packet);
        wrong.extend(small.map(|(key, flits)| Invalid::Buffer { key, flits, packet }));
        let paces = [
            ("link", flit_time(self.link)),
            ("generator", self.generator),
            ("sink", self.sink),
            ("crossbar", self.crossbar.unwrap_or(Time::from_ps(1))),
        ];
        let off = paces.into_iter().filter(|&(_, time)| !is_pace(time));
        wrong.extend(off.map(|(key, time)| Invalid::Pace { key, time }));
        let delays = [
            ("cable", self.cable),
            ("latency-in", self.latency_in),
            ("latency-out", self.latency_out),
            ("credit-delay", self.credit_delay),
            ("update", self.update),
        ];
        let long = delays.into_iter().filter(|&(_, time)| !is_delay(time));
        wrong.extend(long.map(|(key, time)| Invalid::Delay { key, time }));
        let Hiccups { period, pause, .. } = self.hiccups;
        if !self.hiccups.leave_time() {
            let [pause, period] = [pause, period].map(Time::from_ps);
            wrong.push(Invalid::Hiccups { pause, period });
        }
        if self.max_being_sent == 0 {
            wrong.push(Invalid::BeingSent);
        }
        if lanes > 15 {
            wrong.push(Invalid::Lanes { lanes });
        }
        if let Some(tables) = &self.arbiter {
            let shares = || tables.high.iter().chain(&tables.low);
            let highest = shares().map(|share| share.lane).max().unwrap_or(0);
            if highest > 14 {
                let (key, value) = ("a lane of the arbitration tables", highest.into());
                wrong.push(Invalid::Control { key, value, largest: 14 });
            }
            let served = |&lane: &u8| shares().any(|s| s.lane == lane && s.weight > 0);
            wrong.extend(
                (0..lanes).filter(|l| !served(l)).map(|lane| Invalid::Unserved { lanes, lane }),
            );
        }
        wrong.extend(self.congestion.iter().flat_map(control));
        wrong.extend(self.losses.iter().flat_map(|losses| check_losses(losses, self.choice)));
        wrong
    }
}

fn control(control: &Control) -> Vec<Invalid> {
    let shift = control.table.iter().map(|entry| entry.shift).max().unwrap_or(0);
    let multiplier = control.table.iter().map(|entry| entry.multiplier).max().unwrap_or(0);
    let limits = [
        ("threshold", u64::from(control.threshold), 15),
        ("a shift of the table", shift.into(), 3),
        ("a multiplier of the table", multiplier.into(), 16383),
        ("CCTI_Min", control.min.into(), control.limit.into()),
    ];
    let beyond = limits.into_iter().filter(|&(_, value, largest)| value > largest);
    beyond.map(|(key, value, largest)| Invalid::Control { key, value, largest }).collect()
}

/// The range of time-outs: up to 4.096 us * 2^31, the longest of the standard.
const TIMEOUTS: std::ops::RangeInclusive<u64> = 1_000..=4_096_000 << 31;

fn check_losses(losses: &Losses, choice: Choice) -> Vec<Invalid> {
    let mut wrong = Vec::new();
    for (key, value) in [("loss", losses.packet), ("bit-error-rate", losses.bit)] {
        if !(0.0..=1.0).contains(&value) {
            wrong.push(Invalid::Probability { key, value: value.to_string() });
        }
    }
    if choice == Choice::Message {
        wrong.push(Invalid::Overtaking);
    }
    let time = losses.ack_timeout;
    if !TIMEOUTS.contains(&time.ps()) {
        wrong.push(Invalid::Timeout { time });
    }
    if losses.retry_count > 7 {
        let value = losses.retry_count.into();
        wrong.push(Invalid::Control { key: "retry-count", value, largest: 7 });
    }
    wrong
}

pub(crate) fn is_pace(time: Time) -> bool {
    (1..1 << 24).contains(&time.ps())
}

/// Returns true if a time of flight or of a switch is one that a network may have.
pub(crate) fn is_delay(time: Time) -> bool {
    time <= Time::from_ps(1_000_000_000_000)
}

/// The time of one flit at a rate, rounded to the nearest picosecond: exact for all but FDR
/// (9386.67 ps at 4x becomes 9387) and rates given as numbers.
pub fn flit_time(rate: Rate) -> Time {
    let cost = rate.bandwidth().time_per_byte().map(|time| time.cost(FLIT.into()));
    cost.unwrap_or(Time::MAX)
}
