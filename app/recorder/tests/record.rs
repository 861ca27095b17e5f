//! Programs recorded with the MPI libraries that are installed, and their traces against what the
//! programs say. Without an MPI library there is nothing to record: the test says so and passes.

#![expect(
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "ranks and counts of small programs"
)]

mod support;

use std::collections::BTreeMap;

use support::{Mpi, Trace, libraries};

/// The number of times that a rank called a function.
fn count(trace: &Trace, name: &str) -> usize {
    trace.calls.iter().filter(|call| call.name == name).count()
}

/// Checks the number of calls of some functions.
fn counts(trace: &Trace, expected: &[(&str, usize)]) {
    for (name, number) in expected {
        assert_eq!(count(trace, name), *number, "{name} in {}", trace.path.display());
    }
    assert_eq!(trace.warning, None);
    assert_eq!(trace.calls.first().map(|call| (&*call.name, call.enter)), Some(("MPI_Init", 0)));
    assert_eq!(trace.calls.last().map(|call| &*call.name), Some("MPI_Finalize"));
}

/// 9 sizes (1 B to 64 KiB by fours), 10 rounds. Rank 1 ignores its statuses and takes anything.
fn pingpong(mpi: &Mpi) {
    let traces = mpi.record("pingpong", 2, &[]);
    for (rank, trace) in traces.iter().enumerate() {
        counts(trace, &[("MPI_Send", 90), ("MPI_Recv", 90), ("MPI_Comm_rank", 1)]);
        for (index, call) in trace.named("MPI_Recv").enumerate() {
            let (bytes, tag) = (1 << (2 * (index / 10)), (index % 10) as i64);
            // Buffer, count, datatype (CHAR has no number; 1 byte), source, tag, world, status.
            let wanted = if rank == 0 { [1, tag] } else { [-1, -1] };
            let peer = 1 - rank as i64;
            assert_eq!(call.values[1..5], [65536, 0, 1, 1]);
            assert_eq!(call.values[5..], [wanted[0], wanted[1], 0, peer, tag, bytes]);
        }
        assert!(trace.calls.windows(2).all(|pair| pair[0].leave <= pair[1].enter));
    }
    assert_eq!(traces[0].ranks, 2);
}

/// 5 steps of 4 receives and 4 sends on a grid of 2 x 2 ranks; a row is 16 numbers of 8 bytes, a
/// column a vector of as many with the extent of 15 rows of 18 and one number: 2168 bytes.
fn halo(mpi: &Mpi) {
    for trace in mpi.record("halo", 4, &[]) {
        counts(
            &trace,
            &[
                ("MPI_Irecv", 20),
                ("MPI_Isend", 20),
                ("MPI_Waitall", 5),
                ("MPI_Allreduce", 5),
                ("MPI_Neighbor_alltoall", 1),
                ("MPI_Cart_create", 1),
            ],
        );
        let types: Vec<_> =
            trace.named("MPI_Irecv").map(|call| call.values[2..5].to_vec()).collect();
        assert_eq!(types[0], [10, 8, 8]);
        assert_eq!(types[3], [0, 128, 2168]);
        for call in trace.named("MPI_Allreduce") {
            assert_eq!(call.values[0], 1, "MPI_IN_PLACE");
        }
        // Requests as they were, and for each a status: 4 receives of 128 bytes, 4 sends of
        // nothing.
        for call in trace.named("MPI_Waitall") {
            assert_eq!((call.values[0], call.values[9]), (8, 8));
            let bytes: Vec<_> = call.values[10..].chunks(3).map(|status| status[2]).collect();
            assert_eq!(bytes, [128, 128, 128, 128, -4, -4, -4, -4]);
        }
    }
}

/// 1 + 2 times 20 products of vectors and 20 exchanges with both sides.
fn cg(mpi: &Mpi) {
    for (rank, trace) in mpi.record("cg", 3, &[]).iter().enumerate() {
        counts(trace, &[("MPI_Allreduce", 41), ("MPI_Sendrecv", 40), ("MPI_Bcast", 1)]);
        let first = trace.named("MPI_Sendrecv").next().expect("exchanges");
        // The last rank's right neighbour is MPI_PROC_NULL: nothing was received.
        let status = if rank == 2 { [-4, -4, -4] } else { [rank as i64 + 1, 0, 8] };
        assert_eq!(first.values[first.values.len() - 3..], status);
    }
}

