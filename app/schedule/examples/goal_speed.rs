//! Measures how fast GOAL files are read and written, on a dissemination pattern.
//!
//! `cargo run --release -p heddle-schedule --example goal_speed [RANKS]`

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::hint::black_box;
use std::time::Instant;

use schedule::goal::{Image, check, write_binary, write_text};
use schedule::{Edge, Program};

fn main() -> Result<(), Box<dyn Error>> {
    let ranks = std::env::args().nth(1).map_or(Ok(131_072), |ranks| ranks.parse())?;
    let text = dissemination(ranks)?;
    let (image, _) = timed("text to binary", text.len(), || Image::from_text(text.as_bytes()))
        .map_err(|errors| errors[0].to_string())?;
    drop(text);
    let size = image.bytes().len();
    let path = std::env::temp_dir().join(format!("heddle-goal-speed-{}.bin", std::process::id()));
    timed("binary to file", size, || {
        write_binary(&image, &mut fs::File::create(&path).map(std::io::BufWriter::new)?)
    })?;
    drop(image);
    let image = timed("open and validate", size, || Image::open(&path))?;
    fs::remove_file(&path)?;
    let mut text = Vec::new();
    timed("binary to text", size, || write_text(&image, &mut text))?;
    drop(text);
    timed("walk", size, || walk(&image));
    timed("roots", size, || roots(&image));
    timed("check", size, || check(&image));
    println!("{:<20}{:>10.1} MB", "peak memory", peak_megabytes().unwrap_or(f64::NAN));
    Ok(())
}

/// A text in the form that generators write.
fn dissemination(ranks: u64) -> Result<String, std::fmt::Error> {
    let mut text = format!("num_ranks {ranks}\n");
    for rank in 0..ranks {
        write!(text, "\nrank {rank} {{\n")?;
        let distances = (0..).map(|round| 1 << round).take_while(|distance| *distance < ranks);
        for (round, distance) in (0_u64..).zip(distances) {
            let (send, receive) = (2 * round + 1, 2 * round + 2);
            writeln!(text, "l{send}: send 15b to {} tag 0", (rank + distance) % ranks)?;
            if round > 0 {
                writeln!(text, "l{send} requires l{}", send - 1)?;
            }
            let source = (rank + ranks - distance) % ranks;
            writeln!(text, "l{receive}: recv 15b from {source} tag 0")?;
        }
        text.push_str("}\n");
    }
    Ok(text)
}

/// Asks for everything as an executor would.
fn walk(image: &Image) -> u64 {
    let mut sum = 0;
    for rank in 0..image.ranks() {
        for index in 0..image.ops(rank) {
            sum += black_box(image.op(rank, index)).size;
            sum += u64::from(image.dependencies(rank, index));
            image.dependents(rank, index, Edge::Done, &mut |op| sum += u64::from(op));
        }
    }
    sum
}

fn roots(image: &Image) -> u64 {
    let mut sum = 0;
    for rank in 0..image.ranks() {
        image.roots(rank, &mut |run| sum += u64::from(run.count));
    }
    sum
}

fn timed<T>(what: &str, bytes: usize, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = black_box(work());
    let seconds = start.elapsed().as_secs_f64();
    let megabytes = bytes as f64 / 1e6;
    println!(
        "{what:<20}{:>10.1} ms{megabytes:>10.1} MB{:>10.0} MB/s",
        seconds * 1e3,
        megabytes / seconds
    );
    result
}

/// Peak resident memory of this process, where the system tells.
fn peak_megabytes() -> Option<f64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: f64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kilobytes / 1e3)
}
