//! Curves as SVG.

use std::fmt::Write as _;

/// A curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Its name.
    pub name: String,
    /// Its points, in order.
    pub points: Vec<(f64, f64)>,
}

/// A chart of curves over one axis, both from zero.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// What it shows.
    pub title: String,
    /// The horizontal axis, with its unit.
    pub x: String,
    /// The vertical axis, with its unit.
    pub y: String,
    /// The curves.
    pub series: Vec<Series>,
}

const SIZE: (f64, f64) = (640.0, 360.0);
/// Left, top, right, bottom.
const MARGIN: [f64; 4] = [60.0, 30.0, 15.0, 45.0];
/// Colours that people with colour blindness can tell apart (Okabe and Ito, 2008).
const COLOURS: [&str; 6] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"];

impl Chart {
    /// The drawing.
    pub fn draw(&self) -> String {
        let points = || self.series.iter().flat_map(|series| &series.points);
        let most = |of: fn(&(f64, f64)) -> f64| {
            points().map(of).filter(|value| value.is_finite()).fold(0.0, f64::max)
        };
        let (step_x, end_x) = ticks(most(|point| point.0));
        let (step_y, end_y) = ticks(most(|point| point.1));
        let [left, top, right, bottom] = MARGIN;
        let (width, height) = (SIZE.0 - left - right, SIZE.1 - top - bottom);
        let x = |value: f64| left + value / end_x * width;
        let y = |value: f64| top + height - value / end_y * height;
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" \
             font-family=\"sans-serif\" font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" \
             fill=\"#fff\"/>\n<text x=\"{left}\" y=\"18\" font-size=\"13\">{}</text>\n\
             <g stroke=\"#ddd\" fill=\"#444\">\n",
            SIZE.0,
            SIZE.1,
            escaped(&self.title)
        );
        let base = top + height;
        svg += &grid(steps(step_x, end_x).map(|value| (value, x(value), base)), |at, _| {
            (format!("M{at:.1} {top}V{base}"), "middle", (at, base + 14.0))
        });
        svg += &grid(steps(step_y, end_y).map(|value| (value, left, y(value))), |_, at| {
            (format!("M{left} {at:.1}H{:.0}", left + width), "end", (left - 5.0, at + 4.0))
        });
        // Writing to a string cannot fail.
        let _ = writeln!(
            svg,
            "</g>\n<text x=\"{:.0}\" y=\"{:.0}\" text-anchor=\"middle\">{}</text>\n<text \
             transform=\"translate(14 {:.0}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
            left + width / 2.0,
            SIZE.1 - 10.0,
            escaped(&self.x),
            top + height / 2.0,
            escaped(&self.y)
        );
        for (index, Series { name, points }) in self.series.iter().enumerate() {
            let colour = COLOURS[index % COLOURS.len()];
            let finite = points.iter().filter(|point| point.0.is_finite() && point.1.is_finite());
            let path: Vec<_> = finite.map(|&(a, b)| format!("{:.1},{:.1}", x(a), y(b))).collect();
            let row = top + 14.0 * (index as f64 + 1.0);
            let _ = writeln!(
                svg,
                "<polyline fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.5\" points=\"{}\"/>\n\
                 <text x=\"{:.0}\" y=\"{row:.0}\" fill=\"{colour}\">{}</text>",
                path.join(" "),
                left + 10.0,
                escaped(name)
            );
        }
        svg + "</svg>\n"
    }
}

/// Lines across the plot with their values: `look` says for a place where the line goes, how its
/// text is anchored, and where.
fn grid(
    places: impl Iterator<Item = (f64, f64, f64)>,
    look: impl Fn(f64, f64) -> (String, &'static str, (f64, f64)),
) -> String {
    let line = |(value, x, y)| {
        let (path, anchor, (x, y)) = look(x, y);
        let text = short(value);
        format!(
            "<path d=\"{path}\"/><text stroke=\"none\" text-anchor=\"{anchor}\" x=\"{x:.1}\" \
             y=\"{y:.1}\">{text}</text>\n"
        )
    };
    places.map(line).collect()
}

/// The distance of ticks, 1, 2 or 5 times a power of ten, four to ten of them up to the end of the
/// axis.
fn ticks(most: f64) -> (f64, f64) {
    if most <= 0.0 {
        return (0.2, 1.0);
    }
    let raw = most / 5.0;
    let power = 10_f64.powf(raw.log10().floor());
    let factor = [1.0, 2.0, 5.0, 10.0].into_iter().find(|f| f * power >= raw * 0.999);
    let step = factor.unwrap_or(10.0) * power;
    (step, (most / step - 1e-9).ceil().max(1.0) * step)
}

fn steps(step: f64, end: f64) -> impl Iterator<Item = f64> {
    (0..20).map(move |i| f64::from(i) * step).take_while(move |value| *value <= end * 1.000_001)
}

fn short(value: f64) -> String {
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Up to 10: steps of 2; up to 0.9: fifths of that are 0.18, so 0.2 up to 1; up to 1234: 246.8,
    /// so 500 up to 1500.
    #[test]
    fn axes() {
        assert_eq!(ticks(10.0), (2.0, 10.0));
        let (step, end) = ticks(0.9);
        assert!((step - 0.2).abs() < 1e-12 && (end - 1.0).abs() < 1e-12);
        assert_eq!(ticks(1234.0), (500.0, 1500.0));
    }

    /// The plot is 640 - 75 wide from 60, 360 - 75 high to 315: (5, 10) of 10 by 10 is at (342.5,
    /// 30).
    #[test]
    fn places() {
        let points = vec![(0.0, 0.0), (5.0, 10.0), (10.0, 5.0)];
        let series = vec![Series { name: "a < b".into(), points }];
        let text = |text: &str| text.to_owned();
        let svg = Chart { title: text("t"), x: text("x"), y: text("y"), series }.draw();
        assert!(svg.contains("points=\"60.0,315.0 342.5,30.0 625.0,172.5\""), "{svg}");
        assert!(svg.contains("a &lt; b"));
    }
}
