//! Congestion control: InfiniBand Architecture Specification, volume 1, annex A10.
//!
//! A switch marks packets (FECN) that leave by a port whose queue is above a threshold; the
//! receiver tells the source (BECN), in a packet of its own or in an acknowledgement; the source
//! then waits between the packets of that flow. How long is an entry of a table (CCT), whose index
//! (CCTI) each BECN raises and a timer lowers.

use units::Time;

/// The ports that mark packets though they are themselves held up by what is behind them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Victims {
    /// Only roots of congestion mark: ports that have credits and still cannot keep up.
    None,
    /// Ports to hosts mark also without credits: behind them there is nobody to do it instead.
    Hosts,
    /// All ports mark.
    All,
}

/// The owner of a congestion control table index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// A queue pair: one destination and service level.
    QueuePair,
    /// A port's service level: all its destinations wait alike.
    ServiceLevel,
}

/// An entry of the congestion control table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delay {
    /// 0 to 3.
    pub shift: u8,
    /// 0 to 16383.
    pub multiplier: u16,
}

impl Delay {
    /// The injection rate delay after a packet that takes `packet` picoseconds to send:
    /// `packet * multiplier / 2^shift`, rounded down.
    pub const fn after(self, packet: u64) -> u64 {
        packet.saturating_mul(self.multiplier as u64) >> (self.shift & 3)
    }

    /// The entry nearest to `factor` packet times, with the finest shift that can hold it.
    pub fn nearest(factor: f64) -> Self {
        let shift = (0..=3_u8).rev().find(|&shift| factor * f64::from(1 << shift) <= 16383.0);
        let shift = shift.unwrap_or(0);
        let multiplier = (factor * f64::from(1 << shift)).round().clamp(0.0, 16383.0);
        #[allow(clippy::cast_sign_loss, reason = "clamped to 0..=16383")]
        Self { shift, multiplier: multiplier as u16 }
    }
}

/// The parameters of annex A10, under its names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Control {
    /// `Threshold`, 0 to 15: 0 never marks; else a queue is congested from (16 - threshold)/16 of a
    /// lane's input buffer on. The queue of a port and lane is all that waits for it in the switch.
    pub threshold: u8,
    /// `Marking_Rate`: eligible packets between two that are marked.
    pub marking_rate: u16,
    /// `Packet_Size`: smaller packets are not marked; in units of 64 bytes.
    pub packet_size: u8,
    /// `Victim_Mask`.
    pub victims: Victims,
    /// The owner of the index: a queue pair or a service level.
    pub scope: Scope,
    /// `CCTI_Increase`: added by each BECN.
    pub increase: u16,
    /// `CCTI_Limit`: the highest index.
    pub limit: u16,
    /// `CCTI_Min`: the lowest index.
    pub min: u16,
    /// `CCTI_Timer`: each time it fires, all indices above the lowest go down by one.
    pub timer: Time,
    /// `Trigger_Threshold`: an index that reaches it is recorded.
    pub trigger: u16,
    /// The table, from index 0 on; past its end the last entry holds.
    pub table: Vec<Delay>,
    /// The number of notification packets that may wait at a host; further ones are not sent.
    pub notifications: u16,
}

/// The published table of the public fork: an index of i means a delay of i^2 * 3300/6889 ns after
/// a packet that takes 512 ns (2048 bytes at 4 bytes/ns). The standard's fractions are as fine as
/// 1/8 of a packet time.
pub fn quadratic() -> Vec<Delay> {
    let factor = |i: u32| f64::from(i * i) * 3300.0 / 6889.0 / 512.0;
    (0..128).map(|i| Delay::nearest(factor(i))).collect()
}

impl Control {
    /// The delay at an index.
    pub(crate) fn delay(&self, index: u16, packet: u64) -> u64 {
        let entry = self.table.get(usize::from(index)).or(self.table.last());
        entry.map_or(0, |entry| entry.after(packet))
    }

    /// Returns how often the timer has fired by `now`.
    fn ticks(&self, now: u64) -> u64 {
        now.checked_div(self.timer.ps()).unwrap_or(0)
    }

    /// A queue is congested from this many flits on.
    pub(crate) fn level(&self, buffer: u32) -> u32 {
        match self.threshold {
            0 => u32::MAX,
            threshold => ((16 - u32::from(threshold.min(15))) * buffer).div_ceil(16),
        }
    }
}

/// The index of a flow, which the timer lowers without being asked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Index {
    value: u16,
    ticks: u64,
}

impl Index {
    pub fn new(control: &Control, now: u64) -> Self {
        Self { value: control.min, ticks: control.ticks(now) }
    }

    /// Its value at `now`, which never goes back.
    pub fn at(&mut self, control: &Control, now: u64) -> u16 {
        let ticks = control.ticks(now);
        let fired = u16::try_from(ticks - self.ticks).unwrap_or(u16::MAX);
        self.value = self.value.saturating_sub(fired).max(control.min.min(self.value));
        self.ticks = ticks;
        self.value
    }

    /// Takes a BECN. Returns true if it reaches the trigger threshold.
    pub fn raise(&mut self, control: &Control, now: u64) -> bool {
        let before = self.at(control, now);
        self.value = before.saturating_add(control.increase).min(control.limit.max(before));
        before < control.trigger && self.value >= control.trigger
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn control() -> Control {
        Control {
            threshold: 15,
            marking_rate: 0,
            packet_size: 0,
            victims: Victims::Hosts,
            scope: Scope::QueuePair,
            increase: 4,
            limit: 10,
            min: 1,
            timer: Time::from_ps(1000),
            trigger: 9,
            table: quadratic(),
            notifications: 64,
        }
    }

    /// From 1 by 4 to 5, one tick later 4, then 8, 10 (the limit); the trigger of 9 is reached
    /// there. After 8 ticks 2, after many 1.
    #[test]
    fn index_steps() {
        let control = control();
        let mut index = Index::new(&control, 0);
        assert!(!index.raise(&control, 10));
        assert_eq!((index.at(&control, 999), index.at(&control, 1000)), (5, 4));
        assert!(!index.raise(&control, 1500));
        assert_eq!(index.at(&control, 1999), 8);
        assert!(index.raise(&control, 1999));
        assert_eq!(index.at(&control, 1999), 10);
        assert!(!index.raise(&control, 1999));
        assert_eq!((index.at(&control, 9_500), index.at(&control, 1 << 40)), (2, 1));
    }

    /// 127^2 * 3300/6889/512 = 15.09 packet times: 120.7 eighths, so 121/8; 8 are 0.0599, less than
    /// half an eighth; 9 are 0.0758, more than half. After 512 ns, 121/8 are 7744 ns (7726 by the
    /// formula).
    #[test]
    fn table() {
        let table = quadratic();
        assert_eq!(table[127], Delay { shift: 3, multiplier: 121 });
        assert_eq!((table[8].multiplier, table[9].multiplier), (0, 1));
        assert_eq!(table[127].after(512_000), 7_744_000);
        assert_eq!(Delay::nearest(4000.0), Delay { shift: 2, multiplier: 16000 });
        assert_eq!(Delay { shift: 1, multiplier: 3 }.after(101), 151);
    }

    /// Of a buffer of 200 flits: threshold 15 from 1/16 (12.5, so 13) on, 1 from 15/16 (187.5) on.
    #[test]
    fn threshold() {
        let level = |threshold| Control { threshold, ..control() }.level(200);
        assert_eq!([level(15), level(8), level(1), level(0)], [13, 100, 188, u32::MAX]);
    }
}
