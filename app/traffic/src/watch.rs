//! The records of a network over time: links, queues, flow control and congestion control.
//!
//! A [`Watch`] is the probe of one worker. All records of a device come from the worker that runs
//! it, in order of time, so that joining the workers' watches loses nothing and does not depend on
//! their number.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::iter::Peekable;
use std::ops::Range;

use host::Record as HostRecord;
use kernel::{Probe, TransportKind};
use network::Record;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use units::Time;

/// An output port and lane: (device, port, lane), devices numbered as the network's contract does.
pub type Channel = (u32, u16, u8);
/// A flow: (source, destination as the fabric numbers it, service level).
pub type Flow = (u32, u32, u8);

/// The sums over one interval of a lane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bin {
    /// Flits sent.
    pub flits: u64,
    /// Flits that waited, times picoseconds.
    pub waiting: u64,
    /// Most flits that waited at once.
    pub deepest: u32,
    /// Picoseconds in which flow control stopped a packet that could have gone.
    pub stalled: u64,
    /// Packets that were marked.
    pub marked: u32,
}

/// The losses at a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Losses {
    /// Packets that it discarded, because they were damaged or led nowhere.
    pub discarded: u64,
    /// Packets that it sent again.
    pub resent: u64,
}

/// A lane's intervals: only those in which something happens are kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lane {
    /// Flits sent in all.
    sent: u64,
    /// Intervals by their number, ascending, without what fills them from end to end.
    bins: Vec<(u64, Bin)>,
    /// Queues and stalls that last for whole intervals.
    runs: Vec<Run>,
    /// Intervals in `bins` and `runs`.
    rows: u64,
    /// Flits that wait, and since when.
    depth: u32,
    since: u64,
}

/// A queue or a stall that fills all intervals from `first` on and before `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Run {
    first: u64,
    end: u64,
    /// Flits that wait; of a stall 0.
    depth: u32,
    stalled: bool,
}

impl Lane {
    fn bin(&mut self, index: u64) -> &mut Bin {
        let place = self.bins.partition_point(|bin| bin.0 < index);
        if self.bins.get(place).is_none_or(|bin| bin.0 != index) {
            self.bins.insert(place, (index, Bin::default()));
            self.rows += 1;
        }
        &mut self.bins[place].1
    }

    /// Cuts a span into whole intervals, which the answer holds, and what overlaps others: `each`
    /// is called with these and with the picoseconds of the overlap.
    fn spread(
        &mut self,
        width: u64,
        (from, to): (u64, u64),
        mut each: impl FnMut(&mut Bin, u64),
    ) -> Range<u64> {
        let whole = from.div_ceil(width)..to / width;
        if whole.start > whole.end {
            // Within one interval.
            each(self.bin(from / width), to - from);
            return 0..0;
        }
        let (head, tail) = (whole.start * width - from, to - whole.end * width);
        if head > 0 {
            each(self.bin(from / width), head);
        }
        if tail > 0 {
            each(self.bin(whole.end), tail);
        }
        whole
    }

    fn lasts(&mut self, whole: Range<u64>, depth: u32, stalled: bool) {
        if !whole.is_empty() {
            self.rows += whole.end - whole.start;
            self.runs.push(Run { first: whole.start, end: whole.end, depth, stalled });
        }
    }

    fn queue(&mut self, width: u64, at: u64, flits: u32) {
        let (since, depth) = (self.since, self.depth);
        if depth > 0 && since < at {
            let whole = self.spread(width, (since, at), |bin, time| {
                bin.waiting += u64::from(depth) * time;
                bin.deepest = bin.deepest.max(depth);
            });
            self.lasts(whole, depth, false);
        }
        (self.since, self.depth) = (at, flits);
        if flits > 0 {
            let bin = self.bin(at / width);
            bin.deepest = bin.deepest.max(flits);
        }
    }

    fn stalled(&mut self, width: u64, from: u64, to: u64) {
        if from < to {
            let whole = self.spread(width, (from, to), |bin, time| bin.stalled += time);
            self.lasts(whole, 0, true);
        }
    }

