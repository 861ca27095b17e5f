//! Loads from text, points as a table for people, and figures of watches.

use std::io::{self, Write};

use topology::Graph;
use units::{DeviceId, Time};

use crate::run::Point;
use crate::watch::{Bin, Channel, Watched};

/// Loads from text: parts with commas between them, each one load, or `FIRST:LAST:STEP` with both
/// ends. They are in ascending order, and none of them is there twice.
pub fn loads(text: &str) -> Result<Vec<f64>, String> {
    let mut all = Vec::new();
    for part in text.split(',') {
        all.extend(range(part).ok_or_else(|| {
            format!(
                "expected a load above 0 and at most 1 such as 0.5, some with commas between them, \
                 or FIRST:LAST:STEP such as 0.1:1.0:0.1, rising in steps of 0.001 at least, found \
                 `{text}`"
            )
        })?);
    }
    all.sort_by(f64::total_cmp);
    all.dedup();
    Ok(all)
}

/// The loads of a part; `None` if it is wrong.
fn range(text: &str) -> Option<impl Iterator<Item = f64>> {
    let parts: Option<Vec<f64>> = text.split(':').map(|part| part.trim().parse().ok()).collect();
    let (first, last, step) = match parts?[..] {
        [load] => (load, load, 1.0),
        [first, last, step] => (first, last, step),
        _ => return None,
    };
    let valid = |load: f64| load > 0.0 && load <= 1.0;
    if !(valid(first) && valid(last) && first <= last && step >= 0.001) {
        return None;
    }
    // Half a thousandth of a step catches what steps like 0.1 lack in binary.
    let count = ((last - first) / step + 0.0005).floor();
    #[allow(clippy::cast_sign_loss, reason = "first <= last")]
    let count = count as u32;
    // Rounded to what can be written: 0.1 + 2 * 0.1 is 0.3. The first is as it stands there.
    let rounded = move |index: u32| ((first + f64::from(index) * step) * 1e6).round() / 1e6;
    let at = move |index: u32| if index == 0 { first } else { rounded(index) };
    Some((0..=count).map(at))
}

/// Points as a table for people: latencies in microseconds, with half the width of their intervals.
pub fn write_table(out: &mut impl Write, points: &[Point]) -> io::Result<()> {
    // Bisection has loads of many digits.
    let digits = points.iter().map(|point| point.load.to_string().len());
    let width = digits.max().unwrap_or_default().max(6);
    writeln!(
        out,
        "{:>width$} {:>8} {:>8} {:>8} {:>10} {:>8} {:>10} {:>10} {:>10} {:>6} {:>8} {:>10}",
        "load",
        "offered",
        "accepted",
        "+-",
        "mean us",
        "+-",
        "median us",
        "99 % us",
        "max us",
        "hops",
        "bound",
        "idle us"
    )?;
    for point in points {
        let us = |ps: Option<f64>| shown(ps.map(|ps| ps / 1e6), 3, "-");
        let [_, median, _, high, most] = percentiles(point).map(|ps| us(ps.map(|ps| ps as f64)));
        writeln!(
            out,
            "{:>width$} {:>8.4} {:>8.4} {:>8} {:>10} {:>8} {median:>10} {high:>10} {most:>10} \
             {:>6} {:>8} {:>10}{}",
            point.load,
            point.offered,
            point.accepted.mean,
            shown(Some(point.accepted.half_width), 4, "-"),
            us(point.latency.map(|latency| latency.mean)),
            us(point.latency.map(|latency| latency.half_width)),
            shown(point.hops, 3, "-"),
            shown(point.bound, 4, "-"),
            us(point.zero_load),
            remark(point)
        )?;
    }
    Ok(())
}

/// Returns the word behind a point that the network does not sustain.
const fn remark(point: &Point) -> &'static str {
    match point {
        Point { deadlock: Some(_), .. } => "  deadlock",
        Point { growing: true, .. } => "  saturated",
        Point { steady: false, .. } => "  not settled",
        _ => "",
    }
}

/// A figure, or what stands for one that there is not: the mean of nothing, the interval of a
/// single value.
fn shown(figure: Option<f64>, digits: usize, none: &str) -> String {
    let finite = figure.filter(|figure| figure.is_finite());
    finite.map_or(none.to_owned(), |figure| format!("{figure:.digits$}"))
}

fn percentiles(point: &Point) -> [Option<u64>; 5] {
    point.percentiles.map_or([None; 5], |percentiles| percentiles.map(Some))
}

impl Watched {
    /// The part of a span of time that the flits of all lanes of a port took; one flit takes
    /// `flit_time` of device and port.
    pub fn utilisation(
        &self,
        flit_time: impl Fn(DeviceId, u16) -> Option<Time>,
        port: (u32, u16),
        span: Time,
    ) -> f64 {
        let lanes = self.lanes.range((port.0, port.1, 0)..=(port.0, port.1, u8::MAX));
        let flits: u64 = lanes.map(|(_, lane)| lane.flits()).sum();
        let flit = flit_time(DeviceId(port.0), port.1).unwrap_or_default().ps();
        (flits * flit) as f64 / span.ps().max(1) as f64
    }

    /// The utilisation of each link over a span from the start on, that of the busier direction, by
    /// the numbers of the graph.
    pub fn link_utilisation(
        &self,
        flit_time: impl Fn(DeviceId, u16) -> Option<Time>,
        graph: &Graph,
        span: Time,
    ) -> Vec<f64> {
        let mut links = vec![0.0_f64; graph.links().len()];
        let mut last: Option<(u32, u16)> = None;
        for &(device, port, _) in self.lanes.keys() {
            let channel = (device, port);
            if last.replace(channel) == Some(channel) {
                continue;
            }
            let Some(end) = graph.peer(device, port) else { continue };
            let link = &mut links[end.link as usize];
            *link = link.max(self.utilisation(&flit_time, channel, span));
        }
        links
    }

    /// A series of one lane: the start of each interval in microseconds up to the last in which
    /// something happened, and what `of` makes of it.
    pub fn series(&self, channel: Channel, of: impl Fn(&Bin) -> f64) -> Vec<(f64, f64)> {
        let width = self.width.ps() as f64 / 1e6;
        let mut series = Vec::new();
        for (index, bin) in
            self.lanes.get(&channel).into_iter().flat_map(|lane| lane.intervals(self.width))
        {
            let empty = series.len() as u64..index;
            series.extend(empty.map(|index| (index as f64 * width, of(&Bin::default()))));
            series.push((index as f64 * width, of(&bin)));
        }
        series
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loads_of_text() {
        let tenths = loads("0.1:1.0:0.1").expect("loads");
        assert_eq!(tenths, [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]);
        assert_eq!(loads("0.25").expect("a load"), [0.25]);
        assert_eq!(loads("0.1:0.35:0.1").expect("loads"), [0.1, 0.2, 0.3]);
        assert_eq!(loads("0.7, 0.1:0.3:0.1,0.2").expect("loads"), [0.1, 0.2, 0.3, 0.7]);
        for wrong in ["", "0", "1.1", "0.5:0.1:0.1", "0.1:0.5", "0.1:0.5:0", "a"] {
            assert!(loads(wrong).is_err(), "{wrong}");
        }
    }
}
