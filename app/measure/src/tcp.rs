//! Measurements over TCP sockets, without MPI: a server at one host and a client at the other.
//!
//! The client proves that it knows the server's token without sending it: it answers the server's
//! random challenge with a keyed hash (HMAC-SHA256), and the server answers the client's. Only then
//! does the server read what is to be measured, within bounds that it checks before it takes
//! memory. It serves one client at a time. The messages themselves are neither encrypted nor
//! secret.

use std::{
    fmt::Write as _,
    fs,
    io::{self, ErrorKind, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs},
    thread,
    time::{Duration, Instant},
};

use hmac::{Hmac, KeyInit, Mac};
use rustix::{io::Errno, net::RecvFlags};
use samples::Operation;
use sha2::Sha256;

use crate::{
    plan::{OPERATIONS, STREAM, Step},
    session::{Error, Measured, Prober},
};

/// The first bytes of a server.
const GREETING: &[u8; 16] = b"heddle-measure 2";
/// The byte by which the client tells the server before each step what to do: to end, to carry out
/// the step, or to leave it out.
const STOP: u8 = 0;
const GO: u8 = 1;
const SKIP: u8 = 2;
/// The length of a challenge and of an answer.
const HASH: usize = 32;
/// The length of a step on the wire.
const STEP: usize = 24;
const MOST_STEPS: u32 = 1 << 18;
const MOST_MESSAGES: u32 = 1024;
const LARGEST: u64 = 1 << 26;
/// The longest wait of a step, in nanoseconds.
const LONGEST_WAIT: u64 = 1_000_000_000;
/// The time for which a side asks again and again for what it waits for, before it sleeps. Programs
/// that use sockets for MPI ask, too; and a process that sleeps is woken some other time later each
/// time, which depends on how long it slept.
const PATIENCE: Duration = Duration::from_millis(2);
/// After so many waits in a row in which nothing came while a side asked, it only sleeps: the other
/// side may need the processor that asking takes.
const FUTILE: u32 = 32;

/// The times that a server grants.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Until the client has proven that it knows the token.
    pub handshake: Duration,
    /// For a whole run.
    pub run: Duration,
    /// Without a byte from the other side.
    pub silence: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self { handshake: seconds(2), run: seconds(600), silence: seconds(10) }
    }
}

/// Waits for clients at one host.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    token: String,
    limits: Limits,
}

impl Server {
    /// Binds to an address, with a new random token.
    pub fn bind(address: &str, limits: Limits) -> io::Result<Self> {
        let token = random()?.iter().fold(String::new(), |mut token, byte| {
            let _ = write!(token, "{byte:02x}");
            token
        });
        Ok(Self { listener: TcpListener::bind(address)?, token, limits })
    }

    /// Returns the address that the server is bound to.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Returns the token.
    pub fn token(&self) -> &str {
        &self.token
    }

    /// Waits for a client and serves it; returns the client and the number of steps that it had
    /// carried out, or why it was not served.
    pub fn serve(&self) -> io::Result<(SocketAddr, Result<usize, String>)> {
        let (stream, client) = self.listener.accept()?;
        Ok((client, self.serve_one(stream).map_err(|error| reason(&error))))
    }

    fn serve_one(&self, stream: TcpStream) -> io::Result<usize> {
        let mut link = Link::new(stream, self.limits.handshake)?;
        let challenge = random()?;
        link.write(GREETING)?;
        link.write(&challenge)?;
        let [theirs, answer] = [link.hash()?, link.hash()?];
        let wrong = || io::Error::new(ErrorKind::PermissionDenied, "the token is wrong");
        mac(&self.token, "client", &challenge, &theirs)
            .verify_slice(&answer)
            .map_err(|_| wrong())?;
        let proof = mac(&self.token, "server", &theirs, &challenge).finalize().into_bytes();
        link.write(&proof)?;
        let steps = link.steps()?;
        link.write_name(&host_name())?;
        link.grant(self.limits.run, self.limits.silence)?;
        link.serve_steps(&steps)
    }
}

