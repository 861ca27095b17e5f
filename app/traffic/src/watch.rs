//! What the records of an InfiniBand network say over time: links, queues, credits, congestion control.
//!
//! A [`Watch`] is the probe of one worker. All records of a device come from the worker that runs it, in order
//! of time, so that joining the workers' watches loses nothing and does not depend on their number.

use std::collections::BTreeMap;

use host::Record as HostRecord;
use infiniband::Record;
use kernel::Probe;
use rustc_hash::FxHashMap;
use units::Time;

/// An output port and lane: (device, port, lane), devices numbered as the network's contract does.
pub type Channel = (u32, u16, u8);
/// A flow: (source, destination as the fabric numbers it, service level).
pub type Flow = (u32, u32, u8);

/// What happened at a lane in one interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bin {
    /// Flits sent.
    pub flits: u64,
    /// Flits that waited, times picoseconds.
    pub waiting: u64,
    /// Most flits that waited at once.
    pub deepest: u32,
    /// Picoseconds without credits for a packet that could have gone.
    pub stalled: u64,
    /// Packets that got a FECN.
    pub marked: u32,
}

/// A lane's intervals.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lane {
    /// By interval; what is beyond the last is zero, but for the queue.
    pub bins: Vec<Bin>,
    /// Flits that wait, and since when.
    depth: u32,
    since: u64,
}

impl Lane {
    fn bin(&mut self, index: u64) -> &mut Bin {
        let index = index as usize;
        if index >= self.bins.len() {
            self.bins.resize(index + 1, Bin::default());
        }
        &mut self.bins[index]
    }

    /// Calls `each` with every interval that overlaps a span, and the picoseconds of the overlap.
    fn spread(&mut self, width: u64, from: u64, to: u64, mut each: impl FnMut(&mut Bin, u64)) {
        let mut start = from;
        while start < to {
            let index = start / width;
            let end = to.min((index + 1) * width);
            each(self.bin(index), end - start);
            start = end;
        }
    }

    fn queue(&mut self, width: u64, at: u64, flits: u32) {
        let (since, depth) = (self.since, self.depth);
        if depth > 0 {
            self.spread(width, since, at, |bin, time| {
                bin.waiting += u64::from(depth) * time;
                bin.deepest = bin.deepest.max(depth);
            });
        }
        (self.since, self.depth) = (at, flits);
        let bin = self.bin(at / width);
        bin.deepest = bin.deepest.max(flits);
    }

    /// A packet's flits count where they are sent, evenly between start and end.
    fn sent(&mut self, width: u64, flits: u64, start: u64, end: u64) {
        if start / width == end.saturating_sub(1) / width {
            self.bin(start / width).flits += flits;
            return;
        }
        let (mut done, mut time) = (0, 0);
        self.spread(width, start, end, |bin, part| {
            time += part;
            let until = flits * time / (end - start);
            bin.flits += until - done;
            done = until;
        });
    }

    /// Flits sent in all.
    pub fn flits(&self) -> u64 {
        self.bins.iter().map(|bin| bin.flits).sum()
    }
}

/// The probe of one worker; see the module.
#[derive(Clone, Debug)]
pub struct Watch {
    width: u64,
    lanes: FxHashMap<Channel, Lane>,
    rest: Rest,
}

/// What is not counted by lane and interval.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Rest {
    /// Times of BECN and the index after each, by flow.
    flows: BTreeMap<Flow, Vec<(Time, u16)>>,
    /// Messages by the number of links they crossed.
    hops: BTreeMap<u16, u64>,
    lost: u64,
    unsent: u64,
}

impl Watch {
    /// A watch that counts by intervals of this width, at least 1 ps.
    pub fn new(interval: Time) -> Self {
        Self { width: interval.ps().max(1), lanes: FxHashMap::default(), rest: Rest::default() }
    }

