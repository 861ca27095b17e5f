//! Measures how fast traces are read and compiled. `trace_speed write FOLDER CALLS RANKS` writes
//! the traces of a halo exchange, in our format: on a torus of about as many rows as columns, with
//! an allreduce every fourth step. `trace_speed MODE FOLDER`, with a mode of traces or `read`,
//! prints millions of calls per second of CPU time, and the memory that was needed at most, in MB.

use std::error::Error;
use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, Instant};

use calls::Table;
use traces::compile;
use traces::format::{Header, Writer};
use traces::options::{Mode, Options};
use traces::record::Record;
use traces::source::Traces;

/// Bytes of a message.
const BYTES: i64 = 4096;

/// The trace of a rank: computes for about 50 us a step, with some noise, so that ranks wait for
/// each other.
struct Rank {
    writer: Writer<File>,
    now: u64,
    noise: u64,
}

impl Rank {
    fn call(&mut self, name: &str, took: u64, values: &[i64]) -> Result<(), Box<dyn Error>> {
        let id = Table::get().by_name(name).ok_or("no such call")?.id;
        let (enter, leave) = (self.now, self.now + took);
        self.now = leave + 1_000_000;
        Ok(self.writer.call(&Record { id, thread: 0, enter, leave, values: values.to_vec() })?)
    }

    fn step(&mut self, neighbours: [i64; 4], step: u64) -> Result<u64, Box<dyn Error>> {
        self.noise = self.noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        self.now += 45_000_000 + (self.noise >> 40) % 10_000_000;
        let buffer = 0x7f00_0000_0000 + (step % 16).cast_signed() * BYTES;
        let message =
            |peer, request: i64| [buffer, BYTES / 8, 10, 8, 8, peer, request % 4, 0, request + 1];
        for (request, from) in (0..).zip(neighbours) {
            self.call("MPI_Irecv", 500_000, &message(from, request))?;
        }
        for (request, at) in (4..).zip([1, 0, 3, 2]) {
            self.call("MPI_Isend", 700_000, &message(neighbours[at], request))?;
        }
        let mut wait = vec![8];
        wait.extend(1..=8);
        wait.push(8);
        for (tag, from) in (0..).zip(neighbours) {
            wait.extend([from, tag, BYTES]);
        }
        wait.extend([0; 12]);
        self.call("MPI_Waitall", 12_000_000, &wait)?;
        if step.is_multiple_of(4) {
            self.call("MPI_Allreduce", 20_000_000, &[buffer, buffer + 8, 1, 10, 8, 8, 3, 0])?;
        }
        Ok(9 + u64::from(step.is_multiple_of(4)))
    }
}

fn write(folder: &Path, calls: u64, ranks: u32) -> Result<(), Box<dyn Error>> {
    fs::create_dir_all(folder)?;
    let rows = (1..=ranks.isqrt()).rfind(|rows| ranks.is_multiple_of(*rows)).unwrap_or(1);
    let columns = ranks / rows;
    for rank in 0..ranks {
        let header = Header { rank, ranks, ..Header::default() };
        let file = File::create(folder.join(format!("rank-{rank}.hdl")))?;
        let writer = Writer::new(file, &header)?;
        let mut one = Rank { writer, now: 0, noise: rank.into() };
        one.call("MPI_Init", 1_000_000, &[])?;
        let (row, column) = (rank / columns, rank % columns);
        let at = |row: u32, column: u32| i64::from(row % rows * columns + column % columns);
        let neighbours = [
            at(row, column + columns - 1),
            at(row, column + 1),
            at(row + rows - 1, column),
            at(row + 1, column),
        ];
        let (mut made, mut step) = (0, 0);
        while made < calls / u64::from(ranks) {
            made += one.step(neighbours, step)?;
            step += 1;
        }
        one.call("MPI_Finalize", 1_000_000, &[])?;
        one.writer.finish()?;
    }
    Ok(())
}

/// The most memory that this process has needed, in MB, as Linux says.
fn peak() -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kibibytes = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
    kibibytes.unwrap_or(f64::NAN) * 1024.0 / 1e6
}

/// CPU time of this thread so far, as Linux says; elsewhere the time since `start`. On a shared
/// machine they differ.
fn busy(start: Instant) -> Duration {
    let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = text.split_whitespace().next().and_then(|word| word.parse().ok());
    nanoseconds.map_or_else(|| start.elapsed(), Duration::from_nanos)
}

/// Reads and compiles the traces, or only reads them; gives how many calls there were.
fn measured(mode: Option<Mode>, traces: &Traces) -> Result<u64, Box<dyn Error>> {
    if let Some(mode) = mode {
        return Ok(compile(traces, &Options { mode, threads: 1, ..Options::default() })?.calls);
    }
    let (mut record, mut read) = (Record::default(), 0);
    for rank in 0..traces.ranks() {
        let mut stream = traces.open(rank)?;
        while stream.next(&mut record)? {
            read += 1;
        }
    }
    Ok(read)
}

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<_> = std::env::args().skip(1).collect();
    let words: Vec<_> = words.iter().map(String::as_str).collect();
    let (mode, folder) = match words[..] {
        ["write", folder, calls, ranks] => {
            return write(folder.as_ref(), calls.parse()?, ranks.parse()?);
        }
        ["read", folder] => (None, folder),
        ["gaps", folder] => (Some(Mode::Gaps), folder),
        ["durations", folder] => (Some(Mode::Durations), folder),
        ["aligned", folder] => (Some(Mode::Aligned), folder),
        _ => return Err("write FOLDER CALLS RANKS, or read|gaps|durations|aligned FOLDER".into()),
    };
    let traces = Traces::find(folder.as_ref())?;
    let start = Instant::now();
    let before = busy(start);
    let calls = measured(mode, &traces)?;
    let took = busy(start).saturating_sub(before).as_secs_f64();
    println!("{:.2} {:.0}", calls as f64 / took / 1e6, peak());
    Ok(())
}
