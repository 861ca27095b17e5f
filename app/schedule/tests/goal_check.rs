//! Tests of what the validator finds, and what it must not claim.

use schedule::goal::{Image, Rule, Severity, check, check_text};

/// Findings of a text, as `severity: rank R, operation I (line L): message`, without those on
/// labels.
#[track_caller]
fn expect(text: &str, expect: &[&str]) {
    let report = check_text(text.as_bytes());
    assert_eq!(report.diagnostics, []);
    let findings = report.findings.iter().filter(|finding| finding.rule != Rule::UnusedLabel);
    let found: Vec<_> = findings.map(ToString::to_string).collect();
    assert_eq!(found, expect);
}

/// Checks like `expect`, with the operations of ranks 0, 1, … given, each rank on one line from
/// line 2 on.
#[track_caller]
fn expect_ranks(ranks: &[&str], findings: &[&str]) {
    let block = |(rank, ops): (usize, &&str)| format!("rank {rank} {{ {ops} }}\n");
    let blocks: String = ranks.iter().enumerate().map(block).collect();
    expect(&format!("num_ranks {}\n{blocks}", ranks.len()), findings);
}

#[test]
fn nothing_is_wrong_with_a_ring() {
    expect_ranks(
        &[
            "s: send 8b to 1 tag 3 r: recv 8b from 2 tag 3 c: calc 5 c requires r",
            "s: send 8b to 2 tag 3 r: recv 8b from 0 tag 3 c: calc 5 c requires r, s",
            "s: send 8b to 0 tag 3 r: recv 8b from 1 tag 3 c: calc 5 c irequires s",
        ],
        &[],
    );
}

#[test]
fn nothing_is_wrong_with_ltest() {
    let text = include_str!("../../../examples/ltest.goal");
    let report = check_text(text.as_bytes());
    assert_eq!((report.diagnostics, report.findings), (vec![], vec![]));
}

#[test]
fn messages_without_receives_and_receives_without_messages() {
    expect_ranks(
        &["send 1b to 1 send 1b to 1 send 1b to 1 tag 5", "recv 1b from 0 recv 1b from 0 tag 6"],
        &[
            "error: rank 0, operation 1 (line 2): 2 messages to rank 1 with tag 0, 1 receive can \
             take them",
            "error: rank 0, operation 2 (line 2): 1 message to rank 1 with tag 5, 0 receives can \
             take them",
            "error: rank 1, operation 1 (line 3): 1 receive from rank 0 with tag 6, 0 messages can \
             reach them",
        ],
    );
}

#[test]
fn wildcard_receives_take_what_is_left() {
    // One message of each tag; the receive of any tag may take either.
    expect_ranks(
        &["send 1b to 1 tag 1 send 1b to 1 tag 2", "recv 1b from 0 tag 1 recv 1b from 0 tag -1"],
        &[],
    );
    expect_ranks(
        &["send 1b to 1 tag 1 send 1b to 1 tag 2", "recv 1b from -1 tag 1 recv 1b from -1 tag 2"],
        &[],
    );
}

#[test]
fn wildcard_receives_take_no_more_than_there_are() {
    // Tag 1: three messages, one receive that names the tag and one that takes any.
    expect_ranks(
        &[
            "send 1b to 1 tag 1 send 1b to 1 tag 1 send 1b to 1 tag 1",
            "recv 1b from 0 tag 1 recv 1b from -1 tag -1",
        ],
        &["error: rank 0, operation 2 (line 2): 3 messages to rank 1 with tag 1, 2 receives can \
             take them"],
    );
    // No message has tag 4; one comes from rank 0 where two receives wait for any tag.
    expect_ranks(
        &[
            "send 1b to 1 tag 1",
            "recv 1b from -1 tag 4 recv 1b from 0 tag -1 recv 1b from 0 tag -1",
        ],
        &[
            "error: rank 1, operation 0 (line 3): 1 receive from any rank with tag 4, 0 messages \
             can reach them",
            "error: rank 1, operation 2 (line 3): 2 receives from rank 0 with any tag, 1 message \
             can reach them",
        ],
    );
}

