//! The output of ranks, passed on line by line behind the name of the rank.

use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// The time between checks if the ranks have ended while another process keeps their pipes open.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };
/// The most bytes that are read at once.
const CHUNK: usize = 1 << 16;

/// Standard output or standard error of a rank.
#[derive(Debug)]
pub struct Stream {
    pipe: std::fs::File,
    prefix: String,
    is_error: bool,
    /// The beginning of a line whose end has not come.
    rest: Vec<u8>,
}

impl Stream {
    /// Makes the stream of a rank. The prefix is that of Open MPI's `--tag-output`:
    /// `[job,rank]<stdout>:`.
    pub fn new(pipe: OwnedFd, rank: u32, is_error: bool) -> Self {
        let name = if is_error { "stderr" } else { "stdout" };
        Self {
            pipe: pipe.into(),
            prefix: format!("[1,{rank}]<{name}>:"),
            is_error,
            rest: Vec::new(),
        }
    }

    /// Passes on what the rank has written; returns whether more may come.
    fn pass(&mut self, buffer: &mut [u8], printer: &mut Printer) -> bool {
        let length = match self.pipe.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return true,
            read => read.unwrap_or(0),
        };
        self.rest.extend(buffer.iter().take(length));
        let whole = self.rest.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
        let rest = self.rest.split_off(whole);
        let lines = std::mem::replace(&mut self.rest, rest);
        printer.print(&self.prefix, &lines, self.is_error);
        length > 0
    }

    /// Passes on the last line, which may lack its end.
    fn close(mut self, printer: &mut Printer) {
        if !self.rest.is_empty() {
            self.rest.push(b'\n');
            printer.print(&self.prefix, &self.rest, self.is_error);
        }
    }
}

/// A printer of lines.
#[derive(Debug, Default)]
struct Printer {
    /// The first error. The ranks go on in spite of it.
    failure: Option<io::Error>,
}

impl Printer {
    /// Prints lines in one piece, each behind the prefix.
    fn print(&mut self, prefix: &str, lines: &[u8], to_error: bool) {
        let mut text = Vec::with_capacity(lines.len() + prefix.len());
        for line in lines.split_inclusive(|byte| *byte == b'\n') {
            text.extend(prefix.bytes());
            text.extend(line);
        }
        let printed = if to_error {
            io::stderr().write_all(&text)
        } else {
            let mut out = io::stdout().lock();
            out.write_all(&text).and_then(|()| out.flush())
        };
        self.failure = self.failure.take().or(printed.err());
    }
}

/// A thread that passes on the output of all ranks until they have ended.
#[derive(Debug)]
pub struct TaggedOutput {
    ended: Arc<AtomicBool>,
    /// Streams that the thread does not know yet.
    new: Arc<Mutex<Vec<Stream>>>,
    thread: Option<JoinHandle<Option<io::Error>>>,
}

impl TaggedOutput {
    /// Starts the thread.
    ///
    /// # Errors
    /// If the system has no room for a thread.
    pub fn start() -> io::Result<Self> {
        let (ended, new) = (Arc::new(AtomicBool::new(false)), Arc::default());
        let (seen, taken) = (Arc::clone(&ended), Arc::clone(&new));
        let thread = thread::Builder::new().spawn(move || pass_on(&taken, &seen))?;
        Ok(Self { ended, new, thread: Some(thread) })
    }

    /// Adds streams to those that are passed on.
    pub fn add(&self, streams: impl IntoIterator<Item = Stream>) {
        self.new.lock().unwrap_or_else(PoisonError::into_inner).extend(streams);
    }

    /// Waits until all that the ranks printed is passed on; returns the first error. To be called
    /// when they have ended.
    pub fn finish(&mut self) -> Option<io::Error> {
        self.ended.store(true, Ordering::Release);
        // It does not panic.
        self.thread.take().and_then(|thread| thread.join().ok().flatten())
    }
}

fn pass_on(new: &Mutex<Vec<Stream>>, ended: &AtomicBool) -> Option<io::Error> {
    let mut printer = Printer::default();
    let mut buffer = vec![0; CHUNK];
    let mut streams: Vec<Stream> = Vec::new();
    loop {
        let last = ended.load(Ordering::Acquire);
        streams.append(&mut new.lock().unwrap_or_else(PoisonError::into_inner));
        if last && streams.is_empty() {
            break;
        }
        let mut waiting: Vec<PollFd<'_>> = streams
            .iter()
            .map(|stream| PollFd::from_borrowed_fd(stream.pipe.as_fd(), PollFlags::IN))
            .collect();
        let ready = poll(&mut waiting, Some(&LOOK)).unwrap_or(0);
        if ready == 0 && last {
            break;
        }
        let ready: Vec<bool> = waiting.iter().map(|one| !one.revents().is_empty()).collect();
        let mut places = ready.iter();
        let mut over = Vec::new();
        let mut open = Vec::with_capacity(streams.len());
        for mut stream in streams {
            let ready = places.next().copied().unwrap_or(false);
            let goes_on = !ready || stream.pass(&mut buffer, &mut printer);
            if goes_on { open.push(stream) } else { over.push(stream) }
        }
        for stream in over {
            stream.close(&mut printer);
        }
        streams = open;
    }
    for stream in streams {
        stream.close(&mut printer);
    }
    printer.failure
}
