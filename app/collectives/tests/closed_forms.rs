//! Messages and bytes of every algorithm at 64 and 1024 ranks, four to a node, against closed
//! forms.
//!
//! Notation: n ranks, l = log2 n, N = n / 4 nodes, L = log2 N; vectors of m = 64 KiB (8 segments of
//! 8 KiB, 2 of 32 KiB, 1 of 64 KiB or more), blocks of b = 64 B, root 0. Where the literature has a
//! form, it is that of Thakur, Rabenseifner, Gropp 2005 (tables of section 4), Bruck et al. 1997,
//! Patarasuk and Yuan 2009; the others are counted from the description of the algorithm, as the
//! comments say.

mod support;

use collectives::{Action, Buffer, Collective, Entry, Nodes, Way};
use support::Case;

const M: u64 = 64 << 10;
const B: u64 = 64;

/// Messages and bytes.
fn count(collective: Collective, algorithm: &str, ranks: u32) -> (u64, u64) {
    let counts = vec![if collective.is_whole() { M / 8 } else { B / 8 }];
    let nodes = Nodes::Consecutive(4);
    let case = Case { collective, ranks, root: 0, commutative: true, counts, nodes, segment: None };
    let mut sum = (0, 0);
    for plan in case.plans(algorithm) {
        for (action, _) in plan.steps() {
            if let Action::Send { from, .. } = action {
                let element = if from.buffer == Buffer::Control { 1 } else { 8 };
                sum = (sum.0 + 1, sum.1 + from.len * element);
            }
        }
    }
    sum
}

/// Checks the algorithms of a collective; those that are names of others or selections are left
/// out.
fn check(collective: Collective, form: impl Fn(&str, u64) -> (u64, u64)) {
    let own =
        collectives::algorithms(collective).iter().filter(|entry| matches!(entry.way, Way::Run(_)));
    for entry in own {
        for ranks in [64, 1024] {
            let expected = form(entry.name, u64::from(ranks));
            assert_eq!(count(collective, entry.name, ranks), expected, "{} {ranks}", entry.name);
        }
    }
}

fn log(n: u64) -> u64 {
    u64::from(n.ilog2())
}

#[test]
fn bcast() {
    check(Collective::Bcast, |name, n| {
        // Every rank but the root gets the vector once.
        let (tree, all) = (n - 1, (n - 1) * M);
        // A report of one byte and a list of 4096 B for everyone but rank 0.
        let notices = (n - 1) * 4097;
        match name {
            "flattree_pipeline" | "NTSB" | "NTSL" | "SMP_binary" | "SMP_linear" => (8 * tree, all),
            "arrival_pattern_aware" | "arrival_pattern_aware_wait" => (10 * tree, notices + all),
            // The linear scatter moves n - 1 blocks of m / n; the ring n (n - 1).
            "arrival_scatter" => (3 * tree + n * tree, notices + tree * M / n + all),
            // The binomial scatter moves m / 2 in each of l rounds.
            "scatter_LR_allgather" => (tree + n * tree, M / 2 * log(n) + all),
            "scatter_rdb_allgather" => (tree + n * log(n), M / 2 * log(n) + all),
            // Everyone gets one half from above, in 32 segments of 1 KiB, and one from its pair.
            "ompi_split_bintree" => (33 * tree, all),
            // The same with one segment, or two segments from above.
            "openmpi_split_bintree" | "ompi_bintree" => (2 * tree, all),
            // 64 > 3.2118e-6 * 64 KiB + 8.7936 (and so on): 128 KiB. No segments either way.
            _ => (tree, all),
        }
    });
}

#[test]
fn reduce() {
    check(Collective::Reduce, |name, n| {
        let (tree, all) = (n - 1, (n - 1) * M);
        match name {
            "NTSL" => (8 * tree, all),
            "arrival_pattern_aware" => (10 * tree, tree * 4097 + all),
            "ompi_binary" => (2 * tree, all),
            // 64 > 0.0410 * 64 + 9.7128 and 64 > 0.6016 * 64 + 1.3496: segments of 1 KiB in both.
            "ompi_pipeline" | "ompi_binomial" => (64 * tree, all),
            // The tree's root is the last rank, which sends the result to rank 0.
            "ompi_in_order_binary" => (n, n * M),
            // Halving: n messages in each of l rounds, m (n - 1) / n per rank; gather: m / 2 per
            // round.
            "scatter_gather" => (n * log(n) + tree, all + M / 2 * log(n)),
            // In its gather one of each pair sends in each round: n / 2 (m / n + 2 m / n + ...)
            // bytes.
            "rab" => (n * log(n) + n / 2 * log(n), all + all / 2),
            _ => (tree, all),
        }
    });
}

