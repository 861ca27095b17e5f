//! The rarer forms of calls, one behaviour a test: a message takes 1 us and nothing else takes
//! time.

use crate::support::{
    Call, INT, between, buffer, finish, messages, neighbours, program, run, write,
};
use collectives::Algorithms;
use collectives::{Collective, Nodes};
use schedule::Kind::{Recv, Send};
use schedule::{Kind, Program};
use traces::compile;
use traces::definitions::{Communicator, Group};
use traces::options::{Mode, Options, Recorded};
use traces::source::Traces;
use units::TimePerByte;

const DOUBLE: [i64; 3] = [10, 8, 8];
const BYTE: [i64; 3] = [13, 1, 1];

/// One call per rank, at 1 us.
fn each(name: &str, call: &'static str, values: &[Vec<i64>]) -> Traces {
    let rank = |values: &Vec<i64>| program(vec![(call, 1, 1, values.clone())], 1);
    run(name, &values.iter().map(rank).collect::<Vec<_>>(), &[])
}

/// A list with its length.
fn list(items: &[i64]) -> Vec<i64> {
    [&[items.len().cast_signed() as i64], items].concat()
}

/// Address 0, counts, datatype integer.
fn parts(counts: &[i64]) -> Vec<i64> {
    [vec![0], list(counts), INT.to_vec()].concat()
}

fn errors(traces: &Traces) -> String {
    compile(traces, &Options::default()).unwrap_err().to_string()
}

/// Ranks 0, 1, 2 give 1, 2, 3 integers to rank 1.
#[test]
fn gatherv() {
    let rank = |count, counts: &[i64]| [buffer(count, &[]), parts(counts), vec![1, 0]].concat();
    let values = [rank(1, &[]), rank(2, &[1, 2, 3]), rank(3, &[])];
    let traces = each("gatherv", "MPI_Gatherv", &values);
    assert_eq!(messages(&traces, 0), [(Send, 1, 4)]);
    assert_eq!(messages(&traces, 1), [(Recv, 0, 4), (Recv, 2, 12)]);
    assert_eq!(messages(&traces, 2), [(Send, 1, 12)]);
    // The root has everything a microsecond later.
    assert_eq!(finish(&traces, &Options::default()), [1, 2, 1]);
}

/// Rank 2 gives 1, 0 and 3 integers; an empty message is one, too.
#[test]
fn scatterv() {
    let rank = |counts: &[i64], count| [parts(counts), buffer(count, &[]), vec![2, 0]].concat();
    let values = [rank(&[], 1), rank(&[], 0), rank(&[1, 0, 3], 3)];
    let traces = each("scatterv", "MPI_Scatterv", &values);
    assert_eq!(messages(&traces, 0), [(Recv, 2, 4)]);
    assert_eq!(messages(&traces, 1), [(Recv, 2, 0)]);
    assert_eq!(messages(&traces, 2), [(Send, 0, 4), (Send, 1, 0)]);
}

/// Blocks of 4, 8 and 12 bytes go round the ring: each sends its own, then that of its left
/// neighbour.
#[test]
fn allgatherv() {
    let rank = |count| [buffer(count, &[]), parts(&[1, 2, 3]), vec![0]].concat();
    let traces = each("allgatherv", "MPI_Allgatherv", &[rank(1), rank(2), rank(3)]);
    assert_eq!(messages(&traces, 0), [(Send, 1, 4), (Recv, 2, 12), (Send, 1, 12), (Recv, 2, 8)]);
    assert_eq!(messages(&traces, 1), [(Send, 2, 8), (Recv, 0, 4), (Send, 2, 4), (Recv, 0, 12)]);
    assert_eq!(finish(&traces, &Options::default()), [3; 3]);
}