    /// A packet's flits count where they are sent, evenly between start and end: each where its end
    /// is.
    fn sent(&mut self, width: u64, flits: u64, start: u64, end: u64) {
        if start / width == end.saturating_sub(1) / width {
            self.bin(start / width).flits += flits;
            return;
        }
        for flit in 1..=flits {
            let gone = start + (flit * (end - start)).div_ceil(flits);
            self.bin((gone - 1) / width).flits += 1;
        }
    }

    /// Flits sent in all.
    pub const fn flits(&self) -> u64 {
        self.sent
    }

    /// The intervals in which something happened, by number.
    pub fn intervals(&self, width: Time) -> impl Iterator<Item = (u64, Bin)> {
        let of = |run: &Run| (i64::from(run.depth), i64::from(run.stalled));
        let begin = self.runs.iter().map(|run| (run.first, of(run)));
        let end = self.runs.iter().map(|run| (run.end, (-of(run).0, -of(run).1)));
        let mut steps: Vec<_> = begin.chain(end).collect();
        steps.sort_unstable();
        Intervals {
            width: width.ps(),
            bins: self.bins.iter().peekable(),
            steps: steps.into_iter().peekable(),
            index: 0,
            lasting: (0, 0),
        }
    }

    /// Keeps the sum alone.
    fn forget(&mut self) {
        *self = Self { sent: self.sent, ..Self::default() };
    }
}

/// See [`Lane::intervals`].
struct Intervals<'a> {
    width: u64,
    bins: Peekable<std::slice::Iter<'a, (u64, Bin)>>,
    /// By how much flits that wait and stalls that last for whole intervals change, and from which
    /// on.
    steps: Peekable<std::vec::IntoIter<(u64, (i64, i64))>>,
    index: u64,
    lasting: (i64, i64),
}

impl Iterator for Intervals<'_> {
    type Item = (u64, Bin);

    fn next(&mut self) -> Option<(u64, Bin)> {
        loop {
            if self.lasting == (0, 0) {
                let next =
                    [self.bins.peek().map(|bin| bin.0), self.steps.peek().map(|step| step.0)];
                self.index = next.into_iter().flatten().min()?;
            }
            let index = self.index;
            while let Some((_, (depth, stalls))) = self.steps.next_if(|step| step.0 == index) {
                self.lasting = (self.lasting.0 + depth, self.lasting.1 + stalls);
            }
            let mut bin =
                self.bins.next_if(|bin| bin.0 == index).map_or(Bin::default(), |bin| bin.1);
            // Only one queue at a time fills an interval.
            let [depth, stalls] = [self.lasting.0, self.lasting.1].map(i64::unsigned_abs);
            bin.waiting += depth * self.width;
            bin.deepest = bin.deepest.max(depth as u32);
            bin.stalled += stalls * self.width;
            self.index += 1;
            if bin != Bin::default() {
                return Some((index, bin));
            }
        }
    }
}

/// Most intervals that are kept, about 800 MB: beyond them only sums are.
pub const MOST_ROWS: u64 = 20_000_000;

/// The probe of one worker; see the module.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Watch {
    width: u64,
    lanes: FxHashMap<Channel, Lane>,
    /// Intervals that are kept of all lanes; too many if these are crowded.
    rows: u64,
    crowded: bool,
    rest: Rest,
}

/// Counts that do not go by lane and interval.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Rest {
    /// The times at which a flow was slowed down, and the index after that, by flow.
    flows: BTreeMap<Flow, Vec<(Time, u16)>>,
    /// Messages by the number of links they crossed.
    hops: BTreeMap<u16, u64>,
    losses: BTreeMap<u32, Losses>,
}

impl Watch {
    /// A watch that counts by intervals of this width, above 0.
    pub fn new(interval: Time) -> Self {
        Self {
            width: interval.ps(),
            lanes: FxHashMap::default(),
            rows: 0,
            crowded: false,
            rest: Rest::default(),
        }
    }

