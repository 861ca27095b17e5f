//! The network over time: how much its links carry, how long its queues are, what it marks.

use std::{collections::BTreeMap, path::Path};

use results::{Artifact, ConnectionRow, DeviceRow, LaneRow, LoadRow, Reader};
use serde_json::{Value, json};

use crate::{
    Error,
    anonymous::Names,
    blob::{Blobs, Column},
};

/// Most intervals of time.
const INTERVALS: u64 = 128;
/// Most output ports times intervals.
const CELLS: u64 = 1 << 21;
/// Most devices that a drawing shows.
const DRAWN: usize = 5000;

/// The output ports that did something, and what they did in each interval.
#[derive(Default)]
struct Ports {
    places: Vec<(u32, u16)>,
    cells: Vec<Cell>,
}

/// An output port in an interval: the sums or maxima of its lanes.
#[derive(Clone, Copy, Default)]
struct Cell {
    /// Share of the time that it sent, in thousandths of the table's interval.
    used: u64,
    queue: u64,
    stalled: u64,
    marked: u64,
}

/// Reads what ports did; null if the folder does not tell.
pub fn lanes(folder: &Path, names: &mut Names, blobs: &mut Blobs) -> Result<Value, Error> {
    let path = Artifact::Lanes.path(folder);
    if !path.is_file() {
        return Ok(Value::Null);
    }
    let (interval, end, ports) = extent(&path)?;
    if interval == 0 {
        return Ok(Value::Null);
    }
    let mut devices = devices(folder, names)?;
    let intervals = (end / interval).clamp(1, INTERVALS).min((CELLS / ports.max(1)).max(1));
    // Each shown interval holds a whole number of the table's.
    let width = interval * (end / interval).div_ceil(intervals);
    let intervals = end.div_ceil(width);
    let mut seen = Ports::default();
    for row in Reader::<LaneRow>::open(&path)? {
        let row = row?;
        let device = devices.number(&row.device, names);
        if seen.places.last() != Some(&(device, row.port)) {
            seen.places.push((device, row.port));
            seen.cells.resize(seen.places.len() * intervals as usize, Cell::default());
        }
        let base = (seen.places.len() - 1) * intervals as usize;
        let place = base + (row.start / width).min(intervals - 1) as usize;
        let Some(cell) = seen.cells.get_mut(place) else { continue };
        cell.used += thousandths(row.utilisation.0);
        cell.queue = cell.queue.max(row.queue_max);
        cell.stalled = cell.stalled.saturating_add(row.stalled);
        cell.marked = cell.marked.saturating_add(row.marked);
    }
    let per_cell = width / interval;
    let column = |of: &dyn Fn(&Cell) -> u64| {
        let mut column = Column::new();
        for cell in &seen.cells {
            column.push(of(cell));
        }
        column
    };
    Ok(json!({
        "width_ps": width,
        "intervals": intervals,
        "devices": devices.as_json(),
        "connections": connections(folder, devices.rows.len())?,
        "port_devices": seen.places.iter().map(|place| place.0).collect::<Vec<_>>(),
        "port_numbers": seen.places.iter().map(|place| place.1).collect::<Vec<_>>(),
        "used": blobs.add(column(&|cell| cell.used / per_cell)),
        "queue": blobs.add(column(&|cell| cell.queue)),
        "stalled": blobs.add(column(&|cell| cell.stalled)),
        "marked": blobs.add(column(&|cell| cell.marked)),
    }))
}

/// The length of the table's intervals, the end of the last, and the number of output ports.
fn extent(path: &Path) -> Result<(u64, u64, u64), Error> {
    let (mut interval, mut last, mut ports) = (0_u64, 0, 0);
    let mut before = None::<(String, u16)>;
    for row in Reader::<LaneRow>::open(path)? {
        let row = row?;
        // Starts are multiples of the interval.
        interval = divisor(interval, row.start);
        last = last.max(row.start);
        if before.as_ref().is_none_or(|(device, port)| *device != row.device || *port != row.port) {
            ports += 1;
            before = Some((row.device.into_owned(), row.port));
        }
    }
    // All happened in the first interval, whose length the table does not tell.
    let interval = if interval == 0 && ports > 0 { 1 } else { interval };
    Ok((interval, last + interval, ports))
}

/// The greatest common divisor.
const fn divisor(mut one: u64, mut other: u64) -> u64 {
    while other > 0 {
        (one, other) = (other, one % other);
    }
    one
}

/// The name of a device, whether it is a host, and its place in a drawing.
type Device = (String, bool, Option<(f64, f64)>);

/// Hosts and switches by name.
#[derive(Default)]
struct Devices {
    rows: Vec<Device>,
    numbers: BTreeMap<String, u32>,
}

impl Devices {
    fn number(&mut self, name: &str, names: &mut Names) -> u32 {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let number = self.rows.len() as u32;
        self.numbers.insert(name.to_owned(), number);
        self.rows.push((names.device(name), false, None));
        number
    }

