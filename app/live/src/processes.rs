//! A process for each rank.

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use port::{ENVIRONMENT, Memory, RANKS_TURN, SIMULATORS_TURN};
use rustix::fs::Timespec;
use rustix::io::Errno;
use rustix::thread::futex;

use crate::tagged::{Stream, Tagged};
use crate::{Holder, Lost, descendants};

/// So often it is looked whether a rank that says nothing is still there.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

/// So long after a rank was interrupted, this process knows that it is.
const PATIENCE: Duration = Duration::from_millis(100);

/// A program that some ranks run.
#[derive(Clone, Debug, Default)]
pub struct Launch {
    /// Name or path of the executable.
    pub program: OsString,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// How many ranks run it.
    pub ranks: u32,
    /// Where it runs; the current directory if nothing is said.
    pub directory: Option<PathBuf>,
    /// Further variables of its environment.
    pub environment: Vec<(OsString, OsString)>,
}

/// Where what ranks print goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Printing {
    /// Where what this process prints goes.
    Direct,
    /// There, in whole lines that begin with the rank.
    Tagged,
}

/// The processes of all ranks. They are ended when this goes.
#[derive(Debug)]
pub struct Processes {
    memory: Memory,
    children: Vec<Mutex<Child>>,
    /// What the ranks have in common, for as long as they may start.
    _folded: OwnedFd,
    tagged: Option<Tagged>,
}

impl Processes {
    /// Starts them. `libraries` is the folder of our libraries of MPI.
    pub fn start(
        programs: &[Launch],
        libraries: &std::path::Path,
        printing: Printing,
    ) -> io::Result<Self> {
        let ranks = programs.iter().map(|program| program.ranks).sum();
        let (memory, file) = Memory::new(ranks)?;
        let folded = port::fold::file()?;
        let folds = folded.as_raw_fd().to_string();
        let children = Vec::with_capacity(ranks as usize);
        let mut started = Self { memory, children, _folded: folded, tagged: None };
        let mut streams = Vec::new();
        descendants::adopt();
        for program in programs {
            for _ in 0..program.ranks {
                let rank = started.children.len() as u32;
                let mut command = command(program, libraries, (&file, ranks, rank));
                command.env(port::fold::FOLD, &folds);
                if printing == Printing::Tagged {
                    command.stdout(Stdio::piped()).stderr(Stdio::piped());
                }
                let mut child = {
                    let _starting = descendants::starting();
                    command.spawn()?
                };
                let out = child.stdout.take().map(|pipe| Stream::new(pipe.into(), rank, false));
                let error = child.stderr.take().map(|pipe| Stream::new(pipe.into(), rank, true));
                streams.extend(out.into_iter().chain(error));
                started.children.push(Mutex::new(child));
            }
        }
        started.tagged = (!streams.is_empty()).then(|| Tagged::start(streams));
        Ok(started)
    }

    /// How a rank's process has ended, if it has.
    fn status(&self, rank: u32) -> Option<ExitStatus> {
        let child = self.children.get(rank as usize)?;
        child.lock().unwrap_or_else(PoisonError::into_inner).try_wait().ok().flatten()
    }

    /// Ends all that are still there.
    fn kill(&mut self) {
        for child in &mut self.children {
            let child = child.get_mut().unwrap_or_else(PoisonError::into_inner);
            // It may have ended by itself.
            let _ = child.kill();
            let _ = child.wait();
        }
        self.finish_printing();
    }

    fn finish_printing(&mut self) {
        if let Some(tagged) = &mut self.tagged {
            tagged.finish();
        }
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        self.kill();
    }
}

impl Holder for Processes {
    fn memory(&self) -> &Memory {
        &self.memory
    }

    fn turn(&self, rank: u32) -> Result<(), Lost> {
        let lost = |how: &str| Lost { how: how.to_owned(), code: 1 };
        let lane = self.memory.lane(rank).ok_or_else(|| lost("it has no lane"))?;
        self.release(rank);
        loop {
            if lane.turn.load(Ordering::Acquire) == SIMULATORS_TURN {
                return Ok(());
            }
            match futex::wait(&lane.turn, futex::Flags::empty(), RANKS_TURN, Some(&LOOK)) {
                Err(Errno::TIMEDOUT) => {}
                _ => continue,
            }
            if let Some(status) = self.status(rank)
                && lane.turn.load(Ordering::Acquire) != SIMULATORS_TURN
            {
                if interrupted(status) {
                    // The signal came for all, and this process is told as well.
                    thread::sleep(PATIENCE);
                }
                while descendants::is_stopping() {
                    thread::park();
                }
                // A rank that is gone before its time has failed, whatever it says.
                return Err(Lost { how: described(status), code: exit_code(status).max(1) });
            }
        }
    }

    fn end(&mut self, at_once: bool) -> i32 {
        if at_once {
            self.kill();
            descendants::end_all();
            return 1;
        }
        let ended = self.children.iter_mut().filter_map(|child| {
            child.get_mut().unwrap_or_else(PoisonError::into_inner).wait().ok()
        });
        let codes: Vec<_> = ended.filter(|status| !status.success()).map(exit_code).collect();
        self.finish_printing();
        codes.first().copied().unwrap_or(0)
    }

    fn release(&self, rank: u32) {
        if let Some(lane) = self.memory.lane(rank) {
            lane.turn.store(RANKS_TURN, Ordering::Release);
            // Nobody may be waiting yet.
            let _ = futex::wake(&lane.turn, futex::Flags::empty(), 1);
        }
    }
}

fn command(
    program: &Launch,
    libraries: &std::path::Path,
    (file, ranks, rank): (&OwnedFd, u32, u32),
) -> Command {
    let mut command = Command::new(&program.program);
    command.args(&program.arguments);
    let mut paths = vec![libraries.to_owned()];
    if let Some(others) = std::env::var_os("LD_LIBRARY_PATH") {
        paths.extend(std::env::split_paths(&others));
    }
    if let Ok(paths) = std::env::join_paths(paths) {
        command.env("LD_LIBRARY_PATH", paths);
    }
    // As with other mpiruns, standard input is rank 0's.
    if rank > 0 {
        command.stdin(Stdio::null());
    }
    command.env(ENVIRONMENT, format!("{},{ranks},{rank}", file.as_raw_fd()));
    command.envs(program.environment.iter().map(|(name, value)| (name, value)));
    if let Some(directory) = &program.directory {
        command.current_dir(directory);
    }
    command
}

/// Whether it was ended by what ends everything.
fn interrupted(status: ExitStatus) -> bool {
    matches!(status.signal(), Some(2 | 15))
}

/// The exit code that a shell would give.
fn exit_code(status: ExitStatus) -> i32 {
    status.code().or(status.signal().map(|signal| 128 + signal)).unwrap_or(1)
}

fn described(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(0), _) => "it exited without MPI_Finalize".to_owned(),
        (Some(code), _) => format!("it exited with code {code} before MPI_Finalize"),
        (None, Some(signal)) => format!("it was ended by signal {signal} ({})", name(signal)),
        (None, None) => "it ended".to_owned(),
    }
}

/// What signals are called.
fn name(signal: i32) -> &'static str {
    match signal {
        2 => "interrupt",
        4 => "illegal instruction",
        6 => "abort",
        7 => "bus error",
        8 => "arithmetic error",
        9 => "killed, perhaps for lack of memory",
        11 => "segmentation fault",
        15 => "terminated",
        _ => "signal",
    }
}