/// Connects to a server for each run.
#[derive(Debug)]
pub struct Client {
    /// The address of the server.
    pub address: String,
    /// The server's token.
    pub token: String,
    /// The times that are granted to the server.
    pub limits: Limits,
}

impl Prober for Client {
    fn operations(&self) -> &'static [Operation] {
        STREAM
    }

    fn run(&mut self, steps: &[Step], time: Option<Duration>) -> Result<Measured, Error> {
        self.run_once(steps, time).map_err(|error| Error::Partner {
            address: self.address.clone(),
            reason: reason(&error),
        })
    }
}

impl Client {
    fn run_once(&self, steps: &[Step], time: Option<Duration>) -> io::Result<Measured> {
        let mut link = Link::new(self.connect()?, self.limits.silence)?;
        let mut greeting = [0; GREETING.len()];
        link.read(&mut greeting)?;
        if greeting != *GREETING {
            let text = "this is no server of heddle measure, or one of another version";
            return Err(io::Error::new(ErrorKind::InvalidData, text));
        }
        let (challenge, own) = (link.hash()?, random()?);
        link.write(&own)?;
        link.write(&mac(&self.token, "client", &challenge, &own).finalize().into_bytes())?;
        let proof = link.hash().map_err(|error| match error.kind() {
            ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset => {
                io::Error::new(ErrorKind::PermissionDenied, "the server refused the token")
            }
            _ => error,
        })?;
        mac(&self.token, "server", &own, &challenge).verify_slice(&proof).map_err(|_| {
            io::Error::new(ErrorKind::PermissionDenied, "the server does not know the token")
        })?;
        link.write_steps(steps)?;
        let destination = link.name()?;
        link.grant(self.limits.run, self.limits.silence)?;
        let times = link.carry_out(steps, time)?;
        let library = format!("TCP sockets, {}", std::env::consts::OS);
        Ok(Measured { times, library, source: host_name(), destination })
    }

    /// Connects to the first address of the name that answers.
    fn connect(&self) -> io::Result<TcpStream> {
        let mut last = io::Error::new(ErrorKind::NotFound, "the name has no address");
        for address in self.address.to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, self.limits.silence) {
                Ok(stream) => return Ok(stream),
                Err(error) => last = error,
            }
        }
        Err(last)
    }
}

/// Returns random bytes from the system.
fn random() -> io::Result<[u8; HASH]> {
    let mut bytes = [0; HASH];
    getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(bytes)
}

/// The keyed hash with which a side answers a challenge; its own challenge is in it as well.
fn mac(token: &str, side: &str, challenge: &[u8], own: &[u8]) -> Hmac<Sha256> {
    let mut mac = <Hmac<Sha256> as KeyInit>::new_from_slice(token.as_bytes())
        .unwrap_or_else(|_| unreachable!("a key may have any length"));
    for part in [GREETING, side.as_bytes(), challenge, own] {
        mac.update(part);
    }
    mac
}

fn host_name() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    if name.trim().is_empty() { "localhost".to_owned() } else { name.trim().to_owned() }
}

/// The reason of an error, in words that say what to look at.
fn reason(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::WouldBlock | ErrorKind::TimedOut => {
            "the other side was silent for too long".to_owned()
        }
        ErrorKind::UnexpectedEof | ErrorKind::BrokenPipe | ErrorKind::ConnectionReset => {
            "the other side closed the connection".to_owned()
        }
        ErrorKind::ConnectionRefused => {
            "no server is there; heddle measure --serve starts one".to_owned()
        }
        _ => error.to_string(),
    }
}

/// A connection, and the moment at which it has to be over.
struct Link {
    stream: TcpStream,
    start: Instant,
    deadline: Instant,
    /// The contents of messages; nobody looks at them.
    buffer: Vec<u8>,
    /// The time of a look at the clock, in nanoseconds.
    look: f64,
    /// The number of waits since the last one in which asking again and again was of use.
    futile: u32,
}

