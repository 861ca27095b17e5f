//! The other threads of this process, as the kernel tells of them.
//!
//! Threads cannot be looked at all at once: while one is looked at, another may wake it and fall
//! asleep itself. A thread that sleeps when it is looked at, and has not been given a processor
//! since it was seen asleep before, slept all the time between; if that is so for all, all slept at
//! the moment when the look began, and nobody was left to wake them.

use std::mem::ManuallyDrop;
use std::sync::Arc;

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{CWD, Dir, Mode, OFlags, fstat, openat};
use rustix::io::pread;

use crate::thread_members::{Member, Members, NO_CALL};

/// The kernel's folder of the threads, which has a folder for each.
const FOLDER: &str = "/proc/self/task";
/// The system call that sleeps on a futex.
const FUTEX: i64 = if cfg!(target_arch = "x86_64") { 202 } else { 98 };

/// The state of the threads when they were last looked at: all are listed, as any of them may look
/// at the states.
#[derive(Debug, Default)]
pub struct ThreadStates {
    folder: Option<KeptFile>,
    threads: Vec<ThreadState>,
}

#[derive(Debug)]
struct ThreadState {
    /// By the kernel's number.
    thread: u32,
    /// The file that says its state.
    stat: KeptFile,
    /// The file that says for how long it has run and waited for a processor, and how often it was
    /// given one.
    runs: KeptFile,
    /// The text of `runs` before the thread was last seen asleep.
    ran: FileText,
    /// The address at which it then slept.
    sleeps_at: usize,
    /// The thread as a member of its rank, where ranks share the process.
    member: Option<Arc<Member>>,
}

/// A thread that may go on.
#[derive(Debug)]
pub struct Restless {
    /// The thread.
    pub member: Arc<Member>,
    /// The system call in which it sleeps; [`NO_CALL`] if it runs.
    pub call: i64,
}

/// A thread, as it was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seen {
    /// It sleeps until a thread wakes it at an address, and has been asleep since it was last seen
    /// so, or not.
    Asleep { address: usize, rested: bool },
    /// It runs, or sleeps in a system call that may end by itself.
    Awake { call: i64 },
    /// It has ended.
    Gone,
    /// It was passed over.
    Unseen,
}

/// A file that stays open. The program may close what it did not open, and open something else by
/// that number, which is not ours to close.
#[derive(Debug)]
struct KeptFile {
    file: ManuallyDrop<OwnedFd>,
    identity: (u64, u64),
}

/// The text of a file, or its beginning: nine numbers fit.
#[derive(Debug, PartialEq, Eq)]
struct FileText {
    bytes: [u8; 192],
    length: usize,
}

impl Default for FileText {
    fn default() -> Self {
        Self { bytes: [0; 192], length: 0 }
    }
}

impl ThreadStates {
    /// True if there is no other thread: of a rank, or else of the process.
    pub fn are_none(&mut self, members: Option<&Members>) -> bool {
        self.count(members) == Some(1)
    }

    /// True if all but the calling one, `me`, and those that are known to wait sleep until a thread
    /// wakes them, all at one moment.
    pub fn all_sleep(
        &mut self,
        members: Option<&Members>,
        me: u32,
        waits: impl Fn(u32) -> bool,
    ) -> bool {
        let rested = self.look(members, me, &waits);
        // Those that had run before the look are looked at again.
        rested == Some(true) || rested == Some(false) && self.look(members, me, waits) == Some(true)
    }

    /// One look at all threads: whether they sleep, and have not run since they were last seen.
    /// Nothing if one does not sleep, or they are not the ones that were known.
    fn look(
        &mut self,
        members: Option<&Members>,
        me: u32,
        waits: impl Fn(u32) -> bool,
    ) -> Option<bool> {
        self.know(members)?;
        let mut all_rested = true;
        for place in 0..self.threads.len() {
            match self.seen(place, members, |thread| thread == me || waits(thread))? {
                Seen::Unseen => {}
                Seen::Asleep { rested, .. } => all_rested &= rested,
                Seen::Awake { .. } | Seen::Gone => return None,
            }
        }
        self.are_still_known(members).then_some(all_rested)
    }

