//! Tests of what calls become, on traces made here.

use crate::support::{Call, INT, buffer, finish, program, run};
use schedule::{Kind, Program};
use traces::compile;
use traces::options::{Options, Window};
use traces::pinning::Pinning;

/// Rank 1 sends at 10; rank 0 posts its receive at 5 and waits from 6: 10 + 1, and 2 us of
/// computation.
#[test]
fn waiting_for_any_source() {
    let traces = run(
        "any",
        &[
            program(
                vec![
                    ("MPI_Irecv", 5, 5, buffer(1, &[-1, -1, 0, 7])),
                    ("MPI_Irecv", 5, 5, buffer(1, &[1, 3, 0, 8])),
                    // The second of the array comes first.
                    ("MPI_Waitany", 6, 30, vec![2, 8, 7, 1, 1, 9, 4]),
                    ("MPI_Waitall", 32, 32, vec![1, 8, 1, 1, 3, 4]),
                ],
                34,
            ),
            program(
                vec![
                    ("MPI_Send", 10, 10, buffer(1, &[0, 9, 0])),
                    ("MPI_Send", 10, 10, buffer(1, &[0, 3, 0])),
                ],
                10,
            ),
        ],
        &[],
    );
    // 5 + 1, wait until 11, compute 2 and 2.
    assert_eq!(finish(&traces, &Options::default()), [15, 10]);
    let compiled = compile(&traces, &Options::default()).unwrap();
    let receives: Vec<_> = (0..compiled.image.ops(0))
        .map(|index| compiled.image.op(0, index))
        .filter(|op| op.kind == Kind::Recv)
        .map(|op| (op.peer, op.tag))
        .collect();
    assert_eq!(receives, [(1, 9), (1, 3)]);
}

/// A persistent exchange, twice: each starts at 3 (then 3 later), and takes the message's 1 us.
#[test]
fn persistent_requests_start_again() {
    let rank = |peer: i64| {
        program(
            vec![
                ("MPI_Send_init", 0, 0, buffer(2, &[peer, 1, 0, 5])),
                ("MPI_Recv_init", 0, 0, buffer(2, &[peer, 1, 0, 6])),
                ("MPI_Startall", 3, 4, vec![2, 5, 6]),
                ("MPI_Waitall", 4, 9, vec![2, 5, 6, 0]),
                ("MPI_Startall", 12, 12, vec![2, 5, 6]),
                ("MPI_Waitall", 12, 19, vec![2, 5, 6, 0]),
                ("MPI_Request_free", 19, 19, vec![5]),
            ],
            20,
        )
    };
    // 3, message until 4, computation 3, message until 8, computation 1.
    let traces = run("persistent", &[rank(1), rank(0)], &[]);
    assert_eq!(finish(&traces, &Options::default()), [9, 9]);
}

/// The probe waits for the message sent at 4 until 5; the receive 10 us of computation later finds
/// it there.
#[test]
fn a_probe_waits_and_the_receive_does_not() {
    let traces = run(
        "probe",
        &[
            program(vec![("MPI_Send", 4, 4, buffer(3, &[1, 2, 0]))], 4),
            program(
                vec![
                    ("MPI_Probe", 1, 20, vec![-1, -1, 0, 0, 2, 12]),
                    ("MPI_Recv", 30, 31, buffer(3, &[0, 2, 0, 0, 2, 12])),
                ],
                33,
            ),
        ],
        &[],
    );
    assert_eq!(finish(&traces, &Options::default()), [4, 17]);
}

/// Two ranks of three broadcast in a communicator in which rank 2 comes first: it has the value at
/// 6, rank 1 at 7. The barrier that follows, among all by dissemination, takes two rounds behind
/// the last, rank 1, who enters at 7 + 1: each rank hears of it one or two messages later.
#[test]
fn a_communicator_of_some() {
    let bcast = |enter| ("MPI_Bcast", enter, enter, buffer(1, &[0, 9]));
    let barrier = |enter| ("MPI_Barrier", enter, enter, vec![0]);
    let traces = run(
        "some",
        &[
            program(vec![barrier(2)], 2),
            program(vec![bcast(1), barrier(2)], 2),
            program(vec![bcast(6), barrier(6)], 6),
        ],
        &[(9, vec![2, 1])],
    );
    // Rank 2 leaves the broadcast at 6, rank 1 at 7 and enters the barrier at 8. Rounds: distance 1
    // (0→1→2→0), then
    // 2. Rank 2 hears of rank 1 at 9, rank 0 hears of rank 1 in round two (distance 2: 1→0): rank
    //    1's round-two message goes when it has heard of rank 0: at 8, arrives at 9. Rank 1 needs
    //    2's round-two message (2→1), sent at 9: 10.
    assert_eq!(finish(&traces, &Options::default()), [9, 10, 9]);
}

