//! Forwarding frames from one device to another, at the times that a [`Link`] says.
//!
//! Each node has a thread on its own processors, which takes what its programs send. In a virtual
//! machine, nothing takes as long as waking a thread on another processor (15 us were seen, and
//! 1 us on the same one) and setting a timer, and a process that is interrupted starts slowly. So
//! the sender's thread delivers a frame that has its direction for itself: the receiver goes on
//! undisturbed. Where several are under way, the sender's thread hands them over to the receiver's,
//! while they are delayed, and its programs can go on sending.

use std::{
    io,
    num::NonZeroU64,
    os::fd::OwnedFd,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

use rustix::{
    io::Errno,
    thread::{CpuSet, sched_setaffinity, set_current_timer_slack},
};
use units::{Bandwidth, Time};

use crate::{Lateness, Link, Offer, Rail, alarm::Alarm};

/// The most bytes that a frame has: an MTU of 1500, a header, and a tag of a virtual network.
const LARGEST_FRAME: usize = 1518;

/// The priority of the threads, among real-time processes: above all that time sharing runs.
const PRIORITY: i32 = 10;

/// A direction of a rail, as those who steer it and ask about it see it.
#[derive(Clone, Debug)]
pub struct Direction {
    /// The name of the rail.
    pub rail: String,
    /// The name of the node that sends.
    pub from: String,
    /// The name of the node that receives.
    pub to: String,
    /// The link, on which the threads that forward work.
    pub shared: Arc<Shared>,
}

/// A link with its counts, shared by the threads that forward and those that steer it.
#[derive(Debug)]
pub struct Shared {
    start: Instant,
    state: Mutex<State>,
    /// Wake the threads of the two ends.
    alarms: [Arc<Alarm>; 2],
}

/// The node whose thread delivers the frames of a direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    Sender,
    Receiver,
}

#[derive(Debug)]
struct State {
    link: Link<Vec<u8>>,
    counts: Counts,
    by: By,
    /// True while a frame that is not in the link any more is written.
    is_writing: bool,
    /// Memory of frames that were delivered.
    spare: Vec<Vec<u8>>,
}

/// Counts since the start or since the last [`Shared::reset`].
#[derive(Clone, Debug, Default)]
struct Counts {
    late: Lateness,
    /// Bytes of frames delivered.
    bytes: u64,
    dropped: u64,
    lost: u64,
    /// Frames that the receiving device did not take.
    refused: u64,
}

impl Shared {
    /// Returns an idle direction of `rail`, with a queue of `capacity` bytes. Times count from
    /// `start`; `alarms` wake the threads of the sender and the receiver.
    pub fn new(rail: &Rail, capacity: u64, start: Instant, alarms: [Arc<Alarm>; 2]) -> Self {
        let state = State {
            link: Link::new(rail.rate, rail.delay, capacity),
            counts: Counts::default(),
            by: By::Sender,
            is_writing: false,
            spare: Vec::new(),
        };
        Self { start, state: Mutex::new(state), alarms }
    }

    /// Changes the rate, which must not be zero, from now on.
    pub fn set_rate(&self, rate: Bandwidth) {
        let mut state = self.lock();
        state.link.set_rate(self.now(), rate);
        self.alarms.iter().for_each(|alarm| alarm.ring());
    }

    /// Loses all frames from now on, and those in the queue.
    pub fn take_down(&self) {
        let mut state = self.lock();
        state.counts.lost += state.link.take_down(self.now()) as u64;
    }

    /// Carries frames again.
    pub fn bring_up(&self) {
        self.lock().link.bring_up();
    }

    /// Begins to count anew.
    pub fn reset(&self) {
        self.lock().counts = Counts::default();
    }

    fn now(&self) -> Time {
        time_of(self.start.elapsed())
    }

    /// A thread that panicked has left nothing half done: it would be a frame less.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Direction {
    /// Returns the counts as a line of JSON: frames and bytes delivered, frames that the queue
    /// dropped, that were lost while the rail was down and that the receiving device refused, and
    /// how late those delivered were, in microseconds.
    pub fn report(&self) -> String {
        let counts = self.shared.lock().counts.clone();
        let Counts { late, bytes, dropped, lost, refused } = &counts;
        let us = |ns: u64| ns as f64 / 1000.0;
        let Self { rail, from, to, .. } = self;
        format!(
            "{{\"rail\": \"{rail}\", \"from\": \"{from}\", \"to\": \"{to}\", \"frames\": {}, \
             \"bytes\": {bytes}, \"dropped\": {dropped}, \"lost\": {lost}, \"refused\": {refused}, \
             \"late_us\": {{\"mean\": {:.3}, \"median\": {:.3}, \"p99\": {:.3}, \"max\": {:.3}}}}}",
            late.frames(),
            us(late.mean()),
            us(late.percentile(50)),
            us(late.percentile(99)),
            us(late.largest()),
        )
    }
}

fn time_of(duration: Duration) -> Time {
    // 213 days fit.
    Time::from_ps(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX).saturating_mul(1000))
}

/// The way of a direction's frames.
#[derive(Clone, Debug)]
pub struct Lane {
    /// The device that sends.
    pub input: Arc<OwnedFd>,
    /// The device that receives.
    pub output: Arc<OwnedFd>,
    /// The link between the two.
    pub shared: Arc<Shared>,
}

