//! Runs made here, written as traces; their schedules simulated with LogGOPS parameters of 0 but
//! for the latency, so that times can be told by hand.

use std::fs::File;
use std::path::PathBuf;

use calls::{Neighbours, Table};
use host::{Settings, simulate};
use kernel::Silent;
use loggops::{Costs, Inject, Parameters};
use schedule::{Kind, Program};
use traces::compile;
use traces::definitions::{Communicator, Group};
use traces::format::{Header, Writer};
use traces::options::Options;
use traces::record::Record;
use traces::source::Traces;
use units::{Time, TimePerByte};

/// A call: name, enter and return in microseconds, values.
pub type Call = (&'static str, u64, u64, Vec<i64>);

/// Writes a run into a folder of its own.
pub fn run(name: &str, ranks: &[Vec<Call>], communicators: &[(i64, Vec<u32>)]) -> Traces {
    write(name, ranks, &|rank, writer| {
        for (id, members) in communicators {
            if let Some(me) = members.iter().position(|member| *member == rank) {
                let local = Group::Ranks(members.clone());
                writer.communicator(*id, &Communicator { local, remote: None, me: me as u32 });
            }
        }
    })
}

/// Writes a run in which `define` writes each rank's definitions.
pub fn write(name: &str, ranks: &[Vec<Call>], define: &dyn Fn(u32, &mut Writer<File>)) -> Traces {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    for (rank, calls) in (0..).zip(ranks) {
        let header = Header { rank, ranks: ranks.len() as u32, ..Header::default() };
        let file = File::create(folder.join(format!("rank-{rank}.hdl"))).unwrap();
        let mut writer = Writer::new(file, &header).unwrap();
        define(rank, &mut writer);
        for (name, enter, leave, values) in calls {
            // What the table does not list is named like this.
            let known = Table::get().by_name(name);
            let id = known.map_or(1024, |call| call.id);
            if known.is_none() {
                writer.name(id, name);
            }
            let (enter, leave, values) = (enter * 1_000_000, leave * 1_000_000, values.clone());
            writer.call(&Record { id, thread: 0, enter, leave, values }).unwrap();
        }
        writer.finish().unwrap();
    }
    Traces::find(&folder).unwrap()
}

/// Calls between MPI_Init's return at 0 and MPI_Finalize.
pub fn program(calls: Vec<Call>, end: u64) -> Vec<Call> {
    let mut all = vec![("MPI_Init", 0, 0, vec![])];
    all.extend(calls);
    all.push(("MPI_Finalize", end, end, vec![]));
    all
}

/// The time when each rank ends, in microseconds, if a message takes 1 us and nothing else
/// anything.
pub fn finish(traces: &Traces, options: &Options) -> Vec<u64> {
    let zero = TimePerByte::ZERO;
    let costs = Costs {
        latency: Time::from_ps(1_000_000),
        send_overhead: Time::ZERO,
        receive_overhead: Time::ZERO,
        gap: Time::ZERO,
        gap_per_byte: zero,
        send_overhead_per_byte: zero,
        receive_overhead_per_byte: zero,
    };
    let parameters = Parameters {
        small: costs,
        large: costs,
        eager_limit: u64::MAX,
        inject: Inject::End,
        ..Parameters::default()
    };
    let settings = Settings { parameters, time_unit: Time::from_ps(1), ..Settings::default() };
    let compiled = compile(traces, options).unwrap_or_else(|error| panic!("{error}"));
    let (outcome, _) = simulate(&compiled.image, &settings, || Silent).expect("it runs");
    assert!(outcome.deadlock.is_none(), "{:?}", outcome.deadlock);
    outcome.ranks.iter().map(|rank| rank.finish.ps() / 1_000_000).collect()
}

pub const INT: [i64; 3] = [1, 4, 4];

/// Address 0, a count of integers, and what follows.
pub fn buffer(count: i64, rest: &[i64]) -> Vec<i64> {
    [&[0, count], &INT[..], rest].concat()
}

/// The messages of a rank, in the order in which it posts them: kind, peer, bytes.
pub fn messages(traces: &Traces, rank: u32) -> Vec<(Kind, u32, u64)> {
    let image =
        compile(traces, &Options::default()).unwrap_or_else(|error| panic!("{error}")).image;
    let ops = (0..image.ops(rank)).map(|index| image.op(rank, index));
    ops.filter(|op| op.kind != Kind::Calc).map(|op| (op.kind, op.peer, op.size)).collect()
}

/// The groups of an intercommunicator and neighbours in a communicator.
pub fn between(local: &[u32], remote: &[u32], me: u32) -> Communicator {
    let group = |ranks: &[u32]| Group::Ranks(ranks.to_vec());
    Communicator { local: group(local), remote: Some(group(remote)), me }
}

/// The neighbours of a rank: those that send to it, and those that it sends to.
pub fn neighbours(sources: &[i64], destinations: &[i64]) -> Neighbours {
    Neighbours { sources: sources.to_vec(), destinations: destinations.to_vec() }
}
