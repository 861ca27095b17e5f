//! Curves over a numeric axis.

use std::fmt::Write as _;

use crate::{
    axis::{Axis, Scale, number},
    svg::{document, escaped, fitted, palette, room_for},
};

/// A curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Its name in the legend.
    pub name: String,
    /// Its points, in the order in which they are joined. Those that are not finite are left out.
    pub points: Vec<(f64, f64)>,
    /// The band around it: places with the lower and the upper end of an interval. Those that are
    /// not finite are left out.
    pub band: Vec<(f64, [f64; 2])>,
}

/// A chart of curves over one axis; even axes begin at 0, or below it where there are negative
/// values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CurveChart {
    /// The heading.
    pub title: String,
    /// The label of the horizontal axis, with its unit.
    pub x: String,
    /// The label of the vertical axis, with its unit.
    pub y: String,
    /// The scales of the horizontal and of the vertical axis. Points that have no place on them are
    /// left out.
    pub scales: [Scale; 2],
    /// The curves.
    pub curves: Vec<Curve>,
}

const SIZE: (f64, f64) = (640.0, 360.0);
const STYLE: &str = " font-size=\"11\"";
/// Width of a digit.
const CHARACTER: f64 = 6.2;
/// Height of the name of a curve, and the most names that stand within the plot.
const ROW: f64 = 14.0;
const WITHIN: usize = 8;
/// Least distance of the last value of the horizontal axis from the edge of the drawing.
const EDGE: f64 = 4.0;
/// Left, top, right, bottom.
const MARGIN: [f64; 4] = [60.0, 30.0, 15.0, 45.0];

/// Draws charts as SVG, one below the other.
pub fn stacked(charts: &[CurveChart]) -> String {
    let (mut content, mut down, mut width) = (String::new(), 0.0, SIZE.0);
    for chart in charts {
        // Writing to a string cannot fail.
        let drawn = chart.content();
        let _ = write!(content, "<g transform=\"translate(0 {down:.0})\">\n{drawn}</g>\n");
        let (across, high) = chart.size();
        (down, width) = (down + high, width.max(across));
    }
    document((width, down), STYLE, "", &content)
}

impl Curve {
    /// The ends of the band that are finite, from the first place to the last.
    fn band(&self) -> impl Iterator<Item = (f64, [f64; 2])> + Clone + '_ {
        let finite = |(at, [low, high]): &(f64, [f64; 2])| {
            at.is_finite() && low.is_finite() && high.is_finite()
        };
        self.band.iter().copied().filter(finite)
    }

    /// The places of the points that have one; `at` places a point.
    fn placed(&self, at: impl Fn((f64, f64)) -> (f64, f64)) -> impl Iterator<Item = (f64, f64)> {
        self.points.iter().map(move |point| at(*point)).filter(is_finite)
    }

    /// Draws the band, which ends at `floor` below, and the curve; `at` places a point.
    fn draw(&self, colour: &str, floor: f64, at: impl Fn((f64, f64)) -> (f64, f64)) -> String {
        let path = |points: &mut dyn Iterator<Item = (f64, f64)>| {
            points.map(|(x, y)| format!("{x:.1},{y:.1}")).collect::<Vec<_>>().join(" ")
        };
        let above = self.band().map(|(place, ends)| at((place, ends[1].max(floor))));
        let below: Vec<_> =
            self.band().map(|(place, ends)| at((place, ends[0].max(floor)))).collect();
        let band = path(&mut above.chain(below.into_iter().rev()).filter(is_finite));
        // Writing to a string cannot fail.
        let mut svg = String::new();
        if !band.is_empty() {
            let _ = writeln!(
                svg,
                "<polygon fill=\"{colour}\" fill-opacity=\"0.2\" points=\"{band}\"/>"
            );
        }
        let _ = writeln!(
            svg,
            "<polyline fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.5\" points=\"{}\"/>",
            path(&mut self.placed(&at))
        );
        // A line through one point shows nothing.
        let mut drawn = self.placed(&at);
        if let (Some((x, y)), None) = (drawn.next(), drawn.next()) {
            let _ =
                writeln!(svg, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"{colour}\"/>");
        }
        svg
    }

    /// The name at a place, on a ground that lets little of the curves behind it through.
    fn named(&self, colour: &str, (left, row): (f64, f64)) -> String {
        if self.name.is_empty() {
            return String::new();
        }
        format!(
            "<rect x=\"{:.0}\" y=\"{:.0}\" width=\"{:.0}\" height=\"{ROW}\" fill=\"#fff\" \
             fill-opacity=\"0.8\"/><text x=\"{left:.0}\" y=\"{row:.0}\" \
             fill=\"{colour}\">{}</text>\n",
            left - 2.0,
            row - ROW + 3.0,
            room_for(&self.name, 11.0) + 4.0,
            escaped(&self.name)
        )
    }
}

