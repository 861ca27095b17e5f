//! The tables of synthetic traffic and of what a network with switches tells.

use std::io;

use traffic::{Losses, MOST_ROWS, Point, Watched};
use units::Time;

use crate::table::{Fixed, FlowRow, HopRow, LaneRow, LossRow, PointRow, TableOutput, Text, Writer};

/// Writes `points.csv`.
pub fn write_points(out: &mut impl TableOutput, points: &[Point]) -> io::Result<()> {
    Writer::all(out, points.iter().map(PointRow::new))
}

impl PointRow {
    /// The row of a point.
    pub fn new(point: &Point) -> Self {
        let percentile = |which: usize| point.percentiles.and_then(|all| all.get(which).copied());
        Self {
            load: point.load,
            offered: Fixed(point.offered),
            accepted: Fixed(point.accepted.mean),
            accepted_half_width: Fixed::finite(point.accepted.half_width),
            latency_mean: point.latency.and_then(|latency| Fixed::finite(latency.mean)),
            latency_half_width: point.latency.and_then(|latency| Fixed::finite(latency.half_width)),
            latency_min: percentile(0),
            latency_median: percentile(1),
            latency_p95: percentile(2),
            latency_p99: percentile(3),
            latency_max: percentile(4),
            hops: point.hops.and_then(Fixed::finite),
            messages: point.messages,
            warm_up: point.warm_up,
            measured: point.measured,
            batches: point.batches.into(),
            steady: point.steady,
            saturated: point.saturated,
            deadlock: point.deadlock.map(|deadlock| deadlock.since),
            stuck: point.deadlock.map(|deadlock| deadlock.messages),
            bound: point.bound.and_then(Fixed::finite),
            zero_load: point.zero_load.and_then(Fixed::finite),
        }
    }
}

/// Writes `lanes.csv`. `port` gives the name of a device and the time of a flit on the link at one
/// of its ports. It is an error if there were too many rows to keep.
pub fn write_lanes(
    out: &mut impl TableOutput,
    watched: &Watched,
    port: impl Fn(u32, u16) -> (Text, Time),
) -> io::Result<()> {
    if watched.crowded {
        return Err(io::Error::other(format!(
            "intervals of {} make more than {MOST_ROWS} rows: set a longer traffic.interval, or \
             output.interval",
            watched.width
        )));
    }
    let width = watched.width.ps();
    let share = |part: u64| part as f64 / width as f64;
    let mut table = Writer::new(out)?;
    for (&(device, number, lane), state) in &watched.lanes {
        let (name, flit) = port(device, number);
        for (index, bin) in state.intervals(watched.width) {
            table.row(&LaneRow {
                device: name.clone(),
                port: number,
                lane,
                start: index * width,
                flits: bin.flits,
                utilisation: Fixed(share(bin.flits * flit.ps())),
                queue_mean: Fixed(share(bin.waiting)),
                queue_max: bin.deepest.into(),
                stalled: bin.stalled,
                marked: bin.marked.into(),
            })?;
        }
    }
    table.finish()
}

/// Writes `flows.csv`. `ends` gives the names of the source and destination of a flow.
pub fn write_flows(
    out: &mut impl TableOutput,
    watched: &Watched,
    ends: impl Fn(u32, u32) -> [Text; 2],
) -> io::Result<()> {
    let mut table = Writer::new(out)?;
    for (&(source, destination, level), steps) in &watched.flows {
        let [source, destination] = ends(source, destination);
        for &(time, index) in steps {
            let (source, destination) = (source.clone(), destination.clone());
            table.row(&FlowRow { source, destination, level, time, index })?;
        }
    }
    table.finish()
}

/// Writes `hops.csv`.
pub fn write_hops(out: &mut impl TableOutput, watched: &Watched) -> io::Result<()> {
    let rows = watched.hops.iter();
    Writer::all(out, rows.map(|(&links, &messages)| HopRow { links: links.into(), messages }))
}

/// Writes `losses.csv`. `name` gives the name of a device.
pub fn write_losses(
    out: &mut impl TableOutput,
    watched: &Watched,
    name: impl Fn(u32) -> Text,
) -> io::Result<()> {
    let rows = watched.losses.iter();
    Writer::all(
        out,
        rows.map(|(&device, &Losses { discarded, resent })| LossRow {
            device: name(device),
            discarded,
            resent,
        }),
    )
}