/// Integers from row to column: 1 2 0, 3 0 4, 0 5 6. Who gives nothing sends nothing.
#[test]
fn alltoallv() {
    let rank = |to: &[i64], from: &[i64]| [parts(to), parts(from), vec![0]].concat();
    let values =
        [rank(&[1, 2, 0], &[1, 3, 0]), rank(&[3, 0, 4], &[2, 0, 5]), rank(&[0, 5, 6], &[0, 4, 6])];
    let traces = each("alltoallv", "MPI_Alltoallv", &values);
    assert_eq!(messages(&traces, 0), [(Send, 1, 8), (Recv, 1, 12)]);
    assert_eq!(messages(&traces, 1), [(Send, 2, 16), (Recv, 0, 8), (Send, 0, 12), (Recv, 2, 20)]);
    assert_eq!(messages(&traces, 2), [(Recv, 1, 16), (Send, 1, 20)]);
}

/// Rank 0 gives rank 1 three doubles and gets two bytes.
#[test]
fn alltoallw() {
    let side = |counts: &[i64], types: [[i64; 3]; 2]| {
        [vec![0], list(counts), vec![2], types.concat()].concat()
    };
    let zero = [side(&[1, 3], [INT, DOUBLE]), side(&[1, 2], [INT, BYTE]), vec![0]].concat();
    let one = [side(&[2, 1], [BYTE, INT]), side(&[3, 1], [DOUBLE, INT]), vec![0]].concat();
    let traces = each("alltoallw", "MPI_Alltoallw", &[zero, one]);
    assert_eq!(messages(&traces, 0), [(Send, 1, 24), (Recv, 1, 2)]);
    assert_eq!(messages(&traces, 1), [(Send, 0, 2), (Recv, 0, 24)]);
}

/// Each rank gets its own block, of 4, 8 or 12 bytes, from each other.
#[test]
fn reduce_scatter() {
    let values = [vec![0, 0], list(&[1, 2, 3]), INT.to_vec(), vec![3, 0]].concat();
    let traces = each("reduce-scatter", "MPI_Reduce_scatter", &vec![values; 3]);
    assert_eq!(messages(&traces, 0), [(Send, 1, 8), (Recv, 2, 4), (Send, 2, 12), (Recv, 1, 4)]);
}

/// In communicator 5 the world's ranks stand backwards. Its rank 0 (the world's 2) sends to its 1
/// and 2 and hears from 1.
fn neighbourhood(name: &str, call: &'static str, values: [Vec<i64>; 3], known: bool) -> Traces {
    let ranks = values.map(|values| program(vec![(call, 1, 1, values)], 1));
    write(name, &ranks, &|rank, writer| {
        let local = Group::Ranks(vec![2, 1, 0]);
        writer.communicator(5, &Communicator { local, remote: None, me: 2 - rank });
        let of = match rank {
            2 => neighbours(&[1], &[1, 2]),
            1 => neighbours(&[0, -2], &[0]),
            _ => neighbours(&[0], &[]),
        };
        if known {
            writer.neighbours(5, &of);
        }
    })
}

#[test]
fn neighbor_alltoallv() {
    let rank = |to: &[i64], from: &[i64]| [parts(to), parts(from), vec![5]].concat();
    let values = [rank(&[], &[3]), rank(&[2], &[1, 0]), rank(&[1, 3], &[2])];
    let traces = neighbourhood("neighbours-v", "MPI_Neighbor_alltoallv", values, true);
    assert_eq!(messages(&traces, 0), [(Recv, 2, 12)]);
    assert_eq!(messages(&traces, 1), [(Send, 2, 8), (Recv, 2, 4)]);
    assert_eq!(messages(&traces, 2), [(Send, 1, 4), (Send, 0, 12), (Recv, 1, 8)]);
}

#[test]
fn neighbor_allgather() {
    let values = || [buffer(2, &[]), buffer(2, &[5])].concat();
    let values = [values(), values(), values()];
    let traces = neighbourhood("neighbours", "MPI_Neighbor_allgather", values.clone(), true);
    assert_eq!(messages(&traces, 2), [(Send, 1, 8), (Send, 0, 8), (Recv, 1, 8)]);
    assert_eq!(messages(&traces, 0), [(Recv, 2, 8)]);
    let unknown = neighbourhood("unknown", "MPI_Neighbor_allgather", values, false);
    assert!(errors(&unknown).contains("does not say who the neighbours"), "{}", errors(&unknown));
}