impl CurveChart {
    /// Draws the chart as SVG.
    pub fn draw(&self) -> String {
        document(self.size(), STYLE, "", &self.content())
    }

    /// Width and height: more than usual where a name, the heading or the last value of the
    /// horizontal axis, which has its middle where the plot ends, needs it, or where names would
    /// take more than half of the plot; then they stand below each other above it.
    fn size(&self) -> (f64, f64) {
        let named = self.curves.iter().map(|curve| 10.0 + room_for(&curve.name, 11.0));
        let texts = named.chain([room_for(&self.title, 13.0)]).fold(0.0, f64::max);
        let (across, _, left) = self.axes();
        let last = across.ticks().into_iter().step_by(every(&across, left)).next_back();
        let last = last.unwrap_or_default();
        let last =
            across.share(last) * (SIZE.0 - left - MARGIN[2]) + room_for(&number(last), 11.0) / 2.0;
        let width = (left + texts + MARGIN[2]).max(left + last + EDGE).round();
        (SIZE.0.max(width), SIZE.1 + self.above())
    }

    /// Room above the plot for the names, if these are too many to stand within it.
    fn above(&self) -> f64 {
        let rows = self.curves.iter().filter(|curve| !curve.name.is_empty()).count();
        if rows > WITHIN { ROW * (rows + 1) as f64 } else { 0.0 }
    }