/// A communicator is known by one number to all its members, and by other numbers to nobody.
fn groups(mpi: &Mpi) {
    let traces = mpi.record("groups", 4, &[]);
    let mut members: BTreeMap<i64, Vec<Vec<u32>>> = BTreeMap::new();
    for trace in &traces {
        counts(trace, &[("MPI_Comm_split", 1), ("MPI_Alltoallw", 1), ("MPI_Ialltoall", 1)]);
        for (number, group) in &trace.communicators {
            members.entry(*number).or_default().push(group.clone());
        }
    }
    // Halves in descending order, their two copies each; ranks 0 to 2 twice; the halves face to
    // face, both sides seen; all merged, the even ones first.
    let mut seen: Vec<_> = members
        .into_iter()
        .filter(|(number, _)| *number > 2)
        .map(|(_, mut groups)| {
            groups.sort();
            groups
        })
        .collect();
    seen.sort();
    let (even, odd) = (vec![2, 0], vec![3, 1]);
    let mut expected = vec![
        vec![vec![0, 1, 2]; 3],
        vec![vec![0, 1, 2]; 3],
        vec![even.clone(), even.clone(), odd.clone(), odd.clone()],
        vec![vec![2, 0, 3, 1]; 4],
    ];
    for half in [even, odd] {
        expected.extend(std::iter::repeat_n(vec![half.clone(), half], 3));
    }
    expected.sort();
    assert_eq!(seen, expected);
    for (rank, trace) in traces.iter().enumerate() {
        // Counts have a meaning at the root alone; the root here is 2.
        let gather = trace.named("MPI_Gatherv").next().expect("a gather");
        let list: &[i64] = if rank == 2 { &[4, 1, 2, 3, 4] } else { &[0] };
        assert_eq!(gather.values[6..6 + list.len()], *list);
        // At the root MPI_IN_PLACE, elsewhere no receive buffer.
        let gather = trace.named("MPI_Gather").next().expect("a gather");
        let expected = if rank == 0 { [0, 0, 0, 0] } else { [1, 1, 4, 4] };
        assert_eq!(gather.values[1..5], expected);
        assert_eq!(gather.values[0] == 1, rank == 0);
    }
    // World ranks 2 and 0: root, and null; the other side receives from rank 0.
    let roots = [2, 0, 1, 3].map(|rank: usize| {
        let bcast = traces[rank].named("MPI_Bcast").nth(1).expect("two broadcasts");
        (bcast.values[5], bcast.values[1])
    });
    assert_eq!(roots, [(-3, 1), (-2, 0), (0, 1), (0, 1)]);
}

/// A ring, 6 times, by the same two requests.
fn persistent(mpi: &Mpi) {
    for (rank, trace) in mpi.record("persistent", 3, &[]).iter().enumerate() {
        let made =
            [("MPI_Send_init", 1), ("MPI_Start", 6), ("MPI_Startall", 3), ("MPI_Waitall", 6)];
        counts(trace, &made);
        let from = (rank as i64 + 2) % 3;
        for call in trace.named("MPI_Waitall") {
            assert_eq!(call.values, [2, 1, 2, 2, -4, -4, -4, from, 3, 4]);
        }
    }
}

/// Epochs of all kinds, each with one transfer; the fences have two.
fn onesided(mpi: &Mpi) {
    for (rank, trace) in mpi.record("onesided", 3, &[]).iter().enumerate() {
        counts(
            trace,
            &[
                ("MPI_Win_allocate", 1),
                ("MPI_Win_fence", 2),
                ("MPI_Put", 2),
                ("MPI_Accumulate", 1),
                ("MPI_Rget", 1),
                ("MPI_Win_free", 1),
            ],
        );
        let rank = rank as i64;
        let post = trace.named("MPI_Win_post").next().expect("a post");
        assert_eq!(post.values, [1, (rank + 2) % 3, 1]);
        let start = trace.named("MPI_Win_start").next().expect("a start");
        assert_eq!(start.values, [1, (rank + 1) % 3, 1]);
    }
}

