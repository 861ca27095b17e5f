//! A process for each rank.

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rank_ipc::{ENVIRONMENT, Memory, MpiUse, RANKS_TURN, SIMULATORS_TURN};
use rustix::thread::futex;

use crate::ending::{describe, exit_code, exited, interrupted, signal_name};
use crate::identity::Identity;
use crate::output::{Stream, TaggedOutput};
use crate::shared_core::SharedCore;
use crate::starter::Starter;
use crate::{Lost, Runner, descendants};

/// The time between checks if a rank that says nothing is still there.
const LOOK: Duration = Duration::from_millis(50);

/// The time within which this process knows that a rank was interrupted.
const PATIENCE: Duration = Duration::from_millis(100);

/// A rank that has its turn for so long and hardly computes may wait for another rank, which never
/// has one.
const QUIET: Duration = Duration::from_secs(10);

/// The largest share of that time that it computes, as one part in so many.
const HARDLY: u32 = 20;

/// A program that some ranks run.
#[derive(Clone, Debug, Default)]
pub struct Launch {
    /// Name or path of the executable.
    pub program: OsString,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// The number of ranks that run it.
    pub ranks: u32,
    /// The folder that it runs in; the current directory if nothing is said.
    pub directory: Option<PathBuf>,
    /// Further variables of its environment.
    pub environment: Vec<(OsString, OsString)>,
}

impl Launch {
    /// The error of a program that cannot be started. It begins with what is at fault, itself or
    /// the folder where it is to run.
    pub fn failed(&self, error: &io::Error) -> io::Error {
        let program = self.program.display();
        let folder = self.directory.as_deref().filter(|folder| !folder.is_dir());
        let name = folder.map_or(program.to_string(), |folder| {
            format!("{}, the folder where {program} is to run", folder.display())
        });
        io::Error::new(error.kind(), format!("{name}: {error}"))
    }
}

/// The room for processes that programs start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Room {
    /// The number of further processes, while the program runs.
    pub more: u32,
    /// The number of processes in all that they are told there is room for (`MPI_UNIVERSE_SIZE`).
    pub universe: u32,
}

/// The destination of what ranks print.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Printing {
    /// The output of this process.
    Direct,
    /// There, in whole lines that begin with the rank.
    Tagged,
}

/// Variables of a process's environment.
type Variables = Arc<[(OsString, OsString)]>;

/// A rank's process.
#[derive(Debug)]
struct Process {
    child: Child,
    /// The variables that were given for its program.
    environment: Variables,
}

/// The processes of all ranks. They are ended when this goes.
#[derive(Debug)]
pub struct Processes {
    memory: Memory,
    _watch: Watch,
    /// The file that is mapped there.
    file: OwnedFd,
    /// The memory that the ranks have in common.
    folded: OwnedFd,
    /// The folder of our libraries of MPI.
    libraries: PathBuf,
    /// The number of ranks that the run begins with.
    first: u32,
    universe: u32,
    /// The host of each rank, if that is known.
    hosts: Vec<u32>,
    starter: Starter,
    /// By rank; none of ranks that nobody has started.
    ranks: Vec<Mutex<Option<Process>>>,
    tagged: Option<TaggedOutput>,
    unprinted: Option<io::Error>,
    shared_core: SharedCore,
    /// True if it has been said that a rank is quiet.
    remarked: AtomicBool,
}

/// Now and then wakes whoever waits for a rank, to look whether it is still there: timers of their
/// own would cost them a tenth of the time of a short turn.
#[derive(Debug)]
struct Watch {
    thread: Option<JoinHandle<()>>,
    /// Gone when it is over.
    going: Option<mpsc::Sender<()>>,
}