/// The manner in which a thread waits for frames that are not due yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Patience {
    /// The last time before a frame is due, which the thread waits with the processor in use.
    pub spin: Duration,
    /// The time for which frames are gathered before they are delivered, while the last of those
    /// under way is due later by more than twice that.
    pub gather: Duration,
}

impl Patience {
    /// Returns for how long a thread waits without the processor, from the times until the next and
    /// the last frame are due.
    fn wait(self, next: Duration, last: Duration) -> Duration {
        if last.saturating_sub(next) > 2 * self.gather && !self.gather.is_zero() {
            return next + self.gather;
        }
        next.saturating_sub(self.spin)
    }
}

/// Starts the thread of a node that sends on some lanes and receives on others, on one of the
/// processors with these numbers. `alarm` is the one that the links have for this node.
pub fn start(
    sends: Vec<Lane>,
    receives: Vec<Lane>,
    alarm: Arc<Alarm>,
    patience: Patience,
    processors: &[usize],
) {
    on(processors, move || {
        let inputs: Vec<&OwnedFd> = sends.iter().map(|lane| &*lane.input).collect();
        let mut spare = Vec::new();
        loop {
            for lane in &sends {
                while lane.take(&mut spare) {}
            }
            let sent = sends.iter().filter_map(|lane| lane.deliver(By::Sender, patience));
            let received = receives.iter().filter_map(|lane| lane.deliver(By::Receiver, patience));
            match sent.chain(received).min() {
                Some(Duration::ZERO) => std::hint::spin_loop(),
                next => alarm.wait(next, &inputs),
            }
        }
    });
}

/// Starts a thread that runs as soon as it can, as far as the kernel allows: lateness shows what it
/// does not.
fn on<T: Send + 'static>(
    processors: &[usize],
    work: impl FnOnce() -> T + Send + 'static,
) -> thread::JoinHandle<T> {
    let mut allowed = CpuSet::new();
    for &number in processors {
        allowed.set(number);
    }
    thread::spawn(move || {
        let _ = sched_setaffinity(None, &allowed);
        let priority = libc::sched_param { sched_priority: PRIORITY };
        let policy = libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK;
        #[allow(unsafe_code)]
        // SAFETY: 0 is the calling thread, and the parameter outlives the call.
        let _ = unsafe { libc::sched_setscheduler(0, policy, &raw const priority) };
        let _ = set_current_timer_slack(NonZeroU64::new(1));
        work()
    })
}

/// Returns how late such a thread is usually woken by a timer: an eighth more than the median, at
/// most 50 us.
pub fn usual_lateness(processors: &[usize]) -> io::Result<Duration> {
    const WAIT: Duration = Duration::from_micros(100);
    let alarm = Alarm::new()?;
    let measuring = on(processors, move || {
        let late = || {
            let start = Instant::now();
            alarm.wait(Some(WAIT), &[]);
            start.elapsed().saturating_sub(WAIT)
        };
        let mut found: Vec<Duration> = (0..201).map(|_| late()).collect();
        found.sort_unstable();
        (found[100] * 9 / 8).min(Duration::from_micros(50))
    });
    measuring.join().map_err(|_| io::Error::other("the measurement of timers"))
}

impl Lane {
    /// Reads a frame from the device, if there is one, and offers it to the link. `spare` has
    /// memory for frames.
    fn take(&self, spare: &mut Vec<Vec<u8>>) -> bool {
        let mut frame = spare.pop().unwrap_or_default();
        frame.resize(LARGEST_FRAME, 0);
        let length = loop {
            match rustix::io::read(&*self.input, &mut frame) {
                Err(Errno::INTR) => (),
                length => break length.unwrap_or(0),
            }
        };
        frame.truncate(length);
        if length == 0 {
            spare.push(frame);
            return false;
        }
        let mut state = self.shared.lock();
        let is_alone = state.link.next_arrival().is_none() && !state.is_writing;
        let (offer, back) = state.link.offer(self.shared.now(), length as u64, frame);
        spare.extend(back);
        spare.append(&mut state.spare);
        match offer {
            Offer::Dropped => state.counts.dropped += 1,
            Offer::Lost => state.counts.lost += 1,
            Offer::Arrives(_) if is_alone => state.by = By::Sender,
            Offer::Arrives(_) if state.by == By::Sender => {
                state.by = By::Receiver;
                drop(state);
                self.shared.alarms[1].ring();
            }
            Offer::Arrives(_) => (),
        }
        true
    }

    /// Writes all frames that are due to the device, if it is the thread of the node `by` that does
    /// so at the moment. Returns the time left until the next one is due.
    fn deliver(&self, by: By, patience: Patience) -> Option<Duration> {
        let mut state = self.shared.lock();
        while state.by == by {
            let now = self.shared.now();
            let Some((due, frame)) = state.link.take(now) else {
                let [next, last] = [state.link.next_arrival()?, state.link.last_arrival()?];
                let left = |time: Time| Duration::from_nanos(time.saturating_sub(now).ps() / 1000);
                return Some(patience.wait(left(next), left(last)));
            };
            state.is_writing = true;
            drop(state);
            // The time after the call would have the receiver's work in it.
            let written = rustix::io::write(&*self.output, &frame);
            state = self.shared.lock();
            state.is_writing = false;
            match written {
                Ok(_) => {
                    state.counts.late.add(now.saturating_sub(due).ps() / 1000);
                    state.counts.bytes += frame.len() as u64;
                }
                Err(_) => state.counts.refused += 1,
            }
            state.spare.push(frame);
        }
        None
    }
}