    fn as_json(&self) -> Value {
        let places = self.rows.len() <= DRAWN;
        let place = |of: fn((f64, f64)) -> f64| {
            let rows = self.rows.iter().filter(|_| places);
            rows.map(|(_, _, place)| place.map(of)).collect::<Vec<_>>()
        };
        json!({
            "names": self.rows.iter().map(|(name, _, _)| name).collect::<Vec<_>>(),
            "hosts": self.rows.iter().filter(|(_, host, _)| *host).count(),
            "x": place(|place| place.0),
            "y": place(|place| place.1),
        })
    }
}

fn devices(folder: &Path, names: &mut Names) -> Result<Devices, Error> {
    let mut devices = Devices::default();
    let path = Artifact::Devices.path(folder);
    if !path.is_file() {
        return Ok(devices);
    }
    for row in Reader::<DeviceRow>::open(&path)? {
        let row = row?;
        let number = devices.number(&row.device, names);
        if let Some((_, host, place)) = devices.rows.get_mut(number as usize) {
            *host = row.host;
            *place = row.x.zip(row.y).map(|(x, y)| (x.0, y.0));
        }
    }
    Ok(devices)
}

/// The links between devices that are drawn: ends with their ports, and whether they work.
fn connections(folder: &Path, devices: usize) -> Result<Vec<Value>, Error> {
    let path = Artifact::Connections.path(folder);
    if devices > DRAWN || !path.is_file() {
        return Ok(Vec::new());
    }
    let mut connections = Vec::new();
    for row in Reader::<ConnectionRow>::open(&path)? {
        let row = row?;
        let known = |device: u32| (device as usize) < devices;
        if known(row.first) && known(row.second) {
            let up = u8::from(row.up);
            connections.push(json!([row.first, row.first_port, row.second, row.second_port, up]));
        }
    }
    Ok(connections)
}

/// Reads what links carried over time in the flow model; null if the folder does not tell.
pub fn loads(
    folder: &Path,
    horizon: u64,
    names: &mut Names,
    blobs: &mut Blobs,
) -> Result<Value, Error> {
    let path = Artifact::Loads.path(folder);
    if !path.is_file() || horizon == 0 {
        return Ok(Value::Null);
    }
    let intervals = INTERVALS.min(horizon);
    let mut links: Vec<String> = Vec::new();
    let mut shares = Column::new();
    let mut link = None::<Link>;
    for row in Reader::<LoadRow>::open(&path)? {
        let row = row?;
        if link.as_ref().is_none_or(|link| link.name != row.link) {
            if let Some(link) = link.take() {
                link.finish(horizon, &mut shares);
            }
            if links.len() as u64 * intervals > CELLS {
                return Ok(Value::Null);
            }
            links.push(names.link(&row.link));
        }
        let link = link.get_or_insert_with(|| Link::new(row.link.into_owned(), intervals));
        link.until(row.time.ps().min(horizon), horizon);
        link.share = row.load as f64 / row.bandwidth.max(1) as f64;
    }
    if let Some(link) = link {
        link.finish(horizon, &mut shares);
    }
    Ok(json!({
        "intervals": intervals,
        "width_ps": horizon as f64 / intervals as f64,
        "links": links,
        "used": blobs.add(shares),
    }))
}

/// A link whose loads are being read.
struct Link {
    name: String,
    /// The time up to which it was read, and its share from then on.
    time: u64,
    share: f64,
    /// For each interval, the time that it was busy.
    busy: Vec<f64>,
}

impl Link {
    fn new(name: String, intervals: u64) -> Self {
        Self { name, time: 0, share: 0.0, busy: vec![0.0; intervals as usize] }
    }

    /// The start of an interval.
    fn start(&self, index: usize, horizon: u64) -> u64 {
        (index as u128 * u128::from(horizon) / self.busy.len().max(1) as u128) as u64
    }

    /// Adds what it carries until a time.
    fn until(&mut self, time: u64, horizon: u64) {
        let place = u128::from(self.time) * self.busy.len() as u128 / u128::from(horizon.max(1));
        for index in place as usize..self.busy.len() {
            let to = self.start(index + 1, horizon).clamp(self.time, time.max(self.time));
            self.busy[index] += self.share * (to - self.time) as f64;
            self.time = to;
            if to >= time {
                break;
            }
        }
    }

    /// Appends the thousandths of each interval that it was busy.
    fn finish(mut self, horizon: u64, shares: &mut Column) {
        self.until(horizon, horizon);
        for (index, busy) in self.busy.iter().enumerate() {
            let width = self.start(index + 1, horizon) - self.start(index, horizon);
            shares.push(thousandths(busy / width.max(1) as f64));
        }
    }
}

/// A share in thousandths, from 0 to 1000.
fn thousandths(share: f64) -> u64 {
    #[expect(clippy::cast_sign_loss, reason = "at least 0")]
    let rounded = (share * 1e3).round().clamp(0.0, 1e3) as u64;
    rounded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loads_become_shares_of_intervals() {
        // 0 to 30 at full load, then 40 to 100 at a half: of four intervals of 25, the
        // first is full, the second full for 5 and a half for 10, and the others a half.
        let mut link = Link::new("l".to_owned(), 4);
        link.share = 1.0;
        link.until(30, 100);
        link.share = 0.0;
        link.until(40, 100);
        link.share = 0.5;
        link.until(100, 100);
        assert_eq!(link.busy, [25.0, 10.0, 12.5, 12.5]);
    }
}
