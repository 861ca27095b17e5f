//! Tables as the C data interface of Apache Arrow, which passes columns on without copying them
//! (https://arrow.apache.org/docs/format/CDataInterface.html, CStreamInterface.html).
//!
//! A table is kept by a reference count: each structure that is handed out holds one and gives it
//! back when whoever took the structure calls its `release`. So the columns live as long as anyone
//! uses them, and nobody changes them.

#![expect(unsafe_code, reason = "the interface is one of C structures and pointers")]
#![expect(
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "the interface counts in 64 bits with a sign, which the length of any vector fits"
)]

use std::{
    ffi::{CStr, CString, c_char, c_int, c_void},
    ptr,
    sync::Arc,
};

use pyo3::{prelude::*, types::PyList};
use results::{Columns, NamedColumn, Values};

/// A table in Arrow's layout of columns.
#[derive(Debug)]
pub struct Arrow {
    columns: Vec<Column>,
    rows: usize,
}

/// A column: a bit for each row that has a value, and the values.
#[derive(Debug)]
struct Column {
    name: CString,
    /// The bits, if a value is missing.
    filled: Option<Vec<u8>>,
    missing: i64,
    data: Data,
}

#[derive(Debug)]
enum Data {
    Unsigned(Vec<u64>),
    Signed(Vec<i64>),
    Decimal(Vec<f64>),
    /// A bit for each value.
    Flag(Vec<u8>),
    /// The place in the text behind each value's end, from 0 on, and the text.
    Text(Vec<i64>, Vec<u8>),
}

impl From<Columns> for Arrow {
    fn from(table: Columns) -> Self {
        let rows = table.rows;
        Self { columns: table.columns.into_iter().map(Column::from).collect(), rows }
    }
}

impl From<NamedColumn> for Column {
    /// Numbers are taken over as they are; flags and texts are laid out anew.
    fn from(column: NamedColumn) -> Self {
        let NamedColumn { name, values, filled, .. } = column;
        let missing = filled.iter().filter(|filled| !**filled).count() as i64;
        let data = match values {
            Values::Unsigned(values) => Data::Unsigned(values),
            Values::Signed(values) => Data::Signed(values),
            Values::Decimal(values) => Data::Decimal(values),
            Values::Flag(values) => Data::Flag(bits(&values)),
            Values::Text(values) => {
                let (mut ends, mut text) = (vec![0], Vec::new());
                for value in values {
                    text.extend_from_slice(value.as_bytes());
                    ends.push(text.len() as i64);
                }
                Data::Text(ends, text)
            }
        };
        // A name with a zero byte would come from a file; it ends there.
        let name = name.split('\0').next().unwrap_or_default();
        let name = CString::new(name).unwrap_or_default();
        Self { name, filled: (missing > 0).then(|| bits(&filled)), missing, data }
    }
}

/// Packs flags into bits, the first into the lowest.
fn bits(flags: &[bool]) -> Vec<u8> {
    let byte = |flags: &[bool]| {
        flags.iter().enumerate().fold(0, |byte, (bit, flag)| byte | u8::from(*flag) << bit)
    };
    flags.chunks(8).map(byte).collect()
}

impl Column {
    /// The type of the values, as the format strings of Arrow name it.
    const fn format(&self) -> &'static CStr {
        match self.data {
            Data::Unsigned(_) => c"L",
            Data::Signed(_) => c"l",
            Data::Decimal(_) => c"g",
            Data::Flag(_) => c"b",
            Data::Text(..) => c"U",
        }
    }

    /// The places of the buffers: the bits, which may be missing, and the values.
    fn buffers(&self) -> Vec<*const c_void> {
        let filled = self.filled.as_ref().map_or(ptr::null(), |bits| bits.as_ptr().cast());
        let mut buffers = vec![filled];
        match &self.data {
            Data::Unsigned(values) => buffers.push(values.as_ptr().cast()),
            Data::Signed(values) => buffers.push(values.as_ptr().cast()),
            Data::Decimal(values) => buffers.push(values.as_ptr().cast()),
            Data::Flag(bits) => buffers.push(bits.as_ptr().cast()),
            Data::Text(ends, text) => {
                buffers.extend([ends.as_ptr().cast(), text.as_ptr().cast()]);
            }
        }
        buffers
    }
}

impl Arrow {
    /// The values of a column as a list of Python, with None for those that are missing.
    pub fn list<'py>(&self, py: Python<'py>, column: usize) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        let Some(column) = self.columns.get(column) else { return Ok(list) };
        let is_set =
            |bits: &[u8], row: usize| bits.get(row / 8).is_some_and(|b| b >> (row % 8) & 1 == 1);
        for row in 0..self.rows {
            if column.filled.as_ref().is_some_and(|bits| !is_set(bits, row)) {
                list.append(py.None())?;
                continue;
            }
            match &column.data {
                Data::Unsigned(values) => list.append(values.get(row))?,
                Data::Signed(values) => list.append(values.get(row))?,
                Data::Decimal(values) => list.append(values.get(row))?,
                Data::Flag(bits) => list.append(is_set(bits, row))?,
                Data::Text(ends, text) => {
                    let end = |row: usize| ends.get(row).map_or(0, |end| *end as usize);
                    let value = text.get(end(row)..end(row + 1)).unwrap_or_default();
                    list.append(String::from_utf8_lossy(value))?;
                }
            }
        }
        Ok(list)
    }
}

