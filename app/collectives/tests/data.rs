//! Every algorithm moves data as MPI defines, whatever the order of its steps, and without a
//! deadlock where every send waits for its receive.

mod support;

use collectives::{Collective, Nodes, Way};
use support::{Case, Order};

/// Lengths that a collective is tried with: even, uneven, with empty blocks, nothing at all.
fn counts(collective: Collective, ranks: u32, everything: bool) -> Vec<Vec<u64>> {
    use Collective as C;
    let n = u64::from(ranks);
    let whole = vec![vec![2 * n + 3], vec![n], vec![1], vec![0]];
    let even = vec![vec![3], vec![0]];
    let uneven: Vec<u64> = (0..n).map(|r| (r * 5 + 2) % 4).collect();
    let sparse: Vec<u64> = (0..n).map(|r| if r % 3 == 1 { 4 } else { 0 }).collect();
    let mut list = match collective {
        C::Barrier => vec![vec![0]],
        C::Alltoall | C::ReduceScatterBlock | C::Gather | C::Scatter | C::Allgather => even,
        _ if collective.is_whole() => whole,
        _ => [even, vec![uneven, sparse]].concat(),
    };
    if !everything {
        list.truncate(1);
    }
    list
}

/// Tells whether the operation commutes, if there is one.
fn orders(collective: Collective) -> Vec<bool> {
    use Collective as C;
    match collective {
        C::Reduce
        | C::Allreduce
        | C::Scan
        | C::Exscan
        | C::ReduceScatter
        | C::ReduceScatterBlock => vec![true, false],
        _ => vec![true],
    }
}

/// Two kinds of nodes lie in blocks, the third is dealt like cards; they take turns.
fn nodes(ranks: u32, turn: usize) -> Nodes {
    match (turn / 2 + ranks as usize) % 3 {
        0 => Nodes::Consecutive(4),
        1 => Nodes::Consecutive(3),
        _ => Nodes::Of((0..ranks).map(|rank| rank % 3).collect()),
    }
}

fn cases(collective: Collective, ranks: u32, roots: &[u32], everything: bool) -> Vec<Case> {
    let mut list = Vec::new();
    for &root in roots {
        for counts in counts(collective, ranks, everything) {
            for commutative in orders(collective) {
                // A segment of one element cuts everything that can be cut.
                let segment = (root % 2 == 0).then_some(8);
                let nodes = nodes(ranks, list.len());
                let counts = counts.clone();
                list.push(Case { collective, ranks, root, commutative, counts, nodes, segment });
            }
        }
    }
    list
}

fn each_algorithm(collective: Collective, mut each: impl FnMut(&str)) {
    let algorithms = collectives::algorithms(collective).iter();
    for entry in algorithms.filter(|entry| !matches!(entry.way, Way::Automatic | Way::Same(_))) {
        each(entry.name);
    }
}

fn check(collective: Collective) {
    for ranks in 1..=33 {
        let roots: Vec<u32> = if collective.is_rooted() { (0..ranks).collect() } else { vec![0] };
        each_algorithm(collective, |algorithm| {
            // All roots with one vector, all vectors with the first, a middle and the last root.
            let few =
                if collective.is_rooted() { vec![0, ranks / 2, ranks - 1] } else { roots.clone() };
            for case in cases(collective, ranks, &few, true) {
                case.check(algorithm, Order::Random(u64::from(ranks)));
                if case.root == 0 {
                    case.check(algorithm, Order::Rendezvous);
                }
            }
            for case in cases(collective, ranks, &roots, false) {
                case.check(algorithm, Order::Program);
            }
        });
    }
}

macro_rules! check_each {
    ($($name:ident: $collective:ident,)*) => {
        $(#[test]
        fn $name() {
            check(Collective::$collective);
        })*
    };
}

check_each! {
    barrier: Barrier,
    bcast: Bcast,
    reduce: Reduce,
    allreduce: Allreduce,
    gather: Gather,
    gatherv: Gatherv,
    scatter: Scatter,
    scatterv: Scatterv,
    allgather: Allgather,
    allgatherv: Allgatherv,
    alltoall: Alltoall,
    alltoallv: Alltoallv,
    reduce_scatter: ReduceScatter,
    reduce_scatter_block: ReduceScatterBlock,
    scan: Scan,
    exscan: Exscan,
}
