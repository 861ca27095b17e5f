//! Datatypes (MPI 4.1, chapter 5).
//!
//! A datatype is a type map ([`map`]) with bounds; from the map follows, at the first use, how its
//! bytes lie in memory ([`layout`]). Predefined ones are made when they are first asked for,
//! because a process may hold thousands of ranks that use three of them each.

pub mod basic;
pub mod layout;
pub mod map;

pub mod arrays;
pub mod build;
pub mod external;
mod kind;
mod stored;

#[cfg(test)]
mod tests;

use std::cell::{Cell, OnceCell, RefCell};
use std::ffi::c_int;
use std::rc::Rc;

pub use self::kind::{FRACTION, Kind};

use self::basic::{Basic, Predefined};
use self::layout::{Layout, Runs, copy_runs};
use self::map::{Block, Bounds, Map, Shape};
use crate::abi::{self, Handle};
use crate::attributes::{Annotated, Attributes};
use crate::check;
use crate::error::{Error, Result};
use crate::table::{FIRST, Table};

/// An element that a predefined reduction can combine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    /// One basic element.
    One(Basic),
    /// A value and, at an offset in bytes, an index.
    Pair(Basic, Basic, usize),
}

/// The way in which a datatype was made, with the arguments in the order of
/// `MPI_Type_get_contents`.
#[derive(Clone, Debug, Default)]
pub struct Contents {
    /// `COMBINER_NAMED` and so on.
    pub combiner: c_int,
    /// A function with large counts made it.
    pub large: bool,
    /// Arguments of type `int`.
    pub integers: Vec<c_int>,
    /// Of type `MPI_Aint`.
    pub addresses: Vec<isize>,
    /// Of type `MPI_Count`.
    pub counts: Vec<i64>,
    /// Of type `MPI_Datatype`.
    pub types: Vec<Rc<Datatype>>,
}

impl Contents {
    /// Of a predefined datatype.
    const NAMED: &Self = &Self {
        combiner: abi::COMBINER_NAMED,
        large: false,
        integers: Vec::new(),
        addresses: Vec::new(),
        counts: Vec::new(),
        types: Vec::new(),
    };
}

/// A datatype. Ranks have the predefined ones that they use, so these are kept small.
#[derive(Debug)]
pub struct Datatype {
    handle: Cell<Handle>,
    shape: Shape,
    layout: OnceCell<Rc<Layout>>,
    element: Option<Element>,
    kind: OnceCell<Kind>,
    committed: Cell<bool>,
    /// Made by the library for the program, which must not free it.
    permanent: bool,
    /// The name that the program gave it.
    name: RefCell<Option<Box<[u8]>>>,
    /// Of one that is not predefined.
    contents: Option<Box<Contents>>,
    /// The attributes that the program set.
    pub attributes: Attributes,
}

impl Annotated for Datatype {
    fn attributes(&self) -> &Attributes {
        &self.attributes
    }
}

/// A rank's datatypes.
#[derive(Debug, Default)]
pub struct Types {
    /// The predefined datatypes that were asked for yet: few.
    predefined: RefCell<Vec<Rc<Datatype>>>,
    derived: Table<Datatype>,
    /// Datatypes that functions give for the same arguments again, by combiner and arguments.
    permanent: RefCell<Vec<Rc<Datatype>>>,
}

impl Datatype {
    /// A new datatype that a constructor made.
    fn new(shape: Shape, contents: Contents) -> Self {
        Self { contents: Some(Box::new(contents)), ..Self::plain(shape) }
    }

    fn plain(shape: Shape) -> Self {
        Self {
            handle: Cell::new(abi::DATATYPE_NULL),
            shape,
            layout: OnceCell::new(),
            element: None,
            kind: OnceCell::new(),
            committed: Cell::new(false),
            permanent: false,
            name: RefCell::default(),
            contents: None,
            attributes: Attributes::default(),
        }
    }