/// Rank 0 gets each of 7 tags from each of 3 ranks, by seven ways.
fn probe(mpi: &Mpi) {
    let traces = mpi.record("probe", 4, &[]);
    let root = &traces[0];
    counts(root, &[("MPI_Probe", 3), ("MPI_Mprobe", 3), ("MPI_Mrecv", 3), ("MPI_Waitany", 3)]);
    // The message in hand has the same number in both calls, and so have source, tag and size.
    for (probe, receive) in root.named("MPI_Mprobe").zip(root.named("MPI_Mrecv")) {
        assert_eq!(probe.values[3..], receive.values[5..]);
        assert_eq!(receive.values[7..], [2, 4]);
    }
    // Every rank's message is found once by each way. Fields: 3 requests, index, status.
    let sources = |name: &str, from: fn(&[i64]) -> Vec<i64>| {
        let mut all: Vec<i64> = root.named(name).flat_map(|call| from(&call.values)).collect();
        all.sort_unstable();
        all
    };
    let completed = |values: &[i64]| {
        let found = values[4] as usize;
        (0..found).map(|place| values[6 + found + 3 * place]).collect()
    };
    assert_eq!(sources("MPI_Waitany", |values| vec![values[5]]), [1, 2, 3]);
    assert_eq!(sources("MPI_Waitsome", completed), [1, 2, 3]);
    assert_eq!(sources("MPI_Testsome", completed), [1, 2, 3]);
    let tested = |values: &[i64]| if values[5] == 1 { vec![values[6]] } else { vec![] };
    assert_eq!(sources("MPI_Testany", tested), [1, 2, 3]);
    for sender in &traces[1..] {
        counts(sender, &[("MPI_Isend", 7), ("MPI_Wait", 7)]);
        let waited: Vec<_> = sender.named("MPI_Wait").map(|call| call.values[0]).collect();
        assert_eq!(waited, [1, 2, 3, 4, 5, 6, 7]);
    }
}

/// Requests that were copied are still told apart: receive and send in turns, for each of 3 ranks.
fn objects(mpi: &Mpi) {
    for trace in mpi.record("objects", 3, &[]) {
        counts(&trace, &[("MPI_Irecv", 3), ("MPI_Isend", 3)]);
        let waits: Vec<_> = trace.named("MPI_Wait").map(|call| call.values.clone()).collect();
        for (index, wait) in waits.iter().enumerate() {
            let index = index as i64;
            let expected = if index % 2 == 0 { [index / 2, 9, 80] } else { [-4, -4, -4] };
            assert_eq!((wait[0], &wait[1..]), (index + 1, &expected[..]));
        }
    }
}

/// Four INTEGERs (number 2) around a ring, and a sum in place of DOUBLE PRECISION (11).
fn fortran(mpi: &Mpi) {
    for name in ["classic", "modern"] {
        for (rank, trace) in mpi.record(name, 3, &[]).iter().enumerate() {
            // Nothing but what the program calls: no conversions of handles.
            assert_eq!(trace.calls.len(), 9, "{name}");
            counts(trace, &[("MPI_Irecv", 1), ("MPI_Send", 1), ("MPI_Sendrecv", 1)]);
            let from = (rank as i64 + 2) % 3;
            let wait = trace.named("MPI_Wait").next().expect("a wait");
            assert_eq!(wait.values, [1, from, 8, 16]);
            let send = trace.named("MPI_Send").next().expect("a send");
            assert_eq!(send.values[1..], [4, 2, 4, 4, (rank as i64 + 1) % 3, 8, 0]);
            let sum = trace.named("MPI_Allreduce").next().expect("a sum");
            assert_eq!(sum.values[0], 1);
            assert_eq!(sum.values[2..], [1, 11, 8, 8, 3, 0]);
        }
    }
}

/// 4 threads with 1000 exchanges each; a thread's calls do not overlap.
fn threads(mpi: &Mpi) {
    for trace in mpi.record("threads", 2, &[]) {
        assert_eq!(count(&trace, "MPI_Waitall"), 4000);
        for thread in 1..=4 {
            let own: Vec<_> = trace.calls.iter().filter(|call| call.thread == thread).collect();
            assert_eq!(own.len(), 3000);
            assert!(own.windows(2).all(|pair| pair[0].leave <= pair[1].enter));
        }
    }
}