/// Ranks 0 and 1 on one side, 2 on the other; the former have a communicator of their own, 8.
fn intercommunicator(name: &str, ranks: &[Vec<Call>; 3]) -> Traces {
    write(name, ranks, &|rank, writer| {
        let sides =
            [between(&[0, 1], &[2], 0), between(&[0, 1], &[2], 1), between(&[2], &[0, 1], 0)];
        writer.communicator(7, &sides[rank as usize]);
        if rank < 2 {
            let local = Group::Ranks(vec![0, 1]);
            writer.communicator(8, &Communicator { local, remote: None, me: rank });
        }
    })
}

/// Ranks of the other group are meant.
#[test]
fn messages_between_groups() {
    let send = ("MPI_Send", 1, 1, buffer(1, &[1, 4, 7]));
    let receive = ("MPI_Recv", 0, 2, buffer(1, &[0, 4, 7, 0, 4, 4]));
    let ranks = [program(vec![], 0), program(vec![receive], 2), program(vec![send], 1)];
    let traces = intercommunicator("between", &ranks);
    assert_eq!(messages(&traces, 1), [(Recv, 2, 4)]);
    assert_eq!(messages(&traces, 2), [(Send, 1, 4)]);
    assert_eq!(finish(&traces, &Options::default()), [0, 2, 1]);
}

/// From rank 2 to the other group, then from rank 1; rank 0, beside the root, takes no part.
#[test]
fn broadcasts_between_groups() {
    let bcast = |root| ("MPI_Bcast", 1, 1, buffer(2, &[root, 7]));
    let ranks = [[0, -2], [0, -3], [-3, 1]].map(|roots| program(roots.map(bcast).to_vec(), 1));
    let traces = intercommunicator("bcast-between", &ranks);
    assert_eq!(messages(&traces, 0), [(Recv, 2, 8)]);
    assert_eq!(messages(&traces, 1), [(Recv, 2, 8), (Send, 2, 8)]);
    assert_eq!(messages(&traces, 2), [(Send, 0, 8), (Send, 1, 8), (Recv, 1, 8)]);
}

/// Calls of all three ranks, entered at 1, 2 and 3.
fn one_after_the_other(name: &'static str, values: [Vec<i64>; 3]) -> Traces {
    let mut at = 0;
    let ranks = values.map(|values| {
        at += 1;
        program(vec![(name, at, at, values)], at)
    });
    intercommunicator(name, &ranks)
}

/// Rank 2 has heard of both when it comes; rank 0 hears of it at 4 and tells rank 1, who hears it
/// at 5.
#[test]
fn barriers_between_groups() {
    let traces = one_after_the_other("MPI_Barrier", [(); 3].map(|()| vec![7]));
    assert_eq!(messages(&traces, 0), [(Send, 2, 1), (Recv, 2, 1), (Send, 1, 1)]);
    assert_eq!(finish(&traces, &Options::default()), [4, 5, 3]);
}

/// Rank 0 hears at 3 that rank 1 has come, and tells rank 2, who hears it at 4, as rank 0 hears of
/// rank 2 then and tells rank 1.
#[test]
fn communicators_made_of_two_groups() {
    let traces = one_after_the_other("MPI_Intercomm_merge", [0, 0, 1].map(|high| vec![7, high, 2]));
    assert_eq!(messages(&traces, 0), [(Recv, 1, 1), (Send, 2, 1), (Recv, 2, 1), (Send, 1, 1)]);
    assert_eq!(finish(&traces, &Options::default()), [4, 5, 4]);
}

/// Local communicator and leader, common one, other leader, tag, the new one. The leaders tell each
/// other 8 bytes of the communicator and 4 for each member. Rank 2 hears at 3 who is in the other
/// group, and rank 0 at 4 who is in its own; it meets rank 1, which waits since 2, by a message
/// each, at 5.
#[test]
fn two_groups_get_a_communicator() {
    let made = |local, other| vec![local, 0, 0, other, 9, 7];
    let traces = one_after_the_other("MPI_Intercomm_create", [made(8, 2), made(8, 2), made(1, 0)]);
    let leader = [(Send, 2, 16), (Recv, 2, 12), (Send, 1, 1), (Recv, 1, 1)];
    assert_eq!(messages(&traces, 0), leader);
    assert_eq!(messages(&traces, 2), [(Send, 0, 12), (Recv, 0, 16)]);
    assert_eq!(finish(&traces, &Options::default()), [4, 5, 3]);
}

