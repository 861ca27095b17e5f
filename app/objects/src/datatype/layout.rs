//! The places of a datatype's bytes in memory: its type map without the types, in as few and as
//! long runs as it has, and the copying of them.

use std::rc::Rc;

use super::map::{Map, Piece};

/// Bytes in memory, in the order in which they are packed. Offsets count from the address of the
/// buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Bytes one after the other.
    Run {
        /// Offset of the first byte.
        offset: i64,
        /// Number of bytes.
        bytes: u64,
    },
    /// One layout several times.
    Repeat {
        /// Offset of the first.
        offset: i64,
        /// Number of repetitions.
        count: u64,
        /// From one to the next, in bytes.
        stride: i64,
        /// Bytes of each.
        size: u64,
        /// The layout that is repeated.
        inner: Rc<Layout>,
    },
    /// Different ones.
    Sequence {
        /// Bytes of all.
        size: u64,
        /// The layouts, none of them empty.
        parts: Rc<[Layout]>,
    },
}

/// Runs of one length at equal distances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Runs {
    /// Offset of the first run.
    pub offset: i64,
    /// Number of runs.
    pub count: u64,
    /// From one to the next, in bytes.
    pub stride: i64,
    /// Bytes of each.
    pub bytes: u64,
}

/// The part of a layout that is to be visited: `left` bytes, after `skip` others.
struct Range {
    skip: u64,
    left: u64,
}

impl Layout {
    /// The layout of a type map.
    pub fn of(map: &Map) -> Self {
        let pieces = match map {
            Map::Basic(basic) => return Self::Run { offset: 0, bytes: basic.size.into() },
            Map::Pieces { pieces, .. } => pieces,
        };
        let mut parts = Vec::new();
        // Most often all pieces are of one type.
        let mut last: Option<(&Rc<Map>, Rc<Self>)> = None;
        for Piece { offset, count, stride, map } in pieces {
            let inner = match &last {
                Some((known, layout)) if Rc::ptr_eq(known, map) => Rc::clone(layout),
                _ => Rc::new(Self::of(map)),
            };
            push(&mut parts, Self::repeat(*offset, *count, *stride, &inner));
            last = Some((map, inner));
        }
        Self::sequence(parts)
    }

    /// Several of one, with as little nesting as that takes.
    pub fn repeat(offset: i64, count: u64, stride: i64, inner: &Rc<Self>) -> Self {
        let size = inner.size();
        if count == 0 || size == 0 {
            return Self::Run { offset: 0, bytes: 0 };
        }
        match **inner {
            Self::Run { offset: first, bytes } if count == 1 || stride == bytes as i64 => {
                Self::Run { offset: offset.wrapping_add(first), bytes: bytes * count }
            }
            Self::Repeat { offset: first, count: copies, stride: step, size, ref inner }
                if count == 1 || stride == step.wrapping_mul(copies as i64) =>
            {
                let (offset, inner) = (offset.wrapping_add(first), Rc::clone(inner));
                Self::Repeat { offset, count: count * copies, stride: step, size, inner }
            }
            _ if count == 1 && offset == 0 => Self::clone(inner),
            _ => Self::Repeat { offset, count, stride, size, inner: Rc::clone(inner) },
        }
    }

    fn sequence(mut parts: Vec<Self>) -> Self {
        match &parts[..] {
            [] => return Self::Run { offset: 0, bytes: 0 },
            [_] => return parts.remove(0),
            _ => {}
        }
        if let Some(repeat) = Self::evenly(&parts) {
            return repeat;
        }
        Self::Sequence { size: parts.iter().map(Self::size).sum(), parts: parts.into() }
    }

    /// Runs of one length and one distance, as a repetition.
    fn evenly(parts: &[Self]) -> Option<Self> {
        let run = |part: &Self| match part {
            Self::Run { offset, bytes } => Some((*offset, *bytes)),
            _ => None,
        };
        let (first, second) = (run(parts.first()?)?, run(parts.get(1)?)?);
        let stride = second.0.wrapping_sub(first.0);
        let mut expected = first;
        for part in parts {
            if run(part)? != expected {
                return None;
            }
            expected.0 = expected.0.wrapping_add(stride);
        }
        let inner = Rc::new(Self::Run { offset: 0, bytes: first.1 });
        Some(Self::Repeat {
            offset: first.0,
            count: parts.len() as u64,
            stride,
            size: first.1,
            inner,
        })
    }

