//! Uniform traffic on three networks of 64 hosts against closed forms.
//!
//! Messages of 1000 bytes and 20 of headers are one packet of 16 flits, 512 ns on a link of 32 ns
//! per flit. Alone over s switches one takes 20 ns of cable, 81 ns per switch with its cable, and
//! 512 ns.

use crate::common::{even, network, settings};
use kernel::{Silent, TransportKind};
use rustc_hash::FxHashMap;
use traffic::{Lengths, Pattern, Settings, Span, observe, run};

/// Mean number of switches between two different hosts, and bytes.
///
/// Torus: 8/4 = 2 hops per dimension with a host itself among the destinations, 4 * 64/63 without;
/// and one switch more than hops. Mesh: (64 - 1)/24 = 2.625 per dimension. Tree: of 63 others 3
/// share the leaf (1 switch), 12 the middle (3), 48 the top (5).
fn networks() -> [(&'static str, f64); 3] {
    [
        ("torus:dims=8x8", 1.0 + 4.0 * 64.0 / 63.0),
        ("mesh:dims=8x8", 1.0 + 5.25 * 64.0 / 63.0),
        ("k-ary-n-tree:k=4,n=3", (3.0 + 12.0 * 3.0 + 48.0 * 5.0) / 63.0),
    ]
}

fn uniform(spec: &str, load: f64) -> (infiniband::Infiniband, Settings) {
    let (topology, net) = network(spec, even());
    let lengths = Lengths::Fixed(1000);
    (net, Settings { lengths, ..settings(&topology, &Pattern::Uniform, load) })
}

/// At a load of 0.002 a message meets another on its way with a probability below 1 %; it then
/// waits 256 ns on average. The formula's mean is met within the confidence interval and 0.5 %, and
/// its least value, over one switch (tree) or two (grids, with a host per switch), exactly.
#[test]
fn zero_load() {
    for (spec, switches) in networks() {
        let (net, settings) = uniform(spec, 0.002);
        let span = Span::Precise { half_width: 0.005, batches: 100 };
        let point = run(&net, &Settings { span, ..settings }).expect(spec);
        let expected = 20_000.0 + 81_000.0 * switches + 512_000.0;
        let latency = point.latency.expect("messages");
        let off = (latency.mean - expected).abs();
        println!("{spec}: {} +- {} of {expected}", latency.mean, latency.half_width);
        assert!(off <= latency.half_width + 0.005 * expected, "{spec}: {point:?}");
        let least = if spec.starts_with("k-ary") { 1 } else { 2 };
        let least_latency = point.percentiles.map(|percentiles| percentiles[0]);
        assert_eq!(least_latency, Some(20_000 + 81_000 * least + 512_000), "{spec}");
        let hops = point.hops.expect("messages");
        assert!((hops - (switches + 1.0)).abs() < 0.05, "{spec}: {hops} links");
        assert!(point.steady && !point.saturated);
    }
}

/// All that is offered is accepted, and all that is asked for is offered. The busiest links of a
/// mesh carry k/4 = 2 times the load of a host (Dally and Towles, section 3.3.1), those of a torus
/// k/8 = 1, those of the tree 1: loads of half of that are far below saturation.
#[test]
fn accepted_is_offered() {
    for ((spec, _), load) in networks().into_iter().zip([0.4, 0.2, 0.4]) {
        let (net, settings) = uniform(spec, load);
        let point = run(&net, &settings).expect(spec);
        println!("{spec}: {point:?}");
        assert!((point.offered / load - 1.0).abs() < 0.02, "{spec}: {point:?}");
        assert!((point.accepted.mean / point.offered - 1.0).abs() < 0.005, "{spec}: {point:?}");
        assert!(!point.saturated && point.accepted.relative() <= 0.02, "{spec}");
    }
}

/// The middle of a mesh of 8 by 8 bounds the load to 4/k = 0.5 (Dally and Towles, section 3.3.1,
/// for uniform traffic with a host itself among the destinations; 63/64 of that counts here,
/// 0.508).
#[test]
fn mesh_saturates_below_its_bound() {
    let (net, settings) = uniform("mesh:dims=8x8", 0.8);
    let point = run(&net, &settings).expect("a point");
    println!("{point:?}");
    assert!(point.saturated);
    assert!(point.accepted.mean < 0.508, "{point:?}");
    assert!(point.accepted.mean > 0.25, "{point:?}");
}

/// Every message that enters is delivered, in the order of its pair, with any number of threads and
/// either transport, to the last bit of every figure.
#[test]
fn conservation_order_and_threads() {
    for (spec, _) in networks() {
        let (net, settings) = uniform(spec, 0.3);
        let span = Span::Batches { warm_up: 2, kept: 5 };
        let settings = Settings { span, lengths: Lengths::Uniform(0, 5000), ..settings };
        let one = observe(&net, &settings, true, || Silent).expect(spec);
        assert!(one.entered.0 > 5000, "{}", one.entered.0);
        assert_eq!(one.entered, one.delivered);
        assert_eq!(one.log.len() as u64, one.delivered.0);
        let mut last = FxHashMap::default();
        for delivery in &one.log {
            let pair = (delivery.source, delivery.destination);
            let before = last.insert(pair, delivery.entered);
            assert!(before.is_none_or(|before| before < delivery.entered), "{spec}: {delivery:?}");
        }
        for (threads, transport) in
            [(2, TransportKind::Shared), (3, TransportKind::Serialised), (7, TransportKind::Shared)]
        {
            let settings = Settings { threads, transport, ..settings.clone() };
            let other = observe(&net, &settings, true, || Silent).expect(spec);
            assert_eq!(other.point, one.point);
            assert_eq!(other.log, one.log);
            assert_eq!(other.by_source, one.by_source);
        }
    }
}

/// A run that ends by precision ends at the same batch on any number of threads.
#[test]
fn threads_agree_on_the_end() {
    let (net, settings) = uniform("torus:dims=8x8", 0.3);
    let one = run(&net, &settings).expect("a point");
    let two = run(&net, &Settings { threads: 2, ..settings.clone() }).expect("a point");
    assert_eq!(one, two);
    let loads = [0.1, 0.3];
    let curve = traffic::curve(&net, &Settings { threads: 2, ..settings }, &loads).expect("points");
    assert_eq!(curve[1], one);
}
