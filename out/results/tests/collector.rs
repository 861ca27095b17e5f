//! Joining the records of several workers.

mod common;

use common::{EVERYTHING, busy, collect, moved, ns, of_receiver, of_sender, recorded};
use host::{Activity, Record};
use proptest::prelude::*;
use results::{Message, Recorded, Slice, Wanted};
use units::Time;

#[test]
fn one_message_becomes_one_row_and_three_slices() {
    let message = Message {
        source: 0,
        sequence: 0,
        destination: 1,
        tag: 7,
        size: 10,
        posted: ns(100),
        injected: ns(1600),
        delivered: ns(4100),
        matched: ns(4100),
    };
    let slice = |rank, activity, start, end, message, operation| Slice {
        rank,
        cpu: 0,
        start: ns(start),
        end: ns(end),
        activity,
        message,
        operation: Some(operation),
    };
    let expected = Recorded {
        links: Vec::new(),
        messages: vec![message],
        slices: vec![
            slice(0, Activity::Compute, 0, 100, None, 0),
            slice(0, Activity::Send, 100, 1600, Some(0), 1),
            slice(1, Activity::Receive, 4100, 5654, Some(0), 3),
        ],
    };
    assert_eq!(recorded(), expected);
}

#[test]
fn only_what_is_wanted_is_kept() {
    let records = [of_sender(), of_receiver()];
    let wanted = |messages, slices| Wanted { messages, slices, ..Wanted::default() };
    let counts = [(false, 0), (true, 0), (false, 1), (false, 2)].map(|(messages, slices)| {
        let recorded = collect(wanted(messages, slices), &records);
        (recorded.messages.len(), recorded.slices.len())
    });
    assert_eq!(counts, [(0, 0), (1, 0), (0, 2), (0, 3)]);
    // Without the table of messages there is nothing that a slice could point to.
    let slices = collect(wanted(false, 2), &records).slices;
    assert!(slices.iter().all(|slice| slice.message.is_none()));
}

#[test]
fn a_message_that_never_arrives_has_no_times() {
    let message = collect(EVERYTHING, &[of_sender()]).messages[0];
    assert_eq!((message.delivered, message.matched), (Time::MAX, Time::MAX));
}

/// Ids follow the time of injection, then source, then sequence; the slices follow the ids.
#[test]
fn ids_are_in_the_order_of_injection() {
    let sent = |source, sequence, injected| Record::Sent {
        source,
        sequence,
        destination: 9,
        tag: 0,
        size: 1,
        posted: ns(0),
        injected: ns(injected),
    };
    let send = |rank, start, sequence| {
        let message = Some((rank, sequence));
        busy((rank, 0), Activity::Send, (ns(start), ns(start)), message, None)
    };
    let records = vec![
        sent(2, 0, 30),
        sent(2, 1, 10),
        sent(5, 0, 20),
        sent(0, 0, 20),
        send(2, 1, 0),
        send(2, 2, 1),
        send(5, 1, 0),
        send(0, 1, 0),
    ];
    let recorded = collect(EVERYTHING, &[records]);
    let keys: Vec<(u32, u32)> =
        recorded.messages.iter().map(|message| (message.source, message.sequence)).collect();
    assert_eq!(keys, [(2, 1), (0, 0), (5, 0), (2, 0)]);
    let slices: Vec<(u32, Option<u32>)> =
        recorded.slices.iter().map(|slice| (slice.rank, slice.message)).collect();
    assert_eq!(slices, [(0, Some(1)), (2, Some(3)), (2, Some(0)), (5, Some(2))]);
}

/// All records of a few messages among four ranks, two of which have two CPUs. Times are few, so
/// that many are equal.
fn programs() -> impl Strategy<Value = Vec<Record>> {
    let message = (0..4_u32, 0..4_u32, 0..3_u64, 0..3_u64, 0..4_u64, any::<bool>());
    prop::collection::vec(message, 0..40).prop_map(|messages| {
        let mut sequences = [0_u32; 4];
        let mut records = Vec::new();
        for (source, destination, posted, wire, wait, arrives) in messages {
            let sequence = sequences[source as usize];
            sequences[source as usize] += 1;
            let (posted, injected) = (ns(posted), ns(posted + 1));
            let at = ns(posted.ps() / 1000 + 1 + wire);
            let matched = Time::from_ps(at.ps() + wait * 1000);
            let key = Some((source, sequence));
            let cpu = (source % 2 * (sequence % 2)) as u8;
            records.push(Record::Sent {
                source,
                sequence,
                destination,
                tag: 0,
                size: wait,
                posted,
                injected,
            });
            records.push(busy((source, cpu), Activity::Send, (posted, injected), key, None));
            if arrives {
                records.push(busy((destination, 0), Activity::Receive, (at, matched), key, None));
                records.push(Record::Delivered { source, sequence, at });
                records.push(Record::Matched { source, sequence, at: matched, receive: sequence });
            }
        }
        records
    })
}

proptest! {
    /// Whatever worker records what, the tables are the same.
    #[test]
    fn merging_does_not_depend_on_the_division(
        records in programs(),
        workers in prop::collection::vec(0..7_usize, 200),
    ) {
        let mut divided = vec![Vec::new(); 7];
        for (&record, &worker) in records.iter().zip(&workers) {
            divided[worker].push(record);
        }
        let alone = collect(EVERYTHING, std::slice::from_ref(&records));
        prop_assert_eq!(&collect(EVERYTHING, &divided), &alone);
        divided.reverse();
        prop_assert_eq!(&collect(EVERYTHING, &divided), &alone);
        // Nor on whether rows are kept in memory.
        prop_assert_eq!(&moved(&divided), &alone);

        // Nothing is lost, and each slice of a message points to a row that fits it.
        let sent = records.iter().filter(|record| matches!(record, Record::Sent { .. })).count();
        prop_assert_eq!(alone.messages.len(), sent);
        for slice in &alone.slices {
            let message = &alone.messages[slice.message.expect("all belong to messages") as usize];
            if slice.activity == Activity::Send {
                prop_assert_eq!((slice.rank, slice.end), (message.source, message.injected));
            } else {
                let span = (slice.rank, slice.start, slice.end);
                prop_assert_eq!(span, (message.destination, message.delivered, message.matched));
            }
        }
    }
}