/// 4 bytes from each of ranks 0 and 1, 12 from rank 2, which rank 0 hands on.
#[test]
fn allgathers_between_groups() {
    let call = |sent, got| {
        let values = [buffer(sent, &[]), buffer(got, &[7])].concat();
        program(vec![("MPI_Allgather", 1, 1, values)], 1)
    };
    let traces = intercommunicator("allgather-between", &[call(1, 3), call(1, 3), call(3, 1)]);
    assert_eq!(messages(&traces, 0), [(Send, 2, 4), (Recv, 2, 12), (Send, 1, 12)]);
    assert_eq!(messages(&traces, 1), [(Send, 2, 4), (Recv, 0, 12)]);
    assert_eq!(messages(&traces, 2), [(Send, 0, 12), (Recv, 0, 4), (Recv, 1, 4)]);
}

/// The first receive is cancelled, the second has its message before it can be: sent at 7, there at
/// 8, and 2 us of computation follow. The cancelled send goes out all the same.
#[test]
fn cancelled_requests() {
    let zero = program(
        vec![
            ("MPI_Irecv", 1, 1, buffer(1, &[1, 9, 0, 3])),
            ("MPI_Irecv", 1, 1, buffer(1, &[1, 2, 0, 4])),
            ("MPI_Cancel", 1, 1, vec![3]),
            ("MPI_Cancel", 1, 1, vec![4]),
            ("MPI_Wait", 2, 2, vec![3, -4, -4, -4]),
            ("MPI_Wait", 3, 20, vec![4, 1, 2, 4]),
        ],
        22,
    );
    let one = program(
        vec![
            ("MPI_Isend", 7, 7, buffer(1, &[0, 2, 0, 5])),
            ("MPI_Cancel", 7, 7, vec![5]),
            ("MPI_Wait", 7, 7, vec![5, -4, -4, -4]),
        ],
        7,
    );
    let traces = run("cancel", &[zero, one], &[]);
    assert_eq!(messages(&traces, 0), [(Recv, 1, 4)]);
    assert_eq!(finish(&traces, &Options::default()), [10, 7]);
    let warnings = compile(&traces, &Options::default()).unwrap().warnings.concat();
    assert!(warnings.contains("sends were to be cancelled"), "{warnings}");
}

/// The times are those of a plain probe: the message of 4 is there at 5, 10 us of computation, 2
/// more at the end. A second message, sent at 4 too, is taken by `MPI_Imrecv`.
#[test]
fn messages_in_hand() {
    let traces = run(
        "mprobe",
        &[
            program(
                vec![
                    ("MPI_Send", 4, 4, buffer(3, &[1, 2, 0])),
                    ("MPI_Send", 4, 4, buffer(5, &[1, 2, 0])),
                ],
                4,
            ),
            program(
                vec![
                    ("MPI_Mprobe", 1, 20, vec![-1, -1, 0, 11, 0, 2, 12]),
                    ("MPI_Improbe", 20, 20, vec![0, 2, 0, 1, 12, 0, 2, 20]),
                    (
                        "MPI_Mrecv",
                        30,
                        31,
                        [0, 3].into_iter().chain(INT).chain([11, 0, 2, 12]).collect(),
                    ),
                    ("MPI_Imrecv", 31, 31, buffer(5, &[12, 6])),
                    ("MPI_Wait", 31, 31, vec![6, 0, 2, 20]),
                ],
                33,
            ),
        ],
        &[],
    );
    assert_eq!(messages(&traces, 1), [(Recv, 0, 12), (Recv, 0, 20)]);
    assert_eq!(finish(&traces, &Options::default()), [4, 17]);
    let mrecv = ("MPI_Mrecv", 1, 1, buffer(1, &[9, 0, 2, 12]));
    let error = errors(&run("mrecv", &[program(vec![mrecv], 2)], &[]));
    assert!(error.contains("call 2: MPI_Mrecv on rank 0: no probe before it"), "{error}");
}