#[test]
fn allreduce() {
    check(Collective::Allreduce, |name, n| {
        let (l, nodes) = (log(n), n / 4);
        // Three ranks of each node send up and get down.
        let (inside, inside_bytes) = (6 * nodes, 6 * nodes * M);
        let parts = 2 * (n - 1) * M;
        let leaders = inside_bytes + 2 * (nodes - 1) * M;
        match name {
            "default" | "redbcast" | "openmpi_linear" | "ompi_nonoverlapping" | "smp_binomial" => {
                (2 * (n - 1), parts)
            }
            "smp_binomial_pipeline" => (16 * (n - 1), parts),
            // The alltoall of 64 B among 1024 ranks is `bruck`: l rounds of half of all blocks.
            "rab2" if n == 1024 => (n * l + n * (n - 1), n * l * M / 2 + parts / 2),
            "lr" | "ompi_ring_segmented" | "openmpi_ring" | "openmpi_ring_segmented" | "rab2" => {
                (2 * n * (n - 1), parts)
            }
            "rab_rdb" | "rabenseifner" | "mvapich2_rs" | "rab" => (2 * n * l, parts),
            // Recursive halving, then all messages at once.
            "rab1" => (n * l + n * (n - 1), parts),
            "rdb" => (n * l, n * l * M),
            "smp_rdb" => {
                let among = nodes * log(nodes);
                (inside + among, inside_bytes + among * M)
            }
            "smp_rsag" | "smp_rsag_lr" => (inside + 2 * nodes * (nodes - 1), leaders),
            "smp_rsag_rab" | "mvapich2_two_level" => (inside + 2 * nodes * log(nodes), leaders),
            _ => panic!("no form for {name}"),
        }
    });
}

fn allgathers(name: &str, n: u64) -> (u64, u64) {
    let nodes = n / 4;
    // Everyone gets every other block once.
    let all = n * (n - 1) * B;
    match name {
        "rdb" | "bruck" | "ompi_bruck" | "mpich_rdb" => (n * log(n), all),
        // Gather, and a broadcast of all blocks.
        "GB" | "openmpi_default" => (2 * (n - 1), (n - 1) * B + (n - 1) * n * B),
        "2dmesh" => (n * 2 * (n.isqrt() - 1), all),
        // 4 x 4 x 4 and 4 x 16 x 16: 16 is the first number from the cube root on whose square
        // divides 1024.
        "3dmesh" => (n * if n == 64 { 9 } else { 3 + 15 + 15 }, all),
        // In nodes three messages per rank; N - 1 node blocks to each leader and, each, three more.
        "SMP_NTS" | "smp_simple" => {
            let blocks = 4 * nodes * (nodes - 1);
            (3 * n + blocks, 3 * n * B + blocks * 4 * B)
        }
        "ompi_neighborexchange" | "openmpi_neighborexchange" => (n * n / 2, all),
        // Before the rounds, blocks are exchanged but those at numbers whose bits read the same
        // backwards.
        "rhv" => {
            let moved = n - (1 << log(n).div_ceil(2));
            (n * log(n) + moved, all + moved * B)
        }
        "mvapich2_smp" => (
            3 * nodes + nodes * log(nodes) + 3 * nodes,
            3 * nodes * B + nodes * (nodes - 1) * 4 * B + 3 * nodes * n * B,
        ),
        _ => (n * (n - 1), all),
    }
}

#[test]
fn allgather() {
    check(Collective::Allgather, allgathers);
    check(Collective::Allgatherv, allgathers);
}

#[test]
fn gather_and_scatter() {
    let form = |name: &str, n: u64| {
        let nodes = n / 4;
        match name {
            // Each of l rounds moves half of all blocks.
            "ompi_binomial" | "binomial" => (n - 1, n / 2 * log(n) * B),
            // A question, the block, and an empty second part.
            "ompi_linear_sync" => (3 * (n - 1), (n - 1) * B),
            "mvapich2_two_level" | "mvapich2_two_level_binomial" => {
                (n - 1, nodes * 4 * B + nodes / 2 * log(nodes) * 4 * B)
            }
            "mvapich2_two_level_direct" => (n - 1, (nodes - 1) * 4 * B + 3 * nodes * B),
            _ => (n - 1, (n - 1) * B),
        }
    };
    check(Collective::Gather, form);
    check(Collective::Gatherv, form);
    check(Collective::Scatter, form);
    check(Collective::Scatterv, form);
}

