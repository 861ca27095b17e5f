//! Recorded times of routers under load: a change that makes routers faster must not move them.
//!
//! Nothing outside gives these numbers. They were recorded when the results agreed with BookSim 2
//! (`app/traffic/tests/booksim.rs`), and before routers were rewritten for speed.

use ::network::{Network, Transfer, conformance::together};
use kernel::Random;
use packet::{Allocation, Arbitration, Choice, Parameters, Switching};
use units::{HostId, Time};

use crate::common::{network, shipped};

/// Sends messages of up to `bytes` bytes at random times from and to random hosts, at about the
/// rate of the links of hosts if that is 8 bytes/ns.
/// Returns the time of the last delivery and the sum of all latencies, in picoseconds.
fn run(spec: &str, routing: Option<&str>, parameters: Parameters, bytes: u64) -> (u64, u64) {
    let net = network(spec, routing, parameters);
    let hosts = net.hosts().expect("a number of hosts");
    let random = Random::new(7, 11);
    let mut messages: Vec<_> = (0..hosts * 12)
        .map(|index| {
            let draw = |what: u64| random.number(index, what);
            let host = |what| HostId((draw(what) % u64::from(hosts)) as u32);
            let at = Time::from_ps(draw(0) % (bytes * 1000));
            (at, Transfer::new(host(1), host(2), 1 + draw(3) % bytes))
        })
        .collect();
    messages.sort_by_key(|message| message.0);
    let delivered = together(&net, hosts, &messages);
    let last = delivered.iter().max().expect("a delivery").ps();
    let sum = messages.iter().zip(&delivered).map(|(message, at)| at.ps() - message.0.ps()).sum();
    (last, sum)
}

fn booksim(channels: u32, flits: u32) -> Parameters {
    Parameters { channels: Some(channels), mtu: 8 * flits, ..shipped("packet-booksim") }
}

/// Under wormhole switching. The two adaptive ones were recorded again when adaptive channels began
/// to be granted only where they are empty or have room for the whole packet.
#[test]
fn cycles_of_a_nanosecond() {
    let fast = Parameters { speed_up: 2, ..booksim(4, 5) };
    let cut = Parameters { switching: Switching::CutThrough, ..booksim(4, 5) };
    let narrow = Parameters { output_buffer: 1, ..booksim(4, 3) };
    let cases = [
        ("torus:dims=8x8", None, booksim(2, 1), 8),
        ("torus:dims=8x8", None, booksim(4, 1), 30),
        ("torus:dims=8x8", None, booksim(4, 5), 90),
        ("torus:dims=8x8", None, fast, 90),
        ("torus:dims=8x8", None, cut, 90),
        ("torus:dims=8x8", None, narrow, 60),
        ("torus:dims=8x8", Some("adaptive"), booksim(3, 2), 60),
        ("mesh:dims=6x5,hosts=2", None, booksim(1, 4), 90),
        ("mesh:dims=4x4x4", Some("adaptive"), booksim(8, 4), 90),
    ];
    let found = cases.map(|(spec, routing, set, bytes)| run(spec, routing, set, bytes));
    assert_eq!(
        found,
        [
            (95_410, 35_344_669),
            (127_810, 39_121_897),
            (249_468, 53_345_769),
            (207_019, 36_281_162),
            (289_419, 54_411_997),
            (167_838, 45_439_108),
            (165_840, 46_093_617),
            (703_807, 191_296_207),
            (219_019, 43_714_595)
        ]
    );
}

#[test]
fn packets_of_a_system_network() {
    let standard = || Parameters { arbiter: Arbitration::RoundRobin, ..shipped("packet-default") };
    let long = Parameters { cable: Time::from_ps(33_333), channels: Some(4), ..standard() };
    let each = Parameters { choice: Choice::Message, ordered: false, ..standard() };
    let short = Parameters { buffer: Some(4), channels: Some(6), ..standard() };
    let cases = [
        ("torus:dims=4x4x4", None, standard(), 4096),
        ("torus:dims=4x4x4", None, long, 4096),
        ("k-ary-n-tree:k=4,n=3", None, each.clone(), 4096),
        ("k-ary-n-tree:k=4,n=3", Some("random-up"), each, 4096),
        ("dragonfly:p=2,a=4,h=2", None, short, 2048),
        ("hyperx:dims=4x4", Some("adaptive"), Parameters { channels: Some(4), ..standard() }, 4096),
    ];
    let found = cases.map(|(spec, routing, set, bytes)| run(spec, routing, set, bytes));
    assert_eq!(
        found,
        [
            (6_109_532, 503_909_884),
            (5_344_175, 494_814_195),
            (6_939_770, 759_218_496),
            (7_821_379, 1_071_496_703),
            (3_293_853, 385_043_303),
            (4_729_432, 69_551_280)
        ]
    );
}