impl Link {
    fn new(stream: TcpStream, time: Duration) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        let start = Instant::now();
        let (deadline, buffer) = (start + time, Vec::new());
        let link = Self { stream, start, deadline, buffer, look: 0.0, futile: 0 };
        link.stream.set_read_timeout(Some(time))?;
        link.stream.set_write_timeout(Some(time))?;
        Ok(link)
    }

    /// Grants more time, with a limit to how long the other side may be silent.
    fn grant(&mut self, time: Duration, silence: Duration) -> io::Result<()> {
        self.deadline = Instant::now() + time;
        self.stream.set_read_timeout(Some(silence))?;
        self.stream.set_write_timeout(Some(silence))
    }

    /// Fails if the deadline has passed, even if some bytes came.
    fn is_in_time(&self) -> io::Result<()> {
        if Instant::now() < self.deadline { Ok(()) } else { Err(ErrorKind::TimedOut.into()) }
    }

    fn read(&mut self, bytes: &mut [u8]) -> io::Result<()> {
        let mut done = 0;
        while done < bytes.len() {
            let rest = &mut bytes[done..];
            let asked = self.ask(rest);
            match asked.unwrap_or_else(|| self.stream.read(rest)) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(count) => done += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
            self.is_in_time()?;
        }
        Ok(())
    }

    /// Asks for bytes again and again, without sleeping, until there are some; nothing if that is
    /// of no use.
    fn ask(&mut self, bytes: &mut [u8]) -> Option<io::Result<usize>> {
        if self.futile >= FUTILE {
            return None;
        }
        let start = Instant::now();
        while start.elapsed() < PATIENCE {
            match rustix::net::recv(&self.stream, &mut *bytes, RecvFlags::DONTWAIT) {
                // Others have the processor first, such as the system's own work on what came.
                Err(Errno::AGAIN) => thread::yield_now(),
                found => {
                    self.futile = 0;
                    return Some(found.map(|(count, _)| count).map_err(io::Error::from));
                }
            }
        }
        self.futile += 1;
        None
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes)
    }

    fn hash(&mut self) -> io::Result<[u8; HASH]> {
        let mut bytes = [0; HASH];
        self.read(&mut bytes).map(|()| bytes)
    }

    fn write_name(&mut self, name: &str) -> io::Result<()> {
        let name = &name.as_bytes()[..name.len().min(255)];
        self.write(&[name.len() as u8])?;
        self.write(name)
    }

    fn name(&mut self) -> io::Result<String> {
        let mut length = [0];
        self.read(&mut length)?;
        let mut name = vec![0; usize::from(length[0])];
        self.read(&mut name)?;
        Ok(String::from_utf8_lossy(&name).into_owned())
    }

    fn write_steps(&mut self, steps: &[Step]) -> io::Result<()> {
        let mut bytes = (steps.len() as u32).to_le_bytes().to_vec();
        for step in steps {
            let number = OPERATIONS.iter().position(|known| *known == step.operation);
            bytes.extend((number.unwrap_or(0) as u32).to_le_bytes());
            bytes.extend(step.messages.to_le_bytes());
            bytes.extend(step.wait.to_le_bytes());
            bytes.extend(step.bytes.to_le_bytes());
        }
        self.write(&bytes)
    }

    /// Reads steps, each of which is checked before the next is read.
    fn steps(&mut self) -> io::Result<Vec<Step>> {
        let mut count = [0; 4];
        self.read(&mut count)?;
        let count = u32::from_le_bytes(count);
        let wrong = |text: String| io::Error::new(ErrorKind::InvalidData, text);
        if count > MOST_STEPS {
            return Err(wrong(format!("{count} steps, at most {MOST_STEPS} are allowed")));
        }
        let mut steps = Vec::new();
        for number in 1..=count {
            let mut bytes = [0; STEP];
            self.read(&mut bytes)?;
            let step =
                step(&bytes).ok_or_else(|| wrong(format!("step {number} is not allowed")))?;
            steps.push(step);
        }
        Ok(steps)
    }
}

