//! A container of things that are numbered as they come and removed in any order.

use std::collections::BTreeMap;

/// Things by number. Numbers ascend from 0, modulo 2^32. The memory grows with the number of things
/// that are there: those that came last lie in a ring, and those that stay much longer than the
/// others lie in a map.
#[derive(Debug)]
pub struct Numbered<T> {
    /// The oldest number in the ring, which is there, and the next number to give. The position of
    /// a number is its remainder modulo the length of the ring, a power of two.
    first: u32,
    next: u32,
    /// Number of things in the ring.
    count: u32,
    ring: Vec<Option<T>>,
    #[expect(clippy::box_collection, reason = "a word where there are none")]
    old: Option<Box<BTreeMap<u32, T>>>,
}

/// The initial length of a ring.
const ROOM: usize = 8;

impl<T> Default for Numbered<T> {
    fn default() -> Self {
        Self { first: 0, next: 0, count: 0, ring: Vec::new(), old: None }
    }
}

impl<T> Numbered<T> {
    /// Returns the number that the next thing gets.
    pub fn next(&self) -> u32 {
        self.next
    }

    /// Adds a thing; returns its number.
    pub fn push(&mut self, thing: T) -> u32 {
        if self.next.wrapping_sub(self.first) as usize == self.ring.len() {
            self.make_room();
        }
        let number = self.next;
        self.next = number.wrapping_add(1);
        self.count += 1;
        if let Some(place) = self.place(number)
            && let Some(free) = self.ring.get_mut(place)
        {
            *free = Some(thing);
        }
        number
    }

    /// Makes room in the full ring. If most of its things are gone, the oldest one moves to the
    /// map, which frees the room behind it.
    #[cold]
    fn make_room(&mut self) {
        let length = self.ring.len();
        if (self.count as usize) < length / 2 {
            let number = self.first;
            if let Some(thing) = self.remove(number) {
                self.old.get_or_insert_default().insert(number, thing);
            }
            return;
        }
        let oldest = self.place(self.first).unwrap_or(0);
        let mut things = std::mem::take(&mut self.ring);
        things.rotate_left(oldest);
        self.ring.resize_with((2 * length).max(ROOM), || None);
        for (number, thing) in (0..).map(|offset| self.first.wrapping_add(offset)).zip(things) {
            let place = number as usize & (self.ring.len() - 1);
            if let Some(free) = self.ring.get_mut(place) {
                *free = thing;
            }
        }
    }

    #[inline]
    fn place(&self, number: u32) -> Option<usize> {
        let here = number.wrapping_sub(self.first) < self.next.wrapping_sub(self.first);
        here.then(|| number as usize & self.ring.len().wrapping_sub(1))
    }

    /// Returns a thing, if it is still there.
    #[inline]
    pub fn get(&self, number: u32) -> Option<&T> {
        match self.place(number) {
            Some(place) => self.ring.get(place)?.as_ref(),
            None => self.old.as_ref()?.get(&number),
        }
    }

    /// Returns a thing to change it, if it is still there.
    #[inline]
    pub fn get_mut(&mut self, number: u32) -> Option<&mut T> {
        match self.place(number) {
            Some(place) => self.ring.get_mut(place)?.as_mut(),
            None => self.old.as_mut()?.get_mut(&number),
        }
    }

    /// Returns the slots of the first things of the ring, at most `most`, without looking at them.
    pub fn oldest(&self, most: u32) -> impl Iterator<Item = &Option<T>> {
        let there = self.next.wrapping_sub(self.first).min(most);
        let numbers = (0..there).map(|offset| self.first.wrapping_add(offset));
        numbers.filter_map(|number| self.ring.get(self.place(number)?))
    }

    /// Removes a thing and returns it.
    pub fn remove(&mut self, number: u32) -> Option<T> {
        let Some(place) = self.place(number) else {
            return self.old.as_mut()?.remove(&number);
        };
        let thing = self.ring.get_mut(place)?.take()?;
        self.left();
        Some(thing)
    }

    /// Drops a thing where it is, if it is still there.
    #[inline]
    pub fn drop(&mut self, number: u32) {
        let Some(place) = self.place(number) else {
            if let Some(old) = &mut self.old {
                old.remove(&number);
            }
            return;
        };
        if let Some(slot) = self.ring.get_mut(place).filter(|slot| slot.is_some()) {
            *slot = None;
            self.left();
        }
    }

    /// Counts a removal; the ring then begins with the oldest thing that is left.
    #[inline]
    fn left(&mut self) {
        self.count -= 1;
        while let Some(place) = self.place(self.first)
            && self.ring.get(place).is_some_and(Option::is_none)
        {
            self.first = self.first.wrapping_add(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers go on whatever is removed, and room is used again: a thousand things, of which two
    /// are there at a time, need no more room than a few.
    #[test]
    fn numbers() {
        let mut all = Numbered::default();
        for number in 0..1000 {
            assert_eq!(all.push(number), number);
            if number >= 2 {
                assert_eq!(all.remove(number - 2), Some(number - 2));
                assert_eq!(all.remove(number - 2), None);
            }
        }
        assert_eq!((all.get(997), all.get(998), all.get(999)), (None, Some(&998), Some(&999)));
        assert_eq!(all.get(1000), None);
        assert_eq!(all.ring.len(), ROOM);
        assert_eq!(all.next(), 1000);
    }

    /// All things that stay are found, however many there are and whatever the first number is.
    #[test]
    fn all_stay() {
        let mut all = Numbered::default();
        for number in 0..3 {
            all.push(number);
            all.remove(number);
        }
        let end = if cfg!(miri) { 100 } else { 1000 };
        for number in 3..end {
            assert_eq!(all.push(number), number);
        }
        assert!((3..end).all(|number| all.get(number) == Some(&number)));
    }

    /// The oldest slots are given, whether their things are gone or not, and no more than there
    /// are.
    #[test]
    fn oldest_first() {
        let mut all = Numbered::default();
        assert_eq!(all.oldest(2).count(), 0);
        for number in 0..4 {
            all.push(number);
        }
        all.drop(0);
        all.drop(2);
        let oldest = |most| all.oldest(most).copied().collect::<Vec<_>>();
        assert_eq!(oldest(2), [Some(1), None]);
        assert_eq!(oldest(9), [Some(1), None, Some(3)]);
    }

    /// A thing that stays does not keep the room of others.
    #[test]
    fn oldest() {
        let mut all = Numbered::default();
        for number in 0..100 {
            all.push(number);
            all.remove(number.max(1));
        }
        assert_eq!((all.get(0), all.get(1), all.get(99)), (Some(&0), None, None));
        assert_eq!((all.ring.len(), all.next()), (ROOM, 100));
        assert_eq!(all.get_mut(0), Some(&mut 0));
        assert_eq!((all.remove(0), all.remove(0)), (Some(0), None));
        assert_eq!((all.push(7), all.push(8)), (100, 101));
        all.drop(100);
        all.drop(100);
        assert_eq!((all.get(100), all.get(101), all.count), (None, Some(&8), 1));
    }
}
