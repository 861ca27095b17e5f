//! Datatypes as they lie in a file whose elements have other sizes than in memory (MPI 4.1, section
//! 14.5).

use std::rc::Rc;

use super::basic::Basic;
use super::map::{Map, Piece};
use super::{Datatype, Element};
use crate::abi::Handle;
use crate::error::Result;

/// The factor that offsets in bytes are multiplied with: a numerator and a denominator.
type Scale = (i64, i64);

fn scaled(place: i64, (to, from): Scale) -> i64 {
    if place % from == 0 { (place / from).saturating_mul(to) } else { place }
}

fn stored(map: &Map, scale: Scale, size: &impl Fn(Basic) -> u8) -> Result<Rc<Map>> {
    let pieces = match map {
        Map::Basic(basic) => {
            return Ok(Rc::new(Map::Basic(Basic { size: size(*basic), ..*basic })));
        }
        Map::Pieces { pieces, .. } => pieces,
    };
    let pieces = pieces.iter().map(|piece| {
        let (offset, stride) = (scaled(piece.offset, scale), scaled(piece.stride, scale));
        Ok(Piece { offset, count: piece.count, stride, map: stored(&piece.map, scale, size)? })
    });
    Map::pieces(pieces.collect::<Result<Vec<_>>>()?)
}

impl Datatype {
    /// Type map and extent in a file whose elements are as long as `size` says. Where all elements
    /// are of one type, which includes all portable datatypes, distances grow with them; otherwise
    /// they are the program's to get right.
    pub fn stored(&self, size: &impl Fn(Basic) -> u8) -> Result<(Rc<Map>, i64)> {
        let basic = self.map().uniform();
        let scale = basic.map_or((1, 1), |basic| (size(basic).into(), basic.size.into()));
        Ok((stored(self.map(), scale, size)?, scaled(self.extent(), scale)))
    }

    /// The basic elements in it, each with a predefined datatype that has it.
    pub fn basics(&self) -> Vec<(Basic, Handle)> {
        if let Some(Element::One(basic)) = self.element {
            return vec![(basic, self.handle())];
        }
        self.contents().types.iter().flat_map(|of| of.basics()).collect()
    }
}