/// Reads a step; nothing if it is out of bounds.
fn step(bytes: &[u8; STEP]) -> Option<Step> {
    let number = |from: usize, length: usize| {
        let part = bytes[from..from + length].iter().rev();
        part.fold(0, |number, byte| number << 8 | u64::from(*byte))
    };
    let operation = OPERATIONS.get(number(0, 4) as usize)?.clone();
    let (messages, wait, bytes) = (number(4, 4) as u32, number(8, 8), number(16, 8));
    let is_allowed = STREAM.contains(&operation)
        && (1..=MOST_MESSAGES).contains(&messages)
        && wait <= LONGEST_WAIT
        && bytes <= LARGEST;
    is_allowed.then_some(Step { operation, messages, wait, bytes, repetition: None })
}

/// Returns what to do at a step after so many nanoseconds of a time.
fn order(steps: &[Step], place: usize, passed: f64, limit: f64) -> u8 {
    let repetition = steps[place].repetition;
    if repetition.is_none() {
        return if passed > limit / 2.0 { SKIP } else { GO };
    }
    let begins = place > 0 && steps[place - 1].repetition != repetition;
    if begins && repetition > Some(0) && passed > limit { STOP } else { GO }
}

/// The measurements. A stream carries no boundaries: both sides know all sizes.
impl Link {
    /// Carries out steps, and returns the times of those with a repetition. No repetition but the
    /// first begins when the time is over.
    fn carry_out(
        &mut self,
        steps: &[Step],
        time: Option<Duration>,
    ) -> io::Result<Vec<(Step, f64, f64)>> {
        self.prepare(steps);
        let limit = time.map_or(f64::INFINITY, |time| time.as_secs_f64() * 1e9);
        let mut times = Vec::new();
        let begin = self.now();
        for (place, step) in steps.iter().enumerate() {
            self.is_in_time()?;
            let order = order(steps, place, self.now() - begin, limit);
            self.write(&[order])?;
            match order {
                STOP => break,
                SKIP => continue,
                _ => self.await_ready()?,
            }
            let at = self.now() - begin;
            let time = (self.measure(step)? - self.look).max(0.001);
            if step.repetition.is_some() {
                times.push((step.clone(), time, at));
            }
        }
        Ok(times)
    }

    /// Carries out the other side's part of steps, and returns how many were carried out.
    fn serve_steps(&mut self, steps: &[Step]) -> io::Result<usize> {
        self.prepare(steps);
        let mut done = 0;
        for step in steps {
            self.is_in_time()?;
            let mut order = [0];
            self.read(&mut order)?;
            match order[0] {
                STOP => break,
                SKIP => continue,
                GO => {}
                _ => return Err(io::Error::new(ErrorKind::InvalidData, "an order is unknown")),
            }
            // A step begins when both sides are done with the one before.
            self.tell_ready()?;
            self.answer(step)?;
            done += 1;
        }
        Ok(done)
    }

    fn prepare(&mut self, steps: &[Step]) {
        let largest = steps.iter().map(|step| step.bytes).max().unwrap_or(0);
        self.buffer = vec![1; largest as usize];
        self.look = self.time_of_look();
    }

    /// The time since the start, in nanoseconds.
    fn now(&self) -> f64 {
        self.start.elapsed().as_secs_f64() * 1e9
    }

    fn time_of_look(&self) -> f64 {
        let series = |_| {
            let start = self.now();
            (0..50).map(|_| self.now()).fold(start, f64::max) - start
        };
        (0..10).map(series).fold(f64::INFINITY, f64::min) / 50.0
    }

