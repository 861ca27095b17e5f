//! Processes that a program starts (MPI 4.1, section 11.8).
//!
//! The root has the simulator start them, and sends each a message that says who it is: the groups
//! of its world and of those who started it, and the numbers of both communicators. Then all meet
//! in the bridge between the groups.

use std::ffi::{c_char, c_int};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rank_ipc::start::Start;

use super::create::{Purpose, child};
use super::{Comm, context};
use crate::abi::{self, Handle};
use crate::argument::{In, Out};
use crate::control;
use crate::error::{Error, Result};
use crate::group::Group;
use crate::info::Info;
use crate::state::mpi;
use crate::{check, mpi_functions};

/// Numbers as bytes, and back.
fn bytes(numbers: impl IntoIterator<Item = u32>) -> Vec<u8> {
    numbers.into_iter().flat_map(u32::to_le_bytes).collect()
}

fn numbers(bytes: &[u8]) -> Vec<u32> {
    bytes.as_chunks().0.iter().map(|number| u32::from_le_bytes(*number)).collect()
}

/// Returns the halves of a number of a communicator, and the number of such halves.
const fn halves(context: u64) -> [u32; 2] {
    [context as u32, (context >> 32) as u32]
}

const fn whole([low, high]: [u32; 2]) -> u64 {
    (high as u64) << 32 | low as u64
}

/// Strings up to a null pointer; none if there is no list.
fn strings(list: In<In<c_char>>) -> Result<Vec<Vec<u8>>> {
    let mut found = Vec::new();
    while !list.address().is_null() {
        let next = list.address().wrapping_add(found.len());
        // SAFETY: the program's argument: a list that ends with a null pointer, which has not come
        // yet.
        let next = unsafe { In::new(next) };
        match next.get()?.bytes() {
            Some(text) => found.push(text),
            None => break,
        }
    }
    Ok(found)
}

/// The executable of a name in the first of the folders, between colons, that has it; or as it is.
fn found(program: Vec<u8>, folders: Option<&[u8]>) -> Vec<u8> {
    let folders = folders.into_iter().flat_map(|list| list.split(|byte| *byte == b':'));
    let paths = folders.map(|folder| [folder, b"/", &program].concat());
    let is_there = |path: &Vec<u8>| Path::new(std::ffi::OsStr::from_bytes(path)).is_file();
    paths.into_iter().find(is_there).unwrap_or(program)
}

/// The program to start, from the arguments of a call. Of the hints that the standard reserves,
/// `soft`, `arch` and `file` say nothing here.
fn program(command: In<c_char>, argv: In<In<c_char>>, count: c_int, info: &Info) -> Result<Start> {
    let command = command.bytes().unwrap_or_default();
    check!(!command.is_empty(), ERR_ARG, "there is no name of a program");
    check!(count >= 0, ERR_ARG, "{count} processes");
    let here = || std::env::current_dir().unwrap_or_default().into_os_string();
    Ok(Start {
        program: found(command, info.get(b"path")),
        arguments: strings(argv)?,
        directory: info.value(b"wdir").unwrap_or_else(|| here().as_bytes().to_vec()),
        host: info.value(b"host").unwrap_or_default(),
        count: count as u32,
    })
}

/// The number of processes that are wanted.
fn processes(programs: &[Start]) -> u32 {
    programs.iter().fold(0, |sum, program| sum.saturating_add(program.count))
}

/// The root starts the processes and tells them who they are; gives what the others are to hear:
/// the number of the bridge, and its other group.
fn launch(programs: &[Start], local: &Comm) -> Result<Vec<u32>> {
    check!(processes(programs) > 0, ERR_ARG, "no processes are to be started");
    check!(
        !mpi().shares_process.get(),
        ERR_SPAWN,
        "only ranks that are processes can start others, not those of --in-process"
    );
    check!(
        !mpi().is_singleton.get(),
        ERR_SPAWN,
        "a program that is started without heddle mpirun cannot start processes"
    );
    control::settle();
    let ranks = control::start(programs)?;
    let me = u64::from(mpi().comms.me());
    let number = |part| context::next_number(&[Purpose::Spawn as u64, me, part]);
    let (world, bridge) = (halves(number(0)), halves(number(1)));
    let said = [world, bridge].into_iter().flatten().chain([ranks.len() as u32]);
    let birth = bytes(said.chain(ranks.iter().copied()).chain(local.local.iter()));
    let length = (8 + birth.len() as u64).to_le_bytes();
    let birth = [&length[..], &birth].concat();
    ranks.iter().try_for_each(|rank| control::tell_birth(*rank, &birth))?;
    Ok(bridge.into_iter().chain(ranks).collect())
}