    /// The horizontal and the vertical axis, and the left end of the plot: the values of the
    /// vertical axis stand between its label and the plot.
    fn axes(&self) -> (Axis, Axis, f64) {
        let points = || {
            let upper = |(at, ends): (f64, [f64; 2])| (at, ends[1]);
            let curve = move |curve: &'_ Curve| {
                curve.points.iter().copied().chain(curve.band().map(upper)).collect::<Vec<_>>()
            };
            self.curves.iter().flat_map(curve)
        };
        let across = Axis::over(self.scales[0], points().map(|point| point.0));
        let up = Axis::over(self.scales[1], points().map(|point| point.1));
        let longest = up.ticks().into_iter().map(|value| number(value).len()).max().unwrap_or(0);
        (across, up, MARGIN[0].max(30.0 + CHARACTER * longest as f64))
    }

    /// The elements of the chart, from the upper left corner on.
    fn content(&self) -> String {
        let (across, up, left) = self.axes();
        let [_, top, right, bottom] = MARGIN;
        let above = self.above();
        let (width, height) = (SIZE.0 - left - right, SIZE.1 - top - bottom);
        let top = top + above;
        let x = |value: f64| left + across.share(value) * width;
        let y = |value: f64| top + height - up.share(value) * height;
        let mut svg = format!(
            "<text x=\"{left}\" y=\"18\" font-size=\"13\">{}</text>\n\
             <g stroke=\"#ddd\" fill=\"#444\">\n",
            escaped(&self.title)
        );
        let base = top + height;
        for value in across.ticks().into_iter().step_by(every(&across, left)) {
            let at = x(value);
            svg += &tick(value, &format!("M{at:.1} {top}V{base}"), "middle", (at, base + 14.0));
        }
        for value in up.ticks() {
            let (at, end) = (y(value), left + width);
            svg +=
                &tick(value, &format!("M{left} {at:.1}H{end:.0}"), "end", (left - 5.0, at + 4.0));
        }
        // Writing to a string cannot fail.
        if up.is_signed() {
            let (at, end) = (y(0.0), left + width);
            let _ = writeln!(svg, "<path stroke=\"#888\" d=\"M{left} {at:.1}H{end:.0}\"/>");
        }
        if across.is_signed() {
            let _ = writeln!(svg, "<path stroke=\"#888\" d=\"M{:.1} {top}V{base}\"/>", x(0.0));
        }
        let _ = writeln!(
            svg,
            "</g>\n<text x=\"{:.0}\" y=\"{:.0}\" text-anchor=\"middle\">{}</text>\n<text \
             transform=\"translate(14 {:.0}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
            left + width / 2.0,
            SIZE.1 + above - 10.0,
            fitted(&self.x, 11.0, 2.0 * (SIZE.0 - left - width / 2.0 - EDGE)),
            top + height / 2.0,
            fitted(&self.y, 11.0, 2.0 * (MARGIN[1] + height / 2.0 - EDGE))
        );
        for (curve, colour) in self.curves.iter().zip(palette()) {
            svg += &curve.draw(colour, up.start(), |(a, b)| (x(a), y(b)));
        }
        let place = |point: (f64, f64)| (x(point.0) - left, y(point.1) - top);
        svg + &self.names((left, top), (width, height), place)
    }

    /// The names, above all curves, on the colour of the page.
    fn names(
        &self,
        (left, top): (f64, f64),
        plot: (f64, f64),
        place: impl Fn((f64, f64)) -> (f64, f64),
    ) -> String {
        let above = self.above();
        let (beside, below) = if above > 0.0 { (0.0, -above) } else { self.corner(plot, place) };
        let named = |(index, (curve, colour)): (usize, (&Curve, &str))| {
            let row = top + below + ROW * (index as f64 + 1.0);
            curve.named(colour, (left + beside + 10.0, row))
        };
        self.curves.iter().zip(palette()).enumerate().map(named).collect()
    }

    /// Returns how far the names stand from the left and from the top of a plot of this size: in
    /// that of its corners, beginning with the upper left one, which curves pass least. `place`
    /// tells where a point is in the plot.
    fn corner(&self, plot: (f64, f64), place: impl Fn((f64, f64)) -> (f64, f64)) -> (f64, f64) {
        let width = self.curves.iter().map(|curve| room_for(&curve.name, 11.0)).fold(0.0, f64::max);
        let height = ROW * (self.curves.len() as f64 + 0.5);
        // Pieces of a curve that are shorter than a row is high.
        let samples = |curve: &Curve| {
            let ends: Vec<_> = curve.placed(&place).collect();
            let between = |pair: &[(f64, f64)]| {
                let [from, to] = [pair[0], pair[pair.len() - 1]];
                (0..64).map(move |part| {
                    let share = f64::from(part) / 64.0;
                    (from.0 + share * (to.0 - from.0), from.1 + share * (to.1 - from.1))
                })
            };
            let inner: Vec<_> = ends.windows(2).flat_map(between).collect();
            inner.into_iter().chain(ends.last().copied())
        };
        let all: Vec<(f64, f64)> = self.curves.iter().flat_map(samples).collect();
        let (right, down) = ((plot.0 - width - 20.0).max(0.0), (plot.1 - height - 4.0).max(0.0));
        let hidden = |&(left, top): &(f64, f64)| {
            let within = |(x, y): &&(f64, f64)| {
                (left..left + width + 14.0).contains(x) && (top..top + height).contains(y)
            };
            all.iter().filter(within).count()
        };
        let corners = [(0.0, 0.0), (right, 0.0), (right, down), (0.0, down)];
        corners.into_iter().min_by_key(hidden).unwrap_or_default()
    }
}

fn is_finite(point: &(f64, f64)) -> bool {
    point.0.is_finite() && point.1.is_finite()
}

/// Every so many values of the horizontal axis are shown, so that none overlaps its neighbour.
fn every(across: &Axis, left: f64) -> usize {
    let widest = across.ticks().into_iter().map(|value| number(value).len()).max().unwrap_or(0);
    let width = SIZE.0 - left - MARGIN[2];
    let room = width / (across.ticks().len() - 1).max(1) as f64;
    #[allow(clippy::cast_sign_loss, reason = "widths are positive")]
    let every = (CHARACTER * (widest + 1) as f64 / room).ceil() as usize;
    every.max(1)
}

