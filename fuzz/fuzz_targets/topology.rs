//! No text makes an importer panic; what is read has routes and figures, or an error says why not.

#![no_main]

use libfuzzer_sys::fuzz_target;
use topology::{Failure, Routes, import, parse, route::analyse};

fuzz_target!(|text: &str| {
    let _ = Failure::parse(text);
    let readers = [import::csv, import::toml, import::ibnetdiscover, import::simgrid];
    for read in readers {
        let Ok(imported) = read(text) else { continue };
        let graph = &imported.topology.graph;
        if graph.devices() > 200 || graph.links().len() > 1000 {
            continue;
        }
        if let Ok(routes) = Routes::build(&imported.topology, None) {
            assert_eq!(analyse(graph, &routes).cycle, None);
        }
        imported.topology.metrics();
        draw::topology(&imported.topology);
        let _ = import::fdb_vectors(text, &imported);
        let _ = import::lft_dump(text, &imported);
    }
    // Specifications of large numbers build large topologies; their texts are short.
    if !text.bytes().any(|byte| byte.is_ascii_digit()) {
        let _ = parse(text);
    }
});
