//! Counts, diameters, mean hops and bisections against closed forms.

use topology::{Bisection, parse};

/// Hosts, switches, links between switches, diameter, mean hops between different hosts, bisection.
///
/// - Star of n: mean 2, bisection n/2. The seed (000, section 4.7.3) gives 2, 2.57, 2.85 and 3.7
///   mean hops for H8_S1, S2, S4 and S6: 18/7, 20/7 and 26/7 exactly. H8_S4: 2 and 2 of 4 joined
///   switches: 4 links.
/// - Ring of n switches, one host each: sum over distances d of 1 to n/2; n = 6: (1+1+2+2+3)/5 + 2
///   = 3.8.
/// - Torus k x k: n k^n / 2... links: 2 per switch and dimension halved = n N; mean k/4 per
///   dimension over all pairs: 4x4: 2 * 1 * 16/15 + 2; bisection 2N/k. Mesh 4x4: links 2*4*3, mean
///   2 * 15/12 * 16/15 + 2, bisection N/k.
/// - Hypercube n: links n 2^(n-1), diameter n + 2, mean n/2 * N/(N-1) + 2, bisection N/2.
/// - HyperX 4x4 (flattened butterfly): links 2 * 16*3/2; mean 2 * 3/4 * 16/15 + 2; bisection
///   (4/2)^2 * 4, but no more than half the hosts' links.
/// - k-ary n-tree: k^n hosts, n k^(n-1) switches, (n-1) k^n links between them; diameter 2n; 2-ary
///   3-tree: from a host 1 at 2, 2 at 4, 4 at 6: 34/7; bisection k^n/2.
/// - Fat tree of 2 levels, radix r: r^2/2 hosts, 3r/2 switches, r^2/2 links; M9: 17 at 2, 630 at 4
///   of 647.
/// - Dragonfly p=h=2, a=4: g=9, 72 hosts, 36 switches, 9*6 local and 36 global links, diameter 5
///   (Kim et al.).
/// - Slim fly q=5: 50 switches of degree 7, 175 links, diameter 2: the Hoffman-Singleton graph;
///   mean switch distance (7 + 2*42)/49; one host each: 91/49 + 2.
#[test]
fn closed_forms() {
    let exact = |links| Some(Bisection::Exact(links));
    let cases = [
        ("H8_S1", [8, 1, 0, 2], 2.0, exact(4)),
        ("H8_S2", [8, 2, 1, 3], 18.0 / 7.0, exact(1)),
        ("H8_S4", [8, 4, 6, 3], 20.0 / 7.0, exact(4)),
        ("H8_S6", [8, 6, 8, 4], 26.0 / 7.0, exact(4)),
        ("star:hosts=10", [10, 1, 0, 2], 2.0, exact(5)),
        ("chain:switches=3,hosts=1", [3, 3, 2, 4], 4.0 / 3.0 + 2.0, None),
        ("ring:switches=6", [6, 6, 6, 5], 3.8, exact(2)),
        ("torus:dims=4x4", [16, 16, 32, 6], 2.0 + 32.0 / 15.0, exact(8)),
        ("mesh:dims=4x4", [16, 16, 24, 8], 2.0 + 2.5 * 16.0 / 15.0, exact(4)),
        ("hypercube:dimensions=4", [16, 16, 32, 6], 2.0 + 2.0 * 16.0 / 15.0, exact(8)),
        ("hyperx:dims=4x4", [16, 16, 48, 4], 2.0 + 1.5 * 16.0 / 15.0, exact(8)),
        ("hyperx:dims=4x4,hosts=4", [64, 16, 48, 4], 2.0 + 1.5 * 64.0 / 63.0, exact(16)),
        ("k-ary-n-tree:k=2,n=3", [8, 12, 16, 6], 34.0 / 7.0, exact(4)),
        ("M9", [648, 54, 648, 4], (17.0 * 2.0 + 630.0 * 4.0) / 647.0, exact(324)),
        ("H128_S24", [128, 24, 128, 4], (7.0 * 2.0 + 120.0 * 4.0) / 127.0, exact(64)),
        ("H242_S33", [242, 33, 242, 4], (10.0 * 2.0 + 231.0 * 4.0) / 241.0, exact(121)),
        ("H392_S42", [392, 42, 392, 4], (13.0 * 2.0 + 378.0 * 4.0) / 391.0, exact(196)),
        ("H512_S48", [512, 48, 512, 4], (15.0 * 2.0 + 496.0 * 4.0) / 511.0, exact(256)),
        ("slim-fly:q=5,hosts=1", [50, 50, 175, 4], 91.0 / 49.0 + 2.0, None),
    ];
    for (spec, counts, mean, bisection) in cases {
        let metrics = parse(spec).unwrap().metrics();
        let diameter = metrics.diameter.unwrap();
        let found = [metrics.hosts, metrics.switches, metrics.switch_links, diameter];
        assert_eq!(found, counts, "{spec}");
        assert!((metrics.mean_hops - mean).abs() < 1e-12, "{spec}: {}", metrics.mean_hops);
        assert!(
            bisection.is_none_or(|expected| expected == metrics.bisection),
            "{spec} {metrics:?}"
        );
    }
}

#[test]
fn three_levels_of_radix_36_have_11664_hosts() {
    let topology = parse("fat-tree:levels=3,radix=36").unwrap();
    let metrics = topology.metrics();
    // 36^3/4 hosts, 5 * 36^2/4 switches, two layers of 36^3/4 links between them.
    assert_eq!([metrics.hosts, metrics.switches, metrics.switch_links], [11664, 1620, 23328]);
    assert_eq!(metrics.diameter, Some(6));
    // From a host: 17 at 2, 17 * 18 at 4, the other 11340 at 6.
    let mean = (17.0 * 2.0 + 306.0 * 4.0 + 11340.0 * 6.0) / 11663.0;
    assert!((metrics.mean_hops - mean).abs() < 1e-12);
}

