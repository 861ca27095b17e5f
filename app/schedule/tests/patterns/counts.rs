//! Numbers of messages and bytes against their closed forms.

use crate::graph::{Graph, build};
use schedule::Kind;
use schedule::pattern::Options;

/// The smallest k with base^k ≥ n.
fn log(base: u64, n: u64) -> u64 {
    let mut k = 0;
    while base.pow(k) < n {
        k += 1;
    }
    u64::from(k)
}

#[test]
fn messages_and_bytes() {
    for n in 1..=33_u64 {
        let d = 1_000;
        let all = n - 1;
        let p = 1 << (log(2, n + 1) - 1);
        let (bits, extra) = (log(2, p), n - p);
        let alone = u64::from(n == 1);
        let cases = [
            ("dissemination", n * log(2, n), d),
            ("binomial-bcast", all, d),
            ("binomial-reduce", all, d),
            ("binary-bcast", all, d),
            ("nway-dissemination", n * log(2, n), d),
            ("linear-alltoall", n * all, d),
            ("pairwise-alltoall", n * all, d),
            ("allreduce-recursive-doubling", p * bits + 2 * extra, d),
            ("allreduce-ring", 2 * n * all, d / n),
            ("gather", all, d),
            ("scatter", all, d),
            ("pipelined-ring", all * d, 1),
            ("double-ring", 2 * n * (1 - alone), d),
            ("linear-barrier", 2 * all, 1),
            ("random-bisection", n / 2, d),
            ("bulk-reply", n / 2 * 2, d),
            ("halo1d", 2 * n * (1 - alone), d),
            ("random-ring", 2 * n * (1 - alone), d),
            ("random", n * (1 - alone), d),
        ];
        for (name, messages, size) in cases {
            let graph = Graph::read(&build(name, &Options::new(n as u32, d)));
            assert_eq!(graph.messages(), messages, "{name}, {n} ranks");
            assert_eq!(graph.bytes(), messages * size, "{name}, {n} ranks");
        }
    }
}

/// Bruck's all-to-all has the messages of a dissemination, and a block travels once for each bit of
/// the distance between its source and its destination (Bruck et al. 1997).
#[test]
fn bruck_moves_blocks_by_the_bits_of_their_distance() {
    for n in [1, 2, 3, 8, 13, 32, 33_u32] {
        let graph = Graph::read(&build("bruck-alltoall", &Options::new(n, 7)));
        assert_eq!(graph.messages(), u64::from(n) * log(2, n.into()), "{n} ranks");
        let hops: u64 = (0..n).map(|distance| u64::from(distance.count_ones())).sum();
        assert_eq!(graph.bytes(), 7 * u64::from(n) * hops, "{n} ranks");
    }
}

/// On a ring of 9 ranks each has two neighbours, and the ring is a single one; other steps and
/// other seeds have other rings.
#[test]
fn random_rings_differ_from_step_to_step() {
    let rings = |seed| {
        let options = Options { steps: 3, seed, ..Options::new(9, 8) };
        let graph = Graph::read(&build("random-ring", &options));
        let sends = |rank: usize| {
            let peers = graph.ops[rank].iter().filter(|op| op.kind == Kind::Send);
            peers.map(|op| op.peer).collect::<Vec<_>>()
        };
        (0..9).map(sends).collect::<Vec<_>>()
    };
    let one = rings(1);
    for step in 0..3 {
        // The second neighbour of a step is the next on the ring: nine steps lead around it.
        let mut seen = vec![0];
        while seen.len() < 9 {
            let next = one[*seen.last().unwrap() as usize][2 * step + 1];
            assert!(!seen.contains(&next), "{seen:?}, {next}");
            seen.push(next);
        }
    }
    let step = |step: usize| one.iter().map(|peers| peers[2 * step]).collect::<Vec<_>>();
    assert!(step(0) != step(1) && step(1) != step(2) && one != rings(2));
}

