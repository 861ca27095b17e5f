//! Permuted ranks and random choices.

use std::collections::BTreeSet;

use crate::graph::{Graph, build, variants};
use schedule::pattern::Options;
use schedule::{Kind, Program};

/// The permutation that a seed gives: in a gather role 0 receives from roles 1, 2, … in turn.
fn permutation(ranks: u32, seed: u64) -> Vec<u32> {
    let options = Options { permute: Some(seed), ..Options::new(ranks, 1) };
    let gather = build("gather", &options);
    let root = (0..ranks).find(|&r| gather.op(r, 0).kind == Kind::Recv).unwrap();
    let others = (0..ranks - 1).map(|i| gather.op(root, i).peer);
    [root].into_iter().chain(others).collect()
}

#[test]
fn a_permuted_rank_has_the_part_of_another() {
    for ranks in [2, 7, 16] {
        let p = permutation(ranks, 7);
        assert_eq!(p.iter().collect::<BTreeSet<_>>().len(), ranks as usize);
        for (name, options) in variants(ranks, 180) {
            let plain = Graph::read(&build(name, &Options { permute: None, ..options.clone() }));
            let permuted = Options { permute: Some(7), ..options };
            let permuted = Graph::read(&build(name, &permuted));
            for (role, &rank) in p.iter().enumerate() {
                let rank = rank as usize;
                assert_eq!(permuted.requires[rank], plain.requires[role], "{name}");
                let mut expected = plain.ops[role].clone();
                for op in expected.iter_mut().filter(|op| op.kind != Kind::Calc) {
                    op.peer = p[op.peer as usize];
                }
                assert_eq!(permuted.ops[rank], expected, "{name}");
            }
        }
    }
}

/// 6 permutations of 3 ranks over 600 seeds: 100 each, with a standard deviation of
/// √(600 × 5 / 36) = 9; five of those are allowed.
#[test]
fn permutations_are_drawn_evenly() {
    let mut counts = std::collections::BTreeMap::new();
    for seed in 0..600 {
        *counts.entry(permutation(3, seed)).or_insert(0) += 1;
    }
    assert_eq!(counts.len(), 6);
    assert!(counts.values().all(|count| (55..=145).contains(count)), "{counts:?}");
}

#[test]
fn a_bisection_pairs_one_half_with_the_other() {
    let pairs = |ranks, seed| -> BTreeSet<(u32, u32)> {
        let options = Options { seed, ..Options::new(ranks, 9) };
        let graph = Graph::read(&build("random-bisection", &options));
        graph.channels(Kind::Send).into_keys().collect()
    };
    for ranks in [2, 9, 64] {
        let drawn = pairs(ranks, 1);
        let ends: BTreeSet<u32> = drawn.iter().flat_map(|&(a, b)| [a, b]).collect();
        assert_eq!((drawn.len(), ends.len()), (ranks as usize / 2, ranks as usize / 2 * 2));
    }
    assert_eq!(pairs(64, 1), pairs(64, 1));
    assert_ne!(pairs(64, 1), pairs(64, 2));
}

#[test]
fn random_traffic_meets_every_other_rank() {
    let options = Options { steps: 300, ..Options::new(6, 9) };
    let pattern = build("random", &options);
    // 300 sends over 5 others: 60 each, with a standard deviation of √(300 × 0.2 × 0.8) = 7; five
    // of those are allowed. Nobody sends to itself.
    for rank in 0..6 {
        let mut hits = [0; 6];
        for step in 0..300 {
            hits[pattern.op(rank, 2 * step).peer as usize] += 1;
        }
        assert_eq!(hits[rank as usize], 0);
        let others = hits.iter().filter(|&&hits| (25..=95).contains(&hits));
        assert_eq!(others.count(), 5, "{hits:?}");
    }
    // Each step waits for the last: s0 r1 s2<1 r3<1 ….
    let graph = Graph::read(&pattern);
    assert_eq!(graph.requires[0][..4], [vec![], vec![], vec![1], vec![1]]);
}
