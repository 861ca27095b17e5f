//! An alarm that wakes a thread at a time, or when another thread rings it.

use std::{
    io,
    os::fd::OwnedFd,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use rustix::{
    event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll},
    time::{
        Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, timerfd_create,
        timerfd_settime,
    },
};

/// A timer and a bell. To set a timer takes microseconds in a virtual machine, so that it stays as
/// it is if it rings early enough: unlike the timeout of a call, which is set and taken back each
/// time.
#[derive(Debug)]
pub struct Alarm {
    timer: OwnedFd,
    bell: OwnedFd,
    /// The time when the timer rings.
    set: Mutex<Option<Instant>>,
}

impl Alarm {
    /// Returns an alarm that is not set.
    pub fn new() -> io::Result<Self> {
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        Ok(Self {
            timer: timerfd_create(TimerfdClockId::Monotonic, flags)?,
            bell: eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?,
            set: Mutex::new(None),
        })
    }

    /// Waits until `time` has passed, if there is one, [`Alarm::ring`] is called, or one of
    /// `inputs` is readable; at times less long. One thread waits.
    pub fn wait(&self, time: Option<Duration>, inputs: &[&OwnedFd]) {
        if let Some(time) = time {
            self.set(time);
        }
        let own = [&self.timer, &self.bell];
        let watched = own.iter().chain(inputs).map(|fd| PollFd::new(*fd, PollFlags::IN));
        let mut watched: Vec<_> = watched.collect();
        // An interruption is a shorter wait.
        let _ = poll(&mut watched, None);
        for source in watched[..2].iter().filter(|each| each.revents().contains(PollFlags::IN)) {
            let _ = rustix::io::read(source, &mut [0; 8]);
        }
    }

    /// Lets the timer ring after `time`, which is not zero, or before.
    fn set(&self, time: Duration) {
        let now = Instant::now();
        let mut set = self.set.lock().unwrap_or_else(PoisonError::into_inner);
        if set.is_some_and(|set| now < set && set <= now + time) {
            return;
        }
        let zero = Timespec { tv_sec: 0, tv_nsec: 0 };
        // A day is near enough to never: the thread looks again.
        let time = time.min(Duration::from_secs(86_400));
        let value = Timespec::try_from(time).unwrap_or(zero);
        let once = Itimerspec { it_interval: zero, it_value: value };
        if timerfd_settime(&self.timer, TimerfdTimerFlags::empty(), &once).is_ok() {
            *set = Some(now + time);
        }
    }

    /// Rings now.
    pub fn ring(&self) {
        // A full counter is as readable as one more.
        let _ = rustix::io::write(&self.bell, &1u64.to_ne_bytes());
    }
}