/// Each of the two tags could go to the receive of any tag, but not both: that one message is left
/// shows only in the totals.
#[test]
fn totals_show_what_single_channels_do_not() {
    expect_ranks(
        &["send 1b to 1 tag 1 send 1b to 1 tag 2", "recv 1b from 0 tag -1"],
        &["error: rank 1: 2 messages to this rank and 1 receive: at least 1 message cannot be \
             matched"],
    );
    expect_ranks(
        &["send 1b to 1 tag 1", "recv 1b from 0 tag 1 recv 1b from 0 tag -1"],
        &["error: rank 1: 1 message to this rank and 2 receives: at least 1 receive cannot be \
             matched"],
    );
    // Tag 1: two of three are certainly left. Of the other two tags, one is.
    expect_ranks(
        &[
            "send 1b to 1 tag 1 send 1b to 1 tag 1 send 1b to 1 tag 1 send 1b to 1 tag 2 send 1b \
             to 1 tag 3",
            "recv 1b from 0 tag -1",
        ],
        &[
            "error: rank 0, operation 1 (line 2): 3 messages to rank 1 with tag 1, 1 receive can \
             take them",
            "error: rank 1: 5 messages to this rank and 1 receive: at least 2 messages cannot be \
             matched, besides those reported",
        ],
    );
}

#[test]
fn messages_of_any_tag() {
    expect_ranks(
        &["send 1b to 1 tag -1", "recv 1b from 0 tag 9"],
        &["warning: rank 0, operation 0 (line 2): a message with tag -1, which every receive \
             takes"],
    );
    expect_ranks(
        &["send 1b to 1 tag -1 send 1b to 1 tag -1", "recv 1b from 0 tag 9"],
        &[
            "warning: rank 0, operation 0 (line 2): 2 messages with tag -1, which every receive \
             takes, this one first",
            "error: rank 0, operation 1 (line 2): 2 messages to rank 1 with tag -1, 1 receive can \
             take them",
        ],
    );
}

#[test]
fn sizes_that_differ() {
    expect_ranks(
        &[
            "send 10b to 1 send 20b to 1 send 30b to 1",
            "recv 10b from 0 recv 19b from 0 recv 40b from 0",
        ],
        &[
            "error: rank 1, operation 1 (line 3): receives 19 B, but the message from rank 0, \
             operation 1, has 20 B",
            "note: rank 1, operation 2 (line 3): receives 40 B, but the message from rank 0, \
             operation 2, has 30 B",
        ],
    );
    // Which message the receive takes is not certain.
    expect_ranks(
        &[
            "send 10b to 1 tag 1 send 20b to 1 tag 2",
            "recv 10b from 0 tag -1 recv 10b from 0 tag 2",
        ],
        &[],
    );
}

#[test]
fn races_between_senders() {
    expect_ranks(
        &["send 1b to 2", "send 1b to 2", "recv 1b from -1 recv 1b from -1"],
        &["warning: rank 2, operation 0 (line 4): 2 receives from any rank with tag 0 may take \
             messages of several senders, whichever comes first"],
    );
    // Only one sender uses the tag.
    expect_ranks(
        &["send 1b to 2 tag 1", "send 1b to 2 tag 2", "recv 1b from -1 tag 1 recv 1b from 1 tag 2"],
        &[],
    );
    expect_ranks(
        &[
            "send 1b to 2 tag 1",
            "send 1b to 2 tag 2",
            "recv 1b from -1 tag -1 recv 1b from -1 tag -1",
        ],
        &["warning: rank 2, operation 0 (line 4): 2 receives from any rank with any tag may take \
             messages of several senders, whichever comes first"],
    );
}

#[test]
fn cycles() {
    expect_ranks(
        &["a: calc 1 a requires a"],
        &["error: rank 0, operation 0 (line 2): the operation waits for itself; 1 operation can \
             never start"],
    );
    expect_ranks(
        &["a: calc 1 a requires a b: calc 2 b requires a"],
        &["error: rank 0, operation 0 (line 2): the operation waits for itself; 2 operations can \
             never start"],
    );
    // 1 waits for 3, 3 for 2, 2 for 1; 4 waits for 3; 0 is free.
    expect(
        "num_ranks 1\nrank 0 {\ncalc 1\nb: calc 2\nc: calc 3\nd: calc 4\ne: calc 5\n\
         b requires d\nd irequires c\nc requires b\ne requires d\n}",
        &["error: rank 0, operation 1 (line 4): operations 1, 3, 2 wait each for the next, the \
             last for the first; 4 operations can never start"],
    );
    let ops = (0..12).map(|op| format!("x{op}: calc 1 ")).collect::<Vec<_>>().concat();
    let lines = (0..12)
        .map(|op| format!("x{op} requires x{} ", (op + 1) % 12))
        .collect::<Vec<_>>()
        .concat();
    expect_ranks(
        &[&format!("{ops}{lines}")],
        &["error: rank 0, operation 0 (line 2): 12 operations wait each for the next, the last \
             for the first (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, …); 12 operations can never start"],
    );
}

