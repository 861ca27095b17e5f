//! Lines through places, which stay visible where several lie on one another.
//!
//! Of the lines that share a part, the first is solid, and each further one shows dashes of its own
//! along it, as long as those of the others. Marks at one point are rings around each other.

use std::fmt::Write as _;

use crate::category::{Frame, Line};

/// Lines that are nearer to each other than this hide each other: half of their width.
const NEAR: f64 = 1.0;
/// Length of a dash.
const DASH: usize = 8;
/// Radius of a mark, and by how much one is larger that lies below another.
const RADIUS: f64 = 3.5;
const RING: f64 = 1.5;

/// The value of a line at a place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mark {
    place: usize,
    /// Its point in the drawing.
    pub at: (f64, f64),
    /// The marks of later lines at this point.
    above: usize,
    /// The share of this line in its part from the mark before it to this one.
    part: Share,
}

/// The share of a line in a part that others may take, too.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Share {
    /// The lines before this one that take the part.
    below: usize,
    /// All lines that take it.
    all: usize,
}

/// A line in the drawing: its marks, from left to right. Values that are not finite have none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Course {
    pub marks: Vec<Mark>,
}

impl Course {
    pub fn of(line: &Line, scale: &Frame) -> Self {
        let marks = line.points.iter().enumerate().filter_map(|(place, value)| {
            let at = (scale.x(place), scale.y((*value)?));
            at.1.is_finite().then_some(Mark {
                place,
                at,
                above: 0,
                part: Share { below: 0, all: 1 },
            })
        });
        Self { marks: marks.collect() }
    }

    /// The mark near this one, and the mark before it, if there is one.
    fn near(&self, mark: &Mark) -> Option<(&Mark, Option<&Mark>)> {
        let index = self.marks.binary_search_by_key(&mark.place, |own| own.place).ok()?;
        let own = &self.marks[index];
        let before = index.checked_sub(1).and_then(|before| self.marks.get(before));
        own.is_near(mark).then_some((own, before))
    }

    /// Draws the line with a mark at each value.
    pub fn draw(&self, colour: &str) -> String {
        let (mut svg, mut solid, mut dashed) = (String::new(), String::new(), String::new());
        let mut before: Option<(f64, f64)> = None;
        for Mark { at, above, part, .. } in &self.marks {
            let radius = RADIUS + RING * *above as f64;
            let (x, y) = *at;
            // Writing to a string cannot fail.
            let _ = writeln!(
                svg,
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\" fill=\"{colour}\"/>"
            );
            match before {
                Some((left, top)) if part.below > 0 => {
                    let _ = writeln!(
                        dashed,
                        "<path d=\"M{left:.1} {top:.1}L{x:.1} {y:.1}\" stroke=\"{colour}\" \
                         stroke-width=\"2\" stroke-dasharray=\"{DASH} {}\" \
                         stroke-dashoffset=\"-{}\"/>",
                        DASH * (part.all - 1),
                        DASH * (part.below - 1)
                    );
                    let _ = write!(solid, "M{x:.1} {y:.1}");
                }
                _ => {
                    let letter = if before.is_none() { 'M' } else { 'L' };
                    let _ = write!(solid, "{letter}{x:.1} {y:.1}");
                }
            }
            before = Some(*at);
        }
        let _ = writeln!(
            svg,
            "<path d=\"{solid}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>"
        );
        svg + &dashed
    }
}

impl Mark {
    fn is_near(&self, other: &Self) -> bool {
        self.place == other.place && (self.at.1 - other.at.1).abs() < NEAR
    }
}

/// Finds the parts and points that several lines share.
pub fn stack(courses: &mut [Course]) {
    let originals = courses.to_vec();
    for (own, course) in courses.iter_mut().enumerate() {
        let mut before: Option<Mark> = None;
        for mark in &mut course.marks {
            for (other, line) in originals.iter().enumerate().filter(|(other, _)| *other != own) {
                let Some((_, start)) = line.near(mark) else { continue };
                mark.above += usize::from(other > own);
                if before.zip(start).is_some_and(|(ours, theirs)| ours.is_near(theirs)) {
                    mark.part.all += 1;
                    mark.part.below += usize::from(other < own);
                }
            }
            before = Some(*mark);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::CategoryChart;

    use super::*;

    /// The axis goes to 2, the places are 510 / 3 wide. The lines share the part from the first
    /// place to the second, of which the second and the third show dashes of 8 in 24, one after the
    /// other; then the third leaves, and the second shows dashes of 8 in 16. Three marks in a point
    /// are 3.5, 5 and 6.5 large, two are 3.5 and 5.
    #[test]
    fn lines_on_one_another_are_visible() {
        let line = |name: &str, last| Line {
            name: name.to_owned(),
            points: vec![Some(1.0), Some(1.0), Some(last)],
        };
        let places = ["a", "b", "c"].map(str::to_owned).to_vec();
        let lines = vec![line("x", 2.0), line("y", 2.0), line("z", 1.0)];
        let svg = CategoryChart { places, lines, ..CategoryChart::default() }.draw();
        let count = |text: &str| svg.matches(text).count();
        assert!(svg.contains("d=\"M155.0 191.0L325.0 191.0L495.0 34.0\""), "{svg}");
        assert_eq!(count("stroke-dasharray=\"8 16\" stroke-dashoffset=\"-0\""), 1, "{svg}");
        assert_eq!(count("stroke-dasharray=\"8 16\" stroke-dashoffset=\"-8\""), 1, "{svg}");
        assert_eq!(count("stroke-dasharray=\"8 8\" stroke-dashoffset=\"-0\""), 1, "{svg}");
        assert_eq!([count("r=\"3.5\""), count("r=\"5\""), count("r=\"6.5\"")], [4, 3, 2]);
    }
}
