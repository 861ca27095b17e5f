//! Several values at each of some named places, as bars or as boxes beside each other.

use std::fmt::Write as _;

use crate::{
    category::{CategoryChart, Frame, legend},
    svg::palette,
};

/// The values of a group at each place.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Group {
    /// Its name in the legend; empty if it is the only one.
    pub name: String,
    /// Its values, by place. Those that are not finite are left out.
    pub values: Vec<Vec<f64>>,
}

/// The shape that stands for several values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GroupShape {
    /// A bar up to their mean, with a line from the least to the greatest.
    #[default]
    Bars,
    /// A box from the first to the third quartile with a line at the median. Lines lead to the
    /// values farthest out that lie within one and a half times the height of the box from it;
    /// those beyond are dots (Tukey, 1977). Of equal quartiles only a line in the colour of the
    /// group is left of the box.
    Boxes,
}

/// A chart of groups of values over named places; the axis of values begins at 0, or
/// below it where there are negative values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GroupChart {
    /// The heading.
    pub title: String,
    /// The label below the places.
    pub x: String,
    /// The label of the values, with their unit.
    pub y: String,
    /// The names of the places, from left to right.
    pub places: Vec<String>,
    /// The groups, which stand beside each other at each place.
    pub groups: Vec<Group>,
    /// The shape.
    pub shape: GroupShape,
}

/// Least height of a box, and thickness of the line that stands for a lower one.
const FLAT: f64 = 3.0;
/// Part of a place that shapes take.
const USED: f64 = 0.8;

impl GroupChart {
    /// Draws the chart as SVG.
    pub fn draw(&self) -> String {
        let frame = CategoryChart {
            title: self.title.clone(),
            x: self.x.clone(),
            y: self.y.clone(),
            places: self.places.clone(),
            ..CategoryChart::default()
        };
        let values = self.groups.iter().flat_map(|group| group.values.iter().flatten());
        let names = self.groups.iter().map(|group| group.name.as_str());
        frame.framed(values.copied(), names, |scale| {
            let groups = self.groups.iter().zip(palette()).enumerate();
            groups.map(|(index, (group, colour))| self.group(index, group, colour, scale)).collect()
        })
    }

    fn group(&self, index: usize, group: &Group, colour: &str, scale: &Frame) -> String {
        let width = scale.room * USED / self.groups.len().max(1) as f64;
        let mut svg = String::new();
        for (place, values) in group.values.iter().enumerate() {
            let mut values: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
            values.sort_by(f64::total_cmp);
            let left = scale.x(place) - scale.room * USED / 2.0 + width * index as f64;
            // A tenth of the width stays free between neighbours.
            let at = (left + width * 0.05, width * 0.9);
            svg += &match self.shape {
                GroupShape::Bars => bar(&values, at, colour, scale),
                GroupShape::Boxes => tukey(&values, at, colour, scale),
            };
        }
        if !group.name.is_empty() {
            svg += &legend(index, &group.name, colour);
        }
        svg
    }
}

/// A rectangle between two values.
fn rectangle(between: [f64; 2], (left, width): (f64, f64), style: &str, scale: &Frame) -> String {
    let [low, high] = between.map(|value| scale.y(value));
    let height = low - high;
    format!(
        "<rect x=\"{left:.1}\" y=\"{high:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" \
         {style}/>\n"
    )
}

/// A vertical line between two values, in the middle of a shape.
fn whisker(between: [f64; 2], (left, width): (f64, f64), scale: &Frame) -> String {
    let [from, to] = between.map(|value| scale.y(value));
    let middle = left + width / 2.0;
    format!("<path d=\"M{middle:.1} {from:.1}V{to:.1}\" stroke=\"#444\"/>\n")
}

fn bar(sorted: &[f64], at: (f64, f64), colour: &str, scale: &Frame) -> String {
    let [Some(least), Some(most)] = [sorted.first(), sorted.last()] else { return String::new() };
    let mean = sorted.iter().sum::<f64>() / sorted.len() as f64;
    let mut svg =
        rectangle([mean.min(0.0), mean.max(0.0)], at, &format!("fill=\"{colour}\""), scale);
    if least < most {
        svg += &whisker([*least, *most], at, scale);
    }
    svg
}

fn tukey(sorted: &[f64], at: (f64, f64), colour: &str, scale: &Frame) -> String {
    if sorted.is_empty() {
        return String::new();
    }
    let [first, median, third] = [0.25, 0.5, 0.75].map(|part| quantile(sorted, part));
    let reach = 1.5 * (third - first);
    let is_near = |value: &&f64| (first - reach..=third + reach).contains(*value);
    let low = sorted.iter().find(is_near).copied().unwrap_or(first).min(first);
    let high = sorted.iter().rev().find(is_near).copied().unwrap_or(third).max(third);
    let mut svg = whisker([low, first], at, scale) + &whisker([third, high], at, scale);
    let (left, width) = at;
    let (y, right) = (scale.y(median), left + width);
    // Below this height the lines around the box and at the median hide its colour.
    let is_flat = scale.y(first) - scale.y(third) < FLAT;
    let style = format!("fill=\"{colour}\" fill-opacity=\"0.6\" stroke=\"#444\"");
    if !is_flat {
        svg += &rectangle([first, third], at, &style, scale);
    }
    let (ink, thick) = if is_flat { (colour, FLAT) } else { ("#000", 2.0) };
    // Writing to a string cannot fail.
    let _ = writeln!(
        svg,
        "<path d=\"M{left:.1} {y:.1}H{right:.1}\" stroke=\"{ink}\" stroke-width=\"{thick}\"/>"
    );
    for value in sorted.iter().filter(|value| !is_near(value)) {
        let (x, y) = (left + width / 2.0, scale.y(*value));
        let _ = writeln!(svg, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"2.5\" fill=\"{colour}\"/>");
    }
    svg
}

