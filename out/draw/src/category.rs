//! Lines or bars over named places.

use std::fmt::Write as _;

use crate::{
    axis::{Axis, Scale, number},
    course::{Course, Mark, stack},
    svg::{document, escaped, fitted, palette, room_for},
};

/// A value for each place, where there is one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Line {
    /// Its name in the legend. A line without a name is drawn as bars.
    pub name: String,
    /// Its values, by place.
    pub points: Vec<Option<f64>>,
}

/// A chart of values over named places; the axis of values begins at 0, or below it
/// where there are negative values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CategoryChart {
    /// The heading.
    pub title: String,
    /// The label below the places.
    pub x: String,
    /// The label of the values, with their unit.
    pub y: String,
    /// The scale of the values. Those that have no place on it are left out.
    pub scale: Scale,
    /// The names of the places, from left to right.
    pub places: Vec<String>,
    /// The lines.
    pub lines: Vec<Line>,
}

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 400.0;
const LEFT: f64 = 70.0;
const TOP: f64 = 34.0;
const RIGHT: f64 = 140.0;
const BOTTOM: f64 = 52.0;
/// Height of the plot within the margins.
const PLOT: f64 = HEIGHT - TOP - BOTTOM;

/// Width of a character of an axis label.
const CHARACTER: f64 = 6.6;
/// Height of a line of text, which names that are not level must be apart.
const LINE: f64 = 14.0;
/// Least distance of a turned name from the edge of the drawing.
const EDGE: f64 = 8.0;
/// Height of an entry of the legend.
const ENTRY: f64 = 18.0;
/// Sine and cosine of 40 degrees, by which names are turned that do not fit beside each other.
const TURN: (f64, f64) = (0.643, 0.766);

/// Places of values and names in the drawing.
pub(crate) struct Frame {
    axis: Axis,
    /// The beginning of the plot, right of the values of its axis.
    left: f64,
    /// Width of a place.
    pub room: f64,
    /// Room that turned names take below the plot, if they are turned.
    turned: Option<f64>,
}

impl Frame {
    pub fn x(&self, place: usize) -> f64 {
        self.left + (place as f64 + 0.5) * self.room
    }

    pub fn y(&self, value: f64) -> f64 {
        TOP + PLOT * (1.0 - self.axis.share(value))
    }
}

impl CategoryChart {
    /// Draws the chart as SVG.
    pub fn draw(&self) -> String {
        let values = self.lines.iter().flat_map(|line| &line.points).flatten();
        let names = self.lines.iter().map(|line| line.name.as_str());
        self.framed(values.copied(), names, |scale| {
            let mut courses: Vec<_> =
                self.lines.iter().map(|line| Course::of(line, scale)).collect();
            stack(&mut courses);
            let shapes = self.lines.iter().zip(&courses).zip(palette()).enumerate();
            let shapes = shapes.map(|(index, ((line, course), colour))| {
                if line.name.is_empty() {
                    return bars(course, colour, scale);
                }
                course.draw(colour) + &legend(index, &line.name, colour)
            });
            shapes.collect()
        })
    }

