//! The functions of MPI on its beginning and end, versions, names and clocks.

use std::ffi::{c_char, c_int};

use super::{Phase, TICK, open};
use crate::abi::{self, Handle};
use crate::argument::Out;
use crate::control;
use crate::error::{About, Error, Result};
use crate::info::Info;
use crate::state::mpi;
use crate::{check, mpi_functions};

/// The version of MPI that is spoken: 4.1, not that of the binary interface.
const VERSION: (c_int, c_int) = (4, 1);

mpi_functions! {
    fn Init(argc: Out<c_int>, argv: Out<Out<Out<c_char>>>) {
        // The starter passes the program's own arguments alone.
        let _ = (argc, argv);
        init(abi::THREAD_SINGLE)
    }

    fn Finalize() {
        let environment = &mpi().environment;
        check!(
            environment.phase.get() == Phase::Initialised, ERR_OTHER,
            "MPI was not initialised by MPI_Init"
        );
        if let Some(own) = mpi().comms.known_own() {
            own.attributes.clear(abi::COMM_SELF)?;
        }
        let world = mpi().comm(abi::COMM_WORLD)?;
        world.attributes.clear(abi::COMM_WORLD)?;
        mpi().comms.end();
        environment.phase.set(Phase::Finalised);
        super::close()
    }

    local fn Initialized(flag: Out<c_int>) {
        flag.set(c_int::from(mpi().environment.phase.get() != Phase::Before))
    }

    local fn Finalized(flag: Out<c_int>) {
        flag.set(c_int::from(mpi().environment.phase.get() == Phase::Finalised))
    }

    local fn Query_thread(provided: Out<c_int>) {
        provided.set(super::thread_level())
    }

    local fn Is_thread_main(flag: Out<c_int>) {
        let main = mpi().unguarded.is_main_thread();
        flag.set(c_int::from(main))
    }

    fn Get_version(version: Out<c_int>, subversion: Out<c_int>) {
        version.set(VERSION.0)?;
        subversion.set(VERSION.1)
    }

    fn Abi_get_version(abi_major: Out<c_int>, abi_minor: Out<c_int>) {
        abi_major.set(abi::ABI_VERSION)?;
        abi_minor.set(abi::ABI_SUBVERSION)
    }

    fn Abi_get_info(info: Out<Handle>) {
        info.check()?;
        let mut sizes = Info::default();
        for (key, size) in [
            ("mpi_aint_size", size_of::<isize>()),
            ("mpi_count_size", size_of::<i64>()),
            ("mpi_offset_size", size_of::<i64>()),
        ] {
            sizes.set(key.as_bytes(), size.to_string().as_bytes());
        }
        info.set(mpi().add_info(sizes))
    }

    fn Get_library_version(version: Out<c_char>, resultlen: Out<c_int>) {
        let text = concat!("Heddle ", env!("CARGO_PKG_VERSION"), " (simulated network)");
        let length = version.set_bytes(text.as_bytes(), abi::MAX_LIBRARY_VERSION_STRING as usize)?;
        resultlen.set(length as c_int)
    }

    fn Get_processor_name(name: Out<c_char>, resultlen: Out<c_int>) {
        let text = super::processor_name();
        let length = name.set_bytes(text.as_bytes(), abi::MAX_PROCESSOR_NAME as usize)?;
        resultlen.set(length as c_int)
    }

    fn Get_hw_resource_info(hw_info: Out<Handle>) {
        hw_info.check()?;
        // Every rank is restricted to its host.
        let mut resources = Info::default();
        resources.set(b"mpi_shared_memory", b"true");
        hw_info.set(mpi().add_info(resources))
    }

    fn Abort(comm: Handle, errorcode: c_int) about Comm(comm) {
        // Whatever the handle, the program is to end.
        let known = mpi().comm(comm);
        let on = known.map(|comm| format!(" on {}", comm.display_name())).unwrap_or_default();
        eprintln!("heddle: rank {}: MPI_Abort{on} with code {errorcode}", mpi().comms.me());
        super::abort(errorcode)
    }
}

/// `MPI_Pcontrol`, which is variadic and has no meaning here.
#[unsafe(no_mangle)]
pub extern "C" fn heddle_Pcontrol(level: c_int) -> c_int {
    let _ = level;
    abi::SUCCESS
}

/// Simulated time, in seconds.
#[unsafe(no_mangle)]
pub extern "C" fn heddle_Wtime() -> f64 {
    control::now() as f64 * TICK
}

/// The clock's resolution, in seconds.
#[unsafe(no_mangle)]
pub extern "C" fn heddle_Wtick() -> f64 {
    TICK
}

/// `MPI_Init_thread`. Threads are seen to when the call is over.
#[unsafe(export_name = "heddle_Init_thread")]
unsafe extern "C-unwind" fn init_thread(
    _: Out<c_int>,
    _: Out<Out<Out<c_char>>>,
    required: c_int,
    provided: Out<c_int>,
) -> c_int {
    let code = begin(required, provided);
    super::settle_threads();
    code
}

#[inline(never)]
fn begin(required: c_int, provided: Out<c_int>) -> c_int {
    crate::call::run("MPI_Init_thread", About::Nothing, &mut || {
        check!(super::is_level(required), ERR_ARG, "thread level {required}");
        provided.check()?;
        init(required)?;
        provided.set(required)
    })
}

/// `MPI_Init` and `MPI_Init_thread`.
fn init(level: c_int) -> Result {
    match mpi().environment.phase.get() {
        Phase::Before => open(Some(level)),
        Phase::Initialised => Err(Error::new(abi::ERR_OTHER, "MPI is initialised already")),
        Phase::Finalised => {
            Err(Error::new(abi::ERR_OTHER, "MPI cannot be initialised a second time"))
        }
    }
}