/// Every allocator with every arbiter, in one round and in two.
#[test]
fn allocators_and_arbiters() {
    let allocators = [Allocation::InputFirst, Allocation::OutputFirst, Allocation::Islip];
    let arbiters =
        [Arbitration::RoundRobin, Arbitration::Matrix, Arbitration::Oldest, Arbitration::Random];
    let all = allocators.into_iter().flat_map(|rule| arbiters.map(|arbiter| (rule, arbiter)));
    let found: Vec<_> = all
        .zip([1, 2].into_iter().cycle())
        .map(|((rule, arbiter), iterations)| {
            let (vc_allocator, switch_allocator) = (rule, rule);
            let set =
                Parameters { vc_allocator, switch_allocator, iterations, arbiter, ..booksim(4, 3) };
            run("torus:dims=5x5", None, set, 100)
        })
        .collect();
    assert_eq!(
        found,
        [
            (216_083, 16_638_703),
            (208_083, 15_942_188),
            (201_774, 16_214_594),
            (220_083, 16_251_884),
            (202_083, 16_494_762),
            (208_083, 15_934_523),
            (206_774, 16_038_318),
            (203_083, 15_827_305),
            (202_083, 16_494_762),
            (208_083, 15_921_018),
            (206_774, 16_038_318),
            (203_083, 15_827_305)
        ]
    );
}

/// Rules that look at queues, credits and buffers while packets pass. Recorded before packets that
/// are alone at their ports passed routers by themselves.
#[test]
fn queues_and_restrictions() {
    let set = |parameters: Parameters| Parameters { channels: Some(6), ..parameters };
    let standard = || set(shipped("packet-default"));
    let long = || Parameters { mtu: 1024, cable: Time::from_ps(25_000), ..standard() };
    let kept = Parameters { local_buffer: 2, transit_priority: 0.5, buffer: Some(40), ..long() };
    let fast = Parameters { speed_up: 3, output_buffer: 2, ..long() };
    let even = Parameters { speed_up: 1, arbiter: Arbitration::Matrix, ..long() };
    let wave = Parameters { switch_allocator: Allocation::Wavefront, ..even.clone() };
    let worm = Parameters {
        switching: Switching::Wormhole,
        buffer: Some(9),
        vc_allocator: Allocation::Islip,
        switch_allocator: Allocation::Islip,
        ..long()
    };
    let bubble = Parameters { channels: Some(2), ..long() };
    let cases = [
        ("dragonfly:p=2,a=4,h=2", Some("ugal-l"), long(), 4096),
        ("dragonfly:p=2,a=4,h=2", Some("ugal-g"), standard(), 4096),
        ("dragonfly:p=2,a=4,h=2", Some("par"), Parameters { channels: Some(8), ..long() }, 4096),
        ("hyperx:dims=4x4", Some("ugal-l"), standard(), 4096),
        ("torus:dims=6x6", Some("adaptive"), kept, 4096),
        ("torus:dims=4x4x4", None, fast, 8192),
        ("torus:dims=4x4x4", None, even, 8192),
        ("torus:dims=4x4x4", None, wave, 4096),
        ("torus:dims=6x6", None, worm, 4096),
        ("torus:dims=6x6", Some("adaptive:bubble"), bubble, 4096),
        ("k-ary-n-tree:k=4,n=2", Some("adaptive-up"), long(), 8192),
    ];
    let found = cases.map(|(spec, routing, set, bytes)| run(spec, routing, set, bytes));
    assert_eq!(
        found,
        [
            (5_381_099, 613_899_225),
            (5_266_651, 572_081_071),
            (5_315_539, 635_431_245),
            (4_754_792, 70_524_885),
            (4_879_954, 256_191_613),
            (10_067_618, 767_932_868),
            (11_157_089, 883_832_932),
            (5_463_639, 511_806_001),
            (6_160_889, 362_717_401),
            (4_880_219, 260_748_977),
            (9_650_737, 157_216_462)
        ]
    );
}