fn alltoalls(name: &str, n: u64) -> (u64, u64) {
    let (messages, all) = (n * (n - 1), n * (n - 1) * B);
    // Extents of the grids, and what a rank sends along them: everything it has, but along the
    // first one only what is for the other's rank.
    let mesh = |x: u64, y: u64, z: u64| {
        let sent = (z - 1) * n + (y - 1) * z * n + (x - 1) * y * z;
        (n * (x + y + z - 3), n * sent * B)
    };
    match name {
        "bruck" => (n * log(n), n * log(n) * (n / 2) * B),
        "rdb" => (n * log(n), n * (n - 1) * n * B),
        "2dmesh" => mesh(n.isqrt(), 1, n.isqrt()),
        "3dmesh" if n == 64 => mesh(4, 4, 4),
        "3dmesh" => mesh(4, 16, 16),
        // A barrier is 2 (n - 1) empty messages.
        "pair_rma" => (messages + 4 * (n - 1), all),
        "pair_one_barrier" | "ring_one_barrier" => (messages + 2 * (n - 1), all),
        "pair_mpi_barrier" | "ring_mpi_barrier" => (messages + 2 * (n - 1) * n, all),
        // One to the rank itself as well.
        "mvapich2_scatter_dest" => (n * n, n * n * B),
        // One byte each between all but the last two steps.
        "pair_light_barrier" | "ring_light_barrier" => (messages + n * (n - 2), all + n * (n - 2)),
        _ => (messages, all),
    }
}

#[test]
fn alltoall() {
    check(Collective::Alltoall, alltoalls);
}

#[test]
fn alltoallv() {
    check(Collective::Alltoallv, |name, n| match name {
        // Under this name SMPI has what MPICH does: all pairs, in batches.
        "bruck" => (n * (n - 1), n * (n - 1) * B),
        name => alltoalls(name, n),
    });
}

#[test]
fn barrier() {
    check(Collective::Barrier, |name, n| match name {
        "ompi_basic_linear" | "ompi_tree" => (2 * (n - 1), 0),
        "ompi_doublering" => (2 * n, 0),
        "mpich_smp" => (6 * (n / 4) + n / 4 * log(n / 4), 0),
        _ => (n * log(n), 0),
    });
}

#[test]
fn reduce_scatter() {
    let form = |name: &str, n: u64| {
        let all = n * (n - 1) * B;
        match name {
            "default" | "openmpi_nonoverlapping" => (2 * (n - 1), (n - 1) * n * B + (n - 1) * B),
            "ompi_ring" | "mpich_pair" => (n * (n - 1), all),
            // Blocks move but those at numbers whose bits read the same backwards: 2^⌈l / 2⌉ of
            // them.
            "ompi_butterfly" => {
                let moved = n - (1 << log(n).div_ceil(2));
                (n * log(n) + moved, all + moved * B)
            }
            // In step k a rank sends all blocks but 2^k: together n l - (n - 1).
            "mpich_rdb" | "recursive_doubling" => (n * log(n), n * (n * log(n) - (n - 1)) * B),
            _ => (n * log(n), all),
        }
    };
    check(Collective::ReduceScatter, form);
    check(Collective::ReduceScatterBlock, form);
}

#[test]
fn scan() {
    let form = |name: &str, n: u64| {
        let messages = match name {
            "linear" => n * (n - 1) / 2,
            "mpich" => n * log(n),
            _ => n - 1,
        };
        (messages, messages * M)
    };
    check(Collective::Scan, form);
    check(Collective::Exscan, form);
}

/// The requirements of a step do not grow with the number of segments, here up to 65 536: memory
/// and time go with the messages.
#[test]
fn long_vectors() {
    // They post all receives at once, and what they send waits for all receives before it.
    let at_once = ["NTSL", "NTSB", "arrival_pattern_aware", "arrival_pattern_aware_wait"];
    let own = |entry: &&Entry| matches!(entry.way, Way::Run(_)) && !at_once.contains(&entry.name);
    for collective in
        collectives::WITH_ALGORITHMS.into_iter().filter(|collective| collective.is_whole())
    {
        for entry in collectives::algorithms(collective).iter().filter(own) {
            let (counts, nodes) = (vec![8 << 20], Nodes::Consecutive(4));
            let (ranks, root, commutative) = (8, 0, true);
            let most = |steps| 2 * steps + (ranks * ranks) as usize;
            let case = Case { collective, ranks, root, commutative, counts, nodes, segment: None };
            for plan in case.plans(entry.name) {
                let required: usize = plan.steps().map(|(_, required)| required.len()).sum();
                let steps = plan.len();
                let name = entry.name;
                assert!(required <= most(steps), "{collective:?} {name}: {required} in {steps}");
            }
        }
    }
}