    /// Takes a record of a device.
    pub fn take<D>(&mut self, device: u32, at: Time, record: &Record<D>) {
        let rest = &mut self.rest;
        match *record {
            Record::Sent { port, lane, .. }
            | Record::Queue { port, lane, .. }
            | Record::Stalled { port, lane, .. }
            | Record::Marked { port, lane, .. } => self.lane((device, port, lane), at.ps(), record),
            Record::Throttled { destination, level, index } => {
                let flow = rest.flows.entry((device, destination.0, level)).or_default();
                flow.push((at, index));
            }
            Record::Arrived { hops, .. } => *rest.hops.entry(hops).or_default() += 1,
            Record::Lost { .. } => rest.losses.entry(device).or_default().discarded += 1,
            Record::Resent { packets, .. } => {
                rest.losses.entry(device).or_default().resent += packets;
            }
            Record::Detail(_) => {}
        }
    }

    /// Takes a record of a lane.
    fn lane<D>(&mut self, channel: Channel, at: u64, record: &Record<D>) {
        let width = self.width;
        let lane = self.lanes.entry(channel).or_default();
        if let Record::Sent { flits, .. } = *record {
            lane.sent += u64::from(flits);
        }
        if self.crowded {
            return;
        }
        let before = lane.rows;
        match *record {
            Record::Sent { flits, start, end, .. } => {
                lane.sent(width, flits.into(), start.ps(), end.ps());
            }
            Record::Queue { flits, .. } => lane.queue(width, at, flits),
            Record::Stalled { from, .. } => lane.stalled(width, from.ps(), at),
            _ => lane.bin(at / width).marked += 1,
        }
        self.rows += lane.rows - before;
        if self.rows > MOST_ROWS {
            self.crowded = true;
            self.lanes.values_mut().for_each(Lane::forget);
        }
    }

    /// Hands the watches of workers that run in other processes of the system to the first of them,
    /// and returns all there; there are none at the others.
    pub fn gather(mut watches: Vec<Self>, transport: TransportKind) -> Vec<Self> {
        let Some(peers) = transport.peers() else { return watches };
        let mut leaving = if peers.me() == 0 { Vec::new() } else { std::mem::take(&mut watches) };
        let next = || Ok::<_, Infallible>(leaving.pop());
        let Ok(()) = transport.gather(next, |watch| watches.push(watch));
        watches
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
            all.losses.extend(watch.rest.losses);
            all.crowded |= watch.crowded;
        }
        // So that it does not depend on the number of workers, of which each has only a part.
        all.crowded |= all.lanes.values().map(|lane| lane.rows).sum::<u64>() > MOST_ROWS;
        if all.crowded {
            all.lanes.values_mut().for_each(Lane::forget);
        }
        all
    }
}

impl<D> Probe<HostRecord<D>> for Watch {
    const LISTENS: bool = true;

    fn record(&mut self, record: HostRecord<D>) {
        if let HostRecord::Network { device, at, record } = record {
            self.take(device, at, &record);
        }
    }
}

/// The joined records of all workers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Watched {
    /// Width of an interval.
    pub width: Time,
    /// By output port and lane.
    pub lanes: BTreeMap<Channel, Lane>,
    /// True if the lanes had more than [`MOST_ROWS`] intervals: of each only the sum is left.
    pub crowded: bool,
    /// Times of BECN and the index (CCTI) after each, by flow.
    pub flows: BTreeMap<Flow, Vec<(Time, u16)>>,
    /// Messages by the number of links they crossed.
    pub hops: BTreeMap<u16, u64>,
    /// Packets that were discarded or sent again, by device.
    pub losses: BTreeMap<u32, Losses>,
}

#[cfg(test)]
mod tests {
    use network::Never;

    use super::*;

    fn ps(time: u64) -> Time {
        Time::from_ps(time)
    }