    /// Gives a new datatype its attributes.
    #[must_use]
    pub fn with_attributes(self, attributes: Attributes) -> Self {
        Self { attributes, ..self }
    }

    /// A predefined datatype, by its handle.
    pub fn named(handle: Handle) -> Option<Self> {
        let (_, kind) = basic::predefined(handle)?;
        let (shape, element) = match kind {
            Predefined::One(basic) => (Shape::basic(basic), Some(Element::One(basic))),
            Predefined::Pair(value, index) => pair(value, index).ok()?,
            Predefined::LowerBound => (mark(Bounds { lb_set: true, ..Bounds::EMPTY })?, None),
            Predefined::UpperBound => (mark(Bounds { ub_set: true, ..Bounds::EMPTY })?, None),
        };
        Some(Self {
            handle: Cell::new(handle),
            element,
            committed: Cell::new(true),
            permanent: true,
            ..Self::plain(shape)
        })
    }

    /// Another with the same data, without name and attributes.
    fn duplicate(&self, contents: Contents) -> Self {
        Self {
            layout: self.layout.clone(),
            element: self.element,
            committed: self.committed.clone(),
            ..Self::new(self.shape.clone(), contents)
        }
    }

    /// The name that the program gave it, or else the standard.
    pub fn name(&self) -> Box<[u8]> {
        let named =
            || basic::predefined(self.handle()).map_or("", |(name, _)| name).as_bytes().into();
        self.name.borrow().clone().unwrap_or_else(named)
    }

    /// Gives it a name.
    pub fn set_name(&self, name: Box<[u8]>) {
        *self.name.borrow_mut() = Some(name);
    }

    /// True if it may be used in communication.
    pub fn is_committed(&self) -> bool {
        self.committed.get()
    }

    /// Works out how its bytes lie in memory, and allows it to be used in communication.
    pub fn commit(&self) {
        self.layout();
        self.committed.set(true);
    }

    /// The constructor that made it, with its arguments.
    pub fn contents(&self) -> &Contents {
        self.contents.as_deref().unwrap_or(Contents::NAMED)
    }

    /// The handle under which a program's functions may be shown it; the datatype may have been
    /// freed since.
    pub fn handle(&self) -> Handle {
        self.handle.get()
    }

    /// True if it is made by the library for the program, which must not free it.
    pub fn is_permanent(&self) -> bool {
        self.permanent
    }

    /// Bytes of data.
    pub fn size(&self) -> u64 {
        self.shape.map.size()
    }

    /// From one of several to the next, in bytes.
    pub fn extent(&self) -> i64 {
        self.shape.bounds.extent()
    }

    /// Lower bound, in bytes.
    pub fn lb(&self) -> i64 {
        self.shape.bounds.lb
    }

    /// The offset of its data from the buffer's address, in bytes.
    pub fn true_lb(&self) -> i64 {
        self.shape.bounds.true_lb
    }

    /// From the beginning of its data to the end, in bytes.
    pub fn true_extent(&self) -> i64 {
        self.shape.bounds.true_ub.saturating_sub(self.shape.bounds.true_lb)
    }

    /// Its bounds.
    pub fn bounds(&self) -> &Bounds {
        &self.shape.bounds
    }

    /// Its type map.
    pub fn map(&self) -> &Map {
        &self.shape.map
    }

    /// The element that predefined reductions take it for, if they may.
    pub fn element(&self) -> Option<Element> {
        self.element
    }

    /// The value with an index that all is of which it was made.
    pub fn pair(self: &Rc<Self>) -> Option<&Rc<Self>> {
        if self.element.is_some() {
            return matches!(self.element, Some(Element::Pair(..))).then_some(self);
        }
        let mut all = self.contents().types.iter().map(Self::pair);
        let first = all.next()??;
        all.all(|other| other.is_some_and(|other| other.element == first.element)).then_some(first)
    }

