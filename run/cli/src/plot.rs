//! Lines over named places, as SVG.

use std::fmt::Write as _;

/// A line: a value for each place, where there is one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Line {
    /// Its name; a line without one is drawn as bars.
    pub name: String,
    /// Its values, by place.
    pub points: Vec<Option<f64>>,
}

/// A drawing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plot {
    /// What it shows.
    pub title: String,
    /// What the places are.
    pub x: String,
    /// What the values are; the axis begins at 0.
    pub y: String,
    /// The names of the places.
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
/// Colours that people with colour blindness can tell apart (Okabe and Ito, 2008).
const COLOURS: [&str; 6] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"];

impl Plot {
    /// The drawing as SVG.
    pub fn draw(&self) -> String {
        let values = self.lines.iter().flat_map(|line| &line.points).flatten();
        let step = step(values.copied().fold(0.0, f64::max));
        let steps = (values_end(&self.lines) / step).ceil().max(1.0);
        let end = steps * step;
        let (width, height) = (WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM);
        let room = width / self.places.len().max(1) as f64;
        let x = |place: usize| LEFT + (place as f64 + 0.5) * room;
        let y = |value: f64| TOP + height * (1.0 - value / end);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" \
             font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n\
             <text x=\"{LEFT}\" y=\"20\" font-size=\"14\">{}</text>\n",
            escaped(&self.title)
        );
        svg += &self.axes(step, end, &x, &y);
        for (index, (line, colour)) in self.lines.iter().zip(COLOURS.iter().cycle()).enumerate() {
            svg += &shape(line, colour, &x, &y, room);
            let at = TOP + 14.0 + 18.0 * index as f64;
            if !line.name.is_empty() {
                let _ = writeln!(
                    svg,
                    "<rect x=\"{:.0}\" y=\"{:.0}\" width=\"12\" height=\"12\" fill=\"{colour}\"/><text x=\"{:.0}\" \
                     y=\"{at:.0}\">{}</text>",
                    WIDTH - RIGHT + 14.0,
                    at - 10.0,
                    WIDTH - RIGHT + 32.0,
                    escaped(&line.name)
                );
            }
        }
        svg += "</svg>\n";
        svg
    }

    /// Lines for round values, and what stands at the axes.
    fn axes(
        &self,
        step: f64,
        end: f64,
        x: &impl Fn(usize) -> f64,
        y: &impl Fn(f64) -> f64,
    ) -> String {
        let (width, height) = (WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM);
        let mut svg = String::new();
        let mut value = 0.0;
        while value <= end + step / 2.0 {
            let at = y(value);
            let _ = writeln!(
                svg,
                "<path d=\"M{LEFT} {at:.1}h{width}\" stroke=\"#ddd\"/><text x=\"{:.0}\" y=\"{:.1}\" \
                 text-anchor=\"end\" fill=\"#444\">{}</text>",
                LEFT - 6.0,
                at + 4.0,
                number(value)
            );
            value += step;
        }
        for (place, name) in self.places.iter().enumerate() {
            let _ = writeln!(
                svg,
                "<text x=\"{:.1}\" y=\"{:.0}\" text-anchor=\"middle\" fill=\"#444\">{}</text>",
                x(place),
                HEIGHT - BOTTOM + 18.0,
                escaped(name)
            );
        }
        let _ = writeln!(
            svg,
            "<text x=\"{:.0}\" y=\"{:.0}\" text-anchor=\"middle\">{}</text>\n<text transform=\"translate(16 {:.0}) \
             rotate(-90)\" text-anchor=\"middle\">{}</text>",
            LEFT + width / 2.0,
            HEIGHT - 12.0,
            escaped(&self.x),
            TOP + height / 2.0,
            escaped(&self.y)
        );
        svg
    }
}

fn values_end(lines: &[Line]) -> f64 {
    lines.iter().flat_map(|line| &line.points).flatten().copied().fold(0.0, f64::max)
}

/// A line with a mark at each value, or bars.
fn shape(
    line: &Line,
    colour: &str,
    x: &impl Fn(usize) -> f64,
    y: &impl Fn(f64) -> f64,
    room: f64,
) -> String {
    let points =
        line.points.iter().enumerate().filter_map(|(place, value)| Some((x(place), y((*value)?))));
    let mut svg = String::new();
    if line.name.is_empty() {
        for (at, top) in points {
            let _ = writeln!(
                svg,
                "<rect x=\"{:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"{colour}\"/>",
                at - room * 0.3,
                room * 0.6,
                y(0.0) - top
            );
        }
        return svg;
    }
    let mut path = String::new();
    for (at, top) in points {
        let letter = if path.is_empty() { 'M' } else { 'L' };
        let _ = write!(path, "{letter}{at:.1} {top:.1}");
        let _ =
            writeln!(svg, "<circle cx=\"{at:.1}\" cy=\"{top:.1}\" r=\"3.5\" fill=\"{colour}\"/>");
    }
    let _ =
        writeln!(svg, "<path d=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>");
    svg
}

/// A round distance of four to ten lines up to a value.
fn step(most: f64) -> f64 {
    if most <= 0.0 || !most.is_finite() {
        return 1.0;
    }
    let power = 10f64.powf((most / 4.0).log10().floor());
    [5.0, 2.0, 1.0]
        .into_iter()
        .map(|digit| digit * power)
        .find(|step| most / step >= 4.0)
        .unwrap_or(power)
}

/// A number without noise in its last digits.
fn number(value: f64) -> String {
    let text = format!("{value:.9}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if value != 0.0 && value.abs() < 1e-6 { format!("{value:e}") } else { text.to_owned() }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_have_round_steps() {
        // Four to ten lines: 9 in steps of 2, 1.2 in steps of 0.2, 40 in steps of 10.
        assert_eq!([9.0, 1.2, 40.0].map(step).map(number), ["2", "0.2", "10"]);
    }

    #[test]
    fn every_value_has_its_place() {
        let line = Line { name: "flow".to_owned(), points: vec![Some(1.0), None, Some(2.0)] };
        let places = ["1 KiB", "2 KiB", "4 KiB"].map(String::from).to_vec();
        let svg = Plot { places, lines: vec![line], ..Plot::default() }.draw();
        // 2 is the end of the axis, at the top; 1 is in the middle: 34 + 314 / 2. The places are
        // 510 / 3 wide.
        assert!(
            svg.contains("cx=\"155.0\" cy=\"191.0\"") && svg.contains("cx=\"495.0\" cy=\"34.0\"")
        );
        assert_eq!(svg.matches("<circle").count(), 2);
    }
}
