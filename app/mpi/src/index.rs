//! A store of many entries: chains by hash.
//!
//! Only fields that are concrete on both sides of a match are compared. Entries therefore fall into
//! four classes by which of their fields are concrete, and for each class and each set of fields
//! that a query compares (a *view*) there is a table of chains in order of arrival. A view is built
//! when it is first asked for. An entry taken through one view stays in the chains of the others
//! until it comes to their front; when such leftovers outnumber the living, all views are dropped.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use crate::{ANY, Tag};

/// A set of fields: bit 0 source, bit 1 tag.
type Fields = u8;

const CLASSES: usize = 4;

/// Context and tag, and source, class and view, packed because a hash takes time for each part. A
/// source or a tag that is not compared is 0; the context is always compared.
type Key = (u64, u64);

#[derive(Debug)]
struct Slot<V> {
    source: u32,
    tag: Tag,
    /// Number of the entry, ascending; tells a reused slot from the one a chain means.
    number: u64,
    value: Option<V>,
}

#[derive(Debug)]
pub struct Index<V> {
    slots: Vec<Slot<V>>,
    free: Vec<u32>,
    chains: FxHashMap<Key, VecDeque<(u32, u64)>>,
    /// True for each view of a class that exists: `[class][view]`.
    views: [[bool; CLASSES]; CLASSES],
    /// Entries by class.
    counts: [usize; CLASSES],
    numbers: u64,
    /// Chain elements in all views.
    elements: usize,
}

const fn fields(source: u32, tag: Tag) -> Fields {
    (source != ANY) as Fields | ((tag.tag != ANY) as Fields) << 1
}

const fn key(class: Fields, view: Fields, source: u32, tag: Tag) -> Key {
    let source = if view & 1 == 0 { 0 } else { source };
    let Tag { context, tag } = tag;
    let tag = if view & 2 == 0 { 0 } else { tag };
    let place = class as u64 * CLASSES as u64 + view as u64;
    ((context as u64) << 32 | tag as u64, (source as u64) << 32 | place)
}

impl<V> Default for Index<V> {
    fn default() -> Self {
        Self {
            slots: Vec::new(),
            free: Vec::new(),
            chains: FxHashMap::default(),
            views: [[false; CLASSES]; CLASSES],
            counts: [0; CLASSES],
            numbers: 0,
            elements: 0,
        }
    }
}

impl<V> Index<V> {
    /// Removes the entries that a condition holds for, and tells how many.
    pub fn remove(&mut self, mut condition: impl FnMut(&V) -> bool) -> usize {
        let before = self.len();
        for (at, slot) in (0..).zip(&mut self.slots) {
            if slot.value.as_ref().is_some_and(&mut condition) {
                slot.value = None;
                self.counts[fields(slot.source, slot.tag) as usize] -= 1;
                self.free.push(at);
            }
        }
        before - self.len()
    }

    pub fn len(&self) -> usize {
        self.counts.iter().sum()
    }

    pub fn iter(&self) -> impl Iterator<Item = (u32, Tag, &V)> {
        self.slots.iter().filter_map(|slot| Some((slot.source, slot.tag, slot.value.as_ref()?)))
    }

    pub fn insert(&mut self, source: u32, tag: Tag, value: V) {
        let number = self.numbers;
        self.numbers += 1;
        let slot = Slot { source, tag, number, value: Some(value) };
        let at = if let Some(at) = self.free.pop() {
            self.slots[at as usize] = slot;
            at
        } else {
            self.slots.push(slot);
            self.slots.len() as u32 - 1
        };
        let class = fields(source, tag);
        self.counts[class as usize] += 1;
        for view in 0..CLASSES as Fields {
            if self.views[class as usize][view as usize] {
                self.chains
                    .entry(key(class, view, source, tag))
                    .or_default()
                    .push_back((at, number));
                self.elements += 1;
            }
        }
    }

    pub fn peek(&mut self, source: u32, tag: Tag) -> Option<&V> {
        let (at, _) = self.find(source, tag)?;
        self.slots.get(at as usize)?.value.as_ref()
    }

    pub fn take(&mut self, source: u32, tag: Tag) -> Option<V> {
        let (at, front) = self.find(source, tag)?;
        if let Some(chain) = self.chains.get_mut(&front) {
            chain.pop_front();
            self.elements -= 1;
            if chain.is_empty() {
                self.chains.remove(&front);
            }
        }
        let slot = self.slots.get_mut(at as usize)?;
        let value = slot.value.take();
        self.counts[fields(slot.source, slot.tag) as usize] -= 1;
        self.free.push(at);
        if self.elements > 64 + 8 * self.len() {
            self.chains.clear();
            self.views = [[false; CLASSES]; CLASSES];
            self.elements = 0;
        }
        value
    }

    /// The earliest match: its slot, and the chain of which it is the front.
    fn find(&mut self, source: u32, tag: Tag) -> Option<(u32, Key)> {
        let asked = fields(source, tag);
        let mut best: Option<(u64, u32, Key)> = None;
        for class in 0..CLASSES as Fields {
            if self.counts[class as usize] == 0 {
                continue;
            }
            let view = class & asked;
            if !self.views[class as usize][view as usize] {
                self.build(class, view);
            }
            let key = key(class, view, source, tag);
            if let Some((at, number)) = self.front(key)
                && best.is_none_or(|(earliest, ..)| number < earliest)
            {
                best = Some((number, at, key));
            }
        }
        best.map(|(_, at, key)| (at, key))
    }

    /// The first living element of a chain; dead ones before it are removed.
    fn front(&mut self, key: Key) -> Option<(u32, u64)> {
        let chain = self.chains.get_mut(&key)?;
        while let Some(&(at, number)) = chain.front() {
            let slot = self.slots.get(at as usize)?;
            if slot.number == number && slot.value.is_some() {
                return Some((at, number));
            }
            chain.pop_front();
            self.elements -= 1;
        }
        self.chains.remove(&key);
        None
    }

    fn build(&mut self, class: Fields, view: Fields) {
        self.views[class as usize][view as usize] = true;
        let mut members: Vec<(u64, u32)> = (0..)
            .zip(&self.slots)
            .filter(|(_, slot)| slot.value.is_some() && fields(slot.source, slot.tag) == class)
            .map(|(at, slot)| (slot.number, at))
            .collect();
        members.sort_unstable();
        self.elements += members.len();
        for (number, at) in members {
            let slot = &self.slots[at as usize];
            let key = key(class, view, slot.source, slot.tag);
            self.chains.entry(key).or_default().push_back((at, number));
        }
    }
}