    /// True if any number of it, from the buffer's address on, are bytes without a gap.
    pub fn is_contiguous(&self) -> bool {
        self.extent() == self.size() as i64
            && matches!(**self.layout(), Layout::Run { offset: 0, .. })
    }

    /// Offset and number of the bytes of several of it, if they are without a gap. An address of 0
    /// is allowed, so the offset may be large.
    pub fn run(&self, count: u64) -> Option<(i64, u64)> {
        match **self.layout() {
            Layout::Run { bytes: 0, .. } => Some((0, 0)),
            Layout::Run { offset, bytes } if count <= 1 || self.extent() == bytes as i64 => {
                Some((offset, bytes.saturating_mul(count)))
            }
            _ => None,
        }
    }

    /// Memory that several of it span: offset of the first byte, and number of bytes, gaps
    /// included; if 64 bits cannot tell, more than there is.
    pub fn span(&self, count: u64) -> (i64, u64) {
        let Ok(bounds) = self.shape.bounds.repeat(0, count, self.extent()) else {
            return (self.true_lb(), u64::MAX);
        };
        (bounds.true_lb, bounds.true_ub.saturating_sub(bounds.true_lb).max(0) as u64)
    }

    /// An error, `ERR_BUFFER`, if several of it would be in place, or begin at a null address while
    /// `contents` says that buffers are read and written.
    pub fn check_buffer(&self, buffer: *const u8, count: u64, contents: bool) -> Result {
        let null = contents && buffer.wrapping_offset(self.true_lb() as isize).is_null();
        let empty = count == 0 || self.size() == 0;
        check!(!null || empty, ERR_BUFFER, "the buffer is a null pointer");
        check!(
            buffer.addr() != abi::IN_PLACE || empty,
            ERR_BUFFER,
            "MPI_IN_PLACE is no buffer here"
        );
        Ok(())
    }

    /// The kind of its elements, by which a receive notices that other elements were sent.
    pub fn kind(&self) -> Kind {
        *self.kind.get_or_init(|| kind::of(self))
    }

    fn layout(&self) -> &Rc<Layout> {
        self.layout.get_or_init(|| Rc::new(Layout::of(&self.shape.map)))
    }

    /// Calls a function with the runs of some of the bytes of several of it, in order.
    pub fn visit(&self, count: u64, skip: u64, bytes: u64, visit: &mut impl FnMut(Runs)) {
        if let Some((offset, _)) = self.run(count) {
            let offset = offset.wrapping_add(skip as i64);
            return visit(Runs { offset, count: 1, stride: 0, bytes });
        }
        let several = Layout::repeat(0, count, self.extent(), self.layout());
        several.visit(skip, bytes, visit);
    }

    /// Copies the data of several of it from a program's buffer, after `skip` bytes of it, as much
    /// as `into` holds; gives how many bytes that were.
    ///
    /// # Safety
    /// The buffer has so many of this datatype.
    pub unsafe fn pack_part(
        &self,
        buffer: *const u8,
        count: u64,
        skip: u64,
        into: &mut [u8],
    ) -> usize {
        let total = self.size().saturating_mul(count).saturating_sub(skip);
        let bytes = total.min(into.len() as u64);
        let mut to = into.as_mut_ptr();
        self.visit(count, skip, bytes, &mut |Runs { offset, count, stride, bytes }| {
            let from = (buffer.wrapping_offset(offset as isize), stride);
            // SAFETY: the caller's; and all runs together have no more bytes than `into` has.
            unsafe {
                copy_runs(from, (to, bytes as i64), count, bytes);
                to = to.add((count * bytes) as usize);
            }
        });
        bytes as usize
    }

