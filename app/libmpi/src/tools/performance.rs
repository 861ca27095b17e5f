//! Performance variables: what a rank did. A handle counts while it runs, from 0 on.

use std::cell::Cell;
use std::ffi::{c_char, c_int, c_void};
use std::rc::Rc;

use super::{Tools, entry, found, give, give_text, name, tools};
use crate::abi::{self, Handle};
use crate::argument::{In, Out};
use crate::error::{Error, Result};
use crate::{check, control, mpi_functions};

/// A session, which keeps the handles of one user of the interface apart from those of others.
#[derive(Debug)]
pub(super) struct Session;

/// A handle of a performance variable.
#[derive(Debug)]
pub(super) struct Meter {
    variable: &'static Variable,
    session: Handle,
    /// The count until it last stopped.
    before: Cell<u64>,
    /// The variable's count when it last started, if it runs.
    started: Cell<Option<u64>>,
}

#[derive(Debug)]
pub(super) struct Variable {
    pub(super) name: &'static str,
    meaning: &'static str,
    class: c_int,
    unit: Unit,
    count: fn(&Tools) -> u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    /// A number, as `unsigned long long`.
    One,
    /// Seconds as `double`, counted in picoseconds.
    Second,
}

/// Picoseconds of a second.
const SECOND: f64 = 1e12;

/// The handle that stands for all of a session.
const ALL: Handle = 1;

pub(super) static VARIABLES: [Variable; 5] = [
    Variable {
        name: "messages_sent",
        meaning: "messages that this rank sent, but for those of collective operations",
        class: abi::T_PVAR_CLASS_COUNTER,
        unit: Unit::One,
        count: |tools| tools.counters.messages_sent.get(),
    },
    Variable {
        name: "bytes_sent",
        meaning: "bytes of the messages that this rank sent",
        class: abi::T_PVAR_CLASS_AGGREGATE,
        unit: Unit::One,
        count: |tools| tools.counters.bytes_sent.get(),
    },
    Variable {
        name: "messages_received",
        meaning: "messages that this rank received, but for those of collective operations",
        class: abi::T_PVAR_CLASS_COUNTER,
        unit: Unit::One,
        count: |tools| tools.counters.messages_received.get(),
    },
    Variable {
        name: "bytes_received",
        meaning: "bytes of the messages that this rank received",
        class: abi::T_PVAR_CLASS_AGGREGATE,
        unit: Unit::One,
        count: |tools| tools.counters.bytes_received.get(),
    },
    Variable {
        name: "simulated_time",
        meaning: "simulated time that passed, in seconds",
        class: abi::T_PVAR_CLASS_TIMER,
        unit: Unit::Second,
        count: |_| control::now(),
    },
];

impl Meter {
    fn count(&self) -> Result<u64> {
        let now = (self.variable.count)(&*tools()?);
        Ok(self.before.get() + self.started.get().map_or(0, |started| now - started))
    }

    fn start(&self) -> Result {
        if self.started.get().is_none() {
            self.started.set(Some((self.variable.count)(&*tools()?)));
        }
        Ok(())
    }

    fn stop(&self) -> Result {
        self.before.set(self.count()?);
        self.started.set(None);
        Ok(())
    }

    /// Goes on from a count.
    fn set(&self, count: u64) -> Result {
        self.before.set(count);
        if self.started.take().is_some() {
            self.start()?;
        }
        Ok(())
    }

    fn read(&self, place: Out<u8>) -> Result {
        let count = self.count()?;
        match self.variable.unit {
            Unit::One => place.set_all(count.to_ne_bytes()),
            Unit::Second => place.set_all((count as f64 / SECOND).to_ne_bytes()),
        }
    }

    fn write(&self, from: In<[u8; 8]>) -> Result {
        let bytes = from.get()?;
        self.set(match self.variable.unit {
            Unit::One => u64::from_ne_bytes(bytes),
            Unit::Second => (f64::from_ne_bytes(bytes) * SECOND) as u64,
        })
    }
}

/// The meter of a handle, which must be of the session.
fn meter(session: Handle, handle: Handle) -> Result<Rc<Meter>> {
    let tools = tools()?;
    found(&tools.sessions, session, abi::T_ERR_INVALID_SESSION)?;
    let meter = found(&tools.meters, handle, abi::T_ERR_INVALID_HANDLE)?;
    check!(meter.session == session, T_ERR_INVALID_HANDLE, "the handle is of another session");
    Ok(meter)
}