#[test]
fn peculiar_messages() {
    expect_ranks(
        &["send 0b to 0 send 1b to 0 recv 0b from 0 recv 1b from 0", ""],
        &[
            "warning: rank 0, operation 0 (line 2): 2 messages to the rank itself, this one first",
            "note: rank 0, operation 0 (line 2): a message of 0 bytes",
            "note: rank 1: the rank does nothing",
        ],
    );
}

#[test]
fn labels_never_used() {
    let report =
        check_text(b"num_ranks 1\nrank 0 {\na: calc 1\nb: calc 2\nl3: calc 3\nb requires a\n}");
    let found: Vec<_> = report.findings.iter().map(ToString::to_string).collect();
    assert_eq!(found, ["warning: rank 0, operation 2 (line 5): label `l3` is never used"]);
    let ops = (1..=14).map(|op| format!("l{op}: calc 1\n")).collect::<Vec<_>>().concat();
    let report = check_text(format!("num_ranks 1\nrank 0 {{\n{ops}}}").as_bytes());
    assert_eq!(report.findings.len(), 11);
    let last = "warning: rank 0: 4 more labels are never used, from here on";
    assert!(report.findings.iter().any(|finding| finding.to_string() == last));
}

#[test]
fn a_text_that_cannot_be_read_is_not_checked() {
    let report = check_text(b"num_ranks 1\nrank 0 {\nsend 1b to 0\nclac 5\n}");
    assert_eq!(report.diagnostics.len(), 1);
    assert_eq!(report.findings, []);
}

#[test]
fn of_each_rule_a_hundred_are_listed() {
    let (image, _) =
        Image::from_text(format!("num_ranks 1\nrank 0 {{\n{}}}", messages(103)).as_bytes())
            .unwrap();
    let findings = check(&image);
    let unmatched: Vec<_> =
        findings.iter().filter(|finding| finding.rule == Rule::UnmatchedSend).collect();
    assert_eq!(unmatched.len(), 101);
    assert!(unmatched.iter().all(|finding| finding.rule.severity() == Severity::Error));
    assert_eq!(unmatched[0].to_string(), "error: rank 0: and 3 more findings of this kind");
}

/// Messages to rank 0 with tags 0, 1, ….
fn messages(count: u32) -> String {
    (0..count).map(|tag| format!("send 1b to 0 tag {tag}\n")).collect::<Vec<_>>().concat()
}

/// A program that no file can hold.
mod impossible {
    use super::*;
    use schedule::{ANY, Edge, Kind, Op, Program, Run};

    struct Sends;

    impl Program for Sends {
        fn ranks(&self) -> u32 {
            2
        }
        fn ops(&self, rank: u32) -> u32 {
            2 - 2 * rank
        }
        fn op(&self, _: u32, index: u32) -> Op {
            let peer = if index == 0 { 2 } else { ANY };
            Op { kind: Kind::Send, peer, tag: 0, size: 1, cpu: 0, nic: 0 }
        }
        fn dependencies(&self, _: u32, _: u32) -> u32 {
            0
        }
        fn dependents(&self, _: u32, _: u32, _: Edge, _: &mut impl FnMut(u32)) {}
        fn roots(&self, _: u32, each: &mut impl FnMut(Run)) {
            each(Run { first: 0, stride: 1, count: 2 });
        }
    }

    #[test]
    fn destinations_that_do_not_exist() {
        let found: Vec<_> = check(&Sends).iter().map(ToString::to_string).collect();
        assert_eq!(
            found,
            [
                "error: rank 0, operation 0: rank 2 does not exist; the highest is 1",
                "error: rank 0, operation 1: a message needs one destination",
                "note: rank 1: the rank does nothing",
            ]
        );
    }
}