/// `struct ArrowSchema`: the type of a column, or of all of them.
#[repr(C)]
pub struct Schema {
    format: *const c_char,
    name: *const c_char,
    metadata: *const c_char,
    flags: i64,
    n_children: i64,
    children: *mut *mut Self,
    dictionary: *mut Self,
    release: Option<unsafe extern "C" fn(*mut Self)>,
    private_data: *mut c_void,
}

/// `struct ArrowArray`: the values of a column, or of all of them.
#[repr(C)]
struct Array {
    length: i64,
    null_count: i64,
    offset: i64,
    n_buffers: i64,
    n_children: i64,
    buffers: *mut *const c_void,
    children: *mut *mut Self,
    dictionary: *mut Self,
    release: Option<unsafe extern "C" fn(*mut Self)>,
    private_data: *mut c_void,
}

/// `struct ArrowArrayStream`: hands out the schema, and the rows in one piece.
#[repr(C)]
pub struct Stream {
    get_schema: Option<unsafe extern "C" fn(*mut Self, *mut Schema) -> c_int>,
    get_next: Option<unsafe extern "C" fn(*mut Self, *mut Array) -> c_int>,
    get_last_error: Option<unsafe extern "C" fn(*mut Self) -> *const c_char>,
    release: Option<unsafe extern "C" fn(*mut Self)>,
    private_data: *mut c_void,
}

/// The property of a structure of type `T`: the table, its children, and the list of its buffers.
struct Owned<T> {
    _table: Arc<Arrow>,
    children: Vec<*mut T>,
    buffers: Vec<*const c_void>,
}

/// The release of a structure, by which its owner ends it.
trait Released: Sized {
    /// The fields that `release` needs.
    fn parts(&mut self) -> (&mut Option<unsafe extern "C" fn(*mut Self)>, &mut *mut c_void);
}

impl Released for Schema {
    fn parts(&mut self) -> (&mut Option<unsafe extern "C" fn(*mut Self)>, &mut *mut c_void) {
        (&mut self.release, &mut self.private_data)
    }
}

impl Released for Array {
    fn parts(&mut self) -> (&mut Option<unsafe extern "C" fn(*mut Self)>, &mut *mut c_void) {
        (&mut self.release, &mut self.private_data)
    }
}

/// Ends a structure that [`Schema::own`] or [`Array::own`] made: its children that nobody moved
/// away, what it owns, and the mark that it lives.
///
/// # Safety
/// `structure` is null or points to such a structure, which nobody else uses meanwhile.
unsafe extern "C" fn release<T: Released>(structure: *mut T) {
    // SAFETY: the caller's promise.
    let Some(structure) = (unsafe { structure.as_mut() }) else { return };
    let (release, owned) = structure.parts();
    if release.take().is_none() {
        return;
    }
    // SAFETY: the pointer was made by `Box::into_raw` of an `Owned<T>`, and `release`, which is
    // taken away with it, was set then and only then.
    let owned = unsafe { Box::from_raw(owned.cast::<Owned<T>>()) };
    for child in owned.children {
        // SAFETY: the pointer was made by `Box::into_raw`; whoever moved the child away left the
        // structure here with `release` empty.
        let mut child = unsafe { Box::from_raw(child) };
        let end = *child.parts().0;
        if let Some(end) = end {
            // SAFETY: the child lives, and `end` is the release of its own kind.
            unsafe { end(&raw mut *child) };
        }
    }
}

impl Schema {
    /// A schema of this format and name, which lie in `table` or are static.
    fn own(table: &Arc<Arrow>, format: &CStr, name: &CStr, children: Vec<Self>) -> Self {
        let nullable = 2;
        let children = children.into_iter().map(|child| Box::into_raw(Box::new(child))).collect();
        let mut owned =
            Box::new(Owned { _table: Arc::clone(table), children, buffers: Vec::new() });
        Self {
            format: format.as_ptr(),
            name: name.as_ptr(),
            metadata: ptr::null(),
            flags: nullable,
            n_children: owned.children.len() as i64,
            children: owned.children.as_mut_ptr(),
            dictionary: ptr::null_mut(),
            release: Some(release::<Self>),
            private_data: Box::into_raw(owned).cast(),
        }
    }

    /// The schema of a table: a structure with a field for each column.
    pub fn of(table: &Arc<Arrow>) -> Self {
        let field = |column: &Column| Self::own(table, column.format(), &column.name, Vec::new());
        let fields = table.columns.iter().map(field).collect();
        Self { flags: 0, ..Self::own(table, c"+s", c"", fields) }
    }
}