/// Does something with the meter of a handle, or with all of the session.
fn with(session: Handle, handle: Handle, act: impl Fn(&Meter) -> Result) -> Result {
    if handle != ALL {
        return act(&*meter(session, handle)?);
    }
    let tools = tools()?;
    found(&tools.sessions, session, abi::T_ERR_INVALID_SESSION)?;
    tools
        .meters
        .all()
        .iter()
        .filter(|meter| meter.session == session)
        .try_for_each(|meter| act(meter))
}

mpi_functions! {
    fn T_pvar_get_num(num_pvar: Out<c_int>) {
        tools()?;
        num_pvar.set(VARIABLES.len() as c_int)
    }

    fn T_pvar_get_index(pvar_name: In<c_char>, var_class: c_int, pvar_index: Out<c_int>) {
        tools()?;
        let name = name(pvar_name)?;
        pvar_index.set(super::number_of(&VARIABLES, |variable| {
            variable.name.as_bytes() == name && variable.class == var_class
        })?)
    }

    fn T_pvar_get_info(
        pvar_index: c_int, name: Out<c_char>, name_len: Out<c_int>, verbosity: Out<c_int>,
        var_class: Out<c_int>, datatype: Out<Handle>, enumtype: Out<Handle>, desc: Out<c_char>,
        desc_len: Out<c_int>, bind: Out<c_int>, readonly: Out<c_int>, continuous: Out<c_int>,
        atomic: Out<c_int>,
    ) {
        tools()?;
        let variable = entry(&VARIABLES, pvar_index)?;
        give_text(name, name_len, variable.name)?;
        give(verbosity, abi::T_VERBOSITY_USER_BASIC)?;
        give(var_class, variable.class)?;
        give(datatype, match variable.unit {
            Unit::One => abi::UNSIGNED_LONG_LONG,
            Unit::Second => abi::DOUBLE,
        })?;
        give(enumtype, 0)?;
        give_text(desc, desc_len, variable.meaning)?;
        give(bind, abi::T_BIND_NO_OBJECT)?;
        give(readonly, 0)?;
        give(continuous, 0)?;
        give(atomic, 1)
    }

    fn T_pvar_session_create(session: Out<Handle>) {
        let tools = tools()?;
        session.check()?;
        session.set(tools.sessions.add(Session.into()))
    }

    fn T_pvar_session_free(session: Out<Handle>) {
        let tools = tools()?;
        let handle = session.get()?;
        if tools.sessions.remove(handle).is_none() {
            return Err(Error::new(abi::T_ERR_INVALID_SESSION, "no such session (freed?)"));
        }
        tools.meters.remove_if(|meter| meter.session == handle);
        session.set(0)
    }

    fn T_pvar_handle_alloc(
        session: Handle, pvar_index: c_int, obj_handle: *mut c_void, handle: Out<Handle>,
        count: Out<c_int>,
    ) {
        // No variable is about an object.
        let _ = obj_handle;
        let tools = tools()?;
        found(&tools.sessions, session, abi::T_ERR_INVALID_SESSION)?;
        let variable = entry(&VARIABLES, pvar_index)?;
        handle.check()?;
        give(count, 1)?;
        let meter = Meter { variable, session, before: Cell::new(0), started: Cell::new(None) };
        handle.set(tools.meters.add(meter.into()))
    }

    fn T_pvar_handle_free(session: Handle, handle: Out<Handle>) {
        let number = handle.get()?;
        meter(session, number)?;
        tools()?.meters.remove(number);
        handle.set(0)
    }

    fn T_pvar_start(session: Handle, handle: Handle) {
        with(session, handle, Meter::start)
    }

    fn T_pvar_stop(session: Handle, handle: Handle) {
        with(session, handle, Meter::stop)
    }

    fn T_pvar_reset(session: Handle, handle: Handle) {
        with(session, handle, |meter| meter.set(0))
    }

    fn T_pvar_read(session: Handle, handle: Handle, buf: Out<u8>) {
        meter(session, handle)?.read(buf)
    }

    fn T_pvar_readreset(session: Handle, handle: Handle, buf: Out<u8>) {
        let meter = meter(session, handle)?;
        meter.read(buf)?;
        meter.set(0)
    }

    fn T_pvar_write(session: Handle, handle: Handle, buf: In<[u8; 8]>) {
        meter(session, handle)?.write(buf)
    }
}