/// The quantile of sorted values, by linear interpolation between the two beside it (type 7 of
/// Hyndman and Fan, 1996).
fn quantile(sorted: &[f64], part: f64) -> f64 {
    let place = part * (sorted.len().saturating_sub(1)) as f64;
    #[allow(clippy::cast_sign_loss, reason = "part is between 0 and 1")]
    let below = place.floor() as usize;
    let value = |index: usize| sorted.get(index).or(sorted.last()).copied().unwrap_or_default();
    let low = value(below);
    low + (value(below + 1) - low) * place.fract()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(shape: GroupShape, values: Vec<f64>) -> String {
        let group = Group { name: String::new(), values: vec![values] };
        let places = vec!["x".to_owned()];
        GroupChart { places, groups: vec![group], shape, ..GroupChart::default() }.draw()
    }

    /// The axis ends at 3, six steps of 0.5, so that a unit is 314 / 3 = 104.67 high.
    /// The mean of 1, 2 and 3 is 2: its bar is 209.3 high, and the line goes from 348 - 104.7 to
    /// 348 - 314.
    #[test]
    fn a_bar_is_the_mean() {
        let svg = chart(GroupShape::Bars, vec![3.0, 1.0, 2.0, f64::NAN]);
        assert!(svg.contains("height=\"209.3\""), "{svg}");
        assert!(svg.contains("243.3V34.0"), "{svg}");
    }

    /// The axis goes from -40 to 0, so that zero is the top, and a bar of -20 half as high as the
    /// plot.
    #[test]
    fn a_negative_bar_hangs_from_zero() {
        let svg = chart(GroupShape::Bars, vec![-40.0, 0.0]);
        assert!(svg.contains("y=\"34.0\"") && svg.contains("height=\"157.0\""), "{svg}");
        assert!(svg.contains("348.0V34.0"), "{svg}");
    }

    /// Of 1, 2, 3, 4 and 20, quartiles are 2, 3 and 4; 20 is farther than 1.5 times 2 from 4. The
    /// axis ends at 20, a unit is 15.7: the box is 31.4 high, lines lead to 1 and to 4.
    #[test]
    fn a_box_has_its_outliers() {
        let svg = chart(GroupShape::Boxes, vec![20.0, 4.0, 3.0, 2.0, 1.0]);
        assert!(svg.contains("height=\"31.4\""), "{svg}");
        assert!(svg.contains("332.3V316.6"), "{svg}");
        assert_eq!(svg.matches("<circle").count(), 1);
        assert!(svg.contains("cy=\"34.0\""), "{svg}");
    }

    /// A box of one value, or of equal ones, is a line in the colour of its group; outliers stay.
    #[test]
    fn a_flat_box_has_the_colour_of_its_group() {
        for (values, dots) in [(vec![1.0], 0), (vec![1.0, 1.0, 1.0, 1.0, 5.0], 1)] {
            let group = Group { name: String::new(), values: vec![values] };
            let (places, groups) = (vec!["x".to_owned()], vec![group.clone(), group]);
            let shape = GroupShape::Boxes;
            let svg = GroupChart { places, groups, shape, ..GroupChart::default() }.draw();
            for colour in ["#0072b2", "#d55e00"] {
                let line = format!("stroke=\"{colour}\" stroke-width=\"3\"");
                assert_eq!(svg.matches(&line).count(), 1, "{svg}");
            }
            assert!(!svg.contains("stroke=\"#000\""), "{svg}");
            assert_eq!(svg.matches("<circle").count(), 2 * dots, "{svg}");
        }
    }

    #[test]
    fn quantiles_lie_between_values() {
        let of = |sorted: &[f64], part| quantile(sorted, part).to_string();
        assert_eq!(of(&[1.0, 2.0, 3.0, 4.0], 0.25), "1.75");
        assert_eq!([0.0, 0.5, 1.0].map(|part| of(&[5.0], part)), ["5"; 3]);
    }

    /// The legend begins at 612 of 720, so that a name of 26 characters, of 0.64 times 12 each,
    /// needs a wider drawing: 612 + 199.7 + 8 = 820. Entries are 18 high and begin at 34, so that
    /// 30 need 34 + 31 * 18 = 592. A heading begins at 70, 100 characters of 0.64 times 14 take
    /// 896.
    #[test]
    fn long_names_are_within_the_drawing() {
        let drawn = |title: &str, name: &str, count: usize| {
            let groups = vec![Group { name: name.to_owned(), values: vec![vec![1.0]] }; count];
            let (title, x, y) = (title.to_owned(), String::new(), String::new());
            let places = vec!["place".to_owned()];
            GroupChart { title, x, y, places, groups, shape: GroupShape::Bars }.draw()
        };
        let tree = "fat-tree:levels=2,radix=32";
        for (title, name, count, size) in [
            ("", "short", 1, "720 400"),
            ("", tree, 1, "820 400"),
            ("", tree, 30, "820 592"),
            (&*"x".repeat(100), "", 30, "974 400"),
        ] {
            let svg = drawn(title, name, count);
            assert!(svg.contains(&format!("viewBox=\"0 0 {size}\"")), "{title} {name} {count}");
        }
    }

    #[test]
    fn nothing_is_drawn_of_nothing() {
        for shape in [GroupShape::Bars, GroupShape::Boxes] {
            assert_eq!(chart(shape, Vec::new()).matches("<rect").count(), 1);
        }
    }
}
