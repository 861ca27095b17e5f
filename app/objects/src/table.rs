//! Handles of what programs make.

use std::cell::{OnceCell, RefCell};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::rc::Rc;

use crate::abi::Handle;

/// The first handle that is not predefined.
pub const FIRST: Handle = 0x1000;

/// Objects by handle. The lowest free number is given out first, so that handles do not depend on
/// chance. Each rank has many tables, of which most stay empty: those take one word.
#[derive(Debug)]
pub struct Table<T> {
    slots: OnceCell<Box<RefCell<Slots<T>>>>,
}

#[derive(Debug)]
struct Slots<T> {
    objects: Vec<Option<Rc<T>>>,
    free: BinaryHeap<Reverse<usize>>,
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self { slots: OnceCell::new() }
    }
}

impl<T> Table<T> {
    /// Adds an object.
    pub fn add(&self, object: Rc<T>) -> Handle {
        let slots = self.slots.get_or_init(|| {
            Box::new(RefCell::new(Slots { objects: Vec::new(), free: BinaryHeap::new() }))
        });
        let mut slots = slots.borrow_mut();
        let place = if let Some(Reverse(place)) = slots.free.pop() {
            place
        } else {
            slots.objects.push(None);
            slots.objects.len() - 1
        };
        if let Some(slot) = slots.objects.get_mut(place) {
            *slot = Some(object);
        }
        FIRST + place
    }

    /// The object of a handle.
    pub fn get(&self, handle: Handle) -> Option<Rc<T>> {
        self.slots.get()?.borrow().objects.get(handle.checked_sub(FIRST)?)?.clone()
    }

    /// Gives a handle back. The object lives on as long as others hold it.
    pub fn remove(&self, handle: Handle) -> Option<Rc<T>> {
        let mut slots = self.slots.get()?.borrow_mut();
        let place = handle.checked_sub(FIRST)?;
        let object = slots.objects.get_mut(place)?.take()?;
        slots.free.push(Reverse(place));
        Some(object)
    }

    /// Gives all handles back whose objects are such.
    pub fn remove_if(&self, is_such: impl Fn(&T) -> bool) {
        let Some(slots) = self.slots.get() else { return };
        let places: Vec<usize> = {
            let slots = slots.borrow();
            let objects = slots.objects.iter().enumerate();
            objects
                .filter(|(_, object)| object.as_deref().is_some_and(&is_such))
                .map(|(place, _)| place)
                .collect()
        };
        for place in places {
            self.remove(FIRST + place);
        }
    }

    /// All objects.
    pub fn all(&self) -> Vec<Rc<T>> {
        let slots = self.slots.get().map(|slots| slots.borrow());
        slots.iter().flat_map(|slots| slots.objects.iter().flatten().cloned()).collect()
    }
}
