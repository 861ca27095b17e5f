//! Points as a table and as CSV, watches as CSV.

use std::io::{self, Write};

use infiniband::Infiniband;
use topology::Graph;
use units::Time;

use crate::run::Point;
use crate::watch::{Bin, Channel, MOST_ROWS, Watched};

/// Loads from text: one, or `FIRST:LAST:STEP` with both ends.
pub fn loads(text: &str) -> Result<Vec<f64>, String> {
    let wrong = || {
        format!(
            "expected a load above 0 and at most 1 such as 0.5, or FIRST:LAST:STEP such as \
                 0.1:1.0:0.1, found `{text}`"
        )
    };
    let parts: Result<Vec<f64>, _> = text.split(':').map(|part| part.trim().parse()).collect();
    let (first, last, step) = match parts.map_err(|_| wrong())?[..] {
        [load] => (load, load, 1.0),
        [first, last, step] => (first, last, step),
        _ => return Err(wrong()),
    };
    let valid = |load: f64| load > 0.0 && load <= 1.0;
    if !(valid(first) && valid(last) && first <= last && step >= 0.001) {
        return Err(wrong());
    }
    // Half a thousandth of a step catches what steps like 0.1 lack in binary.
    let count = ((last - first) / step + 0.0005).floor();
    #[allow(clippy::cast_sign_loss, reason = "first <= last")]
    let count = count as u32;
    // Rounded to what can be written: 0.1 + 2 * 0.1 is 0.3.
    let at = |index: u32| ((first + f64::from(index) * step) * 1e6).round() / 1e6;
    Ok((0..=count).map(at).collect())
}