impl Watch {
    fn start(memory: Memory, ranks: u32) -> io::Result<Self> {
        let (going, over) = mpsc::channel();
        let wake = move || {
            while over.recv_timeout(LOOK) == Err(mpsc::RecvTimeoutError::Timeout) {
                let channels = (0..ranks).filter_map(|rank| memory.channel(rank));
                for channel in channels.filter(|channel| channel.is_turn(RANKS_TURN)) {
                    let _ = futex::wake(&channel.turn, futex::Flags::empty(), 1);
                }
            }
        };
        let thread = thread::Builder::new().spawn(wake)?;
        Ok(Self { thread: Some(thread), going: Some(going) })
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.going = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn lock(rank: &Mutex<Option<Process>>) -> MutexGuard<'_, Option<Process>> {
    rank.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Processes {
    /// Starts them. `libraries` is the folder of our libraries of MPI; `hosts` says where all ranks
    /// are, or nothing.
    pub fn start(
        programs: &[Launch],
        Room { more, universe }: Room,
        libraries: PathBuf,
        printing: Printing,
        hosts: Vec<u32>,
    ) -> io::Result<Self> {
        let first: u32 = programs.iter().map(|program| program.ranks).sum();
        let (memory, file) = Memory::new(first + more).map_err(|error| {
            let is_full = error.kind() == io::ErrorKind::OutOfMemory;
            let limit = if is_full { "" } else { ", perhaps for a limit (ulimit -f)" };
            let help = if is_full && more > 0 {
                "\n  help: --spawn-at-most 0, for a program that starts no others, needs less"
            } else {
                ""
            };
            let text = format!("there is no memory for ranks{limit}: {error}{help}");
            io::Error::new(error.kind(), text)
        })?;
        let watch = Watch::start(memory, first + more)?;
        let folded = rank_ipc::fold::file()?;
        let ranks = (0..first + more).map(|_| Mutex::default()).collect();
        let tagged = (printing == Printing::Tagged).then(TaggedOutput::start).transpose()?;
        let started = Self {
            memory,
            _watch: watch,
            file,
            folded,
            libraries,
            first,
            universe,
            hosts,
            starter: Starter::new()?,
            ranks,
            tagged,
            unprinted: None,
            shared_core: SharedCore::default(),
            remarked: AtomicBool::new(false),
        };
        descendants::adopt();
        let ranks: Vec<u32> = (0..first).collect();
        let mut identities = ranks.iter().zip(Identity::of(&ranks, &started.hosts));
        for (number, program) in programs.iter().enumerate() {
            let environment: Variables = program.environment.as_slice().into();
            for (rank, identity) in identities.by_ref().take(program.ranks as usize) {
                started.begin((*rank, &identity), program, number, &environment)?;
            }
        }
        Ok(started)
    }

    /// Starts the process of a rank.
    fn begin(
        &self,
        (rank, identity): (u32, &Identity),
        program: &Launch,
        number: usize,
        environment: &Variables,
    ) -> io::Result<()> {
        let mut command = command(program, &self.libraries);
        let (file, all, first) = (self.file.as_raw_fd(), self.ranks.len(), self.first);
        let universe = self.universe;
        command.env(ENVIRONMENT, format!("{file},{all},{rank},{first},{universe},{number}"));
        command.env(rank_ipc::fold::FOLD, self.folded.as_raw_fd().to_string());
        command.envs(identity.variables().map(|(name, value)| (name, value.to_string())));
        command.envs(environment.iter().map(|(name, value)| (name, value)));
        // As with other mpiruns, standard input is rank 0's.
        if rank > 0 {
            command.stdin(Stdio::null());
        }
        if self.tagged.is_some() {
            command.stdout(Stdio::piped()).stderr(Stdio::piped());
        }
        let mut child = {
            let _starting = descendants::starting();
            self.starter.start(command).map_err(|error| program.failed(&error))?
        };
        if let Some(tagged) = &self.tagged {
            let out = child.stdout.take().map(|pipe| Stream::new(pipe.into(), rank, false));
            let error = child.stderr.take().map(|pipe| Stream::new(pipe.into(), rank, true));
            tagged.add(out.into_iter().chain(error));
        }
        if let Some(place) = self.ranks.get(rank as usize) {
            *lock(place) = Some(Process { child, environment: Arc::clone(environment) });
        }
        Ok(())
    }

    /// Returns how a rank's process has ended, if it has.
    fn status(&self, rank: u32) -> Option<ExitStatus> {
        lock(self.ranks.get(rank as usize)?).as_mut()?.child.try_wait().ok().flatten()
    }

    /// The exit codes of ranks that have left MPI and ended.
    fn left(&self) -> impl Iterator<Item = (u32, i32)> {
        let is_over = |rank: &u32| {
            self.memory.channel(*rank).is_some_and(|channel| channel.usage() == MpiUse::Before)
        };
        let over = (0..self.ranks.len() as u32).filter(is_over);
        over.filter_map(|rank| Some((rank, self.status(rank)?.code()?)))
    }

    /// Returns what a rank's process has computed so far, with those that it has started and waited
    /// for (proc(5), `stat`).
    fn computed(&self, rank: u32) -> Option<Duration> {
        let number = lock(self.ranks.get(rank as usize)?).as_ref()?.child.id();
        let text = std::fs::read_to_string(format!("/proc/{number}/stat")).ok()?;
        // Behind the name, which may hold anything: the state, ten numbers, and four times.
        let times = text.rsplit_once(')')?.1.split_ascii_whitespace().skip(11).take(4);
        let ticks: u64 = times.filter_map(|time| time.parse::<u64>().ok()).sum();
        Some(Duration::from_millis(ticks * 1000 / rustix::param::clock_ticks_per_second().max(1)))
    }

    /// Says, once, that a rank with its turn does nothing; `before` is when it was looked at, and
    /// what it had computed.
    fn remark(&self, rank: u32, before: &mut Option<(Instant, Duration)>) {
        let Some(computed) = self.computed(rank) else { return };
        let &mut (since, first) = before.get_or_insert((Instant::now(), computed));
        if since.elapsed() < QUIET {
            return;
        }
        if computed.saturating_sub(first) > QUIET / HARDLY {
            *before = None;
        } else if !self.remarked.swap(true, Ordering::Relaxed) {
            eprintln!(
                "warning: rank {rank} has hardly computed for {} s, outside MPI; if it waits for \
                 another rank there (for a file, a socket, memory), it waits for ever: others run \
                 only while it is in a call of MPI",
                QUIET.as_secs()
            );
        }
    }

    /// Ends those of these ranks that are still there.
    fn kill<'r>(ranks: impl IntoIterator<Item = &'r Mutex<Option<Process>>>) {
        for Process { mut child, .. } in ranks.into_iter().filter_map(|rank| lock(rank).take()) {
            // It may have ended by itself.
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    fn finish_printing(&mut self) {
        let failure = self.tagged.as_mut().and_then(TaggedOutput::finish);
        self.unprinted = self.unprinted.take().or(failure);
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        Self::kill(&self.ranks);
        self.finish_printing();
    }
}

impl Runner for Processes {
    fn memory(&self) -> &Memory {
        &self.memory
    }

    fn resume(&self, rank: u32, now: u64) -> Result<(), Lost> {
        let lost = |how: &str| Lost { how: how.to_owned(), code: 1, used: true };
        let channel = self.memory.channel(rank).ok_or_else(|| lost("it has no channel"))?;
        channel.meet(self.shared_core.core());
        self.release(rank, now);
        let mut before = None;
        while let Some(asleep) = channel.sleep(SIMULATORS_TURN) {
            let woken = futex::wait(&channel.turn, futex::Flags::empty(), asleep, None).is_ok();
            if woken
                && channel.is_turn(RANKS_TURN)
                && let Some(status) = self.status(rank)
                && channel.is_turn(RANKS_TURN)
            {
                if interrupted(status) {
                    // The signal came for all, and this process is told as well.
                    thread::sleep(PATIENCE);
                }
                while descendants::is_stopping() {
                    thread::park();
                }
                let usage = channel.usage();
                let code = match usage {
                    MpiUse::Before if status.code().is_some() => 0,
                    _ => exit_code(status).max(i32::from(usage == MpiUse::Now)),
                };
                return Err(Lost { how: describe(status), code, used: usage != MpiUse::Never });
            }
            if woken && channel.is_turn(RANKS_TURN) && !self.remarked.load(Ordering::Relaxed) {
                self.remark(rank, &mut before);
            }
        }
        Ok(())
    }

    fn spawn(&self, by: u32, ranks: &[u32], programs: &[Launch]) -> Result<(), String> {
        self.shared_core.leave();
        let environment = self
            .ranks
            .get(by as usize)
            .and_then(|rank| lock(rank).as_ref().map(|process| Arc::clone(&process.environment)))
            .unwrap_or_default();
        let mut each = ranks.iter().zip(Identity::of(ranks, &self.hosts));
        for (number, program) in programs.iter().enumerate() {
            for (rank, identity) in each.by_ref().take(program.ranks as usize) {
                let begun = self.begin((*rank, &identity), program, number, &environment);
                begun.map_err(|error| {
                    Self::kill(ranks.iter().filter_map(|rank| self.ranks.get(*rank as usize)));
                    error.to_string()
                })?;
            }
        }
        Ok(())
    }

    fn end(&mut self, at_once: bool) -> i32 {
        if at_once {
            say(self.left());
            Self::kill(&self.ranks);
            self.finish_printing();
            descendants::end_all();
            return 1;
        }
        let ended = self.ranks.iter().map(|rank| lock(rank).as_mut()?.child.wait().ok());
        let failed = (0..).zip(ended).filter_map(|(rank, status)| Some((rank, status?)));
        let failed: Vec<(u32, _)> = failed.filter(|(_, status)| !status.success()).collect();
        self.finish_printing();
        for (rank, status) in &failed {
            if let Some(signal) = status.signal() {
                eprintln!(
                    "error: rank {rank} was ended by {} after MPI_Finalize",
                    signal_name(signal)
                );
            }
        }
        let codes = failed.iter().filter_map(|(rank, status)| Some((*rank, status.code()?)));
        say(codes);
        // A shell may have forgotten that a program of it was none.
        let forgotten = i32::from(self.memory.has_refused());
        failed.first().map_or(forgotten, |(_, status)| exit_code(*status))
    }

    fn unprinted(&mut self) -> Option<io::Error> {
        self.unprinted.take()
    }

    fn release(&self, rank: u32, _: u64) {
        if let Some(channel) = self.memory.channel(rank)
            && channel.pass(RANKS_TURN)
        {
            let _ = futex::wake(&channel.turn, futex::Flags::empty(), 1);
        }
    }
}

fn say(codes: impl Iterator<Item = (u32, i32)>) {
    if let Some(said) = exited(codes) {
        eprintln!("{said}");
    }
}

fn command(program: &Launch, libraries: &Path) -> Command {
    let mut command = Command::new(&program.program);
    command.args(&program.arguments);
    let mut paths = vec![libraries.to_owned()];
    if let Some(others) = std::env::var_os("LD_LIBRARY_PATH") {
        paths.extend(std::env::split_paths(&others));
    }
    if let Ok(paths) = std::env::join_paths(paths) {
        command.env("LD_LIBRARY_PATH", paths);
    }
    if let Some(directory) = &program.directory {
        command.current_dir(directory);
    }
    command
}