/// This process was started by others, who say this.
pub(super) fn born(birth: &[u8]) -> Result {
    let said = numbers(birth.get(8..).unwrap_or_default());
    let wrong =
        || Error::new(abi::ERR_INTERN, "those who started this process do not say who it is");
    let (&[world, more_world, bridge, more_bridge, count], rest) =
        said.split_first_chunk().ok_or_else(wrong)?;
    let (ranks, parents) = rest.split_at_checked(count as usize).ok_or_else(wrong)?;
    let (group, parents) = (Group::of(ranks.to_vec()), Group::of(parents.to_vec()));
    let comms = &mpi().comms;
    comms.of_world.replace((group.clone(), whole([world, more_world])));
    let bridge = Comm::new(whole([bridge, more_bridge]), group, Some(parents), comms.me())
        .ok_or_else(wrong)?;
    bridge.name.replace(b"MPI_COMM_PARENT".to_vec());
    let handle = comms.add(bridge);
    comms.parent.set(handle);
    control::meet(&*mpi().comm(handle)?)
}

/// `MPI_Comm_spawn` and its like; what to start is asked of the root only.
fn spawn(
    programs: impl FnOnce() -> Result<Vec<Start>>,
    root: c_int,
    comm: Handle,
    place: Out<Handle>,
    codes: Out<c_int>,
) -> Result {
    place.set(abi::COMM_NULL)?;
    mpi().comms.codes.set(0);
    let local = mpi().intracomm(comm)?;
    let is_rank = u32::try_from(root).is_ok_and(|root| root < local.size());
    check!(is_rank, ERR_ROOT, "root {root} of {} ranks", local.size());
    let leads = root as u32 == local.rank();
    let programs = if leads { programs() } else { Ok(Vec::new()) };
    let wanted = programs.as_deref().map_or(0, processes);
    let mine = programs
        .and_then(|programs| if leads { launch(&programs, &local) } else { Ok(Vec::new()) });
    // The others hear of a failure, too, or they would wait for ever.
    let code = mine.as_ref().map_or_else(|error| error.code.cast_unsigned(), |_| 0);
    let told = [code, wanted].into_iter().chain(mine.iter().flatten().copied());
    let mut told = bytes(told);
    told.extend(mine.as_ref().err().map_or("", |error| &error.text).bytes());
    let all = control::exchange(&local, &told)?;
    let all = all.get(root as usize).map(Vec::as_slice).unwrap_or_default();
    let said = numbers(all);
    let Some((&[code, wanted], rest)) = said.split_first_chunk() else {
        return Err(Error::new(abi::ERR_INTERN, "the root does not say what it started"));
    };
    if !codes.is_null() {
        codes.set_all(std::iter::repeat_n(code.cast_signed(), wanted as usize))?;
        mpi().comms.codes.set(wanted.cast_signed());
    }
    mine?;
    let failed = || {
        let why = String::from_utf8_lossy(all.get(8..).unwrap_or_default());
        Error::new(code.cast_signed(), format!("root {root} could not start the processes: {why}"))
    };
    if code != 0 {
        return Err(failed());
    }
    let (bridge, ranks) = rest.split_first_chunk().ok_or_else(failed)?;
    let remote = Group::of(ranks.to_vec());
    let handle = child(&local, whole(*bridge), local.local.clone(), Some(remote));
    control::meet(&*mpi().comm(handle)?)?;
    place.set(handle)
}

mpi_functions! {
    fn Comm_spawn(
        command: In<c_char>, argv: In<In<c_char>>, maxprocs: c_int, info: Handle, root: c_int,
        comm: Handle, intercomm: Out<Handle>, array_of_errcodes: Out<c_int>,
    ) about Comm(comm) {
        let one = || {
            Ok(vec![program(command, argv, maxprocs, &mpi().info_or_none(info)?)?])
        };
        spawn(one, root, comm, intercomm, array_of_errcodes)
    }

    fn Comm_spawn_multiple(
        count: c_int, array_of_commands: In<In<c_char>>, array_of_argv: In<In<In<c_char>>>,
        array_of_maxprocs: In<c_int>, array_of_info: In<Handle>, root: c_int, comm: Handle,
        intercomm: Out<Handle>, array_of_errcodes: Out<c_int>,
    ) about Comm(comm) {
        let several = || {
            check!(count > 0, ERR_ARG, "{count} programs");
            let commands = array_of_commands.list(count)?;
            let counts = array_of_maxprocs.list(count)?;
            let hints = array_of_info.list(count)?;
            let arguments = if array_of_argv.address().is_null() {
                vec![In::null(); commands.len()]
            } else {
                array_of_argv.list(count)?
            };
            let all = commands.into_iter().zip(arguments).zip(counts.into_iter().zip(hints));
            let one = |((command, argv), (count, info))| {
                program(command, argv, count, &mpi().info_or_none(info)?)
            };
            all.map(one).collect()
        };
        spawn(several, root, comm, intercomm, array_of_errcodes)
    }
}

/// The number of error codes that the last start of processes has written, for layers that
/// translate them.
#[unsafe(no_mangle)]
pub extern "C" fn heddle_spawned() -> c_int {
    mpi().comms.codes.get()
}