    /// The threads that may go on, but for the calling one, `me`, and those that are known to wait:
    /// who sleeps until a thread wakes it rests only where `is_apart` is true of the address.
    /// Nothing if the threads are not the ones that were known, or one has run since it was last
    /// seen.
    pub fn restless(
        &mut self,
        members: &Members,
        me: u32,
        waits: impl Fn(u32) -> bool,
        is_apart: &dyn Fn(usize) -> bool,
    ) -> Option<Vec<Restless>> {
        let known = Some(members);
        self.know(known)?;
        let (mut found, mut all_rested) = (Vec::new(), true);
        for place in 0..self.threads.len() {
            let call = match self.seen(place, known, |thread| thread == me || waits(thread))? {
                Seen::Unseen => continue,
                Seen::Asleep { address, rested } => {
                    all_rested &= rested;
                    if is_apart(address) {
                        continue;
                    }
                    FUTEX
                }
                Seen::Awake { call } => call,
                Seen::Gone => return None,
            };
            let member = self.threads.get(place).and_then(|thread| thread.member.clone());
            found.extend(member.map(|member| Restless { member, call }));
        }
        let is_sure = self.are_still_known(known) && (all_rested || !found.is_empty());
        is_sure.then_some(found)
    }

    /// Looks at one thread, unless it is to be passed over; nothing if it cannot be looked at.
    fn seen(
        &mut self,
        place: usize,
        members: Option<&Members>,
        passes: impl Fn(u32) -> bool,
    ) -> Option<Seen> {
        let folder = self.folder.as_ref()?.file.as_fd();
        let other = self.threads.get_mut(place)?;
        let seen = if passes(other.thread) { Seen::Unseen } else { other.look(folder)? };
        if seen == Seen::Gone {
            // Another may have its place.
            if let Some(members) = members {
                members.remove(other.thread);
            }
            self.threads.clear();
        }
        Some(seen)
    }

    /// Lists the threads if they are not the ones that are known; nothing if they cannot be listed.
    fn know(&mut self, members: Option<&Members>) -> Option<()> {
        if self.are_still_known(members) {
            return Some(());
        }
        self.count(members)?;
        self.list(members)
    }

    fn are_still_known(&mut self, members: Option<&Members>) -> bool {
        self.count(members) == Some(self.threads.len())
    }

    /// The number of threads. Where they are not counted by whoever starts them, the folder has a
    /// link of each, and two as every folder.
    fn count(&mut self, members: Option<&Members>) -> Option<usize> {
        if !self.folder.as_ref().is_some_and(KeptFile::is_ours) {
            self.folder = Some(KeptFile::open(CWD, FOLDER, OFlags::PATH)?);
        }
        if let Some(members) = members {
            return members.count();
        }
        let links = fstat(&*self.folder.as_ref()?.file).ok()?.st_nlink;
        usize::try_from(links).ok()?.checked_sub(2)
    }

    /// Lists all threads, whichever looks next.
    fn list(&mut self, members: Option<&Members>) -> Option<()> {
        self.threads.clear();
        let folder = self.folder.as_ref()?;
        if let Some(members) = members {
            for member in members.list() {
                let thread = ThreadState::of(folder, member.thread, Some(Arc::clone(&member)));
                if thread.is_none() {
                    members.remove(member.thread);
                }
                self.threads.push(thread?);
            }
            return Some(());
        }
        let entries = KeptFile::open(folder.file.as_fd(), ".", OFlags::RDONLY)?;
        for entry in Dir::read_from(&*entries.file).ok()? {
            let thread = entry.ok()?.file_name().to_str().ok().and_then(|name| name.parse().ok());
            if let Some(thread) = thread {
                self.threads.push(ThreadState::of(folder, thread, None)?);
            }
        }
        Some(())
    }
}