impl Array {
    fn own(
        table: &Arc<Arrow>,
        missing: i64,
        buffers: Vec<*const c_void>,
        children: Vec<Self>,
    ) -> Self {
        let children = children.into_iter().map(|child| Box::into_raw(Box::new(child))).collect();
        let mut owned = Box::new(Owned { _table: Arc::clone(table), children, buffers });
        Self {
            length: table.rows as i64,
            null_count: missing,
            offset: 0,
            n_buffers: owned.buffers.len() as i64,
            n_children: owned.children.len() as i64,
            buffers: owned.buffers.as_mut_ptr(),
            children: owned.children.as_mut_ptr(),
            dictionary: ptr::null_mut(),
            release: Some(release::<Self>),
            private_data: Box::into_raw(owned).cast(),
        }
    }

    /// All rows of a table.
    fn of(table: &Arc<Arrow>) -> Self {
        let column =
            |column: &Column| Self::own(table, column.missing, column.buffers(), Vec::new());
        let columns = table.columns.iter().map(column).collect();
        Self::own(table, 0, vec![ptr::null()], columns)
    }

    /// The end of a stream.
    const fn end() -> Self {
        Self {
            length: 0,
            null_count: 0,
            offset: 0,
            n_buffers: 0,
            n_children: 0,
            buffers: ptr::null_mut(),
            children: ptr::null_mut(),
            dictionary: ptr::null_mut(),
            release: None,
            private_data: ptr::null_mut(),
        }
    }
}

/// The state of a stream: the table, and whether its rows were handed out.
struct Reading {
    table: Arc<Arrow>,
    done: bool,
}

impl Stream {
    /// A stream of a table.
    pub fn of(table: Arc<Arrow>) -> Self {
        Self {
            get_schema: Some(get_schema),
            get_next: Some(get_next),
            get_last_error: Some(get_last_error),
            release: Some(release_stream),
            private_data: Box::into_raw(Box::new(Reading { table, done: false })).cast(),
        }
    }

    /// The state of a stream that lives.
    ///
    /// # Safety
    /// `stream` is null, was released, or was made by [`Stream::of`]; nobody else uses it
    /// meanwhile.
    unsafe fn reading<'a>(stream: *mut Self) -> Option<&'a mut Reading> {
        // SAFETY: the caller's promise; while `release` is set, the state is the one that
        // `Stream::of` made.
        unsafe {
            let stream = stream.as_mut()?;
            stream.release?;
            stream.private_data.cast::<Reading>().as_mut()
        }
    }
}

/// The error of a call on a stream that was released, as in errno.h.
const EINVAL: c_int = 22;

/// # Safety
/// As the interface of C streams demands: `stream` is one, and `out` has room for a schema.
unsafe extern "C" fn get_schema(stream: *mut Stream, out: *mut Schema) -> c_int {
    // SAFETY: the caller's promise.
    let Some(reading) = (unsafe { Stream::reading(stream) }) else { return EINVAL };
    // SAFETY: `out` is valid for writing; what it held is not to be dropped.
    unsafe { out.write(Schema::of(&reading.table)) };
    0
}

/// # Safety
/// As the interface of C streams demands: `stream` is one, and `out` has room for an array.
unsafe extern "C" fn get_next(stream: *mut Stream, out: *mut Array) -> c_int {
    // SAFETY: the caller's promise.
    let Some(reading) = (unsafe { Stream::reading(stream) }) else { return EINVAL };
    let first = !std::mem::replace(&mut reading.done, true);
    let array = if first { Array::of(&reading.table) } else { Array::end() };
    // SAFETY: `out` is valid for writing; what it held is not to be dropped.
    unsafe { out.write(array) };
    0
}

/// There is never more to say than the code.
unsafe extern "C" fn get_last_error(_: *mut Stream) -> *const c_char {
    ptr::null()
}

/// # Safety
/// `stream` is null, was released, or was made by [`Stream::of`]; nobody else uses it meanwhile.
unsafe extern "C" fn release_stream(stream: *mut Stream) {
    // SAFETY: the caller's promise; the state came from `Box::into_raw`, and `release`, which is
    // taken away with it, was set then and only then.
    unsafe {
        let Some(stream) = stream.as_mut() else { return };
        if stream.release.take().is_some() {
            drop(Box::from_raw(stream.private_data.cast::<Reading>()));
        }
    }
}

/// A structure in a capsule of Python, which releases it unless somebody moved it away.
macro_rules! capsules {
    ($($name:ident: $structure:ty;)+) => {$(
        /// The contents of a capsule.
        #[repr(transparent)]
        pub struct $name(pub $structure);

        // SAFETY: the structure owns what it points to, a reference to a table that nobody changes
        // among it, and may be released by any thread.
        unsafe impl Send for $name {}

        impl Drop for $name {
            fn drop(&mut self) {
                if let Some(release) = self.0.release {
                    // SAFETY: the structure lives, and this is its own release.
                    unsafe { release(&raw mut self.0) };
                }
            }
        }
    )+};
}

capsules! {
    SchemaCapsule: Schema;
    StreamCapsule: Stream;
}
