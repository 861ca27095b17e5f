//! The picture of a calibration: samples, fits, residuals and intervals.

use std::path::Path;

use calibrate::{Calibration, Point, Segment};
use draw::{Curve, CurveChart, stacked};
use results::plural;

use crate::{exit::Ending, files::write_drawing};

/// The operations that are drawn, in this order.
const DRAWN: [&str; 6] = ["prtt", "send", "isend", "recv", "recv-busy", "exchange"];

/// Writes the picture of a calibration as SVG or PNG.
pub fn write(path: &Path, fitted: &Calibration) -> Result<(), Ending> {
    let drawing = stacked(&charts(fitted));
    write_drawing(path, &drawing)
}

/// Two charts for each operation: its times with their intervals and the lines of its pieces, and
/// how far the times are from these lines.
fn charts(fitted: &Calibration) -> Vec<CurveChart> {
    let all = DRAWN
        .iter()
        .filter_map(|name| Some((*name, fitted.points.get(*name)?, fitted.segments.get(*name)?)));
    all.flat_map(|(name, points, pieces)| {
        [times(name, points, pieces), rests(name, points, pieces)]
    })
    .collect()
}

const MICROSECOND: f64 = 1000.0;
const KIBIBYTE: f64 = 1024.0;
/// The quantile of 97.5 % of the normal distribution.
const NORMAL: f64 = 1.96;

fn times(name: &str, points: &[Point], pieces: &[Segment]) -> CurveChart {
    let place = |point: &Point| point.bytes / KIBIBYTE;
    let band = |point: &Point| {
        let [low, high] = [-NORMAL, NORMAL].map(|away| point.time + away * point.deviation);
        (place(point), [low / MICROSECOND, high / MICROSECOND])
    };
    let measured = Curve {
        name: "measured, with the interval of 95 %".to_owned(),
        points: points.iter().map(|point| (place(point), point.time / MICROSECOND)).collect(),
        band: points.iter().map(band).collect(),
    };
    let line = |piece: &Segment| {
        let end = |bytes: u64| {
            let time = piece.base + piece.slope * bytes as f64;
            (bytes as f64 / KIBIBYTE, time.max(0.0) / MICROSECOND)
        };
        [end(piece.from), end(piece.to), (f64::NAN, f64::NAN)]
    };
    let fit = Curve {
        name: format!("fit of {}", plural(pieces.len() as u64, "piece")),
        points: pieces.iter().flat_map(line).collect(),
        band: Vec::new(),
    };
    CurveChart {
        title: format!("{name}: time of one message"),
        x: "size (KiB)".to_owned(),
        y: "us".to_owned(),
        curves: vec![measured, fit],
        ..CurveChart::default()
    }
}

fn rests(name: &str, points: &[Point], pieces: &[Segment]) -> CurveChart {
    let share = |point: &Point| {
        let piece = pieces.iter().find(|piece| point.bytes <= piece.to as f64)?;
        let rest = point.time - piece.base - piece.slope * point.bytes;
        Some((point.bytes / KIBIBYTE, 100.0 * (rest / point.time).abs()))
    };
    let noise =
        |point: &Point| (point.bytes / KIBIBYTE, 100.0 * NORMAL * point.deviation / point.time);
    let curve = |name: &str, points| Curve { name: name.to_owned(), points, band: Vec::new() };
    CurveChart {
        title: format!("{name}: distance from the fit"),
        x: "size (KiB)".to_owned(),
        y: "% of the time".to_owned(),
        curves: vec![
            curve("distance", points.iter().filter_map(share).collect()),
            curve("half the interval of 95 %", points.iter().map(noise).collect()),
        ],
        ..CurveChart::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_piece_is_no_pieces() {
        let piece = Segment { from: 0, to: 1024, base: 500.0, slope: 1.0 };
        let name = |pieces: &[Segment]| times("send", &[], pieces).curves[1].name.clone();
        assert_eq!([name(&[piece]), name(&[piece; 2])], ["fit of 1 piece", "fit of 2 pieces"]);
    }
}