    /// Ten flits from 50 to 150 ps: five in each interval of 100. A queue of 4 from 80 to 250: 4 *
    /// 20, 4 * 100 and 4 * 50. Stalled from 190 to 310: 10, 100, 10.
    #[test]
    fn intervals() {
        let mut watch = Watch::new(ps(100));
        let (port, lane) = (1, 0);
        let sent: Record = Record::Sent { port, lane, flits: 10, start: ps(50), end: ps(150) };
        watch.take(7, ps(50), &sent);
        watch.take(7, ps(80), &Record::<Never>::Queue { port, lane, flits: 4 });
        watch.take(7, ps(250), &Record::<Never>::Queue { port, lane, flits: 0 });
        watch.take(7, ps(310), &Record::<Never>::Stalled { port, lane, from: ps(190) });
        let bins: Vec<_> = watch.lanes[&(7, 1, 0)].intervals(ps(100)).collect();
        let of = |of: fn(&Bin) -> u64| bins.iter().map(|(_, bin)| of(bin)).collect::<Vec<_>>();
        assert_eq!(bins.iter().map(|bin| bin.0).collect::<Vec<_>>(), [0, 1, 2, 3]);
        assert_eq!(of(|bin| bin.flits), [5, 5, 0, 0]);
        assert_eq!(of(|bin| bin.waiting), [80, 400, 200, 0]);
        assert_eq!(of(|bin| bin.deepest.into()), [4, 4, 4, 0]);
        assert_eq!(of(|bin| bin.stalled), [0, 10, 100, 10]);
    }

    /// Three flits from 0 to 300 in intervals of 70: after 70 ps 3 * 70 / 300 = 0.7 have gone,
    /// rounded down to whole flits 0; after 140: 1; 210: 2; 280: 2; 300: 3.
    #[test]
    fn whole_flits() {
        let mut lane = Lane::default();
        lane.sent(70, 3, 0, 300);
        let flits: Vec<_> = lane.intervals(ps(70)).map(|(index, bin)| (index, bin.flits)).collect();
        assert_eq!(flits, [(1, 1), (2, 1), (4, 1)]);
    }

    /// A queue of 4 for a millisecond, a stall meanwhile and a packet of 10 flits, in intervals of
    /// 1 ps: kept are one run of each, the interval in which the queue begins and one per flit. The
    /// stall ends a microsecond after the queue: 1 001 000 000 intervals.
    #[test]
    fn short_intervals_cost_little() {
        let mut lane = Lane::default();
        lane.queue(1, 0, 4);
        lane.queue(1, 1_000_000_000, 0);
        lane.stalled(1, 0, 1_001_000_000);
        lane.sent(1, 10, 0, 1000);
        assert_eq!((lane.bins.len(), lane.runs.len(), lane.rows), (11, 2, 2_001_000_011));
        let seventh: Vec<_> = lane.intervals(ps(1)).skip(699).take(2).collect();
        let bin = Bin { flits: 1, waiting: 4, deepest: 4, stalled: 1, marked: 0 };
        assert_eq!(seventh, [(699, bin), (700, Bin { flits: 0, ..bin })]);
    }

    /// Too many intervals are not kept, by however many workers: one more than the most. Sums stay.
    #[test]
    fn too_many_intervals() {
        let (port, lane) = (0, 0);
        let sent: Record = Record::Sent { port, lane, flits: 10, start: ps(0), end: ps(10) };
        let busy = |device, until| {
            let mut watch = Watch::new(ps(1));
            watch.take(device, ps(0), &sent);
            watch.take(device, ps(until), &Record::<Never>::Stalled { port, lane, from: ps(20) });
            watch
        };
        let most = MOST_ROWS + 20 - 10;
        assert!(!Watch::merge(vec![busy(0, most)]).crowded);
        for parts in [vec![busy(0, most + 1)], vec![busy(0, most), busy(1, 30)]] {
            let all = Watch::merge(parts);
            assert!(all.crowded);
            let kept = all.lanes.values().map(|lane| (lane.flits(), lane.rows)).collect::<Vec<_>>();
            assert!(kept.iter().all(|kept| *kept == (10, 0)), "{kept:?}");
        }
    }
}
