//! Tests which patterns claim receives, and that the answers hold for any number of ranks.

use crate::graph::build;
use schedule::pattern::{Error, Options, Pattern};
use schedule::{Kind, Program, Run};

#[test]
fn patterns_whose_receives_are_all_roots_claim_them() {
    let none = ["pairwise-alltoall", "halo1d", "halo2d", "halo3d", "random-ring", "random"];
    for name in schedule::pattern::NAMES {
        let pattern = build(name, &Options::new(8, 4));
        assert_eq!(pattern.claims(), !none.contains(&name), "{name}");
    }
}

/// 2 × 3 = 6 reaches around 6 ranks, so that one source sends twice, but not around 7.
#[test]
fn nway_claims_where_no_source_sends_twice() {
    for (ranks, claims) in [(4, false), (6, false), (7, true), (9, true), (10, false), (1, true)] {
        let options = Options { ways: 2, ..Options::new(ranks, 4) };
        assert_eq!(build("nway-dissemination", &options).claims(), claims, "{ranks}");
    }
}

#[test]
fn only_messages_of_the_pattern_are_claimed() {
    let claim = |name, rank, source, tag| {
        let pattern = build(name, &Options::new(8, 4));
        pattern.claim(pattern.role(rank), &mut 0, source, tag)
    };
    assert_eq!(claim("dissemination", 5, 1, 0), Some(5));
    assert_eq!(claim("dissemination", 5, 1, 1), None, "another tag");
    assert_eq!(claim("dissemination", 5, 2, 0), None, "three ranks behind");
    assert_eq!(claim("dissemination", 5, 5, 0), None, "itself");
    assert_eq!(claim("dissemination", 5, 8, 0), None, "no rank");
    assert_eq!(claim("binomial-bcast", 0, 1, 0), None, "the root receives nothing");
    assert_eq!(claim("binomial-reduce", 2, 4, 0), None, "no child");
    assert_eq!(claim("binomial-reduce", 2, 6, 0), Some(1));
    assert_eq!(claim("binary-bcast", 5, 1, 0), None, "no parent");
    assert_eq!(claim("gather", 1, 0, 0), None);
    assert_eq!(claim("gather", 0, 0, 0), None);
    assert_eq!(claim("scatter", 1, 2, 0), None);
    assert_eq!(claim("linear-barrier", 0, 0, 0), None);
    assert_eq!(claim("linear-barrier", 1, 2, 0), None);
    assert_eq!(claim("linear-alltoall", 3, 3, 0), None);
    assert_eq!(claim("allreduce-recursive-doubling", 0, 3, 0), None);
    assert_eq!(claim("allreduce-ring", 3, 1, 0), None);
    assert_eq!(claim("pipelined-ring", 3, 1, 0), None);
    assert_eq!(claim("double-ring", 3, 0, 0), None);
}

/// A source that sends several messages gets its receives one after the other, then none.
#[test]
fn counted_receives_run_out() {
    let claims = |name, ranks, rank, source, count| -> Vec<Option<u32>> {
        let pattern = build(name, &Options::new(ranks, 4));
        let mut memory = 0;
        (0..count).map(|_| pattern.claim(pattern.role(rank), &mut memory, source, 0)).collect()
    };
    let ring = [Some(1), Some(3), Some(5), Some(7), None];
    assert_eq!(claims("allreduce-ring", 3, 1, 0, 5), ring);
    let pipeline = [Some(0), Some(2), Some(4), Some(6), None];
    assert_eq!(claims("pipelined-ring", 3, 1, 0, 5), pipeline);
    assert_eq!(claims("double-ring", 2, 1, 0, 3), [Some(1), Some(3), None]);
    let halving = [Some(3), Some(5)];
    assert_eq!(claims("allreduce-rabenseifner", 4, 0, 2, 2), halving);
}

/// Each of the first sends of a rank is claimed by a receive from that rank.
fn check_messages(name: &str, pattern: &Pattern, rank: u32) {
    for index in (0..pattern.ops(rank)).take(100) {
        let send = pattern.op(rank, index);
        if send.kind != Kind::Send {
            continue;
        }
        let claimed = pattern.claim(pattern.role(send.peer), &mut 0, rank, 0);
        let recv = claimed.map(|index| pattern.op(send.peer, index));
        assert_eq!(recv.map(|op| (op.kind, op.peer)), Some((Kind::Recv, rank)), "{name}");
    }
}

#[test]
fn formulas_hold_at_the_largest_numbers_of_ranks() {
    for ranks in [1 << 24, (1 << 31) - 1, 1 << 31, u32::MAX] {
        for name in schedule::pattern::NAMES {
            let pattern = match Pattern::build(name, &Options::new(ranks, 1 << 30)) {
                Ok(pattern) => pattern,
                Err(error) => {
                    assert!(matches!(error, Error::TooLong { .. }), "{name}: {error}");
                    assert!(ranks > 1 << 24 || name == "pipelined-ring", "{name}: {error}");
                    continue;
                }
            };
            for rank in [0, 1, 2, 3, ranks / 2, ranks - 2, ranks - 1] {
                let mut roots = 0_u64;
                pattern.roots(rank, &mut |run: Run| roots += u64::from(run.count));
                assert!(roots <= u64::from(pattern.ops(rank)), "{name}");
                if pattern.claims() {
                    check_messages(name, &pattern, rank);
                }
            }
        }
    }
}
