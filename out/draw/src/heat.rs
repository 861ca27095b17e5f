//! A value for each pair of named places, as a colour.

use std::fmt::Write as _;

use crate::{
    axis::number,
    svg::{document, escaped},
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
/// Width of a character.
const CHARACTER: f64 = 6.6;
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
        let longest = self.rows.iter().map(|name| name.chars().count()).max().unwrap_or(0);
        let left = 40.0 + CHARACTER * longest as f64;
        let height = ROW.min(MOST / self.rows.len().max(1) as f64);
        let width = FIELD / self.columns.len().max(1) as f64;
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
        document((left + FIELD + 20.0, bottom + 96.0), " font-size=\"12\"", "", &svg)
    }

    /// The names of rows and columns, as many as there is room for, and the labels of both.
    fn names(&self, (left, width, height): (f64, f64, f64)) -> String {
        let bottom = TOP + height * self.rows.len() as f64;
        let longest = self.columns.iter().map(|name| name.chars().count()).max().unwrap_or(0);
        let every = |room: f64, needed: f64| -> usize {
            #[allow(clippy::cast_sign_loss, reason = "at least 1")]
            let every = (needed / room).ceil().max(1.0) as usize;
            every
        };
        let mut svg = String::new();
        let columns = every(width, CHARACTER * (longest + 1) as f64);
        for (column, name) in self.columns.iter().enumerate().step_by(columns) {
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
            f64::midpoint(TOP, bottom),
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
            left + 172.0,
            top + 10.0,
            escaped(&self.value)
        );
        svg
    }
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

    #[test]
    fn numbers_are_short() {
        assert_eq!([1234.56, 0.012_345, 7.0, 0.0].map(short), ["1235", "0.01235", "7", "0"]);
    }
}
