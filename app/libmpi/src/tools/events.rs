//! Events, of which there are none, and their source of time, which is the simulated clock.

use std::ffi::{c_char, c_int, c_void};

use super::{give, give_text, name, tools};
use crate::abi::{self, Handle};
use crate::argument::{In, Out};
use crate::error::{Error, Result};
use crate::info::Info;
use crate::layer::Function;
use crate::state::mpi;
use crate::{check, control, mpi_functions};

/// The number of the only source.
const CLOCK: c_int = 0;
/// Its ticks are picoseconds.
const TICKS_PER_SECOND: i64 = 1_000_000_000_000;

fn no_event(index: c_int) -> Error {
    Error::new(abi::T_ERR_INVALID_INDEX, format!("event {index} of 0"))
}

fn no_handle(handle: Handle) -> Error {
    Error::new(abi::T_ERR_INVALID_HANDLE, format!("no event has the handle {handle:#x}"))
}

/// An error unless a number is that of the clock.
fn clock(source: c_int) -> Result {
    tools()?;
    check!(source == CLOCK, T_ERR_INVALID_INDEX, "source {source} of 1");
    Ok(())
}

mpi_functions! {
    fn T_event_get_num(num_events: Out<c_int>) {
        tools()?;
        num_events.set(0)
    }

    fn T_event_get_index(event_name: In<c_char>, event_index: Out<c_int>) {
        let _ = event_index;
        tools()?;
        let name = name(event_name)?;
        Err(Error::new(
            abi::T_ERR_INVALID_NAME,
            format!("no event {}", String::from_utf8_lossy(&name)),
        ))
    }

    fn T_event_get_info(
        event_index: c_int, name: Out<c_char>, name_len: Out<c_int>, verbosity: Out<c_int>,
        array_of_datatypes: Out<Handle>, array_of_displacements: Out<isize>,
        num_elements: Out<c_int>, enumtype: Out<Handle>, info: Out<Handle>, desc: Out<c_char>,
        desc_len: Out<c_int>, bind: Out<c_int>,
    ) {
        let _ = (
            name, name_len, verbosity, array_of_datatypes, array_of_displacements, num_elements
        );
        let _ = (enumtype, info, desc, desc_len, bind);
        tools()?;
        Err(no_event(event_index))
    }

    fn T_event_handle_alloc(
        event_index: c_int, obj_handle: *mut c_void, info: Handle, event_registration: Out<Handle>,
    ) {
        let _ = (obj_handle, info, event_registration);
        tools()?;
        Err(no_event(event_index))
    }

    fn T_event_handle_free(
        event_registration: Handle, user_data: *mut c_void, free_cb_function: Function
    ) {
        let _ = (user_data, free_cb_function);
        tools()?;
        Err(no_handle(event_registration))
    }

    fn T_event_handle_get_info(event_registration: Handle, info_used: Out<Handle>) {
        let _ = info_used;
        tools()?;
        Err(no_handle(event_registration))
    }

    fn T_event_handle_set_info(event_registration: Handle, info: Handle) {
        let _ = info;
        tools()?;
        Err(no_handle(event_registration))
    }

    fn T_event_register_callback(
        event_registration: Handle, cb_safety: c_int, info: Handle, user_data: *mut c_void,
        event_cb_function: Function,
    ) {
        let _ = (cb_safety, info, user_data, event_cb_function);
        tools()?;
        Err(no_handle(event_registration))
    }

    fn T_event_callback_get_info(
        event_registration: Handle, cb_safety: c_int, info_used: Out<Handle>
    ) {
        let _ = (cb_safety, info_used);
        tools()?;
        Err(no_handle(event_registration))
    }

    fn T_event_callback_set_info(event_registration: Handle, cb_safety: c_int, info: Handle) {
        let _ = (cb_safety, info);
        tools()?;
        Err(no_handle(event_registration))
    }

    fn T_event_set_dropped_handler(event_registration: Handle, dropped_cb_function: Function) {
        let _ = dropped_cb_function;
        tools()?;
        Err(no_handle(event_registration))
    }

    fn T_event_read(event_instance: Handle, element_index: c_int, buffer: *mut c_void) {
        let _ = (element_index, buffer);
        tools()?;
        Err(no_handle(event_instance))
    }

    fn T_event_copy(event_instance: Handle, buffer: *mut c_void) {
        let _ = buffer;
        tools()?;
        Err(no_handle(event_instance))
    }

    fn T_event_get_timestamp(event_instance: Handle, event_timestamp: Out<i64>) {
        let _ = event_timestamp;
        tools()?;
        Err(no_handle(event_instance))
    }

    fn T_event_get_source(event_instance: Handle, source_index: Out<c_int>) {
        let _ = source_index;
        tools()?;
        Err(no_handle(event_instance))
    }

    fn T_source_get_num(num_sources: Out<c_int>) {
        tools()?;
        num_sources.set(CLOCK + 1)
    }

    fn T_source_get_info(
        source_index: c_int, name: Out<c_char>, name_len: Out<c_int>, desc: Out<c_char>,
        desc_len: Out<c_int>, ordering: Out<c_int>, ticks_per_second: Out<i64>, max_ticks: Out<i64>,
        info: Out<Handle>,
    ) {
        clock(source_index)?;
        give_text(name, name_len, "clock")?;
        give_text(desc, desc_len, "simulated time")?;
        give(ordering, abi::T_SOURCE_ORDERED)?;
        give(ticks_per_second, TICKS_PER_SECOND)?;
        give(max_ticks, i64::MAX)?;
        if info.is_null() { Ok(()) } else { info.set(mpi().add_info(Info::default())) }
    }

    fn T_source_get_timestamp(source_index: c_int, timestamp: Out<i64>) {
        clock(source_index)?;
        timestamp.set(control::now() as i64)
    }
}