/// However a rank ends, the 100 exchanges that it made before are there.
fn ends(mpi: &Mpi) {
    for (how, code) in [("abort", Some(5)), ("kill", None), ("fault", None), ("exit", Some(4))] {
        let (traces, status) = mpi.record_to_the_end("ends", 2, &[how]);
        assert!(!status.success(), "{how}");
        if let Some(code) = code {
            assert_eq!(status.code(), Some(code), "{how}");
        }
        for (rank, trace) in traces.iter().enumerate() {
            // The other rank may be ended by the launcher while it is still in the last exchange.
            let sure = if rank == 1 { 100 } else { 99 };
            let exchanges = count(trace, "MPI_Sendrecv_replace");
            assert!((sure..=100).contains(&exchanges), "{how}: {exchanges}");
            assert_eq!(count(trace, "MPI_Abort"), usize::from(how == "abort" && rank == 1));
            assert_eq!(trace.warning.as_deref(), Some("the file was not closed"), "{how}");
        }
    }
}

/// Ranks of one machine have one clock; where it is measured all the same, what is found is as far
/// off as half a message's way there and back at most. 100 ms are the bound here: ranks share
/// processors. Rank 1's clock is an hour ahead, so that nothing passes that was not measured.
fn clocks(mpi: &Mpi) {
    let plain = mpi.record("skewed", 2, &[]);
    assert!(plain.iter().all(|trace| trace.offsets == [0, 0]));
    let measured = mpi.record_with("skewed", 2, &[], &[("HEDDLE_RECORD_CLOCK", "measure")]).0;
    assert_eq!(measured[0].offsets, [0, 0]);
    assert_eq!(measured[1].offsets.len(), 2);
    let hour = 3_600_000_000_000;
    let offsets = &measured[1].offsets;
    assert!(offsets.iter().all(|offset| (offset + hour).abs() < 100_000_000), "{offsets:?}");
}

#[test]
fn programs_are_recorded() {
    for mpi in libraries() {
        pingpong(mpi);
        halo(mpi);
        cg(mpi);
        groups(mpi);
        persistent(mpi);
        onesided(mpi);
        probe(mpi);
        objects(mpi);
        fortran(mpi);
        threads(mpi);
        ends(mpi);
        clocks(mpi);
    }
}

/// Four ranks to a processor, each of which computes 10 times 20 ms, which is many turns of the
/// system's scheduler: by the clock on the wall that takes about 800 ms, and a warning says so; in
/// processor time it takes 200 ms, and what the recorder itself takes between calls.
#[test]
fn ranks_without_a_processor_each() {
    let processors = std::thread::available_parallelism().map_or(1, usize::from) as u32;
    let ranks = 4 * processors;
    for mpi in libraries() {
        for (compute, least, most) in [("wall", 400, u64::MAX), ("cpu", 200, 240)] {
            let variables = [("HEDDLE_RECORD_COMPUTE", compute)];
            let (traces, output) = mpi.output("crowded", ranks, &[], &variables);
            assert!(output.status.success(), "{compute}");
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(said.contains("more ranks than processors"), compute == "wall", "{said}");
            for trace in support::read(&traces, ranks) {
                let gaps = trace.calls.windows(2).map(|pair| pair[1].enter - pair[0].leave);
                let computed = gaps.sum::<u64>() / 1_000_000_000;
                assert!((least..=most).contains(&computed), "{compute}: {computed} ms");
            }
        }
    }
}

/// A program of another MPI library than was said is ended before it starts, with a word, and by no
/// signal.
#[test]
fn programs_of_another_library() {
    let [one, two] = libraries() else { return eprintln!("skipped: there are not two libraries") };
    for (program, recorder) in [(one, two), (two, one)] {
        let (status, said, traces) = program.mistaken(recorder, "pingpong");
        assert_eq!((status.code(), traces), (Some(1), 0), "{said}");
        assert!(said.contains("was built for another MPI library"), "{said}");
        assert!(!said.contains("ignal"), "{said}");
    }
}

/// Measures what recording adds to a call: 10^6 messages, three calls each, printed with
/// `--nocapture`. Every call is in the trace.
#[test]
#[ignore = "takes long"]
fn a_million_messages() {
    for mpi in libraries() {
        let traces = mpi.record("overhead", 1, &["1000000", mpi.library()]);
        let made = [("MPI_Isend", 1_000_000), ("MPI_Recv", 1_000_000), ("MPI_Wait", 1_000_000)];
        counts(&traces[0], &made);
    }
}