    /// Bytes of all.
    pub fn size(&self) -> u64 {
        match self {
            Self::Run { bytes, .. } => *bytes,
            Self::Repeat { count, size, .. } => count * size,
            Self::Sequence { size, .. } => *size,
        }
    }

    /// Calls a function with all runs, in order.
    fn all(&self, base: i64, visit: &mut impl FnMut(Runs)) {
        match self {
            Self::Run { offset, bytes } => {
                let offset = base.wrapping_add(*offset);
                visit(Runs { offset, count: 1, stride: 0, bytes: *bytes });
            }
            Self::Repeat { offset, count, stride, inner, .. } => {
                let mut at = base.wrapping_add(*offset);
                if let Self::Run { offset, bytes } = **inner {
                    let offset = at.wrapping_add(offset);
                    visit(Runs { offset, count: *count, stride: *stride, bytes });
                    return;
                }
                for _ in 0..*count {
                    inner.all(at, visit);
                    at = at.wrapping_add(*stride);
                }
            }
            Self::Sequence { parts, .. } => parts.iter().for_each(|part| part.all(base, visit)),
        }
    }

    /// Calls a function with the runs of some of the bytes, in order.
    pub fn visit(&self, skip: u64, bytes: u64, visit: &mut impl FnMut(Runs)) {
        self.some(0, &mut Range { skip, left: bytes }, visit);
    }

    fn some(&self, base: i64, range: &mut Range, visit: &mut impl FnMut(Runs)) {
        let size = self.size();
        if range.skip >= size {
            range.skip -= size;
            return;
        }
        if range.skip == 0 && range.left >= size {
            range.left -= size;
            self.all(base, visit);
            return;
        }
        match self {
            Self::Run { offset, bytes } => {
                let length = (bytes - range.skip).min(range.left);
                let offset = base.wrapping_add(*offset).wrapping_add(range.skip as i64);
                visit(Runs { offset, count: 1, stride: 0, bytes: length });
                *range = Range { skip: 0, left: range.left - length };
            }
            Self::Repeat { offset, count, stride, size, inner } => {
                let whole = range.skip / size;
                range.skip %= size;
                let first = base.wrapping_add(*offset);
                for copy in whole..*count {
                    if range.left == 0 {
                        return;
                    }
                    inner.some(first.wrapping_add(stride.wrapping_mul(copy as i64)), range, visit);
                }
            }
            Self::Sequence { parts, .. } => {
                for part in parts.iter() {
                    if range.left == 0 {
                        return;
                    }
                    part.some(base, range, visit);
                }
            }
        }
    }
}

/// Adds a part to a sequence; a run that follows on the last one becomes one with it.
fn push(parts: &mut Vec<Layout>, part: Layout) {
    if part.size() == 0 {
        return;
    }
    if let (Some(Layout::Run { offset, bytes }), Layout::Run { offset: next, bytes: more }) =
        (parts.last_mut(), &part)
        && offset.wrapping_add(*bytes as i64) == *next
    {
        *bytes += more;
        return;
    }
    parts.push(part);
}

/// Copies runs of some bytes from places a stride apart to places another stride apart. Short ones
/// of usual lengths are a load and a store each.
///
/// # Safety
/// Both ends of each run are as many bytes as said, and do not overlap.
pub unsafe fn copy_runs(
    (from, from_stride): (*const u8, i64),
    (into, into_stride): (*mut u8, i64),
    count: u64,
    bytes: u64,
) {
    // SAFETY: the caller's, in all of these.
    match bytes {
        4 => each((from, from_stride), (into, into_stride), count, |from, into| unsafe {
            into.cast::<u32>().write_unaligned(from.cast::<u32>().read_unaligned());
        }),
        8 => each((from, from_stride), (into, into_stride), count, |from, into| unsafe {
            into.cast::<u64>().write_unaligned(from.cast::<u64>().read_unaligned());
        }),
        16 => each((from, from_stride), (into, into_stride), count, |from, into| unsafe {
            into.cast::<u128>().write_unaligned(from.cast::<u128>().read_unaligned());
        }),
        _ => each((from, from_stride), (into, into_stride), count, |from, into| unsafe {
            std::ptr::copy_nonoverlapping(from, into, bytes as usize);
        }),
    }
}

fn each(
    (mut from, from_stride): (*const u8, i64),
    (mut into, into_stride): (*mut u8, i64),
    count: u64,
    copy: impl Fn(*const u8, *mut u8),
) {
    for _ in 0..count {
        copy(from, into);
        from = from.wrapping_offset(from_stride as isize);
        into = into.wrapping_offset(into_stride as isize);
    }
}