const CREATE: fn() -> Call = || ("MPI_Win_create", 0, 0, vec![0, 64, 0, 1]);

fn put(at: u64) -> Call {
    ("MPI_Put", at, at, [buffer(2, &[1]), vec![2], INT.to_vec(), vec![1]].concat())
}

/// The window takes both until 1. The target posts at 3; the origin, in `MPI_Win_start` since 2,
/// hears it at 4 and puts. The answer is there at 6, when the origin's completion leaves, and
/// computes 1 us more. The target, waiting since 4, has it at 7 and computes 2 us.
#[test]
fn post_start_complete_wait() {
    let origin = vec![
        CREATE(),
        ("MPI_Win_start", 1, 3, vec![1, 1, 1]),
        put(3),
        ("MPI_Win_complete", 3, 4, vec![1]),
    ];
    let target =
        vec![CREATE(), ("MPI_Win_post", 2, 2, vec![1, 0, 1]), ("MPI_Win_wait", 3, 3, vec![1])];
    let traces = run("pscw", &[program(origin, 5), program(target, 5)], &[]);
    assert_eq!(finish(&traces, &Options::default()), [7, 9]);
}

/// An epoch's end is not taken for the beginning of one: rank 1 ends its access before it opens its
/// own memory, and rank 0 starts its access before it waits.
#[test]
fn ends_of_epochs_are_no_beginnings() {
    let zero = vec![
        CREATE(),
        ("MPI_Win_post", 0, 0, vec![1, 1, 1]),
        ("MPI_Win_start", 0, 0, vec![1, 1, 1]),
        ("MPI_Win_complete", 0, 0, vec![1]),
        ("MPI_Win_wait", 0, 0, vec![1]),
    ];
    let one = vec![
        CREATE(),
        ("MPI_Win_start", 0, 0, vec![1, 0, 1]),
        ("MPI_Win_complete", 0, 0, vec![1]),
        ("MPI_Win_post", 5, 5, vec![1, 0, 1]),
        ("MPI_Win_wait", 5, 5, vec![1]),
    ];
    let traces = run("epochs", &[program(zero, 0), program(one, 5)], &[]);
    // Rank 0's post, at 1, is there at 2; rank 1's at 2 + 5, there at 8; rank 0's completion at 9.
    assert_eq!(finish(&traces, &Options::default()), [8, 9]);
}

/// The lock costs nothing. Put at 3, answered at 5, which the flush waits for; 3 us later
/// fetch-and-op, answered at 10, which the unlock waits for; 1 us. A local flush waits for nothing:
/// computation until 4, and the unlock until 5.
#[test]
fn locks_and_flushes() {
    let target = || program(vec![CREATE()], 0);
    let fetch = ("MPI_Fetch_and_op", 5, 5, [&[0, 0], &INT[..], &[1, 3, 1]].concat());
    let origin = vec![
        CREATE(),
        ("MPI_Win_lock", 1, 1, vec![1, 1, 1]),
        put(2),
        ("MPI_Win_flush", 2, 2, vec![1, 1]),
        fetch,
        ("MPI_Win_unlock", 5, 5, vec![1, 1]),
    ];
    let traces = run("lock", &[program(origin, 6), target()], &[]);
    assert_eq!(finish(&traces, &Options::default())[0], 11);
    // To and from the target: put, answer, fetch of 4 bytes, answer of 4 bytes.
    let own = [(Send, 1, 1), (Recv, 1, 1), (Send, 1, 8), (Recv, 1, 1), (Send, 1, 4), (Recv, 1, 4)];
    assert_eq!(messages(&traces, 0), own);
    let origin = vec![
        CREATE(),
        ("MPI_Win_lock_all", 1, 1, vec![1]),
        put(2),
        ("MPI_Win_flush_local", 2, 2, vec![1, 1]),
        ("MPI_Win_unlock_all", 3, 3, vec![1]),
    ];
    let traces = run("lock-local", &[program(origin, 3), target()], &[]);
    assert_eq!(finish(&traces, &Options::default())[0], 5);
}

