//! Posted receives, or unexpected messages, in the order in which they came.

use crate::index::Index;

/// The wildcard for a source or a tag.
pub const ANY: u32 = u32::MAX;

/// Up to this many entries a list is searched from the front; it then fits a few cache lines.
const FEW: usize = 24;

/// The tag of a message or a receive within a context: a space of tags that knows no other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tag {
    /// The context. Programs without communicators use 0 only.
    pub context: u32,
    /// The tag, or [`ANY`] for any tag of the context.
    pub tag: u32,
}

impl From<u32> for Tag {
    /// A tag of a program without communicators.
    #[inline]
    fn from(tag: u32) -> Self {
        Self { context: 0, tag }
    }
}

impl Tag {
    /// Returns whether two tags match.
    #[inline]
    const fn equal(self, other: Self) -> bool {
        self.context == other.context && equal(self.tag, other.tag)
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
    many: Option<Box<Index<V>>>,
}

#[derive(Debug)]
struct Entry<V> {
    source: u32,
    tag: Tag,
    value: V,
}

/// Returns whether two sources match, or two tags of one context.
#[inline]
const fn equal(a: u32, b: u32) -> bool {
    a == b || a == ANY || b == ANY
}

impl<V> Default for Store<V> {
    fn default() -> Self {
        Self { few: Vec::new(), many: None }
    }
}

impl<V> Store<V> {
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
    pub fn insert(&mut self, source: u32, tag: impl Into<Tag>, value: V) {
        let tag = tag.into();
        if let Some(many) = &mut self.many {
            many.insert(source, tag, value);
        } else if self.few.len() < FEW {
            // Many ranks post a dozen receives each: doubling would waste much.
            if self.few.len() == self.few.capacity() {
                self.few.reserve_exact(6);
            }
            self.few.push(Entry { source, tag, value });
        } else {
            let mut many = Box::new(Index::default());
            for entry in std::mem::take(&mut self.few) {
                many.insert(entry.source, entry.tag, entry.value);
            }
            many.insert(source, tag, value);
            self.many = Some(many);
        }
    }

    /// Calls `each` with what a search would read first.
    #[inline]
    pub fn prefetch(&self, each: impl Fn(&V)) {
        for entry in self.few.iter().step_by(4) {
            each(&entry.value);
        }
    }

    /// Removes and returns the earliest entry that matches.
    pub fn take(&mut self, source: u32, tag: impl Into<Tag>) -> Option<V> {
        let tag = tag.into();
        if let Some(many) = &mut self.many {
            let value = many.take(source, tag);
            if many.len() == 0 {
                self.many = None;
            }
            return value;
        }
        let here = |e: &Entry<V>| equal(e.source, source) && e.tag.equal(tag);
        let position = self.few.iter().position(here)?;
        Some(self.few.remove(position).value)
    }

    /// The earliest entry that matches, left where it is.
    pub fn peek(&mut self, source: u32, tag: impl Into<Tag>) -> Option<&V> {
        let tag = tag.into();
        if let Some(many) = &mut self.many {
            many.peek(source, tag)
        } else {
            let here = |e: &&Entry<V>| equal(e.source, source) && e.tag.equal(tag);
            self.few.iter().find(here).map(|entry| &entry.value)
        }
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.many.as_ref().map_or(self.few.len(), |many| many.len())
    }

    /// True if there is no entry.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All entries as (source, tag, value), in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = (u32, Tag, &V)> {
        let few = self.few.iter().map(|entry| (entry.source, entry.tag, &entry.value));
        few.chain(self.many.iter().flat_map(|many| many.iter()))
    }
}
