//! The CSV tables.

mod common;

use common::{EVERYTHING, ns, of_receiver, of_sender, outcome, tables};
use host::{RankTotals, Record};
use results::{Call, write_calls, write_messages, write_ranks};
use units::Time;

fn ranks(ranks: &[RankTotals]) -> String {
    let mut out = Vec::new();
    write_ranks(&mut out, ranks).unwrap();
    String::from_utf8(out).unwrap()
}

/// Rank 1 waits for the message: 5654 - 1554 = 4100 ns.
#[test]
fn ranks_of_one_message() {
    assert_eq!(
        ranks(&outcome().ranks),
        "\
rank,finish_ps,cpu_busy_ps,waiting_ps,blocked_ps,\
sent_messages,sent_bytes,received_messages,received_bytes,latency_ps,bandwidth_ps,contention_ps
0,1600000,1600000,0,0,1,10,0,0,0,0,0
1,5654000,1554000,4100000,0,0,0,1,10,2500000,54000,7000
"
    );
}

/// 100 ns with 30 busy and 50 blocked leave 20; two CPUs busy for 180 of 100 ns leave nothing.
#[test]
fn waiting_is_the_rest_and_never_negative() {
    let row = |busy, blocked| RankTotals {
        finish: ns(100),
        busy: ns(busy),
        blocked: ns(blocked),
        ..RankTotals::default()
    };
    let text = ranks(&[row(30, 50), row(180, 0), row(80, 40)]);
    let waiting: Vec<&str> =
        text.lines().skip(1).filter_map(|line| line.split(',').nth(3)).collect();
    assert_eq!(waiting, ["20000", "0", "0"]);
}

#[test]
fn no_ranks_leave_the_header() {
    assert_eq!(ranks(&[]).lines().count(), 1);
}

#[test]
fn messages_of_one_message() {
    let mut out = Vec::new();
    write_messages(&mut out, &tables(EVERYTHING, &[of_sender(), of_receiver()], None).messages)
        .unwrap();
    assert_eq!(
        String::from_utf8(out).unwrap(),
        "\
id,source,destination,tag,size,posted_ps,injected_ps,delivered_ps,matched_ps
0,0,1,7,10,100000,1600000,4100000,4100000
"
    );
}

/// A message that is lost in a deadlock, with a wildcard tag.
#[test]
fn what_never_happened_is_empty() {
    let mut records = of_sender();
    for record in &mut records {
        if let Record::Sent { tag, .. } = record {
            *tag = u32::MAX;
        }
    }
    let mut out = Vec::new();
    write_messages(&mut out, &tables(EVERYTHING, &[records], None).messages).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert_eq!(text.lines().nth(1), Some("0,0,1,-1,10,100000,1600000,,"));
}

/// Enough rows to be handed on in several pieces: each must arrive once and in order.
#[test]
fn long_tables_are_complete() {
    let row = |rank: u64| RankTotals {
        sent_messages: rank,
        received_bytes: u64::MAX,
        ..RankTotals::default()
    };
    let text = ranks(&(0..20_000).map(row).collect::<Vec<_>>());
    let rows = (0..20_000).map(|rank| {
        format!(
            "{rank},0,0,0,0,{rank},0,0,18446744073709551615,0,0,0
"
        )
    });
    assert_eq!(text, ranks(&[]) + &rows.collect::<String>());
}

/// A call that never ended has no time.
#[test]
fn calls_are_rows() {
    let call = |thread, name: &str, enter, leave| Call {
        rank: 3,
        thread,
        name: name.into(),
        place: if thread == 0 { "a.c:7".into() } else { "".into() },
        enter,
        leave,
    };
    let calls = [
        call(0, "MPI_Send", Time::from_ps(7), Time::from_ps(1_000_009)),
        call(1, "MPI_Wait", Time::from_ps(8), Time::MAX),
    ];
    let mut out = Vec::new();
    write_calls(&mut out, calls.into_iter()).unwrap();
    let expected = "rank,thread,call,enter_ps,return_ps,place\n\
                    3,0,MPI_Send,7,1000009,a.c:7\n3,1,MPI_Wait,8,,\n";
    assert_eq!(String::from_utf8(out).unwrap(), expected);
}
