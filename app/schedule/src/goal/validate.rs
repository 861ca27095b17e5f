//! Validation of the binary form, in one pass over the file.
//!
//! Exactly those images pass that [`super::write_binary`] would write for the same program, except
//! that the header may name a higher CPU or interface than the operations use.

use super::format::{
    BASE, BLOB_HEADER, HEADER, List, MAGIC, MAGIC_CONSUMED, NODE, Node, SPAN, WORD, Waits, code,
    u32_at, u64_at, words,
};
use super::image::Blob;
use crate::{ANY, Kind};

/// The reason why bytes are not a binary GOAL file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "byte {offset}{}: {problem}",
    rank.map(|rank| format!(" (rank {rank})")).unwrap_or_default()
)]
pub struct BinaryError {
    /// The position of the mistake, in bytes from the start of the file.
    pub offset: u64,
    /// The rank whose part this is.
    pub rank: Option<u32>,
    /// The mistake at that position.
    pub problem: Problem,
}

/// The mistakes that a binary GOAL file can have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// The first eight bytes are no magic number.
    #[error("not a binary GOAL file: it starts with {0}, expected the magic number 4223")]
    Magic(u64),
    /// The file was used up by another simulator.
    #[error(
        "the file was invalidated by a run of LogGOPSim with --save-mem (magic number 2342); \
         convert the text again"
    )]
    Consumed,
    /// The file is too short.
    #[error("the file ends here, inside {part}, which reaches to byte {end}")]
    Truncated {
        /// The part that is cut.
        part: &'static str,
        /// The position where it would end.
        end: u64,
    },
    /// A field that has only one valid value has another.
    #[error("{field} is {found}, expected {expected}")]
    Value {
        /// The name of the value.
        field: &'static str,
        /// The value in the file.
        found: u64,
        /// The value that it should be.
        expected: u64,
    },
    /// A field exceeds its range.
    #[error("{field} is {found}, expected at most {highest}")]
    Range {
        /// The name of the value.
        field: &'static str,
        /// The value in the file.
        found: u64,
        /// The highest valid value.
        highest: u64,
    },
    /// The file has no ranks.
    #[error("the number of ranks is 0, expected at least 1")]
    NoRanks,
    /// The sizes of a rank's part contradict each other.
    #[error(
        "a part of {length} bytes cannot hold {ops} operations and {roots} roots with a whole \
         number of dependents"
    )]
    Length {
        /// Bytes according to the table.
        length: u64,
        /// Operations according to the part.
        ops: u32,
        /// Roots according to the part.
        roots: u32,
    },
    /// An operation has an unknown type.
    #[error("the type of operation {op} is {found}, expected 1 (send), 2 (recv) or 3 (calc)")]
    Kind {
        /// The index of the node.
        op: u32,
        /// The type of the node.
        found: u8,
    },
    /// An operation without dependencies is not in the list of roots, or another one is.
    #[error("the list of roots does not have operation {op} where it belongs")]
    Root {
        /// The first operation concerned.
        op: u32,
    },
    /// The number of dependencies of an operation contradicts the lists of dependents.
    #[error("operation {op} counts {declared} dependencies, but {arriving} refer to it")]
    Dependencies {
        /// The index of the node.
        op: u32,
        /// According to the operation.
        declared: u32,
        /// According to the lists.
        arriving: u32,
    },
}

/// Checks everything; returns where the ranks' parts lie.
pub(super) fn validate(bytes: &[u8]) -> Result<(Vec<Blob>, Waits), BinaryError> {
    let ranks = header(bytes)?;
    let table = HEADER + SPAN * ranks as usize;
    let mut validator = Validator {
        bytes,
        ranks,
        highest_cpu: bytes[BASE + WORD],
        highest_nic: bytes[BASE + WORD + 1],
        rank: 0,
        waits: Waits::default(),
        pending: Vec::new(),
    };
    let mut start = table as u64;
    let mut blobs = Vec::with_capacity(ranks as usize);
    for rank in 0..ranks {
        validator.rank = rank;
        let (blob, end) = validator.blob(start)?;
        blobs.push(blob);
        start = end;
    }
    if start < bytes.len() as u64 {
        let problem = Problem::Value {
            field: "the length of the file",
            found: bytes.len() as u64,
            expected: start,
        };
        return Err(BinaryError { offset: start, rank: None, problem });
    }
    Ok((blobs, validator.waits))
}

/// Checks header and presence of the table; returns the number of ranks.
fn header(bytes: &[u8]) -> Result<u32, BinaryError> {
    let fail = |offset: usize, problem| BinaryError { offset: offset as u64, rank: None, problem };
    let truncated = |part, end| fail(bytes.len(), Problem::Truncated { part, end });
    let magic = u64_at(bytes, 0).ok_or_else(|| truncated("the magic number", BASE as u64))?;
    match magic {
        MAGIC => {}
        MAGIC_CONSUMED => return Err(fail(0, Problem::Consumed)),
        _ => return Err(fail(0, Problem::Magic(magic))),
    }
    if bytes.len() < HEADER {
        return Err(truncated("the header", HEADER as u64));
    }
    let ranks = u32_at(bytes, BASE).unwrap_or(0);
    if ranks == 0 {
        return Err(fail(BASE, Problem::NoRanks));
    }
    let table = HEADER as u64 + SPAN as u64 * u64::from(ranks);
    if (bytes.len() as u64) < table {
        return Err(truncated("the table of ranks", table));
    }
    Ok(ranks)
}

