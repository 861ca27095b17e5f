//! Writing programs as GOAL files. Memory grows with the largest rank; for the binary form come
//! eight bytes per rank.

use std::io::{self, Write};

use super::format::{BASE, BLOB_HEADER, HEADER, MAGIC, NODE, SPAN, WORD};
use super::rank::Rank;
use crate::{ANY, Edge, Kind, Op, Program};

/// Writes the binary form. The program is walked twice, first to learn the sizes, so that `out`
/// need not be a file. Fails with [`io::ErrorKind::InvalidInput`] if the program has more CPUs or
/// interfaces than the form can name (256), or contradicts itself.
pub fn write_binary(program: &impl Program, out: &mut impl Write) -> io::Result<()> {
    let highest = |count: u32, what| {
        let index = u8::try_from(count.saturating_sub(1));
        index.map_err(|_| invalid(format!("{count} {what} per rank; a GOAL file can name 256")))
    };
    let resources = [highest(program.cpus(), "CPUs")?, highest(program.nics(), "interfaces")?];
    let lengths: Vec<u64> = (0..program.ranks()).map(|rank| length(program, rank)).collect();
    out.write_all(&MAGIC.to_le_bytes())?;
    out.write_all(&program.ranks().to_le_bytes())?;
    out.write_all(&resources)?;
    let mut start = (HEADER - BASE + SPAN * lengths.len()) as u64;
    for length in &lengths {
        out.write_all(&start.to_le_bytes())?;
        start += length;
        out.write_all(&start.to_le_bytes())?;
    }
    let mut graph = Rank::default();
    let mut part = Vec::new();
    for (rank, length) in (0..).zip(&lengths) {
        graph.load(program, rank);
        part.clear();
        graph.encode(&mut part);
        if part.len() as u64 != *length {
            return Err(invalid(format!("rank {rank} has not as many dependents as dependencies")));
        }
        out.write_all(&part)?;
    }
    out.flush()
}

fn invalid(message: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, message)
}

/// Bytes of a rank's part.
fn length(program: &impl Program, rank: u32) -> u64 {
    let ops = program.ops(rank);
    let (mut roots, mut edges) = (0, 0);
    for op in 0..ops {
        let dependencies = program.dependencies(rank, op);
        roots += u64::from(dependencies == 0);
        edges += u64::from(dependencies);
    }
    BLOB_HEADER as u64 + NODE as u64 * u64::from(ops) + WORD as u64 * (roots + edges)
}

/// Writes the text form. Read back, it gives the same program, and the same bytes in binary form.
/// The labels are `l1`, `l2`, … in each rank.
pub fn write_text(program: &impl Program, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "num_ranks {}", program.ranks())?;
    let mut graph = Rank::default();
    let mut lines = Lines::default();
    let mut text = Vec::new();
    for rank in 0..program.ranks() {
        graph.load(program, rank);
        lines.arrange(&graph)?;
        text.clear();
        writeln!(text, "\nrank {rank} {{")?;
        for (index, op) in (0..).zip(&graph.ops) {
            write_op(&mut text, index, op);
            lines.write(&mut text, index);
        }
        text.extend_from_slice(b"}\n");
        out.write_all(&text)?;
    }
    out.flush()
}

/// The dependency lines of a rank, each behind the operation that makes it possible.
///
/// The binary form lists, for each operation, those that wait for it in the order of the lines. A
/// line may come when both its operations and the line before it in that list have been written:
/// behind the operation with the highest index of those three. That puts nearly all lines where
/// people and generators put them, and reading them back yields the same lists.
#[derive(Default)]
struct Lines {
    /// Per operation, where its lines end in `sorted`.
    ends: Vec<usize>,
    sorted: Vec<(u32, Edge, u32)>,
}

impl Lines {
    fn arrange(&mut self, graph: &Rank) -> io::Result<()> {
        let ops = graph.ops.len();
        self.ends.clear();
        self.ends.resize(ops + 1, 0);
        let mut valid = true;
        places(graph, |place, _| match self.ends.get_mut(place as usize + 1) {
            Some(count) => *count += 1,
            None => valid = false,
        });
        if !valid {
            return Err(invalid("an operation that does not exist waits for another".into()));
        }
        for index in 0..ops {
            self.ends[index + 1] += self.ends[index];
        }
        self.sorted.resize(graph.appendix.len(), (0, Edge::Done, 0));
        places(graph, |place, line| {
            let slot = &mut self.ends[place as usize];
            self.sorted[*slot] = line;
            *slot += 1;
        });
        Ok(())
    }

    fn write(&self, text: &mut Vec<u8>, index: usize) {
        let start = index.checked_sub(1).map_or(0, |previous| self.ends[previous]);
        for (before, edge, after) in &self.sorted[start..self.ends[index]] {
            write_label(text, *after);
            text.extend_from_slice(match edge {
                Edge::Done => b" requires ".as_slice(),
                Edge::Started => b" irequires ",
            });
            write_label(text, *before);
            text.push(b'\n');
        }
    }
}

/// Calls `each` with every line and the operation behind which it comes.
fn places(graph: &Rank, mut each: impl FnMut(u32, (u32, Edge, u32))) {
    let mut list = None;
    let mut place = 0;
    graph.edges(|before, edge, after| {
        if list != Some((before, edge)) {
            list = Some((before, edge));
            place = before;
        }
        place = place.max(after);
        each(place, (before, edge, after));
    });
}

fn write_op(text: &mut Vec<u8>, index: usize, op: &Op) {
    write_label(text, index as u32);
    let (name, preposition): (&[u8], &[u8]) = match op.kind {
        Kind::Calc => (b": calc ", b""),
        Kind::Send => (b": send ", b"b to "),
        Kind::Recv => (b": recv ", b"b from "),
    };
    text.extend_from_slice(name);
    write_number(text, op.size);
    text.extend_from_slice(preposition);
    if op.kind != Kind::Calc {
        write_id(text, op.peer);
        if op.tag != 0 {
            text.extend_from_slice(b" tag ");
            write_id(text, op.tag);
        }
    }
    if op.cpu != 0 {
        text.extend_from_slice(b" cpu ");
        write_number(text, u64::from(op.cpu));
    }
    if op.nic != 0 && op.kind != Kind::Calc {
        text.extend_from_slice(b" nic ");
        write_number(text, u64::from(op.nic));
    }
    text.push(b'\n');
}

fn write_label(text: &mut Vec<u8>, index: u32) {
    text.push(b'l');
    write_number(text, u64::from(index) + 1);
}

/// A rank or a tag.
fn write_id(text: &mut Vec<u8>, id: u32) {
    if id == ANY {
        text.extend_from_slice(b"-1");
    } else {
        write_number(text, u64::from(id));
    }
}

fn write_number(text: &mut Vec<u8>, mut number: u64) {
    let mut digits = [0; 20];
    let mut first = digits.len();
    loop {
        first -= 1;
        digits[first] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    text.extend_from_slice(&digits[first..]);
}
