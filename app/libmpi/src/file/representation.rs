//! Data representations of files (MPI 4.1, section 14.5): as in memory, in "external32", or as the
//! program's functions write it.

use std::ffi::{c_char, c_void};
use std::rc::Rc;

use crate::abi;
use crate::argument::In;
use crate::datatype::basic::Basic;
use crate::datatype::map::Map;
use crate::datatype::{Datatype, external};
use crate::error::{Error, Result};
use crate::layer::{Callback, Function};
use crate::p2p::Data;
use crate::{both_forms, check, mpi};

/// A representation.
#[derive(Clone, Debug)]
pub enum Representation {
    /// The data is in the file as in memory.
    Native,
    /// The representation that this library prefers: as in memory.
    Internal,
    /// The one of the standard, "external32".
    External,
    /// One of the program's own.
    Registered(Rc<Registered>),
}

/// A representation that the program made.
#[derive(Debug)]
pub struct Registered {
    name: Vec<u8>,
    large: bool,
    /// Reads data; without it, data is in the file as in memory.
    read: Option<Callback>,
    write: Option<Callback>,
    extent: Callback,
    extra: *mut c_void,
}

impl Representation {
    /// The representation of a name.
    pub fn named(name: In<c_char>) -> Result<Self> {
        let name = name.bytes().unwrap_or_default();
        let mpi = mpi();
        let registered = mpi.files.registered.borrow();
        match name.as_slice() {
            b"native" => Ok(Self::Native),
            b"internal" => Ok(Self::Internal),
            b"external32" => Ok(Self::External),
            _ => {
                let known = registered.iter().find(|known| known.name == name).map(Rc::clone);
                known.map(Self::Registered).ok_or_else(|| {
                    let text = format!("no representation `{}`", String::from_utf8_lossy(&name));
                    Error::new(abi::ERR_UNSUPPORTED_DATAREP, text)
                })
            }
        }
    }

    /// Its name.
    pub fn name(&self) -> &[u8] {
        match self {
            Self::Native => b"native",
            Self::Internal => b"internal",
            Self::External => b"external32",
            Self::Registered(known) => &known.name,
        }
    }

    /// Type map and extent of a datatype in the file.
    pub fn stored(&self, datatype: &Datatype) -> Result<(Rc<Map>, i64)> {
        match self {
            Self::Native | Self::Internal => Ok(datatype.stored(&|basic| basic.size)?),
            Self::External => Ok(datatype.stored(&|basic| basic.external)?),
            Self::Registered(known) => {
                let sizes = known.sizes(datatype)?;
                let size = |basic| sizes.iter().find(|(of, _)| *of == basic).map(|(_, size)| *size);
                Ok(datatype.stored(&|basic: Basic| size(basic).unwrap_or(basic.size))?)
            }
        }
    }

    /// True if data is in the file as in memory.
    pub fn is_native(&self) -> bool {
        matches!(self, Self::Native | Self::Internal)
    }

    /// Data as it goes into the file, `bytes` of it.
    pub fn write(&self, data: &Data, bytes: u64) -> Result<Vec<u8>> {
        let mut packed = vec![0; bytes as usize];
        match self {
            Self::External => {
                // SAFETY: the program's buffer holds so many of the datatype (MPI 4.1, section
                // 14.4.1).
                unsafe { external::pack(&data.datatype, data.address, data.count, &mut packed) };
            }
            Self::Registered(known) if known.write.is_some() => {
                known.convert(known.write.as_ref(), data, &mut packed)?;
            }
            Self::Native | Self::Internal | Self::Registered(_) => data.pack(&mut packed),
        }
        Ok(packed)
    }

    /// Takes in what was read from the file.
    pub fn read(&self, data: &Data, packed: &mut [u8]) -> Result {
        match self {
            Self::External => {
                // SAFETY: as in `write`.
                unsafe { external::unpack(&data.datatype, packed, data.address, data.count) };
            }
            Self::Registered(known) if known.read.is_some() => {
                known.convert(known.read.as_ref(), data, packed)?;
            }
            Self::Native | Self::Internal | Self::Registered(_) => data.unpack(packed),
        }
        Ok(())
    }
}

impl Registered {
    /// Sizes in the file of the basic elements of a datatype.
    fn sizes(&self, datatype: &Datatype) -> Result<Vec<(Basic, u8)>> {
        let basics = datatype.basics().into_iter();
        let size = |(basic, handle)| {
            let mut extent = 0;
            // SAFETY: the program handed it in as such a function; the extent lives until it
            // returns.
            let code = unsafe { self.extent.extent(handle, &raw mut extent, self.extra) };
            check!(code == abi::SUCCESS, ERR_CONVERSION, "the extent function gave {code}");
            let size = u8::try_from(extent);
            let size = size.map_err(|_| {
                Error::new(abi::ERR_CONVERSION, format!("an element of {extent} bytes"))
            })?;
            Ok((basic, size))
        };
        basics.map(size).collect()
    }

    fn convert(&self, function: Option<&Callback>, data: &Data, packed: &mut [u8]) -> Result {
        let Some(function) = function else { return Ok(()) };
        let (file, elements) = (packed.as_mut_ptr(), data.datatype.map().elements());
        let elements = elements.saturating_mul(data.count) as i64;
        let (shown, temporary) = mpi().types.show(&data.datatype);
        let user = data.address.cast();
        // SAFETY: the program handed it in as such a function; both buffers hold so many elements.
        let code = unsafe {
            function.convert(self.large, user, shown, elements, file.cast(), 0, self.extra)
        };
        if temporary {
            mpi().types.forget(shown);
        }
        check!(code == abi::SUCCESS, ERR_CONVERSION, "the conversion function gave {code}");
        Ok(())
    }
}

both_forms! {
    fn Register_datarep | Register_datarep_c (
        name: In<c_char>, read: Function, write: Function, extent: Function, extra: *mut c_void
    ) {
        let name = name.bytes().unwrap_or_default();
        let length = 1..abi::MAX_DATAREP_STRING as usize;
        check!(length.contains(&name.len()), ERR_ARG, "a name of {} characters", name.len());
        check!(!extent.is_null(), ERR_ARG, "the extent function is missing");
        let registered = &mpi().files.registered;
        let known = [&b"native"[..], b"internal", b"external32"].contains(&name.as_slice())
            || registered.borrow().iter().any(|known| known.name == name);
        check!(!known, ERR_DUP_DATAREP, "there is such a representation already");
        let convert = |function: Function| (!function.is_null()).then(|| Callback::new(function));
        let (read, write, extent) = (convert(read), convert(write), Callback::new(extent));
        registered.borrow_mut().push(
            Rc::new(Registered { name, large: LARGE, read, write, extent, extra })
        );
        Ok(())
    }
}
