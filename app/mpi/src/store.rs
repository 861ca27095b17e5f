//! Posted receives, or unexpected messages, in the order in which they came.

use crate::index::Index;

/// The wildcard for a source or a tag.
pub const ANY: u32 = u32::MAX;

/// Up to this many entries a list is searched from the front; it then fits a few cache lines.
const FEW: usize = 24;

/// What tags mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tags {
    /// If it is not 0: bits of a tag within its context.
    bits: u8,
}

impl Tags {
    /// A tag is a number, and [`ANY`] is any.
    pub const PLAIN: Self = Self { bits: 0 };

    /// A tag below 2^31 has so many low bits that are the program's; the bits above are a context.
    /// All of them set is any tag of the context.
    pub const fn in_contexts(bits: u8) -> Self {
        Self { bits }
    }

    /// Whether it is a wildcard.
    #[inline]
    pub const fn is_any(self, tag: u32) -> bool {
        if self.bits == 0 {
            return tag == ANY;
        }
        let low = (1 << self.bits) - 1;
        tag >> 31 == 0 && tag & low == low
    }

    /// Whether two tags match.
    #[inline]
    const fn equal(self, a: u32, b: u32) -> bool {
        a == b || (self.group(a) == self.group(b) && (self.is_any(a) || self.is_any(b)))
    }

    /// Within what a wildcard means any tag.
    #[inline]
    pub const fn group(self, tag: u32) -> u32 {
        if self.bits == 0 { 0 } else { tag >> self.bits }
    }
}

/// Entries with a source and a tag, of which the earliest match can be taken.
///
/// Either side of a match may hold wildcards, so the same store serves for posted receives (asked
/// by messages) and for unexpected messages (asked by receives). Adding and taking cost constant
/// expected time however many entries there are.
#[derive(Debug)]
pub struct Store<V> {
    few: Vec<Entry<V>>,
    tags: Tags,
    many: Option<Box<Index<V>>>,
}

#[derive(Debug)]
struct Entry<V> {
    source: u32,
    tag: u32,
    value: V,
}

/// Whether two sources match.
#[inline]
const fn equal(a: u32, b: u32) -> bool {
    a == b || a == ANY || b == ANY
}

impl<V> Default for Store<V> {
    fn default() -> Self {
        Self::new(Tags::PLAIN)
    }
}

impl<V> Store<V> {
    /// An empty one, with tags of this meaning.
    pub const fn new(tags: Tags) -> Self {
        Self { few: Vec::new(), tags, many: None }
    }

    /// Removes the entries that a condition holds for, and tells how many.
    pub fn remove(&mut self, mut condition: impl FnMut(&V) -> bool) -> usize {
        if let Some(many) = &mut self.many {
            return many.remove(condition);
        }
        let before = self.few.len();
        self.few.retain(|entry| !condition(&entry.value));
        before - self.few.len()
    }

    /// Makes room for so many more entries, as far as they stand in a list.
    pub fn reserve(&mut self, entries: usize) {
        if self.many.is_none() {
            self.few.reserve_exact(entries.min(FEW));
        }
    }

    /// Adds an entry behind all others.
    pub fn insert(&mut self, source: u32, tag: u32, value: V) {
        if let Some(many) = &mut self.many {
            many.insert(source, tag, value);
        } else if self.few.len() < FEW {
            // Many ranks post a dozen receives each: doubling would waste much.
            if self.few.len() == self.few.capacity() {
                self.few.reserve_exact(6);
            }
            self.few.push(Entry { source, tag, value });
        } else {
            let mut many = Box::new(Index::new(self.tags));
            for entry in std::mem::take(&mut self.few) {
                many.insert(entry.source, entry.tag, entry.value);
            }
            many.insert(source, tag, value);
            self.many = Some(many);
        }
    }

    /// Calls `each` with what a search would read first.
    #[inline]
    pub fn soon(&self, each: impl Fn(&V)) {
        for entry in self.few.iter().step_by(4) {
            each(&entry.value);
        }
    }

    /// Removes and returns the earliest entry that matches.
    pub fn take(&mut self, source: u32, tag: u32) -> Option<V> {
        if let Some(many) = &mut self.many {
            let value = many.take(source, tag);
            if many.len() == 0 {
                self.many = None;
            }
            return value;
        }
        let tags = self.tags;
        let here = |e: &Entry<V>| equal(e.source, source) && tags.equal(e.tag, tag);
        let position = self.few.iter().position(here)?;
        Some(self.few.remove(position).value)
    }

    /// The earliest entry that matches, left where it is.
    pub fn peek(&mut self, source: u32, tag: u32) -> Option<&V> {
        if let Some(many) = &mut self.many {
            many.peek(source, tag)
        } else {
            let here = |e: &&Entry<V>| equal(e.source, source) && self.tags.equal(e.tag, tag);
            self.few.iter().find(here).map(|entry| &entry.value)
        }
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.many.as_ref().map_or(self.few.len(), |many| many.len())
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All entries as (source, tag, value), in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u32, &V)> {
        let few = self.few.iter().map(|entry| (entry.source, entry.tag, &entry.value));
        few.chain(self.many.iter().flat_map(|many| many.iter()))
    }
}