    /// Takes a record of a device.
    pub fn take(&mut self, device: u32, at: Time, record: &Record) {
        let width = self.width;
        let at_ps = at.ps();
        let (lanes, rest) = (&mut self.lanes, &mut self.rest);
        match *record {
            Record::Sent { port, lane: number, flits, start, end } => {
                lanes.entry((device, port, number)).or_default().sent(
                    width,
                    flits.into(),
                    start.ps(),
                    end.ps(),
                );
            }
            Record::Queue { port, lane: number, flits } => {
                lanes.entry((device, port, number)).or_default().queue(width, at_ps, flits);
            }
            Record::Stalled { port, lane: number, from } => {
                let add = |bin: &mut Bin, time| bin.stalled += time;
                lanes.entry((device, port, number)).or_default().spread(
                    width,
                    from.ps(),
                    at_ps,
                    add,
                );
            }
            Record::Marked { port, lane: number, .. } => {
                lanes.entry((device, port, number)).or_default().bin(at_ps / width).marked += 1;
            }
            Record::Notified { destination, level, index, .. } => {
                let flow = rest.flows.entry((device, destination, level)).or_default();
                flow.push((at, index));
            }
            Record::Message { hops, .. } => *rest.hops.entry(hops).or_default() += 1,
            Record::Lost { .. } => rest.lost += 1,
            Record::Unsent { .. } => rest.unsent += 1,
        }
    }

    /// Joins the watches of all workers of a run.
    pub fn merge(watches: Vec<Self>) -> Watched {
        let mut all = Watched {
            width: Time::from_ps(watches.first().map_or(1, |watch| watch.width)),
            ..Watched::default()
        };
        for watch in watches {
            all.lanes.extend(watch.lanes);
            all.flows.extend(watch.rest.flows);
            for (hops, count) in watch.rest.hops {
                *all.hops.entry(hops).or_default() += count;
            }
            all.lost += watch.rest.lost;
            all.unsent += watch.rest.unsent;
        }
        all
    }
}

impl Probe<HostRecord<Record>> for Watch {
    const LISTENS: bool = true;

    fn record(&mut self, record: HostRecord<Record>) {
        if let HostRecord::Network { device, at, record } = record {
            self.take(device, at, &record);
        }
    }
}

/// What all workers saw.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Watched {
    /// Width of an interval.
    pub width: Time,
    /// By output port and lane.
    pub lanes: BTreeMap<Channel, Lane>,
    /// Times of BECN and the index (CCTI) after each, by flow.
    pub flows: BTreeMap<Flow, Vec<(Time, u16)>>,
    /// Messages by the number of links they crossed.
    pub hops: BTreeMap<u16, u64>,
    /// Packets without a way on.
    pub lost: u64,
    /// Notifications that were not sent because too many waited.
    pub unsent: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ps(time: u64) -> Time {
        Time::from_ps(time)
    }

    /// Ten flits from 50 to 150 ps: five in each interval of 100. A queue of 4 from 80 to 250: 4 * 20, 4 *
    /// 100 and 4 * 50. Stalled from 190 to 310: 10, 100, 10.
    #[test]
    fn intervals() {
        let mut watch = Watch::new(ps(100));
        let (port, lane) = (1, 0);
        let sent = Record::Sent { port, lane, flits: 10, start: ps(50), end: ps(150) };
        watch.take(7, ps(50), &sent);
        watch.take(7, ps(80), &Record::Queue { port, lane, flits: 4 });
        watch.take(7, ps(250), &Record::Queue { port, lane, flits: 0 });
        watch.take(7, ps(310), &Record::Stalled { port, lane, from: ps(190) });
        let bins = &watch.lanes[&(7, 1, 0)].bins;
        let of = |of: fn(&Bin) -> u64| bins.iter().map(of).collect::<Vec<_>>();
        assert_eq!(of(|bin| bin.flits), [5, 5, 0, 0]);
        assert_eq!(of(|bin| bin.waiting), [80, 400, 200, 0]);
        assert_eq!(of(|bin| bin.deepest.into()), [4, 4, 4, 0]);
        assert_eq!(of(|bin| bin.stalled), [0, 10, 100, 10]);
    }

    /// Three flits from 0 to 300 in intervals of 70: after 70 ps 3 * 70 / 300 = 0.7 have gone, rounded down
    /// to whole flits 0; after 140: 1; 210: 2; 280: 2; 300: 3.
    #[test]
    fn whole_flits() {
        let mut lane = Lane::default();
        lane.sent(70, 3, 0, 300);
        assert_eq!(lane.bins.iter().map(|bin| bin.flits).collect::<Vec<_>>(), [0, 1, 1, 0, 1]);
        assert_eq!(lane.flits(), 3);
    }
}