    /// Copies data into a program's buffer for several of this datatype, after `skip` bytes of data
    /// that are there already. The data may be shorter than that, and end within an element; gives
    /// how many bytes were copied.
    ///
    /// # Safety
    /// The buffer has room for so many of this datatype.
    pub unsafe fn unpack_part(&self, from: &[u8], buffer: *mut u8, count: u64, skip: u64) -> usize {
        let total = self.size().saturating_mul(count).saturating_sub(skip);
        let bytes = total.min(from.len() as u64);
        let mut at = from.as_ptr();
        self.visit(count, skip, bytes, &mut |Runs { offset, count, stride, bytes }| {
            let into = (buffer.wrapping_offset(offset as isize), stride);
            // SAFETY: the caller's; and all runs together have no more bytes than `from` has.
            unsafe {
                copy_runs((at, bytes as i64), into, count, bytes);
                at = at.add((count * bytes) as usize);
            }
        });
        bytes as usize
    }

    /// [`Self::pack_part`] from the beginning.
    ///
    /// # Safety
    /// The buffer has so many of this datatype.
    pub unsafe fn pack(&self, buffer: *const u8, count: u64, into: &mut [u8]) -> usize {
        // SAFETY: the caller's.
        unsafe { self.pack_part(buffer, count, 0, into) }
    }

    /// [`Self::unpack_part`] from the beginning.
    ///
    /// # Safety
    /// The buffer has room for so many of this datatype.
    pub unsafe fn unpack(&self, from: &[u8], buffer: *mut u8, count: u64) -> usize {
        // SAFETY: the caller's.
        unsafe { self.unpack_part(from, buffer, count, 0) }
    }

    /// The number of basic elements that `bytes` bytes of data make up; `None` if they end within
    /// one.
    pub fn elements_in(&self, bytes: u64) -> Option<u64> {
        if self.size() == 0 {
            return (bytes == 0).then_some(0);
        }
        let whole = bytes / self.size();
        Some(whole * self.shape.map.elements() + self.shape.map.elements_in(bytes % self.size())?)
    }

    /// The number of bytes of the first `elements` basic elements, of as many of this datatype as
    /// they fill.
    pub fn bytes_of(&self, elements: u64) -> u64 {
        let each = self.shape.map.elements();
        if each == 0 {
            return 0;
        }
        (elements / each).saturating_mul(self.size()) + self.shape.map.bytes_of(elements % each)
    }
}

/// Copies data from one program's buffer into another, as a message to the same process does; gives
/// the number of bytes.
///
/// # Safety
/// The buffers have so many of the datatypes, and do not overlap.
pub unsafe fn copy(
    (from, from_count, from_type): (*const u8, u64, &Datatype),
    (into, into_count, into_type): (*mut u8, u64, &Datatype),
) -> usize {
    // SAFETY: the caller's; runs are where the datatypes have data.
    unsafe {
        if let Some((offset, bytes)) = from_type.run(from_count) {
            let bytes = bytes.min(into_type.size().saturating_mul(into_count));
            if bytes == 0 {
                return 0;
            }
            let data =
                std::slice::from_raw_parts(from.wrapping_offset(offset as isize), bytes as usize);
            return into_type.unpack(data, into, into_count);
        }
        if let Some((offset, bytes)) = into_type.run(into_count) {
            let bytes = bytes.min(from_type.size().saturating_mul(from_count));
            if bytes == 0 {
                return 0;
            }
            let data = std::slice::from_raw_parts_mut(
                into.wrapping_offset(offset as isize),
                bytes as usize,
            );
            return from_type.pack(from, from_count, data);
        }
        let mut between = vec![0; from_type.size().saturating_mul(from_count) as usize];
        from_type.pack(from, from_count, &mut between);
        into_type.unpack(&between, into, into_count)
    }
}

/// Bounds without data.
fn mark(bounds: Bounds) -> Option<Shape> {
    Some(Shape { map: Map::pieces([]).ok()?, bounds })
}

