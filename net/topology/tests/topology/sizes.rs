//! Numbers of devices, ports and links by formula.

use proptest::prelude::*;
use topology::{Graph, Shape, Size, parse};

/// - Star of 6: six links, and six ports at the switch beside one of each host.
/// - Fat tree of 2 levels of 4 ports: 8 hosts, 6 switches, 8 links up from the hosts and 8 above.
/// - Chain of 3: switches at the ends have as many ports as that in the middle, 2 and the host's.
/// - Butterfly of 2 stages of 2 switches: a host sends and receives, and 4 links are between.
/// - Dragonfly p=1: a=2, g=3; 3 links in and 3 between groups, ports for a host, a switch, a group.
/// - Rails: 2 switches of 3 hosts in each of 2 units, with 2 spines: 12 links down, 8 up.
#[test]
fn sizes_by_hand() {
    let size = |hosts, switches: &[(u32, u32)], ports, links| {
        Some(Size { hosts, switches: switches.to_vec(), ports, links })
    };
    let cases = [
        ("star:hosts=6", size(6, &[(1, 6)], 12, 6)),
        ("H8_S6", size(8, &[(6, 4)], 32, 16)),
        ("chain:switches=3", size(3, &[(3, 3)], 12, 5)),
        ("butterfly:k=2,n=2", size(4, &[(4, 4)], 24, 12)),
        ("dragonfly:p=1", size(6, &[(6, 3)], 24, 12)),
        ("rails:rails=2,hosts=3,units=2,spines=2", size(6, &[(2, 4), (4, 5)], 40, 20)),
    ];
    for (spec, expected) in cases {
        assert_eq!(Shape::parse(spec).unwrap().size(), expected, "{spec}");
    }
}

/// Six million hosts, of which nothing but their number is needed. Radix 3464: 3464 x 1732 hosts,
/// 3464 + 1732 switches, a link up from each host and as many above.
#[test]
fn sizes_are_known_before_anything_is_wired() {
    let size = Shape::parse("fat-tree:levels=2,radix=3464").unwrap().size().unwrap();
    let hosts = 3464 * 1732;
    assert_eq!((size.hosts, size.all_switches()), (hosts, 5196));
    assert_eq!((size.switches, size.links), (vec![(5196, 3464)], 2 * u64::from(hosts)));
}

/// A shape that cannot be built has no size, however large its numbers are.
#[test]
fn too_large_shapes_have_no_size() {
    let most = u32::MAX;
    let shapes = [
        format!("star:hosts={most}"),
        format!("torus:dims={most}x{most},hosts={most}"),
        format!("hyperx:dims=0x{most}"),
        format!("hypercube:dimensions={most}"),
        format!("fat-tree:levels=16,radix={}", most - 1),
        format!("k-ary-n-tree:k={most},n={most}"),
        format!("xgft:children={most}x{most},parents={most}x{most},cables={most}x{most}"),
        format!("butterfly:k={most},n={most}"),
        format!("dragonfly:p={most}"),
        format!("dragonfly:p=1,a={most},h={most},g={most}"),
        format!("slim-fly:q={most}"),
        format!("slim-fly:q=5,hosts={most}"),
        format!("rails:rails={most},hosts={most},units={most},spines={most}"),
        "torus:dims=4,hosts=0".to_owned(),
    ];
    for spec in shapes {
        let shape = Shape::parse(&spec).unwrap();
        assert_eq!(shape.size(), None, "{spec}");
        assert!(shape.build().is_err(), "{spec}");
    }
}

/// A star of two hosts: three devices of 16 bytes for the name, 16 for what points to it and 8 for
/// its place among all; four ports of 12 and two links of 88 bytes.
#[test]
fn memory_of_a_graph() {
    let size = Shape::parse("star:hosts=2").unwrap().size().unwrap();
    assert_eq!(Graph::least_memory(&size), 3 * 40 + 4 * 12 + 2 * 88);
    let most = Size { hosts: u32::MAX, switches: vec![(1, 1)], ports: u64::MAX, links: 7 };
    assert_eq!(Graph::least_memory(&most), u64::MAX);
}

fn list(numbers: &[u32]) -> String {
    numbers.iter().map(u32::to_string).collect::<Vec<_>>().join("x")
}

/// Trees of one to three levels, and how many children, parents and cables each has.
fn trees() -> impl Strategy<Value = String> {
    let lists = |levels| prop::collection::vec(1_u32..4, levels);
    (1_usize..4).prop_flat_map(move |levels| {
        (lists(levels), lists(levels), lists(levels)).prop_map(|(children, parents, cables)| {
            let [children, parents, cables] = [children, parents, cables].map(|of| list(&of));
            format!("xgft:children={children},parents={parents},cables={cables}")
        })
    })
}

fn specs() -> impl Strategy<Value = String> {
    let extents = prop::collection::vec(1_u32..6, 1..4);
    let grids = (extents, 0_u32..4, prop::sample::select(vec!["mesh", "torus", "hyperx"]))
        .prop_map(|(dims, hosts, kind)| format!("{kind}:dims={},hosts={hosts}", list(&dims)));
    let named = prop::sample::select(vec![
        "H8_S1", "H8_S2", "H8_S4", "H8_S6", "H128_S24", "H242_S33", "H392_S42", "H512_S48", "M9",
    ]);
    let arrangements = prop::sample::select(vec!["absolute", "relative", "circulant"]);
    let dragonflies =
        (1_u32..4, 1_u32..7, 0_u32..5, 1_u32..20, arrangements).prop_map(|(p, a, h, g, rule)| {
            format!("dragonfly:p={p},a={a},h={h},g={g},arrangement={rule}")
        });
    prop_oneof![
        named.prop_map(str::to_owned),
        grids,
        trees(),
        dragonflies,
        (1_u32..9).prop_map(|hosts| format!("star:hosts={hosts}")),
        (1_u32..6, 1_u32..4).prop_map(|(n, hosts)| format!("ring:switches={n},hosts={hosts}")),
        (1_u32..6, 1_u32..4).prop_map(|(n, hosts)| format!("complete:switches={n},hosts={hosts}")),
        (0_u32..6).prop_map(|n| format!("hypercube:dimensions={n}")),
        (1_u32..4, 1_u32..5)
            .prop_map(|(levels, half)| { format!("fat-tree:levels={levels},radix={}", 2 * half) }),
        (1_u32..5, 1_u32..4).prop_map(|(k, n)| format!("k-ary-n-tree:k={k},n={n}")),
        (1_u32..5, 1_u32..5).prop_map(|(k, n)| format!("butterfly:k={k},n={n}")),
        (2_u32..14, 0_u32..4).prop_map(|(q, hosts)| format!("slim-fly:q={q},hosts={hosts}")),
        (1_u32..5, 1_u32..5, 1_u32..5, 0_u32..4).prop_map(|(rails, hosts, units, spines)| {
            format!("rails:rails={rails},hosts={hosts},units={units},spines={spines}")
        }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    /// The formulas count what is wired. Where nothing can be, there is no size.
    #[test]
    fn formulas_count_what_is_wired(spec in specs()) {
        let shape = Shape::parse(&spec).unwrap();
        let wired = parse(&spec).ok().map(|topology| topology.graph.size());
        prop_assert_eq!(shape.size(), wired, "{}", spec);
    }
}