    /// Draws the frame for these values, with the shapes that `fill` makes of its scale. It is as
    /// wide as the heading, turned names of places and the names in the legend need, and as high as
    /// their number needs.
    pub(crate) fn framed<'a>(
        &self,
        values: impl Iterator<Item = f64>,
        names: impl Iterator<Item = &'a str>,
        fill: impl FnOnce(&Frame) -> String,
    ) -> String {
        let axis = Axis::over(self.scale, values);
        let digits = axis.ticks().into_iter().map(|value| number(value).len()).max().unwrap_or(0);
        let left = LEFT.max(34.0 + CHARACTER * digits as f64);
        let room = (WIDTH - left - RIGHT) / self.places.len().max(1) as f64;
        let longest = self.places.iter().map(|name| name.chars().count()).max().unwrap_or(0);
        let longest = longest as f64 * CHARACTER;
        let turned = (longest + CHARACTER > room).then_some(longest * TURN.0);
        let scale = Frame { axis, left, room, turned };
        let mut svg = format!(
            "<text x=\"{left:.0}\" y=\"20\" font-size=\"14\">{}</text>\n",
            escaped(&self.title)
        );
        svg += &self.axes(&scale);
        svg += &fill(&scale);
        let (mut rows, mut named) = (0.0, 0.0_f64);
        for name in names.filter(|name| !name.is_empty()) {
            (rows, named) = (rows + 1.0, named.max(room_for(name, 12.0)));
        }
        let height = HEIGHT + scale.turned.unwrap_or(0.0).round();
        let height = height.max(TOP + ENTRY * (rows + 1.0));
        let headed = left + room_for(&self.title, 14.0) + 8.0;
        let width = WIDTH.max((WIDTH - RIGHT + 40.0 + named).max(headed).round());
        let hanging = self.hanging(&scale);
        if hanging > 0.0 {
            svg = format!("<g transform=\"translate({hanging:.0} 0)\">\n{svg}</g>\n");
        }
        document((width + hanging, height), " font-size=\"12\"", "", &svg)
    }

    /// Every so many places are named: turned names are as far apart as their room, seen from their
    /// side.
    fn named(scale: &Frame) -> usize {
        let every = if scale.turned.is_some() { LINE / (scale.room * TURN.0) } else { 1.0 };
        #[allow(clippy::cast_sign_loss, reason = "at least 1")]
        let every = every.ceil().max(1.0) as usize;
        every
    }

    /// Room left of the drawing for turned names, which hang down to the left from their places.
    fn hanging(&self, scale: &Frame) -> f64 {
        if scale.turned.is_none() {
            return 0.0;
        }
        let named = self.places.iter().enumerate().step_by(Self::named(scale));
        let beyond = named.map(|(at, name)| room_for(name, 12.0) * TURN.1 - scale.x(at) + EDGE);
        beyond.fold(0.0, f64::max).ceil()
    }

    /// Lines across the plot at the ticks, the names of places, and the labels of both axes.
    fn axes(&self, scale: &Frame) -> String {
        let mut svg = String::new();
        let (left, width) = (scale.left, WIDTH - scale.left - RIGHT);
        for value in scale.axis.ticks() {
            let at = scale.y(value);
            // Writing to a string cannot fail.
            let _ = writeln!(
                svg,
                "<path d=\"M{left:.0} {at:.1}h{width:.0}\" stroke=\"#ddd\"/><text x=\"{:.0}\" \
                 y=\"{:.1}\" text-anchor=\"end\" fill=\"#444\">{}</text>",
                left - 6.0,
                at + 4.0,
                number(value)
            );
        }
        if scale.axis.is_signed() {
            let zero = scale.y(0.0);
            let _ = writeln!(svg, "<path d=\"M{left:.0} {zero:.1}h{width:.0}\" stroke=\"#888\"/>");
        }
        for (place, name) in self.places.iter().enumerate().step_by(Self::named(scale)) {
            let (x, y) = (scale.x(place), HEIGHT - BOTTOM + 18.0);
            let at = match scale.turned {
                Some(_) => format!(
                    "transform=\"translate({x:.1} {y:.0}) rotate(-40)\" text-anchor=\"end\""
                ),
                None => format!("x=\"{x:.1}\" y=\"{y:.0}\" text-anchor=\"middle\""),
            };
            let _ = writeln!(svg, "<text {at} fill=\"#444\">{}</text>", escaped(name));
        }
        let middle = left + width / 2.0;
        let _ = writeln!(
            svg,
            "<text x=\"{middle:.0}\" y=\"{:.0}\" text-anchor=\"middle\">{}</text>\n\
             <text transform=\"translate(16 {:.0}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
            HEIGHT - 12.0 + scale.turned.unwrap_or(0.0),
            fitted(&self.x, 12.0, 2.0 * (middle.min(WIDTH - middle) - EDGE)),
            TOP + PLOT / 2.0,
            fitted(&self.y, 12.0, 2.0 * (TOP + PLOT / 2.0 - EDGE))
        );
        svg
    }
}