    /// Computes for `length` nanoseconds; returns by how much longer it took.
    fn compute(&self, length: f64) -> f64 {
        let end = self.now() + length;
        loop {
            let time = self.now();
            if time >= end {
                return time - end;
            }
        }
    }

    fn send(&mut self, bytes: u64) -> io::Result<()> {
        self.stream.write_all(&self.buffer[..bytes as usize])
    }

    fn receive(&mut self, bytes: u64) -> io::Result<()> {
        let mut buffer = std::mem::take(&mut self.buffer);
        let received = self.read(&mut buffer[..bytes as usize]);
        self.buffer = buffer;
        received
    }

    /// Tells the other side that this one is ready.
    fn tell_ready(&mut self) -> io::Result<()> {
        self.write(&[1])
    }

    fn await_ready(&mut self) -> io::Result<()> {
        self.read(&mut [0])
    }

    fn measure(&mut self, step: &Step) -> io::Result<f64> {
        let wait = step.wait as f64;
        match step.operation {
            Operation::Send => {
                self.await_ready()?;
                let start = self.now();
                (0..step.messages).try_for_each(|_| self.send(step.bytes))?;
                let time = self.now() - start;
                self.await_ready().map(|()| time)
            }
            Operation::Receive | Operation::ReceiveBusy => {
                self.tell_ready()?;
                self.compute(wait);
                let start = self.now();
                (0..step.messages).try_for_each(|_| self.receive(step.bytes))?;
                let time = self.now() - start;
                self.tell_ready()?;
                Ok(time + if step.operation == Operation::ReceiveBusy { wait } else { 0.0 })
            }
            Operation::Exchange => self.exchange(step),
            _ => {
                let (start, mut late) = (self.now(), 0.0);
                for message in 1..=step.messages {
                    self.send(step.bytes)?;
                    if step.wait > 0 && message < step.messages {
                        late += self.look + self.compute(wait);
                    }
                }
                self.receive(step.bytes)?;
                Ok(self.now() - start - late)
            }
        }
    }

    fn answer(&mut self, step: &Step) -> io::Result<()> {
        match step.operation {
            Operation::Send => {
                self.tell_ready()?;
                (0..step.messages).try_for_each(|_| self.receive(step.bytes))?;
                self.tell_ready()
            }
            Operation::Receive | Operation::ReceiveBusy => {
                self.await_ready()?;
                (0..step.messages).try_for_each(|_| self.send(step.bytes))?;
                self.await_ready()
            }
            Operation::Exchange => self.exchange(step).map(|_| ()),
            _ => {
                (0..step.messages).try_for_each(|_| self.receive(step.bytes))?;
                self.send(step.bytes)
            }
        }
    }

    /// Sends and receives at the same time, as often as told, and returns the time.
    fn exchange(&mut self, step: &Step) -> io::Result<f64> {
        self.tell_ready()?;
        self.await_ready()?;
        self.stream.set_nonblocking(true)?;
        let start = self.now();
        let done = (0..step.messages).try_for_each(|_| self.exchange_once(step.bytes as usize));
        let time = self.now() - start;
        self.stream.set_nonblocking(false)?;
        done.map(|()| time)
    }

    fn exchange_once(&mut self, bytes: usize) -> io::Result<()> {
        let (mut sent, mut received) = (0, 0);
        while sent < bytes || received < bytes {
            if sent < bytes {
                sent += moved(self.stream.write(&self.buffer[sent..bytes]))?;
            }
            if received < bytes {
                received += moved(self.stream.read(&mut self.buffer[received..bytes]))?;
            }
            self.is_in_time()?;
        }
        Ok(())
    }
}

/// The number of bytes that went through without waiting.
fn moved(result: io::Result<usize>) -> io::Result<usize> {
    match result {
        Ok(0) => Err(ErrorKind::UnexpectedEof.into()),
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {
            Ok(0)
        }
        other => other,
    }
}
