//! Collectives of time-independent traces.

use calls::{Call, Field, Table};

use super::IndependentReader;
use super::words::{Fault, Words};
use crate::record::{Record, WORLD};

/// The tags by which SMPI's traces name the requests of non-blocking collectives.
///
/// Source: traces that SimGrid 3.32 writes.
const TAGS: [(&str, i64); 15] = [
    ("barrier", -779),
    ("bcast", -3335),
    ("allreduce", -4446),
    ("reduce", -113),
    ("alltoall", -1113),
    ("allgather", -557),
    ("allgatherv", -668),
    ("gather", -446),
    ("gatherv", -2224),
    ("scatter", -224),
    ("scatterv", -335),
    ("alltoallv", -1001),
    ("scan", -889),
    ("exscan", -889),
    ("reducescatter", -890),
];

impl<R> IndependentReader<R> {
    /// Reads the arguments of a collective, of which `after` are operations that follow it, and
    /// returns the name of its call.
    // Long because it is a list of actions.
    pub(super) fn collective(
        &mut self,
        action: &str,
        words: &mut Words,
        record: &mut Record,
        after: &mut f64,
    ) -> Result<&'static str, Fault> {
        let unknown = || (1, format!("unknown action `{action}`"));
        let is_known = |base: &str| TAGS.iter().any(|(name, _)| *name == base);
        let (base, immediate) = match action.strip_prefix('i') {
            Some(base) if is_known(base) => (base, true),
            _ => (action, false),
        };
        let values = &mut record.values;
        let ranks = self.ranks;
        match base {
            "barrier" => {}
            "bcast" => {
                let count = words.count()?;
                let (root, datatype) = (words.root()?, words.datatype()?);
                values.extend(block(count, datatype));
                values.push(root);
            }
            "reduce" | "allreduce" | "scan" | "exscan" => {
                let count = words.count()?;
                *after = words.amount("a number of operations")?;
                let root = if base == "reduce" { Some(words.root()?) } else { None };
                let datatype = words.datatype()?;
                values.push(0);
                values.extend(block(count, datatype));
                values.push(3);
                values.extend(root);
            }
            "gather" | "scatter" | "allgather" | "alltoall" => {
                let counts = [words.count()?, words.count()?];
                let rooted = matches!(base, "gather" | "scatter");
                let root = if rooted { Some(words.root()?) } else { None };
                let datatypes = [words.datatype()?, words.datatype()?];
                values.extend(block(counts[0], datatypes[0]));
                values.extend(block(counts[1], datatypes[1]));
                values.extend(root);
            }
            "gatherv" | "allgatherv" => {
                let sent = words.count()?;
                let received = words.counts(ranks)?;
                let root = if base == "gatherv" { Some(words.root()?) } else { None };
                let datatypes = [words.datatype()?, words.datatype()?];
                if root.is_none() && words.more() >= ranks as usize {
                    // Where the blocks lie does not matter.
                    words.counts(ranks)?;
                }
                values.extend(block(sent, datatypes[0]));
                values.extend([0, i64::from(ranks)]);
                values.extend(received);
                values.extend(datatypes[1]);
                values.extend(root);
            }
            "scatterv" => {
                let sent = words.counts(ranks)?;
                let received = words.count()?;
                let (root, datatypes) = (words.root()?, [words.datatype()?, words.datatype()?]);
                values.extend([0, i64::from(ranks)]);
                values.extend(sent);
                values.extend(datatypes[0]);
                values.extend(block(received, datatypes[1]));
                values.push(root);
            }
            "reducescatter" => {
                let counts = words.counts(ranks)?;
                *after = words.amount("a number of operations")?;
                let datatype = words.datatype()?;
                values.extend([0, 0, i64::from(ranks)]);
                values.extend(counts);
                values.extend(datatype);
                values.push(3);
            }
            "alltoallv" => {
                words.number("the size of a buffer")?;
                let sent = words.counts(ranks)?;
                words.number("the size of a buffer")?;
                let received = words.counts(ranks)?;
                for counts in [sent, received] {
                    values.extend([0, i64::from(ranks)]);
                    values.extend(counts);
                    values.extend(words.datatype()?);
                }
            }
            "startall" => {
                let message = "`Startall` does not say which requests it starts; SMPI's replayer \
                               does not know it";
                return Err((1, message.to_owned()));
            }
            _ => return Err(unknown()),
        }
        values.push(WORLD);
        if immediate {
            let tag = TAGS.iter().find(|(name, _)| *name == base).map_or(0, |(_, tag)| *tag);
            record.values.push(self.requests.add_collective(tag));
        }
        let name = if base == "reducescatter" { "reduce_scatter" } else { base };
        let prefix = if immediate { "MPI_I" } else { "MPI_" };
        let is = |call: &&Call| {
            call.name.strip_prefix(prefix).is_some_and(|rest| rest.eq_ignore_ascii_case(name))
                && immediate == (call.fields.last() == Some(&Field::Request))
        };
        let call = Table::get().calls().iter().find(is);
        call.map(|call| call.name).ok_or_else(unknown)
    }
}

/// The fields of a buffer: address, count and datatype.
const fn block(count: i64, datatype: [i64; 3]) -> [i64; 5] {
    [0, count, datatype[0], datatype[1], datatype[2]]
}