/// A line across the plot along `path`, and its value at a place beside it.
fn tick(value: f64, path: &str, anchor: &str, (x, y): (f64, f64)) -> String {
    let text = number(value);
    format!(
        "<path d=\"{path}\"/><text stroke=\"none\" text-anchor=\"{anchor}\" x=\"{x:.1}\" \
         y=\"{y:.1}\">{text}</text>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(curves: Vec<Curve>) -> CurveChart {
        CurveChart { x: "x".into(), y: "y".into(), curves, ..CurveChart::default() }
    }

    /// Both axes are from 1 to 10 000, of which 100 is the middle; 0 and -1 have no place. The
    /// digits of 10 000 push the plot to 61.
    #[test]
    fn logarithmic_axes() {
        let points =
            vec![(0.0, 1.0), (1.0, 1.0), (100.0, 10_000.0), (10_000.0, 100.0), (1.0, -1.0)];
        let band = vec![(1.0, [0.0, 10.0]), (100.0, [-1.0, 10_000.0])];
        let curves = vec![Curve { name: String::new(), points, band }];
        let scales = [Scale::Logarithmic; 2];
        let svg = CurveChart { scales, ..chart(curves) }.draw();
        assert!(svg.contains("points=\"61.0,315.0 343.0,30.0 625.0,172.5\""), "{svg}");
        assert!(svg.contains("\"61.0,243.8 343.0,30.0 343.0,315.0 61.0,315.0\""), "{svg}");
        assert!(svg.contains(">1000<") && !svg.contains("inf") && !svg.contains("NaN"), "{svg}");
    }

    /// The plot is 640 - 75 wide from 60, 360 - 75 high to 315: (5, 10) of 10 by 10 is at (342.5,
    /// 30).
    #[test]
    fn points_are_where_their_values_are() {
        let points = vec![(0.0, 0.0), (5.0, 10.0), (f64::NAN, 1.0), (10.0, 5.0)];
        let curves = vec![Curve { name: "a < b".into(), points, band: Vec::new() }];
        let text = |text: &str| text.to_owned();
        let svg = CurveChart {
            title: text("t"),
            x: text("x"),
            y: text("y"),
            curves,
            ..CurveChart::default()
        }
        .draw();
        assert!(svg.contains("points=\"60.0,315.0 342.5,30.0 625.0,172.5\""), "{svg}");
        assert!(svg.contains("a &lt; b"));
    }

    /// A name of 100 characters takes 704 from 70 on, and 15 stay free at the right. Nine names
    /// stand above the plot, which is 10 * 14 lower.
    #[test]
    fn names_have_room() {
        let chart = |name: &str, count: usize| {
            let curve = Curve { name: name.into(), points: vec![(0.0, 1.0)], band: Vec::new() };
            let (title, x, y) = (String::new(), String::new(), String::new());
            CurveChart { title, x, y, curves: vec![curve; count], ..CurveChart::default() }
        };
        let long = "x".repeat(100);
        assert!(chart("x", 8).draw().contains("viewBox=\"0 0 640 360\""));
        assert!(chart(&long, 8).draw().contains("viewBox=\"0 0 789 360\""));
        let many = stacked(&[chart("x", 9), chart("x", 1)]);
        assert!(many.contains("viewBox=\"0 0 640 860\"") && many.contains("translate(0 500)"));
        assert!(many.contains("M60 170.0H625"), "the top of the plot: {many}");
    }

    /// Points that are no numbers do not count.
    #[test]
    fn a_point_alone_is_a_dot() {
        let chart = |points: Vec<(f64, f64)>| {
            let curves = vec![Curve { name: String::new(), points, band: Vec::new() }];
            let (title, x, y) = (String::new(), String::new(), String::new());
            CurveChart { title, x, y, curves, ..CurveChart::default() }.draw()
        };
        let alone = chart(vec![(5.0, 10.0), (10.0, f64::NAN)]);
        assert_eq!(alone.matches("<circle").count(), 1, "{alone}");
        assert!(!chart(vec![(5.0, 10.0), (10.0, 5.0)]).contains("<circle"));
        assert!(!chart(Vec::new()).contains("<circle"));
    }

    /// Both axes go from -4 to 6, over a width of 565 from 60 and a height of 285 down to 315: zero
    /// is at 286 and 201, (-3, 5) at 116.5 and 58.5.
    #[test]
    fn negative_values_are_within_the_plot() {
        let points = vec![(-3.0, 5.0), (5.0, -3.0)];
        let curves = vec![Curve { name: "a".into(), points, band: Vec::new() }];
        let chart = chart(curves);
        let svg = chart.draw();
        assert!(svg.contains("points=\"116.5,58.5 568.5,286.5\""), "{svg}");
        assert!(svg.contains("stroke=\"#888\" d=\"M60 201.0H625\""), "{svg}");
        assert!(svg.contains("stroke=\"#888\" d=\"M286.0 30V315\""), "{svg}");
    }

    /// The plot ends at 625. A value of seven digits, of 0.64 times 11 each, takes 24.64 right of
    /// that, and 4 stay free; one of two digits has room.
    #[test]
    fn the_last_value_has_room() {
        let drawn = |most: f64| {
            let points = vec![(0.0, 0.0), (most, 1.0)];
            let curves = vec![Curve { name: "a".into(), points, band: Vec::new() }];
            let (title, x, y) = (String::new(), String::new(), String::new());
            CurveChart { title, x, y, curves, ..CurveChart::default() }.draw()
        };
        for (most, width) in [(10.0, 640), (1e6, 654)] {
            let svg = drawn(most);
            assert!(svg.contains(&format!("viewBox=\"0 0 {width} 360\"")), "{most}: {svg}");
            assert!(svg.contains(&format!("x=\"625.0\" y=\"329.0\">{most}<")), "{most}: {svg}");
        }
    }

    /// Names stand behind all curves in the file, and so above them in the drawing, each on a
    /// ground of its own, which is as wide as ten characters of 0.64 times 11 and 4 more. The
    /// curves are along the upper end, so that the names are at the lower right.
    #[test]
    fn curves_do_not_strike_names_through() {
        let curve = |name: &str| Curve {
            name: name.into(),
            points: vec![(0.0, 1.0), (1.0, 1.0)],
            band: Vec::new(),
        };
        let curves = vec![curve("0123456789"), curve("second"), curve("")];
        let chart = chart(curves);
        let svg = chart.draw();
        let last = svg.rfind("<polyline").expect("a curve");
        let grounds: Vec<_> = svg.match_indices("fill-opacity=\"0.8\"/><text").collect();
        assert!(grounds.len() == 2 && grounds[0].0 > last, "{svg}");
        assert!(svg.contains("<rect x=\"543\" y=\"265\" width=\"74\" height=\"14\""), "{svg}");
    }

    /// A curve that rises at once and stays high leaves the lower corners free, and one from the
    /// lower left to the upper right the upper left one. The plot ends at 625 and 315; a name of
    /// ten characters is 70.4 wide, and two rows and a half are 35 high.
    #[test]
    fn names_stand_where_curves_pass_least() {
        let curve = |name: &str, points: &[(f64, f64)]| Curve {
            name: name.into(),
            points: points.to_vec(),
            band: Vec::new(),
        };
        let drawn = |points: &[(f64, f64)]| {
            let curves = vec![curve("0123456789", points), curve("second", points)];
            chart(curves).draw()
        };
        let risen = drawn(&[(0.0, 0.0), (0.01, 9.9), (10.0, 10.0)]);
        assert!(risen.contains("<text x=\"545\" y=\"290\""), "{risen}");
        let rising = drawn(&[(0.0, 0.0), (10.0, 10.0)]);
        assert!(rising.contains("<text x=\"70\" y=\"44\""), "{rising}");
    }

    /// Steps of 200000 up to 1400000 are 8 numbers of at most 7 digits, 6.2 wide each: the axis is
    /// 30 + 43.4 from the edge.
    #[test]
    fn long_numbers_do_not_overlap() {
        let points = vec![(0.0, 0.0), (14e5, 14e5)];
        let curves = vec![Curve { name: "a".into(), points, band: Vec::new() }];
        let chart = chart(curves);
        let svg = chart.draw();
        assert!(svg.contains("points=\"73.4,315.0 625.0,30.0\""), "{svg}");
        assert_eq!(svg.matches("text-anchor=\"middle\" x=").count(), 8);
    }

    /// The plot is 565 wide and 285 high, over 10 by 10. The band goes along its upper end and back
    /// along its lower one, which ends at 0; an infinite interval is left out. The second chart is
    /// 360 lower.
    #[test]
    fn bands_are_around_their_curves() {
        let band = vec![(0.0, [2.0, 4.0]), (5.0, [f64::NAN, f64::INFINITY]), (10.0, [-1.0, 10.0])];
        let curves = vec![Curve { name: "a".into(), points: vec![(10.0, 5.0)], band }];
        let chart = chart(curves);
        let svg = stacked(&[chart.clone(), chart]);
        assert!(svg.contains("points=\"60.0,201.0 625.0,30.0 625.0,315.0 60.0,258.0\""), "{svg}");
        assert!(svg.contains("translate(0 360)") && svg.contains("viewBox=\"0 0 640 720\""));
    }
}
