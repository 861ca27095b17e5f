//! No output of `ibnetdiscover` makes its reader or that of `dump_fts` panic; what is read has
//! routes and figures, or an error says why not. An input is the network and, behind a form feed,
//! its tables.

#![no_main]

use libfuzzer_sys::fuzz_target;
use topology::{Routes, import, route::analyse};

fuzz_target!(|text: &str| {
    let (network, tables) = text.split_once('\x0c').unwrap_or((text, ""));
    let Ok(imported) = import::ibnetdiscover(network) else { return };
    let graph = &imported.topology.graph;
    if graph.devices() > 200 || graph.links().len() > 1000 {
        return;
    }
    if let Ok(routes) = Routes::build(&imported.topology, None) {
        assert_eq!(analyse(graph, &routes).cycle, None);
    }
    imported.topology.metrics();
    for read in [import::lft_dump, import::fdb_vectors] {
        if let Err(faults) = read(tables, &imported) {
            assert!(!faults.0.is_empty());
        }
    }
});