/// Points as a table for people: latencies in microseconds, with half the width of their intervals.
pub fn write_table(out: &mut impl Write, points: &[Point]) -> io::Result<()> {
    writeln!(
        out,
        "{:>6} {:>8} {:>8} {:>8} {:>10} {:>8} {:>10} {:>10} {:>10} {:>6}",
        "load",
        "offered",
        "accepted",
        "+-",
        "mean us",
        "+-",
        "median us",
        "99 % us",
        "max us",
        "hops"
    )?;
    for point in points {
        let us = |ps: Option<f64>| shown(ps.map(|ps| ps / 1e6), 3, "-");
        let [_, median, _, high, most] = percentiles(point).map(|ps| us(ps.map(|ps| ps as f64)));
        writeln!(
            out,
            "{:>6} {:>8.4} {:>8.4} {:>8} {:>10} {:>8} {median:>10} {high:>10} {most:>10} {:>6}{}",
            point.load,
            point.offered,
            point.accepted.mean,
            shown(Some(point.accepted.half_width), 4, "-"),
            us(point.latency.map(|latency| latency.mean)),
            us(point.latency.map(|latency| latency.half_width)),
            shown(point.hops, 3, "-"),
            match (point.saturated, point.deadlock) {
                (_, Some(_)) => "  deadlock",
                (true, None) => "  saturated",
                (false, None) => "",
            }
        )?;
    }
    Ok(())
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

/// Points as CSV, times in picoseconds. What there is not is empty.
pub fn write_csv(out: &mut impl Write, points: &[Point]) -> io::Result<()> {
    out.write_all(
        b"load,offered,accepted,accepted_half_width,latency_mean_ps,latency_half_width_ps,\
          latency_min_ps,latency_median_ps,latency_p95_ps,latency_p99_ps,latency_max_ps,hops,\
          messages,warm_up_ps,measured_ps,batches,steady,saturated,deadlock_ps,stuck\n",
    )?;
    for point in points {
        let whole = |number: Option<u64>| number.map_or(String::new(), |number| number.to_string());
        let [min, median, p95, p99, max] = percentiles(point).map(whole);
        writeln!(
            out,
            "{},{:.6},{:.6},{},{},{},{min},{median},{p95},{p99},{max},{},{},{},{},{},{},{},{},{}",
            point.load,
            point.offered,
            point.accepted.mean,
            shown(Some(point.accepted.half_width), 6, ""),
            shown(point.latency.map(|latency| latency.mean), 0, ""),
            shown(point.latency.map(|latency| latency.half_width), 0, ""),
            shown(point.hops, 6, ""),
            point.messages,
            point.warm_up,
            point.measured,
            point.batches,
            point.steady,
            point.saturated,
            whole(point.deadlock.map(|deadlock| deadlock.since)),
            whole(point.deadlock.map(|deadlock| deadlock.messages))
        )?;
    }
    out.flush()
}

impl Watched {
    /// A row per output port, lane and interval in which something happened: utilisation is the
    /// part of the link's time that the lane's flits took. It is an error if there were too many
    /// rows to keep.
    pub fn write_lanes(
        &self,
        out: &mut impl Write,
        network: &Infiniband,
        graph: &Graph,
    ) -> io::Result<()> {
        if self.crowded {
            return Err(io::Error::other(format!(
                "intervals of {} make more than {MOST_ROWS} rows: set a longer traffic.interval, or \
                 output.interval",
                self.width
            )));
        }
        out.write_all(
            b"device,port,lane,start_ps,flits,utilisation,queue_mean_flits,queue_max_flits,\
              stalled_ps,fecn\n",
        )?;
        let width = self.width.ps();
        for (&(number, port, lane), state) in &self.lanes {
            let device = network.device_of(number);
            let name = graph.name(device);
            let flit = network.fabric().flit_time_of(device, port).unwrap_or_default().ps();
            for (index, bin) in state.intervals(self.width) {
                let Bin { flits, waiting, deepest, stalled, marked } = bin;
                let share = |part: u64| part as f64 / width as f64;
                writeln!(
                    out,
                    "{name},{port},{lane},{},{flits},{:.6},{:.3},{deepest},{stalled},{marked}",
                    index * width,
                    share(flits * flit),
                    share(waiting)
                )?;
            }
        }
        out.flush()
    }

    /// A row per BECN: when it came to which flow, and the flow's index after it.
    pub fn write_flows(
        &self,
        out: &mut impl Write,
        network: &Infiniband,
        graph: &Graph,
    ) -> io::Result<()> {
        out.write_all(b"source,destination,level,time_ps,ccti\n")?;
        for (&(source, destination, level), steps) in &self.flows {
            let [source, destination] =
                [network.device_of(source), destination].map(|device| graph.name(device));
            for (at, index) in steps {
                writeln!(out, "{source},{destination},{level},{},{index}", at.ps())?;
            }
        }
        out.flush()
    }

    /// A row per number of links crossed.
    pub fn write_hops(&self, out: &mut impl Write) -> io::Result<()> {
        out.write_all(b"links,messages\n")?;
        for (hops, messages) in &self.hops {
            writeln!(out, "{hops},{messages}")?;
        }
        out.flush()
    }

    /// The part of a span of time that the flits of all lanes of a port took.
    pub fn utilisation(&self, network: &Infiniband, port: (u32, u16), span: Time) -> f64 {
        let lanes = self.lanes.range((port.0, port.1, 0)..=(port.0, port.1, u8::MAX));
        let flits: u64 = lanes.map(|(_, lane)| lane.flits()).sum();
        let device = network.device_of(port.0);
        let flit = network.fabric().flit_time_of(device, port.1).unwrap_or_default().ps();
        (flits * flit) as f64 / span.ps().max(1) as f64
    }

    /// The utilisation of each link over a span from the start on, that of the busier direction, by
    /// the numbers of the graph.
    pub fn link_utilisation(&self, network: &Infiniband, graph: &Graph, span: Time) -> Vec<f64> {
        let mut links = vec![0.0_f64; graph.links().len()];
        let mut last: Option<(u32, u16)> = None;
        for &(number, port, _) in self.lanes.keys() {
            let channel: (u32, u16) = (number, port);
            if last.replace(channel) == Some(channel) {
                continue;
            }
            let Some(end) = graph.peer(network.device_of(number), port) else { continue };
            let link = &mut links[end.link as usize];
            *link = link.max(self.utilisation(network, channel, span));
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
        for wrong in ["", "0", "1.1", "0.5:0.1:0.1", "0.1:0.5", "0.1:0.5:0", "a"] {
            assert!(loads(wrong).is_err(), "{wrong}");
        }
    }
}
