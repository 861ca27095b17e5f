//! Shortest ways in slim flies by formula.
//!
//! Switches (part, x, y) of one column x are joined where the difference of their y is a generator
//! of the part; (0, x, y) and (1, m, c) are joined where y = m x + c (Besta and Hoefler, SC 2014,
//! section II-B). So two switches of different columns of a part have exactly one neighbour in
//! common, in the other part. Two of one column have those whose differences are both generators;
//! of these one is fixed per difference, such that each generator serves about as many differences.
//! Between the parts the way changes its place in the first column where that is one link, or else
//! in the second.

use super::NOWHERE;
use crate::shape::{Field, SlimFly};

/// The ways of a slim fly whose links all work.
#[derive(Clone, Debug)]
pub(super) struct Formula {
    q: u32,
    hosts: u16,
    field: Field,
    columns: [Column; 2],
}

/// The links within the columns of one part.
#[derive(Clone, Debug)]
struct Column {
    /// Links of a switch within its column.
    links: u16,
    /// The first place on the way between each two places, from * q + to.
    step: Vec<u16>,
    /// The port of a switch, less its hosts, to each place of its column: from * q + to;
    /// [`NOWHERE`] where they are not joined.
    port: Vec<u16>,
}

impl Formula {
    /// The ways; `None` if there is no field of q elements.
    pub fn new(shape: &SlimFly) -> Option<Self> {
        let field = Field::new(shape.q)?;
        let columns = shape.generators().map(|set| Column::new(&field, shape.q, &set));
        Some(Self { q: shape.q, hosts: shape.hosts as u16, field, columns })
    }

    /// The port on the way to another switch; [`NOWHERE`] at that switch itself.
    #[inline]
    pub fn toward(&self, switch: u32, target: u32) -> u16 {
        let q = self.q;
        let place = |switch: u32| (switch / (q * q), switch / q % q, switch % q);
        let ((part, x, y), (to_part, to_x, to_y)) = (place(switch), place(target));
        let column = &self.columns[part as usize];
        if part == to_part {
            if x == to_x {
                return if y == to_y { NOWHERE } else { self.hosts + column.toward(q, y, to_y) };
            }
            // The line through both switches, or the two lines that meet in both.
            return self.across(part, self.common(part, (x, y), (to_x, to_y)));
        }
        // Where the link between the two columns leaves this one.
        let leave = if part == 0 {
            self.field.plus(self.field.times(to_x, x), to_y)
        } else {
            self.field.minus(to_y, self.field.times(x, to_x))
        };
        let joined = column.port[(y * q + leave) as usize];
        if y == leave || joined == NOWHERE { self.across(part, to_x) } else { self.hosts + joined }
    }

    /// The column of the other part in which the common neighbour of two switches lies: m of the
    /// line through (x, y) and (x', y'), or x where the lines (m, c) and (m', c') meet.
    fn common(&self, part: u32, (x, y): (u32, u32), (to_x, to_y): (u32, u32)) -> u32 {
        let field = &self.field;
        let run = field.minus(x, to_x);
        let rise = if part == 0 { field.minus(y, to_y) } else { field.minus(to_y, y) };
        field.over(rise, run)
    }

    /// The port to the other part's column of this number.
    const fn across(&self, part: u32, column: u32) -> u16 {
        self.hosts + self.columns[part as usize].links + column as u16
    }
}

impl Column {
    fn new(field: &Field, q: u32, generators: &[u32]) -> Self {
        let size = (q * q) as usize;
        let mut is_generator = vec![false; q as usize];
        for &generator in generators {
            is_generator[generator as usize] = true;
        }
        let first = first_steps(field, q, generators, &is_generator);
        let (mut step, mut port) = (vec![0; size], vec![NOWHERE; size]);
        for from in 0..q {
            let mut next = 0;
            for to in 0..q {
                let at = (from * q + to) as usize;
                let difference = field.minus(to, from);
                step[at] = field.plus(from, first[difference as usize]) as u16;
                if is_generator[difference as usize] {
                    port[at] = next;
                    next += 1;
                }
            }
        }
        Self { links: generators.len() as u16, step, port }
    }

    fn toward(&self, q: u32, from: u32, to: u32) -> u16 {
        let step = u32::from(self.step[(from * q + to) as usize]);
        self.port[(from * q + step) as usize]
    }
}

/// The generator with which the way along each difference begins: the difference itself if it is
/// one; or else one of those that leave a generator, the one least used so far.
fn first_steps(field: &Field, q: u32, generators: &[u32], is_generator: &[bool]) -> Vec<u32> {
    let mut used = vec![0_u32; q as usize];
    let step = |difference: u32| {
        if difference == 0 || is_generator[difference as usize] {
            return difference;
        }
        let rest = |first: u32| field.minus(difference, first);
        let fits = generators.iter().copied().filter(|&first| is_generator[rest(first) as usize]);
        let best = fits.min_by_key(|&first| used[first as usize] + used[rest(first) as usize]);
        let Some(first) = best else { return 0 };
        used[first as usize] += 1;
        used[rest(first) as usize] += 1;
        first
    };
    (0..q).map(step).collect()
}
