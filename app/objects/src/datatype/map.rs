//! Type maps: which basic elements a datatype has, where, and in what order (MPI 4.1, section 5.1).

use std::rc::Rc;

use super::basic::Basic;
use crate::abi;
use crate::error::{Error, Result};

/// A type map, as nested repetitions.
#[derive(Debug)]
pub enum Map {
    /// One basic element at 0.
    Basic(Basic),
    /// Others, one after the other.
    Pieces {
        /// Bytes of data.
        size: u64,
        /// Basic elements.
        elements: u64,
        /// The pieces that have data.
        pieces: Box<[Piece]>,
    },
}

/// A map several times, the first at an offset, each a stride behind the one before, in bytes.
#[derive(Clone, Debug)]
pub struct Piece {
    /// Offset of the first, in bytes.
    pub offset: i64,
    /// Number of repetitions.
    pub count: u64,
    /// From one to the next.
    pub stride: i64,
    /// The map that is repeated.
    pub map: Rc<Map>,
}

impl Map {
    /// Pieces one after the other. Empty ones are left out, and a single one that repeats nothing
    /// is itself.
    pub fn pieces(pieces: impl IntoIterator<Item = Piece>) -> Result<Rc<Self>> {
        let pieces = pieces.into_iter().filter(|piece| piece.count > 0 && piece.map.size() > 0);
        let pieces = pieces.collect::<Box<[Piece]>>();
        if let [Piece { offset: 0, count: 1, map, .. }] = &*pieces {
            return Ok(Rc::clone(map));
        }
        let total = |of: fn(&Self) -> u64| {
            let mut sum = 0_u64;
            for piece in &pieces {
                let bytes = piece.count.checked_mul(of(&piece.map));
                sum = bytes.and_then(|bytes| sum.checked_add(bytes)).ok_or_else(too_large)?;
            }
            i64::try_from(sum).map_err(|_| too_large())?;
            Ok::<u64, Error>(sum)
        };
        let (size, elements) = (total(Self::size)?, total(Self::elements)?);
        Ok(Rc::new(Self::Pieces { size, elements, pieces }))
    }

    /// Bytes of data.
    pub fn size(&self) -> u64 {
        match self {
            Self::Basic(basic) => basic.size.into(),
            Self::Pieces { size, .. } => *size,
        }
    }

    /// Basic elements.
    pub fn elements(&self) -> u64 {
        match self {
            Self::Basic(_) => 1,
            Self::Pieces { elements, .. } => *elements,
        }
    }

    /// The basic element that all are, if there are any and they are all the same.
    pub fn uniform(&self) -> Option<Basic> {
        match self {
            Self::Basic(basic) => Some(*basic),
            Self::Pieces { pieces, .. } => {
                let mut all = pieces.iter().map(|piece| piece.map.uniform());
                let first = all.next()??;
                all.all(|other| other == Some(first)).then_some(first)
            }
        }
    }

    /// Calls a function with each basic element and its offset, in order, until it gives false;
    /// whether it never did.
    pub fn each(&self, offset: i64, visit: &mut impl FnMut(i64, Basic) -> bool) -> bool {
        match self {
            Self::Basic(basic) => visit(offset, *basic),
            Self::Pieces { pieces, .. } => pieces.iter().all(|piece| {
                let mut at = offset.wrapping_add(piece.offset);
                (0..piece.count).all(|_| {
                    let goes_on = piece.map.each(at, visit);
                    at = at.wrapping_add(piece.stride);
                    goes_on
                })
            }),
        }
    }

    /// The number of basic elements that the first `bytes` bytes make up; `None` if they end within
    /// one.
    pub fn elements_in(&self, mut bytes: u64) -> Option<u64> {
        let pieces = match self {
            Self::Pieces { pieces, .. } => pieces,
            Self::Basic(_) if bytes == 0 => return Some(0),
            Self::Basic(_) => return (bytes == self.size()).then_some(1),
        };
        let mut elements = 0;
        for piece in pieces {
            let size = piece.map.size();
            let whole = (bytes / size).min(piece.count);
            elements += whole * piece.map.elements();
            bytes -= whole * size;
            if whole < piece.count {
                return Some(elements + piece.map.elements_in(bytes)?);
            }
        }
        (bytes == 0).then_some(elements)
    }

    /// The number of bytes of the first `elements` basic elements.
    pub fn bytes_of(&self, mut elements: u64) -> u64 {
        let pieces = match self {
            Self::Pieces { pieces, .. } => pieces,
            Self::Basic(_) => return if elements == 0 { 0 } else { self.size() },
        };
        let mut bytes = 0;
        for piece in pieces {
            let each = piece.map.elements();
            let whole = (elements / each).min(piece.count);
            bytes += whole * piece.map.size();
            elements -= whole * each;
            if whole < piece.count {
                return bytes + piece.map.bytes_of(elements);
            }
        }
        bytes
    }
}

/// The beginning and the end of a datatype, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Lower bound.
    pub lb: i64,
    /// Upper bound.
    pub ub: i64,
    /// The lower bound was set by the program, and holds against elements below it.
    pub lb_set: bool,
    /// The upper bound was set by the program.
    pub ub_set: bool,
    /// Offset of the first byte of data.
    pub true_lb: i64,
    /// Offset of the end of the last byte of data.
    pub true_ub: i64,
    /// There is data.
    pub data: bool,
    /// The alignment of its elements' addresses, in bytes.
    pub align: u8,
}