/// A value and an index, as a C structure has them.
pub fn pair(value: Basic, index: Basic) -> Result<(Shape, Option<Element>)> {
    let offset = usize::from(value.size).next_multiple_of(index.align.into());
    let (first, second) = (Shape::basic(value), Shape::basic(index));
    let mut shape =
        Shape::of([Block::new(0, 1, &first), Block::new(offset as i64, 1, &second)].into_iter())?;
    shape.bounds = shape.bounds.padded()?;
    Ok((shape, Some(Element::Pair(value, index, offset))))
}

impl Types {
    /// Gives a new datatype a handle.
    pub fn add(&self, datatype: Datatype) -> Handle {
        self.add_shared(&Rc::new(datatype))
    }

    fn add_shared(&self, datatype: &Rc<Datatype>) -> Handle {
        let handle = self.derived.add(Rc::clone(datatype));
        datatype.handle.set(handle);
        handle
    }

    /// The datatype of a handle.
    pub fn get(&self, handle: Handle) -> Result<Rc<Datatype>> {
        check!(handle != abi::DATATYPE_NULL, ERR_TYPE, "the datatype is MPI_DATATYPE_NULL");
        self.find(handle)
            .ok_or_else(|| Error::new(abi::ERR_TYPE, "this is no datatype, or it has been freed"))
    }

    /// The datatype of a handle, for communication: it must be committed.
    pub fn committed(&self, handle: Handle) -> Result<Rc<Datatype>> {
        let datatype = self.get(handle)?;
        check!(datatype.committed.get(), ERR_TYPE, "the datatype has not been committed");
        Ok(datatype)
    }

    /// Gives a handle back.
    pub fn free(&self, handle: Handle) {
        self.derived.remove(handle);
    }

    /// The handle of the datatype of these contents that belongs to the library: the same contents
    /// give the same one again.
    pub fn permanent(&self, contents: Contents, shape: Shape, element: Option<Element>) -> Handle {
        let same = |known: &&Rc<Datatype>| {
            let known = known.contents();
            let of_same = known
                .types
                .iter()
                .map(|of| of.handle())
                .eq(contents.types.iter().map(|of| of.handle()));
            known.combiner == contents.combiner && known.integers == contents.integers && of_same
        };
        if let Some(known) = self.permanent.borrow().iter().find(same) {
            return known.handle();
        }
        let made = Datatype { element, permanent: true, ..Datatype::new(shape, contents) };
        made.committed.set(true);
        let made = Rc::new(made);
        self.permanent.borrow_mut().push(Rc::clone(&made));
        self.add_shared(&made)
    }

    /// A handle by which the program is told of a datatype, and which it frees unless the datatype
    /// is predefined.
    pub fn give(&self, datatype: &Datatype) -> Handle {
        if datatype.permanent {
            return datatype.handle();
        }
        debug_assert!(datatype.contents.is_some(), "named datatypes are permanent");
        self.add(datatype.duplicate(datatype.contents().clone()))
    }

    fn find(&self, handle: Handle) -> Option<Rc<Datatype>> {
        if handle >= FIRST {
            return self.derived.get(handle);
        }
        if let Some(known) = self.predefined.borrow().iter().find(|known| known.handle() == handle)
        {
            return Some(Rc::clone(known));
        }
        let made = Rc::new(Datatype::named(handle)?);
        self.predefined.borrow_mut().push(Rc::clone(&made));
        Some(made)
    }

    /// The handle under which a program's function is shown a datatype during a call: its own, or,
    /// if it has been freed, a new one, which `forget` must be called with afterwards.
    pub fn show(&self, datatype: &Rc<Datatype>) -> (Handle, bool) {
        let handle = datatype.handle();
        if self.find(handle).is_some_and(|known| Rc::ptr_eq(&known, datatype)) {
            return (handle, false);
        }
        (self.derived.add(Rc::clone(datatype)), true)
    }

    /// See [`Self::show`].
    pub fn forget(&self, handle: Handle) {
        self.derived.remove(handle);
    }
}