impl ThreadState {
    fn of(folder: &KeptFile, thread: u32, member: Option<Arc<Member>>) -> Option<Self> {
        let open =
            |name| KeptFile::open(folder.file.as_fd(), &format!("{thread}/{name}"), OFlags::RDONLY);
        let (stat, runs) = (open("stat")?, open("schedstat")?);
        Some(Self { thread, stat, runs, ran: FileText::default(), sleeps_at: 0, member })
    }

    /// Looks at the thread; nothing if that cannot be done.
    fn look(&mut self, folder: BorrowedFd<'_>) -> Option<Seen> {
        let (Some(stat), Some(ran)) = (self.stat.text(), self.runs.text()) else {
            return Some(Seen::Gone);
        };
        // A thread that has been woken is not in this state, though it may have to wait for a
        // processor.
        if !stat.is_state_of_sleep() {
            return Some(Seen::Awake { call: NO_CALL });
        }
        if self.ran == ran {
            return Some(Seen::Asleep { address: self.sleeps_at, rested: true });
        }
        let call =
            KeptFile::open(folder, &format!("{}/syscall", self.thread), OFlags::RDONLY)?.text()?;
        let Some(address) = call.address_of_sleep() else {
            return Some(Seen::Awake { call: call.number() });
        };
        (self.ran, self.sleeps_at) = (ran, address);
        Some(Seen::Asleep { address, rested: false })
    }
}

impl KeptFile {
    fn open(folder: BorrowedFd<'_>, path: &str, how: OFlags) -> Option<Self> {
        let file = openat(folder, path, how | OFlags::CLOEXEC, Mode::empty()).ok()?;
        let identity = identity(&file)?;
        Some(Self { file: ManuallyDrop::new(file), identity })
    }

    fn is_ours(&self) -> bool {
        identity(&self.file) == Some(self.identity)
    }

    /// The text that it has now.
    fn text(&self) -> Option<FileText> {
        let mut text = FileText::default();
        text.length = pread(&*self.file, &mut text.bytes, 0).ok()?;
        Some(text)
    }
}

impl FileText {
    fn get(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }

    /// True if a thread sleeps, by the text of its state, in which the state comes after the name.
    fn is_state_of_sleep(&self) -> bool {
        self.get().rsplit(|byte| *byte == b')').next().is_some_and(|state| state.starts_with(b" S"))
    }

    fn words(&self) -> impl Iterator<Item = &str> {
        str::from_utf8(self.get()).unwrap_or_default().split_ascii_whitespace()
    }

    /// The number of a thread's system call; [`NO_CALL`] if it is in none.
    fn number(&self) -> i64 {
        self.words().next().and_then(|word| word.parse().ok()).unwrap_or(NO_CALL)
    }

    /// The address at which a thread waits on a futex without a limit, by the text of its system
    /// call; none if it does not.
    fn address_of_sleep(&self) -> Option<usize> {
        let mut arguments = self.words().skip(1);
        let address = arguments.next()?;
        // The fourth argument is the time that it waits.
        let is_sleep = self.number() == FUTEX && arguments.nth(2) == Some("0x0");
        let address = usize::from_str_radix(address.trim_start_matches("0x"), 16).ok()?;
        is_sleep.then_some(address)
    }
}

impl Drop for KeptFile {
    fn drop(&mut self) {
        if self.is_ours() {
            // SAFETY: nothing uses it after this.
            unsafe { ManuallyDrop::drop(&mut self.file) };
        }
    }
}