/// The entry of a line in the legend, which stands right of the plot.
pub(crate) fn legend(index: usize, name: &str, colour: &str) -> String {
    let at = TOP + 14.0 + ENTRY * index as f64;
    format!(
        "<rect x=\"{:.0}\" y=\"{:.0}\" width=\"12\" height=\"12\" fill=\"{colour}\"/><text \
         x=\"{:.0}\" y=\"{at:.0}\">{}</text>\n",
        WIDTH - RIGHT + 14.0,
        at - 10.0,
        WIDTH - RIGHT + 32.0,
        escaped(name)
    )
}

/// Bars for the values of a line.
fn bars(course: &Course, colour: &str, scale: &Frame) -> String {
    let mut svg = String::new();
    // A bar hangs from the line at zero if its value is negative.
    let zero = scale.y(scale.axis.start().max(0.0));
    for Mark { at: (at, end), .. } in &course.marks {
        // Writing to a string cannot fail.
        let _ = writeln!(
            svg,
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"{colour}\"/>",
            at - scale.room * 0.3,
            end.min(zero),
            scale.room * 0.6,
            (zero - end).abs()
        );
    }
    svg
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The axis ends at 2, the top; 1 is in the middle: 34 + 314 / 2. The places are 510 / 3 wide.
    #[test]
    fn every_value_has_its_place() {
        let line = Line { name: "flow".to_owned(), points: vec![Some(1.0), None, Some(2.0)] };
        let places = ["1 KiB", "2 KiB", "4 KiB"].map(String::from).to_vec();
        let svg = CategoryChart { places, lines: vec![line], ..CategoryChart::default() }.draw();
        assert!(
            svg.contains("cx=\"155.0\" cy=\"191.0\"") && svg.contains("cx=\"495.0\" cy=\"34.0\"")
        );
        assert_eq!(svg.matches("<circle").count(), 2);
    }

    /// The axis goes from -4 to 6, so that a unit is 31.4 high and zero is at 34 + 6 * 31.4. The
    /// bar of 5 ends there, the one of -3 begins there.
    #[test]
    fn bars_hang_from_zero() {
        let line = Line { name: String::new(), points: vec![Some(5.0), Some(-3.0)] };
        let places = ["up", "down"].map(String::from).to_vec();
        let svg = CategoryChart { places, lines: vec![line], ..CategoryChart::default() }.draw();
        assert!(svg.contains("y=\"65.4\" width=\"153.0\" height=\"157.0\""), "{svg}");
        assert!(svg.contains("y=\"222.4\" width=\"153.0\" height=\"94.2\""), "{svg}");
        assert!(svg.contains("M70 222.4h510\" stroke=\"#888\""), "{svg}");
        assert!(svg.contains(">-4<") && svg.contains(">6<"), "{svg}");
    }

    /// Six places are 85 wide; the first is at 70 + 42.5. A name of 30 characters, of 0.64 times 12
    /// each, is turned and hangs 230.4 * 0.766 = 176.5 to the left, which is 64 beyond the edge,
    /// and 8 stay free, so that all is 72 farther right. A long name at the last place, 537.5, does
    /// not leave the drawing.
    #[test]
    fn turned_names_have_room() {
        let chart = |long: usize| {
            let mut places = vec!["short".to_owned(); 6];
            places[long] = "x".repeat(30);
            let line = Line { name: String::new(), points: vec![Some(1.0); 6] };
            CategoryChart { places, lines: vec![line], ..CategoryChart::default() }.draw()
        };
        let first = chart(0);
        assert!(first.contains("rotate(-40)") && first.contains("viewBox=\"0 0 792 "), "{first}");
        assert!(first.contains("<g transform=\"translate(72 0)\">"), "{first}");
        let last = chart(5);
        assert!(last.contains("rotate(-40)") && last.contains("viewBox=\"0 0 720 "), "{last}");
    }

    /// 30 places are 17 wide, less than their names: these are turned, and as 14 / sin 40 degrees
    /// is 22, every second one is shown.
    #[test]
    fn names_do_not_overlap() {
        let places: Vec<String> = (0..30).map(|n| format!("{n} KiB")).collect();
        let line = Line { name: String::new(), points: vec![Some(1.0); 30] };
        let svg = CategoryChart { places, lines: vec![line], ..CategoryChart::default() }.draw();
        assert_eq!(svg.matches("rotate(-40)").count(), 15);
        assert!(svg.contains(">28 KiB<") && !svg.contains(">29 KiB<"));
    }
}
