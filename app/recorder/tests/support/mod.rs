//! Running test programs under the recorder and reading what it wrote.

mod programs;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

pub use programs::{Mpi, libraries};
use traces::definitions::Group;
use traces::format::Reader;
use traces::record::Record;

/// A call as the trace has it.
pub struct Call {
    pub name: String,
    pub thread: u32,
    /// Picoseconds.
    pub enter: u64,
    pub leave: u64,
    pub values: Vec<i64>,
}

/// A trace, read.
pub struct Trace {
    pub path: PathBuf,
    pub ranks: u32,
    pub calls: Vec<Call>,
    pub warning: Option<String>,
    /// Communicators and their local groups.
    pub communicators: Vec<(i64, Vec<u32>)>,
    /// Measured offsets of rank 0's clock, in nanoseconds.
    pub offsets: Vec<i64>,
}

impl Trace {
    fn read(path: &Path) -> Self {
        let mut reader = Reader::new(File::open(path).expect("a trace")).expect("a header");
        let mut record = Record::default();
        let mut calls = Vec::new();
        while reader.next(&mut record).expect("a readable file") {
            let name = record.call().map_or_else(
                || reader.definitions().names.get(&record.id).cloned().unwrap_or_default(),
                |call| call.name.to_owned(),
            );
            let Record { thread, enter, leave, ref values, .. } = record;
            calls.push(Call { name, thread, enter, leave, values: values.clone() });
        }
        let members = |group: &Group| {
            (0..group.len()).filter_map(|index| group.rank(index)).collect::<Vec<_>>()
        };
        let definitions = reader.definitions();
        Self {
            path: path.to_owned(),
            ranks: reader.header().ranks,
            warning: reader.warning().map(|warning| warning.what.to_string()),
            communicators: definitions
                .communicators
                .iter()
                .map(|(number, communicator)| (*number, members(&communicator.local)))
                .collect(),
            offsets: definitions.offsets.iter().map(|offset| offset.nanoseconds).collect(),
            calls,
        }
    }

    /// The calls of a function, in order.
    pub fn named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Call> {
        self.calls.iter().filter(move |call| call.name == name)
    }
}

impl Mpi {
    /// Runs a program under the recorder; it must succeed.
    pub fn record(&self, name: &str, ranks: u32, arguments: &[&str]) -> Vec<Trace> {
        let (traces, status) = self.record_with(name, ranks, arguments, &[]);
        assert!(status.success(), "{name} under {}: {status}", self.kind);
        traces
    }

    /// Runs a program under the recorder, however it ends.
    pub fn record_to_the_end(
        &self,
        name: &str,
        ranks: u32,
        arguments: &[&str],
    ) -> (Vec<Trace>, ExitStatus) {
        self.record_with(name, ranks, arguments, &[])
    }

    /// Records a program with further variables of its environment.
    pub fn record_with(
        &self,
        name: &str,
        ranks: u32,
        arguments: &[&str],
        variables: &[(&str, &str)],
    ) -> (Vec<Trace>, ExitStatus) {
        let (traces, status) = self.traces(name, ranks, arguments, variables);
        (read(&traces, ranks), status)
    }
}

/// Reads the traces of so many ranks in a folder.
pub fn read(folder: &Path, ranks: u32) -> Vec<Trace> {
    (0..ranks).map(|rank| Trace::read(&folder.join(format!("rank-{rank}.hdl")))).collect()
}