#[test]
fn nway_needs_as_many_rounds_as_the_logarithm_to_base_w_plus_1() {
    for (n, ways) in [(9, 2), (10, 2), (16, 3), (17, 3), (64, 7), (33, 5), (3, 8), (2, 1)] {
        let options = Options { ways, ..Options::new(n, 5) };
        let graph = Graph::read(&build("nway-dissemination", &options));
        let (n, w) = (u64::from(n), u64::from(ways));
        let rounds = log(w + 1, n);
        assert_eq!(graph.messages(), n * w * rounds, "{n} ranks, {w} ways");
        let computations = graph.ops.iter().flatten().filter(|op| op.kind == Kind::Calc);
        assert_eq!(computations.count() as u64, n * w * (rounds - 1));
    }
}

/// 2 log2 n messages per rank, together 2 d (n - 1) / n bytes; an extra rank adds two whole
/// vectors.
#[test]
fn rabenseifner_sends_little() {
    for (n, bits, extra) in [(2, 1, 0), (8, 3, 0), (32, 5, 0), (11, 3, 3)] {
        let d = 64 * 15;
        let graph = Graph::read(&build("allreduce-rabenseifner", &Options::new(n, d)));
        let p = u64::from(n - extra);
        let extra = u64::from(extra);
        assert_eq!(graph.messages(), 2 * p * bits + 2 * extra);
        assert_eq!(graph.bytes(), 2 * d * (p - 1) + 2 * extra * d);
    }
}

/// Steps of 12 ranks: 4 neighbours each on 4 × 3, 6 on 3 × 2 × 2; an allreduce of 12 ranks has
/// 8 × 3 + 2 × 4 = 32 messages.
#[test]
fn halo_steps() {
    let options = Options { steps: 5, allreduce: Some(16), ..Options::new(12, 100) };
    for (name, neighbours) in [("halo1d", 2), ("halo2d", 4), ("halo3d", 6)] {
        let graph = Graph::read(&build(name, &options));
        assert_eq!(graph.messages(), 5 * (12 * neighbours + 32), "{name}");
        assert_eq!(graph.bytes(), 5 * (12 * neighbours * 100 + 32 * 16), "{name}");
    }
}

#[test]
fn pipelined_segments_add_up() {
    for (size, segment, messages) in [(100, 7, 15), (98, 7, 14), (5, 7, 1), (0, 7, 0)] {
        let options = Options { segment, ..Options::new(4, size) };
        let graph = Graph::read(&build("pipelined-ring", &options));
        assert_eq!((graph.messages(), graph.bytes()), (3 * messages, 3 * size));
    }
}

#[test]
fn alltoallv_sizes_are_drawn_within_their_limits() {
    let sizes = |seed, skew| {
        let options = Options { seed, skew, root: 3, ..Options::new(20, 1_000) };
        let graph = Graph::read(&build("alltoallv", &options));
        let sends = graph.ops.into_iter().flatten().filter(|op| op.kind == Kind::Send);
        sends.map(|op| (op.peer, op.size)).collect::<Vec<_>>()
    };
    let drawn = sizes(1, 10);
    assert_eq!(drawn.len(), 20 * 19);
    let (column, others): (Vec<_>, Vec<_>) = drawn.iter().partition(|(peer, _)| *peer == 3);
    assert!(column.iter().all(|(_, size)| *size == 1_000));
    assert!(others.iter().all(|(_, size)| (1..=100).contains(size)));
    // 361 draws from 1 to 100: mean 50.5, standard deviation 28.9 / √361 = 1.5; four are allowed.
    let sum: u64 = others.iter().map(|(_, size)| size).sum();
    assert_eq!(others.len(), 361);
    assert!((361 * 44..361 * 57).contains(&sum), "{sum}");
    assert_eq!(sizes(1, 10), drawn);
    assert_ne!(sizes(2, 10), drawn);
    assert!(sizes(1, 1).iter().any(|(peer, size)| *peer != 3 && *size > 900));
}

#[test]
fn alltoallv_of_nothing() {
    let graph = Graph::read(&build("alltoallv", &Options::new(5, 0)));
    assert_eq!((graph.messages(), graph.bytes()), (20, 0));
}
