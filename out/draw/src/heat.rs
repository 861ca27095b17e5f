//! A value for each pair of named places, as a colour.

use std::fmt::Write as _;

use crate::{
    axis::number,
    svg::{document, escaped, room_for},
};

/// A chart of values over two lists of names.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HeatChart {
    /// The heading.
    pub title: String,
    /// The label of the columns.
    pub x: String,
    /// The label of the rows.
    pub y: String,
    /// The label of the values, with their unit.
    pub value: String,
    /// The names of the columns, from left to right.
    pub columns: Vec<String>,
    /// The names of the rows, from the top down.
    pub rows: Vec<String>,
    /// The values by row and column, where there is one. Those that are not finite are left out.
    pub cells: Vec<Vec<Option<f64>>>,
}

/// Width of the field of colours, and most height of a row.
const FIELD: f64 = 560.0;
const ROW: f64 = 40.0;
const MOST: f64 = 480.0;
const TOP: f64 = 34.0;
/// Height of the names of the columns, their label and the scale, below the field.
const BELOW: f64 = 96.0;
/// Width of a character.
const CHARACTER: f64 = 6.6;
/// Least distance of a text from the edge of the drawing.
const EDGE: f64 = 8.0;
/// Beginning of the scale of colours from the left end of the field to its label.
const SCALED: f64 = 172.0;
/// The narrowest cell in which its value is written.
const WRITTEN: f64 = 52.0;

/// The ends of the scale of colours and its middle: light to dark, so that it reads in grey, too.
const COLOURS: [[f64; 3]; 3] = [[255.0, 247.0, 188.0], [217.0, 95.0, 14.0], [80.0, 18.0, 10.0]];

impl HeatChart {
    /// Draws the chart as SVG.
    pub fn draw(&self) -> String {
        let finite = self.cells.iter().flatten().flatten().copied().filter(|v| v.is_finite());
        let (least, most) = finite
            .clone()
            .fold((f64::MAX, f64::MIN), |(least, most), value| (least.min(value), most.max(value)));
        let left = self.left();
        let height = ROW.min(MOST / self.rows.len().max(1) as f64);
        let width = self.width();
        let mut svg = format!(
            "<text x=\"{left:.0}\" y=\"20\" font-size=\"14\">{}</text>\n",
            escaped(&self.title)
        );
        let share = |value: f64| if most > least { (value - least) / (most - least) } else { 0.0 };
        for (row, cells) in self.cells.iter().enumerate() {
            for (column, value) in cells.iter().enumerate() {
                let Some(value) = value.filter(|value| value.is_finite()) else { continue };
                let (x, y) = (left + width * column as f64, TOP + height * row as f64);
                svg += &cell((x, y, width, height), value, share(value));
            }
        }
        svg += &self.names((left, width, height));
        let bottom = TOP + height * self.rows.len() as f64;
        if least <= most {
            svg += &self.scale((left, bottom + 62.0), [least, most]);
        }
        document(self.size(left, bottom), " font-size=\"12\"", "", &svg)
    }

    /// The left end of the field: right of the names of the rows, and so far from the edge that the
    /// name of the first column, which may be wider than its cell, is within the drawing.
    fn left(&self) -> f64 {
        let longest = self.rows.iter().max_by_key(|name| name.chars().count());
        let longest = longest.map_or("", String::as_str);
        let rows = 40.0 + CHARACTER * longest.chars().count() as f64;
        // The label of the rows takes the first 18 units, and 6 are free before the field.
        let rows = rows.max(24.0 + room_for(longest, 12.0));
        let first = self.columns.first().map_or(0.0, |name| room_for(name, 12.0));
        rows.max((EDGE + (first - self.width()) / 2.0).round())
    }

    /// Width of a column.
    fn width(&self) -> f64 {
        FIELD / self.columns.len().max(1) as f64
    }

    /// Every so many columns are named, so that names do not overlap.
    fn named(&self) -> usize {
        let longest = self.columns.iter().map(|name| name.chars().count()).max().unwrap_or(0);
        every(self.width(), CHARACTER * (longest + 1) as f64)
    }