/// Slim fly: degree (3q - d)/2, diameter 2, so 4 with the hosts' links, for q = 4w + d (Besta and
/// Hoefler, II-B); 32 vertices of degree 6 and 162 of degree 13 are the largest graphs of diameter
/// 2 known for these degrees (q = 4 and 9).
#[test]
fn slim_flies_have_diameter_two() {
    let primes = [(3, 5), (5, 7), (7, 11), (11, 17), (13, 19), (17, 25), (19, 29)];
    let powers = [(4, 6), (8, 12), (9, 13), (16, 24), (25, 37), (27, 41)];
    for (q, degree) in primes.into_iter().chain(powers) {
        let topology = parse(&format!("slim-fly:q={q},hosts=1")).unwrap();
        let graph = &topology.graph;
        assert_eq!(graph.switches(), 2 * q * q);
        for switch in graph.hosts()..graph.devices() {
            assert_eq!(graph.neighbours(switch).count(), degree + 1, "q = {q}");
        }
        assert_eq!(topology.metrics().diameter, Some(4), "q = {q}");
    }
}

/// Balanced dragonflies: a h + 1 groups, every pair of groups joined by one link, diameter 3 + 2 in
/// all arrangements.
#[test]
fn dragonfly_groups_are_joined_once() {
    for arrangement in ["absolute", "relative", "circulant"] {
        let spec = format!("dragonfly:p=2,arrangement={arrangement}");
        let topology = parse(&spec).unwrap();
        let graph = &topology.graph;
        let mut joined = vec![0; 81];
        for link in graph.links() {
            let group = |device: u32| ((device - 72) / 4) as usize;
            let [a, b] = link.ends.map(|plug| plug.device);
            if a >= 72 && b >= 72 && group(a) != group(b) {
                joined[group(a) * 9 + group(b)] += 1;
                joined[group(b) * 9 + group(a)] += 1;
            }
        }
        for a in 0..9 {
            for b in 0..9 {
                assert_eq!(joined[a * 9 + b], i32::from(a != b), "{spec}");
            }
        }
        let metrics = topology.metrics();
        let counts = [metrics.hosts, metrics.switches, metrics.switch_links, metrics.ports];
        assert_eq!(counts, [72, 36, 54 + 36, 2 + 3 + 2]);
        assert_eq!(metrics.diameter, Some(5));
    }
}

/// The search for a bisection finds what the formula says where there is one: a torus 4x6 is cut
/// across its longer side, 2 * 4 links; a chain of 3 switches with 2 hosts each loses one host of
/// the middle switch and one link: 2.
#[test]
fn bisections_that_are_searched() {
    let cases = [("torus:dims=4x6", 8), ("chain:switches=3,hosts=2", 2), ("mesh:dims=3x8", 3)];
    for (spec, links) in cases {
        assert_eq!(parse(spec).unwrap().metrics().bisection, Bisection::AtMost(links), "{spec}");
    }
}

/// Hosts of several ports change sides with all their cables. Two hosts with four cables each to
/// one switch: 4. Rails without spines: half of the hosts of every switch, 8 * 8 = 64. Four units
/// with spines: two units against two, half of the 32 cables of each of 8 spines.
#[test]
fn bisections_with_hosts_of_several_ports() {
    let cables = "host,a,4\nhost,b,4\nswitch,s,8\n".to_owned() + &"link,a,s\nlink,b,s\n".repeat(4);
    let pair = topology::import::csv(&cables).unwrap().topology;
    assert_eq!(pair.metrics().bisection, Bisection::AtMost(4));
    for (spec, links) in
        [("rails:rails=8,hosts=16,units=1", 64), ("rails:rails=8,hosts=16,units=4,spines=8", 128)]
    {
        assert_eq!(parse(spec).unwrap().metrics().bisection, Bisection::AtMost(links), "{spec}");
    }
}

/// The least cut of all divisions of the devices whose hosts are halves.
fn least_cut(graph: &topology::Graph) -> u64 {
    let halves = |sides: &u32| {
        let hosts = (sides & ((1 << graph.hosts()) - 1)).count_ones();
        hosts == graph.hosts() / 2
    };
    let cut = |sides: u32| {
        let apart = |link: &&topology::Link| {
            let [a, b] = link.ends.map(|plug| sides >> plug.device & 1);
            link.up && a != b
        };
        graph.links().iter().filter(apart).count() as u64
    };
    (0..1 << graph.devices()).filter(halves).map(cut).min().unwrap()
}

/// The search finds the least of all divisions of small topologies.
#[test]
fn bisections_against_all_divisions() {
    for spec in [
        "rails:rails=2,hosts=3,units=2,spines=1",
        "rails:rails=2,hosts=2,units=3,spines=2",
        "rails:rails=3,hosts=5,units=1",
        "ring:switches=7",
        "chain:switches=3,hosts=3",
        "mesh:dims=2x3",
        "xgft:children=3x3,parents=1x2",
        "dragonfly:p=1,a=2,h=1",
    ] {
        let topology = parse(spec).unwrap();
        let least = least_cut(&topology.graph);
        assert_eq!(topology.metrics().bisection, Bisection::AtMost(least), "{spec}");
    }
}
