//! Measures the time and the memory that it takes to set a topology up: `setup SPEC [ROUTING]`.

use std::{fs, time::Instant};

use topology::{Routes, Routing, parse, route::analyse};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let spec = arguments.next().expect("a topology, such as dragonfly:p=23");
    let routing = arguments.next().map(|name| name.parse::<Routing>().expect("a routing"));
    let begin = Instant::now();
    let step = |what: &str| println!("{what:<10} {:7.2} s", begin.elapsed().as_secs_f64());
    let topology = parse(&spec).expect("a topology");
    step("graph");
    let routes = Routes::build(&topology, routing).expect("routes");
    step("routes");
    let analysis = analyse(&topology.graph, &routes);
    step("deadlock");
    let metrics = topology.metrics();
    step("figures");
    println!("{metrics:?}");
    println!("{} lanes, cycle {:?}, {:?}", routes.lanes(), analysis.cycle, analysis.sample);
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find(|line| line.starts_with("VmHWM"));
    println!("{}", peak.unwrap_or("peak memory unknown"));
}