/// A put of 8 bytes at 3, the fence behind it waits for the answer: 3 + 1 + 1; then a barrier of
/// one round: the target, in the fence since 2, hears at 6.
#[test]
fn a_put_and_a_fence() {
    let create = ("MPI_Win_create", 0, 0, vec![0, 64, 0, 1]);
    let traces = run(
        "put",
        &[
            program(
                vec![
                    create.clone(),
                    ("MPI_Put", 2, 2, [buffer(2, &[1]), vec![2], INT.to_vec(), vec![1]].concat()),
                    ("MPI_Win_fence", 2, 2, vec![1]),
                ],
                2,
            ),
            program(vec![create, ("MPI_Win_fence", 1, 1, vec![1])], 1),
        ],
        &[],
    );
    // Making the window takes both until 1; 2 more to the put at 3; the answer at 5, and with it
    // goes the barrier's message. The other's was sent at 2.
    assert_eq!(finish(&traces, &Options::default()), [5, 6]);
}

/// A call that has no place in a schedule is named, with all that is wrong.
#[test]
fn what_cannot_be_expressed_is_an_error() {
    let traces = run(
        "spawn",
        &[program(
            vec![
                ("MPI_Comm_spawn", 1, 2, vec![]),
                ("MPI_Send", 3, 4, buffer(1, &[5, 0, 0])),
                ("MPI_Bcast", 5, 5, buffer(1, &[0, 77])),
            ],
            9,
        )],
        &[],
    );
    let error = compile(&traces, &Options::default()).unwrap_err().to_string();
    for part in [
        "rank-0.hdl: call 2: MPI_Comm_spawn on rank 0: processes that join",
        "call 3: MPI_Send on rank 0: rank 5, but the communicator has 1 ranks",
        "call 4: MPI_Bcast on rank 0: communicator 77 was not defined",
    ] {
        assert!(error.contains(part), "{error}");
    }
}

fn exchange() -> Vec<Vec<Call>> {
    let barrier = |enter| ("MPI_Barrier", enter, enter, vec![0]);
    let rank = |peer: i64, send: bool| {
        let message = |at, tag| {
            if send {
                ("MPI_Send", at, at, buffer(1, &[peer, tag, 0]))
            } else {
                ("MPI_Recv", at, at, buffer(1, &[peer, tag, 0, peer, tag, 4]))
            }
        };
        program(vec![message(10, 1), barrier(20), message(30, 2), barrier(40), message(50, 3)], 60)
    };
    vec![rank(1, true), rank(0, false)]
}

/// Between the first and the second barrier: 10 us, a message, 10 us, a barrier.
#[test]
fn a_window_between_collectives() {
    let traces = run("window", &exchange(), &[]);
    let window = Window::Collectives(1, 2);
    let options = Options { window, ..Options::default() };
    // The sender enters the barrier at 20; the receiver, who has the message at 11, at 21, when the
    // sender's part of the barrier is there; its own arrives at 22.
    assert_eq!(finish(&traces, &options), [22, 21]);
    let count = |kind| {
        let image = compile(&traces, &options).unwrap().image;
        (0..image.ops(0)).filter(|index| image.op(0, *index).kind == kind).count()
    };
    assert_eq!((count(Kind::Send), count(Kind::Recv)), (2, 1));
}

/// There are two barriers, and the last call begins at 60 us.
#[test]
fn a_window_with_nothing_in_it() {
    let traces = run("window-empty", &exchange(), &[]);
    let us = 1_000_000;
    for (window, there_is) in [
        (Window::Collectives(3, 9), "they have 2 collectives of all ranks"),
        (Window::Times(61 * us, 90 * us), "the last one begins at 60 us"),
        (Window::Times(21 * us, 22 * us), "no call begins in it"),
    ] {
        let options = Options { window, ..Options::default() };
        let error = compile(&traces, &options).unwrap_err().to_string();
        assert!(error.contains(there_is), "{window:?}: {error}");
    }
    // What begins with the last collective has the end.
    let options = Options { window: Window::Collectives(2, 9), ..Options::default() };
    assert!(compile(&traces, &options).is_ok());
}