struct Validator<'a> {
    bytes: &'a [u8],
    ranks: u32,
    highest_cpu: u8,
    highest_nic: u8,
    rank: u32,
    waits: Waits,
    /// Per operation: dependencies that it counts, less those that refer to it. A buffer.
    pending: Vec<u32>,
}

impl Validator<'_> {
    fn fail(&self, offset: usize, problem: Problem) -> BinaryError {
        BinaryError { offset: offset as u64, rank: Some(self.rank), problem }
    }

    /// Checks the part of the current rank, which must start at the byte `start`; returns where it
    /// lies and ends.
    fn blob(&mut self, start: u64) -> Result<(Blob, u64), BinaryError> {
        let (start, end) = self.span(start)?;
        let bytes = self.bytes.get(start..end).unwrap_or_default();
        let ops = u32_at(bytes, 0).unwrap_or(0);
        let roots = u32_at(bytes, WORD).unwrap_or(0);
        let appendix =
            BLOB_HEADER as u64 + WORD as u64 * u64::from(roots) + NODE as u64 * u64::from(ops);
        let length = bytes.len() as u64;
        if appendix > length || !(length - appendix).is_multiple_of(WORD as u64) {
            return Err(self.fail(start, Problem::Length { length, ops, roots }));
        }
        let nodes = BLOB_HEADER + WORD * roots as usize;
        let appendix = appendix as usize;
        self.part(&RankSection {
            start,
            roots: bytes.get(BLOB_HEADER..nodes).unwrap_or_default(),
            nodes_start: start + nodes,
            nodes: bytes.get(nodes..appendix).unwrap_or_default().as_chunks().0,
            appendix_start: start + appendix,
            appendix: bytes.get(appendix..).unwrap_or_default(),
        })?;
        Ok((Blob { nodes: (start + nodes) as u64, ops, roots }, end as u64))
    }

    /// Returns where the current rank's part starts and ends according to the table.
    fn span(&self, expected: u64) -> Result<(usize, usize), BinaryError> {
        let entry = HEADER + SPAN * self.rank as usize;
        let absolute = |at| u64_at(self.bytes, at).unwrap_or(0).saturating_add(BASE as u64);
        let (start, end) = (absolute(entry), absolute(entry + 8));
        if start != expected {
            let (found, expected) = (start - BASE as u64, expected - BASE as u64);
            let field = "the start of the rank's part";
            return Err(self.fail(entry, Problem::Value { field, found, expected }));
        }
        let length = self.bytes.len() as u64;
        let least = start + BLOB_HEADER as u64;
        if end < least {
            if length < least {
                return Err(self.truncated(least));
            }
            let found = end.saturating_sub(start);
            return Err(self.fail(entry + 8, Problem::Length { length: found, ops: 0, roots: 0 }));
        }
        if length < end {
            return Err(self.truncated(end));
        }
        Ok((start as usize, end as usize))
    }

    fn truncated(&self, end: u64) -> BinaryError {
        self.fail(self.bytes.len(), Problem::Truncated { part: "the rank's part", end })
    }

    /// Checks roots, nodes and appendix of a part.
    fn part(&mut self, part: &RankSection) -> Result<(), BinaryError> {
        let mut pending = std::mem::take(&mut self.pending);
        if pending.len() < part.nodes.len() {
            pending.resize(part.nodes.len(), 0);
        }
        let counts = pending.get_mut(..part.nodes.len()).unwrap_or_default();
        self.waits.add(self.nodes(part, counts)?);
        for (place, target) in words(part.appendix).enumerate() {
            let Some(count) = counts.get_mut(target as usize) else {
                let highest = (part.nodes.len() as u64).saturating_sub(1);
                let (field, found) = ("a dependent", u64::from(target));
                let at = part.appendix_start + WORD * place;
                return Err(self.fail(at, Problem::Range { field, found, highest }));
            };
            *count = count.wrapping_sub(1);
        }
        if let Some(op) = counts.iter().position(|count| *count != 0) {
            return Err(self.miscounted(part, op, counts));
        }
        self.pending = pending;
        Ok(())
    }

    /// Checks roots and nodes, and counts the dependencies.
    fn nodes(&self, part: &RankSection, counts: &mut [u32]) -> Result<Waits, BinaryError> {
        let mut roots = words(part.roots);
        let total = (part.appendix.len() / WORD) as u64;
        let (mut listed, mut waits) = (0, Waits::default());
        for ((op, node), count) in (0_u32..).zip(part.nodes).zip(counts) {
            let node = Node::decode(node);
            if node.dependencies == 0 && roots.next() != Some(op) {
                return Err(self.fail(part.start + BLOB_HEADER, Problem::Root { op }));
            }
            *count = node.dependencies;
            self.node(&node, op, listed, total)
                .map_err(|(field, problem)| self.fail(part.node_at(op) + field, problem))?;
            listed += u64::from(node.done.count) + u64::from(node.started.count);
            waits.add(Waits::of(&node));
        }
        if let Some(op) = roots.next() {
            return Err(self.fail(part.start + BLOB_HEADER, Problem::Root { op }));
        }
        if listed != total {
            let field = "the length of the appendix, in dependents,";
            let problem = Problem::Value { field, found: total, expected: listed };
            return Err(self.fail(part.appendix_start, problem));
        }
        Ok(waits)
    }

    #[cold]
    fn miscounted(&self, part: &RankSection, op: usize, counts: &[u32]) -> BinaryError {
        let declared = part.nodes.get(op).map_or(0, |node| Node::decode(node).dependencies);
        let arriving = declared.wrapping_sub(counts.get(op).copied().unwrap_or(0));
        let op = op as u32;
        self.fail(part.node_at(op), Problem::Dependencies { op, declared, arriving })
    }

    /// Checks the fields of one node. `listed` dependents are listed before it, of `total`. The
    /// error says at which byte of the node it is.
    #[inline]
    fn node(&self, node: &Node, op: u32, listed: u64, total: u64) -> Result<(), (usize, Problem)> {
        let done = u64::from(node.done.first) == listed;
        let middle = listed + u64::from(node.done.count);
        let started = u64::from(node.started.first) == middle;
        let fits = middle + u64::from(node.started.count) <= total;
        let resources = node.cpu <= self.highest_cpu && node.nic <= self.highest_nic;
        let peer = match node.kind {
            1 => node.peer < self.ranks,
            2 => node.peer < self.ranks || node.peer == ANY,
            3 => node.peer | node.tag | u32::from(node.nic) == 0,
            _ => false,
        };
        if done && started && fits && resources && peer {
            return Ok(());
        }
        Err(self.explain(node, op, listed, total))
    }

    /// Returns what is wrong with a node, and at which byte of it.
    #[cold]
    fn explain(&self, node: &Node, op: u32, listed: u64, total: u64) -> (usize, Problem) {
        let kind = (4, Problem::Kind { op, found: node.kind });
        if !(1..=3).contains(&node.kind) {
            return kind;
        }
        self.explain_fields(node)
            .or_else(|| explain_list(23, node.done, listed, total))
            .or_else(|| explain_list(31, node.started, listed + u64::from(node.done.count), total))
            .unwrap_or(kind)
    }

    fn explain_fields(&self, node: &Node) -> Option<(usize, Problem)> {
        let calc = node.kind == code(Kind::Calc);
        let any = node.kind == code(Kind::Recv) && node.peer == ANY;
        let highest = |highest: u32| if calc { 0 } else { u64::from(highest) };
        let peers = if any { ANY } else { self.ranks - 1 };
        let nics = u32::from(self.highest_nic);
        let names = if calc {
            [
                "the peer of a computation",
                "the tag of a computation",
                "the interface of a computation",
            ]
        } else {
            ["the peer", "the tag", "the interface"]
        };
        let fields = [
            (5, names[0], node.peer, highest(peers)),
            (17, names[1], node.tag, highest(ANY)),
            (21, "the CPU", u32::from(node.cpu), u64::from(self.highest_cpu)),
            (22, names[2], u32::from(node.nic), highest(nics)),
        ];
        let wrong = fields.into_iter().find(|(_, _, found, highest)| u64::from(*found) > *highest);
        wrong.map(|(at, field, found, highest)| {
            (at, Problem::Range { field, found: u64::from(found), highest })
        })
    }
}

/// Returns what is wrong with a list of dependents at byte `at` of its node, if `before` of `total`
/// are listed before it.
#[cold]
fn explain_list(at: usize, list: List, before: u64, total: u64) -> Option<(usize, Problem)> {
    let (first, count) = (u64::from(list.first), u64::from(list.count));
    if first != before {
        let field = "the index of the list of dependents";
        return Some((at + WORD, Problem::Value { field, found: first, expected: before }));
    }
    let highest = total.saturating_sub(before);
    let field = "the number of dependents";
    (count > highest).then_some((at, Problem::Range { field, found: count, highest }))
}

/// A rank's part of the file.
struct RankSection<'a> {
    /// The position of its first byte.
    start: usize,
    roots: &'a [u8],
    nodes_start: usize,
    nodes: &'a [[u8; NODE]],
    appendix_start: usize,
    appendix: &'a [u8],
}

impl RankSection<'_> {
    const fn node_at(&self, op: u32) -> usize {
        self.nodes_start + NODE * op as usize
    }
}
