//! Control variables: how the library is set up. None can be set. One of them is an enumeration.

use std::ffi::{c_char, c_int, c_void};

use super::{entry, found, give, give_text, name, number_of, tools};
use crate::abi::{self, Handle};
use crate::argument::{In, Out};
use crate::error::{Error, Result};
use crate::{environment, mpi_functions};

/// A handle of a control variable.
#[derive(Debug)]
pub(super) struct Control(&'static Variable);

#[derive(Debug)]
pub(super) struct Variable {
    pub(super) name: &'static str,
    meaning: &'static str,
    datatype: Handle,
    /// Number of elements.
    count: c_int,
    enumeration: Handle,
    value: fn() -> Result<Value>,
}

enum Value {
    Int(c_int),
    Double(f64),
    Text(String),
}

/// Room for the text of a variable, with its final 0.
const TEXT: c_int = 256;

/// The handle of the only enumeration.
const THREAD_LEVELS: Handle = 1;

/// The levels of thread support.
const LEVELS: [(c_int, &str); 4] = [
    (abi::THREAD_SINGLE, "MPI_THREAD_SINGLE"),
    (abi::THREAD_FUNNELED, "MPI_THREAD_FUNNELED"),
    (abi::THREAD_SERIALIZED, "MPI_THREAD_SERIALIZED"),
    (abi::THREAD_MULTIPLE, "MPI_THREAD_MULTIPLE"),
];

pub(super) static VARIABLES: [Variable; 4] = [
    Variable {
        name: "collectives",
        meaning: "table by which collective operations choose their algorithms",
        datatype: abi::CHAR,
        count: TEXT,
        enumeration: 0,
        value: || Ok(Value::Text(tools()?.collectives.borrow().clone())),
    },
    Variable {
        name: "thread_level",
        meaning: "level of thread support",
        datatype: abi::INT,
        count: 1,
        enumeration: THREAD_LEVELS,
        value: || Ok(Value::Int(environment::thread_level())),
    },
    Variable {
        name: "tag_ub",
        meaning: "largest tag",
        datatype: abi::INT,
        count: 1,
        enumeration: 0,
        value: || Ok(Value::Int(environment::TAG_UB)),
    },
    Variable {
        name: "clock_resolution",
        meaning: "resolution of simulated time, in seconds",
        datatype: abi::DOUBLE,
        count: 1,
        enumeration: 0,
        value: || Ok(Value::Double(environment::TICK)),
    },
];

mpi_functions! {
    fn T_cvar_get_num(num_cvar: Out<c_int>) {
        tools()?;
        num_cvar.set(VARIABLES.len() as c_int)
    }

    fn T_cvar_get_index(cvar_name: In<c_char>, cvar_index: Out<c_int>) {
        tools()?;
        let name = name(cvar_name)?;
        cvar_index.set(number_of(&VARIABLES, |variable| variable.name.as_bytes() == name)?)
    }

    fn T_cvar_get_info(
        cvar_index: c_int, name: Out<c_char>, name_len: Out<c_int>, verbosity: Out<c_int>,
        datatype: Out<Handle>, enumtype: Out<Handle>, desc: Out<c_char>, desc_len: Out<c_int>,
        bind: Out<c_int>, scope: Out<c_int>,
    ) {
        tools()?;
        let variable = entry(&VARIABLES, cvar_index)?;
        give_text(name, name_len, variable.name)?;
        give(verbosity, abi::T_VERBOSITY_USER_BASIC)?;
        give(datatype, variable.datatype)?;
        give(enumtype, variable.enumeration)?;
        give_text(desc, desc_len, variable.meaning)?;
        give(bind, abi::T_BIND_NO_OBJECT)?;
        give(scope, abi::T_SCOPE_CONSTANT)
    }

    fn T_cvar_handle_alloc(
        cvar_index: c_int, obj_handle: *mut c_void, handle: Out<Handle>, count: Out<c_int>,
    ) {
        // No variable is about an object.
        let _ = obj_handle;
        let variable = entry(&VARIABLES, cvar_index)?;
        handle.check()?;
        give(count, variable.count)?;
        handle.set(tools()?.controls.add(Control(variable).into()))
    }

    fn T_cvar_handle_free(handle: Out<Handle>) {
        let removed = tools()?.controls.remove(handle.get()?);
        match removed {
            Some(_) => handle.set(0),
            None => Err(Error::new(abi::T_ERR_INVALID_HANDLE, "no such handle (freed?)")),
        }
    }

    fn T_cvar_read(handle: Handle, buf: Out<u8>) {
        let control = found(&tools()?.controls, handle, abi::T_ERR_INVALID_HANDLE)?;
        match (control.0.value)()? {
            Value::Int(value) => buf.set_all(value.to_ne_bytes()),
            Value::Double(value) => buf.set_all(value.to_ne_bytes()),
            Value::Text(value) => {
                let text = value.bytes().take(TEXT as usize - 1).chain([0]);
                buf.set_all(text)
            }
        }
    }

    fn T_cvar_write(handle: Handle, buf: In<u8>) {
        let _ = buf;
        let control = found(&tools()?.controls, handle, abi::T_ERR_INVALID_HANDLE)?;
        Err(Error::new(abi::T_ERR_CVAR_SET_NEVER, format!("{} cannot be set", control.0.name)))
    }

    fn T_enum_get_info(enumtype: Handle, num: Out<c_int>, name: Out<c_char>, name_len: Out<c_int>) {
        levels(enumtype)?;
        give(num, LEVELS.len() as c_int)?;
        give_text(name, name_len, "thread levels")
    }

    fn T_enum_get_item(
        enumtype: Handle, index: c_int, value: Out<c_int>, name: Out<c_char>, name_len: Out<c_int>,
    ) {
        levels(enumtype)?;
        let item = usize::try_from(index).ok().and_then(|index| LEVELS.get(index));
        let Some(&(number, level)) = item else {
            let wrong = format!("item {index} of {}", LEVELS.len());
            return Err(Error::new(abi::T_ERR_INVALID_INDEX, wrong));
        };
        give(value, number)?;
        give_text(name, name_len, level)
    }
}

/// An error unless a handle is that of the only enumeration.
fn levels(enumeration: Handle) -> Result {
    tools()?;
    if enumeration == THREAD_LEVELS {
        Ok(())
    } else {
        Err(Error::new(abi::T_ERR_INVALID_HANDLE, "no such enumeration"))
    }
}
