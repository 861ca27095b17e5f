//! How fast traces are read and compiled: 10 million calls (or as many as the argument says) of a ring exchange
//! among four ranks, in our format. Prints calls per second and core, and the memory that was needed at most.

use std::error::Error;
use std::fs::{self, File};
use std::time::{Duration, Instant};

use traces::compile;
use traces::format::table::Table;
use traces::format::{Header, Writer};
use traces::options::{Mode, Options};
use traces::record::Record;
use traces::source::Traces;

const RANKS: u32 = 4;

fn write(folder: &std::path::Path, calls: u64) -> Result<(), Box<dyn Error>> {
    fs::create_dir_all(folder)?;
    for rank in 0..RANKS {
        let header = Header { rank, ranks: RANKS, ..Header::default() };
        let mut writer =
            Writer::new(File::create(folder.join(format!("rank-{rank}.hdl")))?, &header)?;
        let mut now = 0;
        let mut call = |name: &str, values: &[i64]| -> Result<(), Box<dyn Error>> {
            let id = Table::get().by_name(name).ok_or("no such call")?.id;
            now += 5_000_000;
            let (enter, leave) = (now, now + 1_000_000);
            now = leave;
            Ok(writer.call(&Record { id, thread: 0, enter, leave, values: values.to_vec() })?)
        };
        call("MPI_Init", &[])?;
        let (left, right) = ((rank + RANKS - 1) % RANKS, (rank + 1) % RANKS);
        for step in 0..calls / u64::from(RANKS) / 4 {
            let address = 0x7f00_0000_0000 + (step % 16).cast_signed() * 4096;
            call("MPI_Irecv", &[address, 512, 10, 8, 8, i64::from(left), 3, 0, 1])?;
            call("MPI_Send", &[address, 512, 10, 8, 8, i64::from(right), 3, 0])?;
            call("MPI_Wait", &[1, i64::from(left), 3, 4096])?;
            call("MPI_Allreduce", &[address, address, 1, 10, 8, 8, 3, 0])?;
        }
        call("MPI_Finalize", &[])?;
        writer.finish()?;
    }
    Ok(())
}

/// The most memory that this process has needed, as Linux says.
fn peak() -> String {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.map_or_else(|| "unknown".to_owned(), |line| line.trim().to_owned())
}

/// CPU time of this thread so far, as Linux says; elsewhere the time since `start`. On a shared machine they differ.
fn busy(start: Instant) -> Duration {
    let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = text.split_whitespace().next().and_then(|word| word.parse().ok());
    nanoseconds.map_or_else(|| start.elapsed(), Duration::from_nanos)
}

fn main() -> Result<(), Box<dyn Error>> {
    let calls = std::env::args().nth(1).map_or(Ok(10_000_000), |word| word.parse())?;
    let folder = std::env::temp_dir().join(format!("heddle-trace-speed-{}", std::process::id()));
    write(&folder, calls)?;
    println!("written; at most {}", peak());
    let traces = Traces::find(&folder)?;
    let start = Instant::now();
    let before = busy(start);
    let mut record = Record::default();
    let mut read = 0_u64;
    for rank in 0..traces.ranks() {
        let mut stream = traces.open(rank)?;
        while stream.next(&mut record)? {
            read += 1;
        }
    }
    let took = busy(start).saturating_sub(before).as_secs_f64();
    println!("reading: {:.2} M calls/s on one core; at most {}", read as f64 / took / 1e6, peak());
    for mode in [Mode::Gaps, Mode::Aligned] {
        let before = busy(start);
        let compiled = compile(&traces, &Options { mode, threads: 1, ..Options::default() })?;
        let took = busy(start).saturating_sub(before).as_secs_f64();
        let rate = compiled.calls as f64 / took / 1e6;
        let size = compiled.image.bytes().len() as f64 / 1e6;
        println!(
            "{mode:?}: {rate:.2} M calls/s on one core; schedule {size:.0} MB; at most {}",
            peak()
        );
    }
    fs::remove_dir_all(&folder)?;
    Ok(())
}
