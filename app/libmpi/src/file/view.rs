//! The view that a rank has of a file (MPI 4.1, section 14.3): the data of a datatype, again and
//! again from a displacement on.

use std::rc::Rc;

use super::representation::Representation;
use crate::abi;
use crate::check;
use crate::datatype::Datatype;
use crate::datatype::layout::{Layout, Runs};
use crate::error::{Error, Result};

/// A view. Its data, with the gaps left out, is a stream of bytes.
#[derive(Debug)]
pub struct View {
    /// The offset of its beginning, in bytes of the file.
    pub displacement: i64,
    /// The unit of offsets.
    pub etype: Rc<Datatype>,
    /// The datatype whose data is visible.
    pub filetype: Rc<Datatype>,
    /// The representation of data in the file.
    pub representation: Representation,
    /// Bytes of the etype in the file.
    pub unit: u64,
    tile: Tile,
}

/// A filetype as it lies in the file.
#[derive(Debug)]
struct Tile {
    layout: Rc<Layout>,
    extent: i64,
    /// Offsets of the beginning and the end of its data.
    begin: i64,
    end: i64,
    /// Some byte of the file is shown more than once.
    overlaps: bool,
}

fn each_run(runs: Runs, mut visit: impl FnMut(i64, u64)) {
    for number in 0..runs.count {
        let offset = runs.stride.wrapping_mul(number as i64);
        visit(runs.offset.wrapping_add(offset), runs.bytes);
    }
}

impl Tile {
    fn new(layout: Layout, extent: i64) -> Result<Self> {
        let (mut begin, mut end) = (i64::MAX, 0);
        let (mut last, mut ordered, mut overlaps) = (0, extent >= 0, false);
        layout.visit(0, layout.size(), &mut |runs| {
            each_run(runs, |offset, bytes| {
                // An access goes through the file in one direction.
                ordered &= offset >= last;
                overlaps |= offset < end;
                last = offset;
                begin = begin.min(offset);
                end = end.max(offset.saturating_add(bytes as i64));
            });
        });
        check!(ordered, ERR_IO, "the filetype's displacements are negative or not in order");
        Ok(Self { layout: Rc::new(layout), extent, begin: begin.min(end), end, overlaps })
    }

    fn size(&self) -> u64 {
        self.layout.size()
    }
}

impl View {
    /// A view of data in a representation.
    pub fn new(
        displacement: i64,
        etype: Rc<Datatype>,
        filetype: Rc<Datatype>,
        representation: Representation,
    ) -> Result<Self> {
        let (unit, _) = representation.stored(&etype)?;
        let (map, extent) = representation.stored(&filetype)?;
        let (unit, tile) = (unit.size(), Tile::new(Layout::of(&map), extent)?);
        check!(unit > 0, ERR_ARG, "the etype has no data");
        let whole = tile.size().is_multiple_of(unit);
        check!(whole, ERR_ARG, "the filetype is not made of whole etypes");
        Ok(Self { displacement, etype, filetype, representation, unit, tile })
    }

    /// Returns whether a byte of the file is shown more than once, which files that are written
    /// must not have (MPI 4.1, section 14.1.1).
    pub const fn overlaps(&self) -> bool {
        self.tile.overlaps
    }

    /// Calls a function with place and length of each piece of the file that so many bytes of the
    /// stream are, after others, until it gives false.
    pub fn pieces(&self, skip: u64, bytes: u64, mut visit: impl FnMut(u64, u64) -> bool) -> Result {
        let size = self.tile.size();
        if bytes == 0 {
            return Ok(());
        }
        check!(size > 0, ERR_IO, "the view shows nothing of the file");
        let (whole, skip) = (skip / size, skip % size);
        let beyond = || Error::new(abi::ERR_ARG, "an offset is beyond what 64 bits can tell");
        let first = i64::try_from(whole).ok().and_then(|whole| whole.checked_mul(self.tile.extent));
        let first = first.and_then(|first| first.checked_add(self.displacement));
        let first = first.ok_or_else(beyond)?;
        let count = skip.checked_add(bytes).ok_or_else(beyond)?.div_ceil(size);
        let mut goes_on = true;
        Layout::repeat(0, count, self.tile.extent, &self.tile.layout).visit(
            skip,
            bytes,
            &mut |runs| {
                each_run(runs, |offset, bytes| {
                    goes_on = goes_on && visit(first.wrapping_add(offset) as u64, bytes);
                });
            },
        );
        Ok(())
    }

    /// The place in the file of a byte of the stream.
    pub fn place(&self, stream: u64) -> Result<u64> {
        let mut found = self.displacement as u64;
        self.pieces(stream, 1, |place, _| {
            found = place;
            false
        })?;
        Ok(found)
    }

    /// The number of bytes of the stream before a place in the file.
    pub fn before(&self, end: u64) -> u64 {
        let Tile { layout, extent, begin, end: ends, .. } = &self.tile;
        let room = (end as i64).saturating_sub(self.displacement);
        if layout.size() == 0 || room <= *begin {
            return 0;
        }
        let whole =
            if *extent > 0 { room.saturating_sub(*ends).div_euclid(*extent) + 1 } else { 0 }.max(0);
        let mut bytes = whole as u64 * layout.size();
        // Those that end behind it may begin before it.
        let mut start = whole.wrapping_mul(*extent);
        while start.saturating_add(*begin) < room {
            layout.visit(0, layout.size(), &mut |runs| {
                each_run(runs, |offset, length| {
                    let visible = room.saturating_sub(start.saturating_add(offset)).max(0);
                    bytes += length.min(visible as u64);
                });
            });
            if *extent <= 0 {
                break;
            }
            start = start.saturating_add(*extent);
        }
        bytes
    }
}