    /// Width and height of the drawing: more than the field needs where the heading, the name of
    /// the last column or a label is longer.
    fn size(&self, left: f64, bottom: f64) -> (f64, f64) {
        let last = self.columns.len().saturating_sub(1) / self.named() * self.named();
        let half = self.columns.get(last).map_or(0.0, |name| room_for(name, 12.0) / 2.0);
        let ends = [
            FIELD + 20.0,
            room_for(&self.title, 14.0) + EDGE,
            SCALED + room_for(&self.value, 12.0) + EDGE,
            self.width() * (last as f64 + 0.5) + half + EDGE,
            FIELD / 2.0 + room_for(&self.x, 12.0) / 2.0 + EDGE,
        ];
        let width = left + ends.into_iter().fold(0.0, f64::max);
        let label = self.middle(bottom) + room_for(&self.y, 12.0) / 2.0 + EDGE;
        (width.round(), (bottom + BELOW).max(label).round())
    }

    /// The middle of the label of the rows: that of the field, or farther down where the label
    /// would begin above the drawing.
    fn middle(&self, bottom: f64) -> f64 {
        f64::midpoint(TOP, bottom).max(EDGE + room_for(&self.y, 12.0) / 2.0)
    }

    /// The names of rows and columns, as many as there is room for, and the labels of both.
    fn names(&self, (left, width, height): (f64, f64, f64)) -> String {
        let bottom = TOP + height * self.rows.len() as f64;
        let mut svg = String::new();
        for (column, name) in self.columns.iter().enumerate().step_by(self.named()) {
            let x = left + width * (column as f64 + 0.5);
            // Writing to a string cannot fail.
            let _ = writeln!(
                svg,
                "<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"#444\">{}</text>",
                bottom + 16.0,
                escaped(name)
            );
        }
        for (row, name) in self.rows.iter().enumerate().step_by(every(height, 14.0)) {
            let y = TOP + height * (row as f64 + 0.5) + 4.0;
            let _ = writeln!(
                svg,
                "<text x=\"{:.1}\" y=\"{y:.1}\" text-anchor=\"end\" fill=\"#444\">{}</text>",
                left - 6.0,
                escaped(name)
            );
        }
        let _ = writeln!(
            svg,
            "<text x=\"{:.0}\" y=\"{:.0}\" text-anchor=\"middle\">{}</text>\n\
             <text transform=\"translate(16 {:.0}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
            left + FIELD / 2.0,
            bottom + 36.0,
            escaped(&self.x),
            self.middle(bottom),
            escaped(&self.y)
        );
        svg
    }

    /// The scale of colours with the least and the greatest value.
    fn scale(&self, (left, top): (f64, f64), [least, most]: [f64; 2]) -> String {
        const STEPS: u32 = 40;
        let width = 160.0 / f64::from(STEPS);
        let mut svg = String::new();
        for step in 0..STEPS {
            let share = f64::from(step) / f64::from(STEPS - 1);
            // Writing to a string cannot fail.
            let _ = writeln!(
                svg,
                "<rect x=\"{:.1}\" y=\"{top:.0}\" width=\"{width:.1}\" height=\"12\" \
                 fill=\"{}\"/>",
                left + width * f64::from(step),
                colour(share)
            );
        }
        let _ = writeln!(
            svg,
            "<text x=\"{left:.0}\" y=\"{:.0}\">{}</text><text x=\"{:.0}\" y=\"{0:.0}\" \
             text-anchor=\"end\">{}</text><text x=\"{:.0}\" y=\"{:.0}\">{}</text>",
            top + 26.0,
            short(least),
            left + 160.0,
            short(most),
            left + SCALED,
            top + 10.0,
            escaped(&self.value)
        );
        svg
    }
}

/// Every so many texts are shown that need more than the room of one.
fn every(room: f64, needed: f64) -> usize {
    #[allow(clippy::cast_sign_loss, reason = "at least 1")]
    let every = (needed / room).ceil().max(1.0) as usize;
    every
}