/// The device of a file, and its number there.
fn identity(file: &OwnedFd) -> Option<(u64, u64)> {
    fstat(file).ok().map(|found| (found.st_dev, found.st_ino))
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsRawFd;
    use std::sync::{Arc, Barrier, Condvar, Mutex};
    use std::thread::{sleep, spawn};
    use std::time::{Duration, Instant};

    use super::*;
    use crate::threads::me;

    /// Waits until the others are seen as expected, and returns whether that was before long. The
    /// test's own threads are in the process too.
    fn comes(states: &mut ThreadStates, expected: bool, ours: &[u32]) -> bool {
        let began = Instant::now();
        while began.elapsed() < Duration::from_secs(10) {
            if states.all_sleep(None, me(), |thread| !ours.contains(&thread)) == expected {
                return true;
            }
            sleep(Duration::from_millis(1));
        }
        false
    }

    #[test]
    #[cfg_attr(miri, ignore = "asks the kernel about threads")]
    fn a_thread_that_waits_for_another_sleeps_and_one_that_waits_for_time_does_not() {
        let (state, started) =
            (Arc::new((Mutex::new(0), Condvar::new())), Arc::new(Barrier::new(2)));
        let (its, number) = (state.clone(), Arc::new(Mutex::new(0)));
        let (told, here) = (number.clone(), started.clone());
        let thread = spawn(move || {
            *told.lock().unwrap() = me();
            here.wait();
            let asleep = its.1.wait_while(its.0.lock().unwrap(), |step| *step == 0).unwrap();
            drop(asleep);
            while *its.0.lock().unwrap() == 1 {
                sleep(Duration::from_millis(1));
            }
        });
        started.wait();
        let ours = [*number.lock().unwrap()];
        let mut states = ThreadStates::default();
        assert!(!states.are_none(None));
        assert!(comes(&mut states, true, &ours), "it waits to be woken");
        assert!(
            states.all_sleep(None, me(), |thread| !ours.contains(&thread)),
            "and has not run since"
        );
        let both = [ours[0], me()];
        std::thread::scope(|scope| {
            scope.spawn(|| assert!(comes(&mut states, true, &both), "whoever looks"));
        });
        *state.0.lock().unwrap() = 1;
        state.1.notify_all();
        assert!(comes(&mut states, false, &ours), "it sleeps for a time");
        for _ in 0..1000 {
            assert!(
                !states.all_sleep(None, me(), |thread| !ours.contains(&thread)),
                "and goes on to"
            );
        }
        *state.0.lock().unwrap() = 2;
        thread.join().unwrap();
        assert!(comes(&mut states, true, &ours), "it has ended");
    }

    #[test]
    #[cfg_attr(miri, ignore = "asks the kernel about threads")]
    fn threads_that_wake_each_other_in_turn_are_never_all_asleep() {
        const THREADS: usize = 3;
        let state = Arc::new((Mutex::new(0), [const { Condvar::new() }; THREADS]));
        let (numbers, started) =
            (Arc::new(Mutex::new(Vec::new())), Arc::new(Barrier::new(THREADS + 1)));
        let threads: Vec<_> = (0..THREADS)
            .map(|index| {
                let (state, numbers, started) = (state.clone(), numbers.clone(), started.clone());
                spawn(move || {
                    numbers.lock().unwrap().push(me());
                    started.wait();
                    for round in 0..3000 {
                        let turn = round * THREADS + index;
                        let condition = &state.1[index];
                        let mut now = condition
                            .wait_while(state.0.lock().unwrap(), |now| *now != turn)
                            .unwrap();
                        *now += 1;
                        state.1[(index + 1) % THREADS].notify_one();
                    }
                })
            })
            .collect();
        started.wait();
        let ours = numbers.lock().unwrap().clone();
        let mut states = ThreadStates::default();
        while !threads.iter().any(std::thread::JoinHandle::is_finished) {
            let asleep = states.all_sleep(None, me(), |thread| !ours.contains(&thread));
            // Their last turns may have come meanwhile.
            assert!(!asleep || *state.0.lock().unwrap() == 3000 * THREADS);
        }
        for thread in threads {
            thread.join().unwrap();
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "asks the kernel about threads")]
    fn what_the_program_opened_in_the_place_of_ours_stays_open() {
        let mut states = ThreadStates::default();
        assert!(states.count(None).is_some());
        // As if the program had closed ours, and its own had the number.
        let folder = states.folder.as_mut().unwrap();
        folder.identity.1 += 1;
        let its = folder.file.as_raw_fd();
        assert!(states.count(None).is_some());
        assert_ne!(states.folder.as_ref().unwrap().file.as_raw_fd(), its);
        // SAFETY: it is open, which is what is to be seen.
        assert!(fstat(unsafe { BorrowedFd::borrow_raw(its) }).is_ok());
    }
}