impl Bounds {
    /// The bounds of a datatype without anything.
    pub const EMPTY: Self = Self {
        lb: 0,
        ub: 0,
        lb_set: false,
        ub_set: false,
        true_lb: 0,
        true_ub: 0,
        data: false,
        align: 1,
    };

    /// The bounds of bytes that begin at 0.
    pub fn of(size: i64) -> Self {
        Self { ub: size, true_ub: size, data: true, ..Self::EMPTY }
    }

    /// Upper minus lower bound.
    pub fn extent(&self) -> i64 {
        self.ub.saturating_sub(self.lb)
    }

    /// The bounds of a [`Piece`].
    pub fn repeat(&self, offset: i64, count: u64, stride: i64) -> Result<Self> {
        let Some(last) = count.checked_sub(1) else { return Ok(Self::EMPTY) };
        if !(self.data || self.lb_set || self.ub_set) {
            // Where nothing is has no place.
            return Ok(*self);
        }
        let span = i128::from(stride) * i128::from(last);
        let (low, high) = (span.min(0), span.max(0));
        let place = |bound: i64, by: i128| {
            i64::try_from(i128::from(bound) + i128::from(offset) + by).map_err(|_| too_large())
        };
        Ok(Self {
            lb: place(self.lb, low)?,
            ub: place(self.ub, high)?,
            true_lb: place(self.true_lb, low)?,
            true_ub: place(self.true_ub, high)?,
            ..*self
        })
    }

    /// The bounds of two datatypes together. A bound that was set wins over one that was not.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        let data = (self.data, other.data);
        let (lb, lb_set) =
            extreme((self.lb, self.lb_set), (other.lb, other.lb_set), data, i64::min);
        let (ub, ub_set) =
            extreme((self.ub, self.ub_set), (other.ub, other.ub_set), data, i64::max);
        let (true_lb, _) = extreme((self.true_lb, false), (other.true_lb, false), data, i64::min);
        let (true_ub, _) = extreme((self.true_ub, false), (other.true_ub, false), data, i64::max);
        let align = self.align.max(other.align);
        Self { lb, ub, lb_set, ub_set, true_lb, true_ub, data: self.data || other.data, align }
    }

    /// The bounds with an upper one that is rounded up, so that a structure can follow another.
    pub fn padded(mut self) -> Result<Self> {
        if !self.ub_set {
            let over = self.extent().rem_euclid(self.align.into());
            let more = if over == 0 { 0 } else { i64::from(self.align) - over };
            self.ub = self.ub.checked_add(more).ok_or_else(too_large)?;
        }
        Ok(self)
    }
}

/// The one of two bounds that holds: of those that were set, or else of those that data has.
fn extreme(
    one: (i64, bool),
    other: (i64, bool),
    data: (bool, bool),
    choose: fn(i64, i64) -> i64,
) -> (i64, bool) {
    match (one.1, other.1) {
        (true, false) => one,
        (false, true) => other,
        (false, false) if !data.1 => one,
        (false, false) if !data.0 => other,
        _ => (choose(one.0, other.0), one.1),
    }
}

/// Sizes and offsets are 64-bit numbers.
pub fn too_large() -> Error {
    Error::new(abi::ERR_ARG, "the datatype is larger than 64-bit offsets can tell")
}

/// The type map of a datatype and its bounds.
#[derive(Clone, Debug)]
pub struct Shape {
    /// The type map.
    pub map: Rc<Map>,
    /// The bounds.
    pub bounds: Bounds,
}

/// A shape several times, the first at an offset, each a stride behind the one before, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Block<'a> {
    /// Offset of the first, in bytes.
    pub offset: i64,
    /// Number of repetitions.
    pub count: u64,
    /// From one to the next.
    pub stride: i64,
    /// The shape that is repeated.
    pub of: &'a Shape,
}

impl<'a> Block<'a> {
    /// Some without gaps between their bounds.
    pub fn new(offset: i64, count: u64, of: &'a Shape) -> Self {
        Self { offset, count, stride: of.bounds.extent(), of }
    }
}

impl Shape {
    /// Blocks, one after the other in the type map.
    pub fn of<'a>(blocks: impl Iterator<Item = Block<'a>> + Clone) -> Result<Self> {
        let mut bounds = Bounds::EMPTY;
        for Block { offset, count, stride, of } in blocks.clone() {
            bounds = bounds.and(&of.bounds.repeat(offset, count, stride)?);
        }
        let map = Map::pieces(blocks.map(|Block { offset, count, stride, of }| Piece {
            offset,
            count,
            stride,
            map: Rc::clone(&of.map),
        }))?;
        Ok(Self { map, bounds })
    }

    /// One basic element.
    pub fn basic(basic: Basic) -> Self {
        let bounds = Bounds { align: basic.align, ..Bounds::of(basic.size.into()) };
        Self { map: Rc::new(Map::Basic(basic)), bounds }
    }
}
