//! Published figures of programs over the model of InfiniBand.
//!
//! Source: "seed 000", a master's thesis on coupling LogGOPSim with a model of InfiniBand: its
//! sections 4.7 (dissemination), 4.8 (ring) and 5.2.4 (`ltest`). Network: the preset
//! `infiniband-ddr-simula`, the same for all of them.

use std::fmt::Write as _;

use host::{Settings, simulate_over};
use infiniband::{Fabric, Infiniband, preset};
use kernel::Silent;
use loggops::{Costs, Inject, Parameters};
use schedule::Program;
use schedule::goal::Image;
use schedule::pattern::{Options, Pattern};
use topology::Routes;
use units::{Time, TimePerByte};

/// A network with a rank on each of its hosts.
fn network(spec: &str) -> Infiniband {
    let topology = topology::parse(spec).expect(spec);
    let routes = Routes::build(&topology, None).expect("routes");
    let parameters = preset("infiniband-ddr-simula").expect("a preset");
    let fabric = Fabric::new(&topology.graph, routes, parameters).expect("a fabric");
    Infiniband::new(fabric, 0)
}

const FREE: Costs = Costs {
    latency: Time::ZERO,
    send_overhead: Time::ZERO,
    receive_overhead: Time::ZERO,
    gap: Time::ZERO,
    gap_per_byte: TimePerByte::ZERO,
    send_overhead_per_byte: TimePerByte::ZERO,
    receive_overhead_per_byte: TimePerByte::ZERO,
};

fn settings(costs: Costs, inject: Inject) -> Settings {
    let parameters = Parameters { small: costs, large: costs, inject, ..Parameters::default() };
    Settings { parameters, time_unit: Time::from_ps(1), ..Settings::default() }
}

/// The time when each rank finishes, in picoseconds.
fn finish(net: &Infiniband, program: &impl Program, settings: &Settings) -> Vec<u64> {
    let (one, _) = simulate_over(net, None, program, settings, || Silent).expect("it runs");
    let two = Settings { threads: 2, ..settings.clone() };
    let (two, _) = simulate_over(net, None, program, &two, || Silent).expect("it runs");
    assert_eq!(one, two);
    assert_eq!(one.deadlock, None);
    one.ranks.iter().map(|rank| rank.finish.ps()).collect()
}

fn pattern(name: &str, options: &Options) -> Pattern {
    Pattern::build(name, options).expect("a pattern")
}

fn check(what: &str, found: u64, published: u64, percent: f64) {
    let off = (found as f64 / published as f64 - 1.0) * 100.0;
    println!("{what}: {found}, published {published}: {off:+.2} %");
    assert!(off.abs() <= percent, "{what}: {found} is {off:+.2} % from {published}");
}

/// Tables 4.7.2.1 (o = 50 ns, g = 100 ns, G = 6 ns/B) and 4.7.2.2 (nothing): 180 bytes, 8 hosts.
#[test]
fn dissemination() {
    let per_byte = TimePerByte::new(6_000, 1).expect("a rate");
    let (o, gap) = (Time::from_ps(50_000), Time::from_ps(100_000));
    let costs =
        Costs { send_overhead: o, receive_overhead: o, gap, gap_per_byte: per_byte, ..FREE };
    let published = [
        ("H8_S1", [(723_100, 723_100, 3.0), (4_293_200, 4_293_200, 3.0)]),
        ("H8_S2", [(1_098_500, 780_600, 10.0), (4_667_100, 4_378_750, 3.0)]),
        ("H8_S4", [(943_100, 843_100, 10.0), (4_577_250, 4_473_350, 3.0)]),
        ("H8_S6", [(1_261_850, 1_105_600, 10.0), (4_860_850, 4_667_100, 3.0)]),
    ];
    let program = pattern("dissemination", &Options::new(8, 180));
    let mut slowest = [Vec::new(), Vec::new()];
    for (name, sets) in published {
        let net = network(name);
        for (number, (costs, (most, least, percent))) in
            [FREE, costs].into_iter().zip(sets).enumerate()
        {
            let finish = finish(&net, &program, &settings(costs, Inject::End));
            let (max, min) = (finish.iter().max(), finish.iter().min());
            check(&format!("{name}, set {number}, slowest"), *max.expect("8"), most, percent);
            check(&format!("{name}, set {number}, fastest"), *min.expect("8"), least, percent);
            slowest[number].push(*max.expect("8"));
        }
    }
    // By the slowest host S1 < S4 < S2 < S6.
    for slowest in slowest {
        let [s1, s2, s4, s6] = slowest[..] else { panic!("four topologies") };
        assert!(s1 < s4 && s4 < s2 && s2 < s6, "{slowest:?}");
    }
}

/// Table 4.8.1: a message of 1000 bytes passed around a ring of hosts until there were 45 sends.
#[test]
fn ring() {
    let published = [
        ("H128_S24", 30_355_600),
        ("H242_S33", 30_149_350),
        ("H392_S42", 30_034_500),
        ("H512_S48", 29_868_100),
    ];
    for (name, last) in published {
        let net = network(name);
        let hosts = net.fabric().hosts();
        let mut text = format!("num_ranks {hosts}\n");
        for rank in 0..hosts {
            // Every host sends to the next, 45 times, each send after the receive before it.
            let (next, before) = ((rank + 1) % hosts, (rank + hosts - 1) % hosts);
            _ = writeln!(text, "rank {rank} {{");
            for send in 0..45 {
                _ = writeln!(text, "s{send}: send 1000b to {next} tag 0");
                _ = writeln!(text, "r{send}: recv 1000b from {before} tag 0");
                if send > 0 {
                    _ = writeln!(text, "s{send} requires r{}", send - 1);
                }
            }
            text.push_str("}\n");
        }
        let (program, _) = Image::from_text(text.as_bytes()).expect("a program");
        let finish = finish(&net, &program, &settings(FREE, Inject::End));
        check(name, *finish.iter().max().expect("hosts"), last, 3.0);
    }
}

/// Section 5.2.4: the schedule of `ltest` with o = 55 us, which the logs show at the receiver only.
#[test]
fn ltest() {
    let text = include_str!("../examples/ltest.goal");
    let (program, _) = Image::from_text(text.as_bytes()).expect("a program");
    let costs = Costs { receive_overhead: Time::from_ps(55_000_000), ..FREE };
    let finish = finish(&network("star:hosts=2"), &program, &settings(costs, Inject::Start));
    check("rank 0", finish[0], 12_478_847_000, 0.1);
    check("rank 1", finish[1], 12_454_847_000, 0.1);
}

/// Table 5.3.5, 400 000 bytes, with the fit of section 5.3 for large messages: o = 32 us, O = 65
/// ps/B.
#[test]
fn ltest_with_fitted_overheads() {
    let text = include_str!("../examples/ltest.goal");
    let (program, _) = Image::from_text(text.as_bytes()).expect("a program");
    let (o, per_byte) = (Time::from_ps(32_000_000), TimePerByte::new(65, 1).expect("a rate"));
    let costs = Costs { receive_overhead: o, receive_overhead_per_byte: per_byte, ..FREE };
    let finish = finish(&network("star:hosts=2"), &program, &settings(costs, Inject::Start));
    check("rank 0", finish[0], 12_539_000_000, 1.0);
}