/// A cell, with its value where there is room.
fn cell((x, y, width, height): (f64, f64, f64, f64), value: f64, share: f64) -> String {
    let mut svg = format!(
        "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" \
         fill=\"{}\"/>\n",
        colour(share)
    );
    if width >= WRITTEN && height >= 14.0 {
        let ink = if share > 0.45 { "#fff" } else { "#000" };
        // Writing to a string cannot fail.
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"{ink}\">{}</text>",
            x + width / 2.0,
            y + height / 2.0 + 4.0,
            short(value)
        );
    }
    svg
}

/// A number with four digits that count.
fn short(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return number(value);
    }
    let digits = 3.0 - value.abs().log10().floor();
    let scale = 10_f64.powf(digits.clamp(-300.0, 300.0));
    number((value * scale).round() / scale)
}

/// The colour for a share of the scale.
fn colour(share: f64) -> String {
    let [from, middle, to] = COLOURS;
    let (from, to, part) =
        if share < 0.5 { (from, middle, share * 2.0) } else { (middle, to, share * 2.0 - 1.0) };
    let mixed = [0, 1, 2].map(|n: usize| from[n] + (to[n] - from[n]) * part);
    #[allow(clippy::cast_sign_loss, reason = "between 0 and 255")]
    let [red, green, blue] = mixed.map(|value| value.round() as u8);
    format!("#{red:02x}{green:02x}{blue:02x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The least value has the first colour, the greatest the last, the one between the middle
    /// one; where there is no value, there is no cell.
    #[test]
    fn values_have_colours() {
        let chart = HeatChart {
            columns: ["a", "b"].map(str::to_owned).to_vec(),
            rows: ["c", "d<"].map(str::to_owned).to_vec(),
            cells: vec![vec![Some(1.0), Some(2.0)], vec![None, Some(3.0)]],
            ..HeatChart::default()
        };
        let svg = chart.draw();
        for colour in ["#fff7bc", "#d95f0e", "#50120a"] {
            assert!(svg.contains(&format!("height=\"40.0\" fill=\"{colour}\"")), "{svg}");
        }
        assert_eq!(svg.matches("height=\"40.0\"").count(), 3);
        assert!(svg.contains("d&lt;"));
    }

    /// The field begins at 46.6 with rows of one character. A heading of 100 characters, of 0.64
    /// times 14 each, takes 896 and 8 more; a value's label of 60, of 0.64 times 12 each, 460.8
    /// after 172. One row of 40 ends at 74, the drawing 96 below. A label of the rows of 30 takes
    /// 230.4 and 8 at both ends, with its middle at 123.2. Of 100 columns of 5.6 with names of 20
    /// characters, 153.6 wide, every 25th is named, which the field has room for at the right; half
    /// of the first name less half a column, and 8, are 82 at the left.
    #[test]
    fn texts_are_within_the_drawing() {
        let text = |length: usize| "x".repeat(length);
        let drawn = |title: usize, value: usize, y: usize, columns: Vec<String>| {
            let (title, value, y) = (text(title), text(value), text(y));
            let cells = vec![vec![Some(1.0); columns.len()]];
            let (x, rows) = (String::new(), vec![text(1)]);
            HeatChart { title, x, y, value, columns, rows, cells }.draw()
        };
        for (title, value, y, size) in [
            (1, 1, 1, "627 170"),
            (100, 1, 1, "951 170"),
            (1, 60, 1, "687 170"),
            (1, 1, 30, "627 246"),
        ] {
            let svg = drawn(title, value, y, vec![text(1)]);
            assert!(svg.contains(&format!("viewBox=\"0 0 {size}\"")), "{title} {value} {y}: {svg}");
        }
        assert!(drawn(1, 1, 30, vec![text(1)]).contains("translate(16 123) rotate(-90)"));
        let narrow = drawn(1, 1, 1, vec![text(20); 100]);
        assert!(narrow.contains("viewBox=\"0 0 662 170\"") && narrow.contains("x=\"82.0\""));
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!([1234.56, 0.012_345, 7.0, 0.0].map(short), ["1235", "0.01235", "7", "0"]);
    }
}
