//! Properties that hold for every pattern, any number of ranks and any size.

use crate::graph::{Graph, Order, Runner, build, variants};
use schedule::Program;

#[test]
fn every_pattern_is_consistent_and_runs_to_its_end() {
    for ranks in 1..=33 {
        for size in [0, 1, 180] {
            for (name, options) in variants(ranks, size) {
                let pattern = build(name, &options);
                println!("{name} {options:?}");
                assert_eq!((pattern.ranks(), pattern.cpus(), pattern.nics()), (ranks, 1, 1));
                let graph = Graph::read(&pattern);
                graph.check_channels();
                for order in [Order::LowestRank, Order::HighestRank, Order::Turns] {
                    let sized = keeps_order(name, ranks, size) || matches!(order, Order::Turns);
                    Runner::new(&pattern, &graph, false, sized).run(order);
                    Runner::new(&pattern, &graph, true, sized).run(order);
                }
            }
        }
    }
}

/// True if messages between two ranks keep their order, or have the same size, however late a rank
/// is. In Rabenseifner's allreduce as Schedgen has it, an allgather's send waits for the receive
/// before it but not for the sends before it, and a reduce-scatter's send can be overtaken; the two
/// differ in size if the vector cannot be halved evenly.
fn keeps_order(name: &str, ranks: u32, size: u64) -> bool {
    name != "allreduce-rabenseifner" || size.is_multiple_of(1 << ranks.ilog2())
}

#[test]
fn one_rank_has_nothing_to_exchange() {
    for (name, options) in variants(1, 180) {
        let pattern = build(name, &options);
        // Only the computation of a halo step is left: c10, c10 after it, and so on.
        let expected = if options.compute > 0 { options.steps } else { 0 };
        assert_eq!(pattern.ops(0), expected, "{name} {options:?}");
    }
}
