//! Things that are numbered as they come, and go in any order.

use std::collections::VecDeque;

/// Things by number. Numbers ascend from 0, modulo 2^32. Memory goes with how many things there are, and four bytes for each number
/// from the oldest thing on.
#[derive(Debug)]
pub struct Numbered<T> {
    first: u32,
    /// From the number `first` on, where each thing is.
    places: VecDeque<u32>,
    things: Vec<Option<T>>,
    free: Vec<u32>,
}

/// The place of what is gone.
const NOWHERE: u32 = u32::MAX;

impl<T> Default for Numbered<T> {
    fn default() -> Self {
        Self { first: 0, places: VecDeque::new(), things: Vec::new(), free: Vec::new() }
    }
}

impl<T> Numbered<T> {
    /// The number that the next thing gets.
    pub fn next(&self) -> u32 {
        self.first.wrapping_add(self.places.len() as u32)
    }

    /// Adds a thing; gives its number.
    pub fn push(&mut self, thing: T) -> u32 {
        let number = self.next();
        if let Some(place) = self.free.pop() {
            if let Some(free) = self.things.get_mut(place as usize) {
                *free = Some(thing);
            }
            self.places.push_back(place);
        } else {
            self.places.push_back(self.things.len() as u32);
            self.things.push(Some(thing));
        }
        number
    }

    #[inline]
    fn place(&self, number: u32) -> Option<usize> {
        self.places.get(number.wrapping_sub(self.first) as usize).map(|place| *place as usize)
    }

    /// A thing, if it is still there.
    #[inline]
    pub fn get(&self, number: u32) -> Option<&T> {
        self.things.get(self.place(number)?)?.as_ref()
    }

    /// Where the first things are, as far as they are among so many numbers; nothing of them is read.
    pub fn oldest(&self, numbers: usize) -> impl Iterator<Item = &Option<T>> {
        self.places.iter().take(numbers).filter_map(|place| self.things.get(*place as usize))
    }

    /// The same, to change it.
    #[inline]
    pub fn get_mut(&mut self, number: u32) -> Option<&mut T> {
        let place = self.place(number)?;
        self.things.get_mut(place)?.as_mut()
    }

    /// Takes a thing out.
    pub fn remove(&mut self, number: u32) -> Option<T> {
        let place = self.places.get_mut(number.wrapping_sub(self.first) as usize)?;
        let thing = self.things.get_mut(*place as usize)?.take()?;
        self.free.push(std::mem::replace(place, NOWHERE));
        while self.places.front() == Some(&NOWHERE) {
            self.places.pop_front();
            self.first = self.first.wrapping_add(1);
        }
        Some(thing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers go on, whatever is taken out, and room is used again: of a thousand things, of which two are there at a time, three
    /// have had room at most.
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
        assert_eq!(all.things.len(), 3);
        assert_eq!(all.next(), 1000);
    }

    /// One that stays does not keep others.
    #[test]
    fn oldest() {
        let mut all = Numbered::default();
        for number in 0..100 {
            all.push(number);
            all.remove(number.max(1));
        }
        assert_eq!((all.get(0), all.get(1), all.get(99)), (Some(&0), None, None));
        assert_eq!((all.things.len(), all.places.len()), (2, 100));
        assert_eq!(all.remove(0), Some(0));
        assert_eq!((all.places.len(), all.next()), (0, 100));
    }
}