/// A microsecond per message.
struct Microsecond;

impl Recorded for Microsecond {
    fn leaving(&self, _: u64) -> u64 {
        400_000
    }

    fn draining(&self, _: u64) -> u64 {
        600_000
    }
}

/// The window was agreed on at 1, and 1 us of its making was each rank's own. The put of 3 was at
/// its target at 4 and answered at 5; the flush that returned at 6 took 1 us of its own. So it goes
/// in the replay too: 1 us behind the flush, 7.
#[test]
fn answers_of_the_recorded_run() {
    let create = || ("MPI_Win_create", 0, 2, vec![0, 64, 0, 1]);
    let flush = ("MPI_Win_flush", 3, 6, vec![1, 1]);
    let origin = program(vec![create(), put(3), flush], 7);
    let traces = run("answers", &[origin, program(vec![create()], 2)], &[]);
    let options = Options { mode: Mode::Aligned, recorded_on: &Microsecond, ..Options::default() };
    assert_eq!(compile(&traces, &options).expect("a schedule").warnings, [""; 0]);
    assert_eq!(finish(&traces, &options)[0], 7);
}

/// Rank 1 comes at 6: both have the other's data at 7. Rank 0 waits since 4. With one buffer, as
/// much comes as goes.
#[test]
fn sendrecv_without_waiting() {
    for (name, received) in [("MPI_Isendrecv", 8), ("MPI_Isendrecv_replace", 4)] {
        let rank = |peer: i64, at| {
            let values = match received {
                8 => [buffer(1, &[peer, 3]), buffer(2, &[peer, 3, 0, 9])].concat(),
                _ => buffer(1, &[peer, 3, peer, 3, 0, 9]),
            };
            let wait = ("MPI_Wait", at + 2, at + 2, vec![9, peer, 3, received]);
            program(vec![(name, at, at, values), wait], at + 2)
        };
        let traces = run(name, &[rank(1, 2), rank(0, 6)], &[]);
        assert_eq!(messages(&traces, 0), [(Send, 1, 4), (Recv, 1, received.cast_unsigned())]);
        assert_eq!(finish(&traces, &Options::default()), [7, 8]);
    }
}

/// A function that the table of calls does not list is refused if it communicates; a loss of
/// information is said.
#[test]
fn functions_outside_the_table() {
    let one = |name: &'static str| run("outside", &[program(vec![(name, 1, 2, vec![])], 3)], &[]);
    for name in ["MPI_Psend_init", "MPI_Pready_list", "MPI_Parrived"] {
        let expected = format!(
            "rank-0.hdl: call 2: {name} on rank 0: partitioned communication has no place in a \
             schedule"
        );
        assert!(errors(&one(name)).contains(&expected), "{}", errors(&one(name)));
    }
    for name in ["MPI_Send_c", "MPIX_Allreduce_init"] {
        assert!(errors(&one(name)).contains("does not have the arguments of this form"), "{name}");
    }
    assert!(errors(&one("MPI_Comm_create_from_group")).contains("who is in the communicator"));
    let warned = |name| compile(&one(name), &Options::default()).unwrap().warnings.concat();
    assert!(
        warned("MPI_File_write_all")
            .contains("once, on rank 0: calls of MPI-IO count as computation")
    );
    assert!(warned("MPI_Send (failed)").contains("calls failed"));
    assert_eq!(warned("MPI_Type_vector"), "");
    // All 3 us are computation.
    let image = compile(&one("MPI_File_open"), &Options::default()).unwrap().image;
    let calcs = (0..image.ops(0)).map(|index| image.op(0, index));
    let calcs: u64 = calcs.filter(|op| op.kind == Kind::Calc).map(|op| op.size).sum();
    assert_eq!(calcs, 3_000_000);
}