/// Four ranks of two: the message stays within a copy, the barrier takes two rounds.
#[test]
fn copies_share_collectives() {
    let traces = run("copies", &exchange(), &[]);
    let image = compile(&traces, &Options { copies: 2, ..Options::default() }).unwrap().image;
    assert_eq!(image.ranks(), 4);
    let sends = |rank: u32| -> Vec<u32> {
        let ops = (0..image.ops(rank)).map(|index| image.op(rank, index));
        ops.filter(|op| op.kind == Kind::Send).map(|op| op.peer).collect()
    };
    // Rank 2 is rank 0 again: messages to 3; barriers to 3 (distance 1) and 0 (distance 2).
    assert_eq!(sends(2), [3, 3, 0, 3, 3, 0, 3]);
    // Rank 3: barriers to 0 and 1.
    assert_eq!(sends(3), [0, 1, 0, 1]);
}

/// Ranks change places, and computation takes half the time: 5, 11 and the barrier, and so on.
#[test]
fn a_map_and_a_scale() {
    let traces = run("map", &exchange(), &[]);
    let mut options = Options { map: vec![1, 0], ..Options::default() };
    // As recorded: messages reach the receiver a microsecond late each time, and each barrier takes
    // until both have heard.
    let straight = finish(&traces, &Options::default());
    let swapped = finish(&traces, &options);
    assert_eq!([straight[1], straight[0]], [swapped[0], swapped[1]]);
    // Computation 60, messages 1 each for the receiver: 10+1, 21; barrier ends 22 for both; 32,
    // message 33; 43 barrier 44; 54, 55 for the receiver, and 10 more.
    assert_eq!(straight, [64, 65]);
    options.scale.all = 0.5;
    // 5+1, 11, 12; 17, 18, 23, 24; 29, 30, and 5.
    assert_eq!(finish(&traces, &options), [35, 34]);
}

/// The first two calls use 100 and then 100 bytes of which half are new: 2 + 100 and 2 + 50 ns
/// before the messages; the first message to a peer costs 1000 ns.
#[test]
fn registration_and_connection_cost() {
    let send = |at, address| ("MPI_Send", at, at, vec![address, 100, 13, 1, 1, 1, 0, 0]);
    let receive = |at| ("MPI_Recv", at, at, vec![0, 100, 13, 1, 1, 0, 0, 0, 0, 0, 100]);
    let traces = run(
        "pin",
        &[
            program(vec![send(1, 4096), send(2, 4146), send(3, 4096)], 3),
            program(vec![receive(0), receive(0), receive(0)], 0),
        ],
        &[],
    );
    let pinning = Pinning { per_byte: 1000, per_call: 2000, limit: None };
    let options = Options { pinning: Some(pinning), connect: 1_000_000, ..Options::default() };
    let image = compile(&traces, &options).unwrap().image;
    let calcs: Vec<_> = (0..image.ops(0))
        .map(|index| image.op(0, index))
        .filter(|op| op.kind == Kind::Calc && op.size % 1_000_000 != 0 || op.size == 1_102_000)
        .map(|op| op.size)
        .collect();
    assert_eq!(calcs, [1_102_000, 52_000]);
}

/// A receive that is cancelled and then freed never takes a message, whether it is persistent or
/// not. The message of the same tag that rank 1 sends at 4 goes to the receive that waits for it:
/// 5, and 1 us of computation. A receive that is only freed is waited for, and at the end: the
/// computation before goes on.
#[test]
fn receives_that_are_cancelled_and_freed() {
    let send = || program(vec![("MPI_Send", 4, 4, buffer(1, &[0, 7, 0]))], 4);
    let receive = |name, number| {
        let start =
            if name == "MPI_Recv_init" { vec![("MPI_Start", 0, 0, vec![number])] } else { vec![] };
        let mut calls = vec![(name, 0, 0, buffer(1, &[-1, 7, 0, number]))];
        calls.extend(start);
        calls
    };
    for name in ["MPI_Irecv", "MPI_Recv_init"] {
        let mut calls: Vec<Call> = receive(name, 9);
        calls.push(("MPI_Cancel", 1, 1, vec![9]));
        calls.push(("MPI_Request_free", 1, 1, vec![9]));
        calls.push(("MPI_Recv", 2, 5, buffer(1, &[1, 7, 0, 1, 7, 4])));
        let traces = run("cancelled-and-freed", &[program(calls, 6), send()], &[]);
        assert_eq!(finish(&traces, &Options::default()), [6, 4], "{name}");
    }
    let mut calls: Vec<Call> = receive("MPI_Irecv", 9);
    calls.push(("MPI_Request_free", 1, 1, vec![9]));
    let traces = run("freed", &[program(calls, 3), send()], &[]);
    assert_eq!(finish(&traces, &Options::default()), [5, 4]);
}
