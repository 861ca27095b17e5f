//! Names of ports (MPI 4.1, section 11.9.4), in a list in the memory that all ranks share. Ranks
//! look at it and change it in one order (`Client::order`), so that nobody else changes the list
//! while this one reads it.

use std::ffi::c_char;
use std::sync::atomic::Ordering;

use rank_ipc::{Client, NAMES, Offset};

use crate::abi::{self, Handle};
use crate::argument::{In, Out};
use crate::error::{Error, Result};
use crate::state::mpi;
use crate::{check, control, mpi_functions, p2p};

/// An entry: where the next one is, the lengths of name and port, and both.
const HEAD: u64 = 24;

fn word(port: &Client, place: Offset) -> u64 {
    port.memory().word(place).load(Ordering::Acquire)
}

fn set(port: &Client, place: Offset, value: u64) {
    port.memory().word(place).store(value, Ordering::Release);
}

/// The entry of a name: what points to it, and where it is.
fn find(port: &Client, service: &[u8]) -> Option<(Offset, Offset)> {
    let mut before = NAMES;
    loop {
        let entry = word(port, before);
        if entry == 0 {
            return None;
        }
        if p2p::bytes(port, entry + HEAD, word(port, entry + 8)) == service {
            return Some((before, entry));
        }
        before = entry;
    }
}

fn name(service: In<c_char>) -> Result<Vec<u8>> {
    service.bytes().ok_or_else(|| Error::new(abi::ERR_ARG, "the name is a null pointer"))
}

fn unknown(class: std::ffi::c_int, service: &[u8]) -> Error {
    Error::new(class, format!("nobody published `{}`", String::from_utf8_lossy(service)))
}

mpi_functions! {
    fn Publish_name(service_name: In<c_char>, info: Handle, port_name: In<c_char>) {
        mpi().info_or_none(info)?;
        let (service, door) = (name(service_name)?, name(port_name)?);
        let mpi = mpi();
        let port = mpi.port()?;
        control::settle();
        check!(find(port, &service).is_none(), ERR_SERVICE, "the name is published already");
        let entry = p2p::block(HEAD + (service.len() + door.len()) as u64)?;
        set(port, entry, word(port, NAMES));
        set(port, entry + 8, service.len() as u64);
        set(port, entry + 16, door.len() as u64);
        let text = [service, door].concat();
        p2p::bytes_mut(port, entry + HEAD, text.len() as u64).copy_from_slice(&text);
        set(port, NAMES, entry);
        Ok(())
    }

    fn Unpublish_name(service_name: In<c_char>, info: Handle, port_name: In<c_char>) {
        mpi().info_or_none(info)?;
        let service = name(service_name)?;
        name(port_name)?;
        let mpi = mpi();
        let port = mpi.port()?;
        control::settle();
        let (before, entry) = find(port, &service).ok_or_else(
            || unknown(abi::ERR_SERVICE, &service)
        )?;
        set(port, before, word(port, entry));
        port.give_back(entry);
        Ok(())
    }

    fn Lookup_name(service_name: In<c_char>, info: Handle, port_name: Out<c_char>) {
        mpi().info_or_none(info)?;
        let service = name(service_name)?;
        let mpi = mpi();
        let port = mpi.port()?;
        control::settle();
        let (_, entry) = find(port, &service).ok_or_else(|| unknown(abi::ERR_NAME, &service))?;
        let start = entry + HEAD + word(port, entry + 8);
        let door = p2p::bytes(port, start, word(port, entry + 16));
        port_name.set_bytes(door, abi::MAX_PORT_NAME as usize).map(|_| ())
    }
}