/// Four ranks add two doubles by Open MPI's choice for so few bytes, recursive doubling: partners
/// at distances 1 and 2. Adding 16 bytes at 0.25 us each takes 4 us; two rounds of 1 + 4 us behind
/// 1 us of computation.
#[test]
fn allreduce_of_a_library() {
    let values = [vec![0, 0, 2], DOUBLE.to_vec(), vec![3, 0]].concat();
    let traces = each("library", "MPI_Allreduce", &vec![values; 4]);
    let mut library = Algorithms::new(Some("openmpi"), &[]);
    library.reduction = TimePerByte::new(250_000, 1).unwrap();
    let options = Options { expand: &library, ..Options::default() };
    let image = compile(&traces, &options).unwrap().image;
    let peers = |rank| {
        let ops = (0..image.ops(rank)).map(|index| image.op(rank, index));
        let sends = ops.filter(|op| op.kind == Send);
        sends.map(|op| (op.peer, op.size)).collect::<Vec<_>>()
    };
    assert_eq!(peers(0), [(1, 16), (2, 16)]);
    assert_eq!(peers(3), [(2, 16), (1, 16)]);
    assert_eq!(finish(&traces, &options), [11; 4]);
}

/// Four ranks add four doubles around a ring, whatever a library or Schedgen would do: 3 + 3 times
/// a quarter to the right. Their barrier stays who made the choice's: Schedgen's tells the ranks 1
/// and 2 further.
#[test]
fn algorithms_by_name() {
    let values = [vec![0, 0, 4], DOUBLE.to_vec(), vec![3, 0]].concat();
    let calls = vec![("MPI_Allreduce", 1, 1, values), ("MPI_Barrier", 1, 1, vec![0])];
    let traces = run("by-name", &vec![program(calls, 1); 4], &[]);
    for name in [Some("mpich"), None] {
        let library = Algorithms::new(name, &[(Collective::Allreduce, "lr")]);
        let options = Options { expand: &library, ..Options::default() };
        let image = compile(&traces, &options).unwrap().image;
        let sends = (0..image.ops(0)).map(|index| image.op(0, index)).filter(|op| op.kind == Send);
        let sends: Vec<_> = sends.map(|op| (op.peer, op.size)).collect();
        assert_eq!(sends[..6], [(1, 8); 6]);
        assert_eq!(sends[6..].iter().map(|send| send.0).collect::<Vec<_>>(), [1, 2]);
    }
}

/// All ranks of 1 to 9 get through all collectives of all libraries.
#[test]
fn collectives_of_libraries_end() {
    let one = |count: i64| buffer(count, &[]);
    let calls: Vec<(&str, Vec<i64>)> = vec![
        ("MPI_Barrier", vec![0]),
        ("MPI_Bcast", buffer(5000, &[0, 0])),
        ("MPI_Reduce", [vec![0, 0, 5000], INT.to_vec(), vec![3, 0, 0]].concat()),
        ("MPI_Allreduce", [vec![0, 0, 50_000], INT.to_vec(), vec![33, 0]].concat()),
        ("MPI_Gather", [one(100), one(100), vec![0, 0]].concat()),
        ("MPI_Scatter", [one(100), one(100), vec![0, 0]].concat()),
        ("MPI_Allgather", [one(100), one(100), vec![0]].concat()),
        ("MPI_Alltoall", [one(100), one(100), vec![0]].concat()),
        ("MPI_Scan", [vec![0, 0, 10], INT.to_vec(), vec![3, 0]].concat()),
        ("MPI_Exscan", [vec![0, 0, 10], INT.to_vec(), vec![3, 0]].concat()),
        ("MPI_Reduce_scatter_block", [vec![0, 0, 10], INT.to_vec(), vec![3, 0]].concat()),
    ];
    for ranks in 1..10 {
        let calls: Vec<_> =
            calls.iter().map(|(name, values)| (*name, 1, 1, values.clone())).collect();
        let traces = run("libraries", &vec![program(calls, 1); ranks], &[]);
        for name in ["openmpi", "mpich", "mvapich2", "impi"] {
            let mut library = Algorithms::new(Some(name), &[]);
            library.nodes = Nodes::Consecutive(2);
            // It would panic.
            let ends = finish(&traces, &Options { expand: &library, ..Options::default() });
            assert_eq!(ends.len(), ranks);
        }
    }
}
