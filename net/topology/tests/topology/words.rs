//! Tests of the words that the user writes.

use topology::{Failure, Routing, parse};

#[test]
fn mistakes_in_specifications() {
    let cases = [
        ("fat-tre:radix=4", "unknown topology `fat-tre`"),
        ("fat-tree:radius=4", "topology `fat-tree` has no key `radius`"),
        ("fat-tree", "topology `fat-tree` needs the key `radix`"),
        ("fat-tree:radix=5", "even radix"),
        ("fat-tree:levels=8,radix=64", "too large"),
        ("torus:dims=4xx4", "dims = 4xx4: expected whole numbers with x between them"),
        ("torus:dims=4x0", "start at 1"),
        ("torus:dims=4,dims=5", "given twice"),
        ("torus:4x4", "expected KEY=VALUE"),
        ("dragonfly:p=2,g=10", "at most 9 groups"),
        ("dragonfly:p=2,arrangement=relativ", "unknown arrangement"),
        ("slim-fly:q=12", "power of a prime"),
        ("rails:rails=2,hosts=2,units=2", "joined by spines"),
        ("hypercube:dimensions=60", "too large"),
        ("M9:x=1", "it has none"),
        ("xgft:children=2x2,parents=1", "for every level"),
    ];
    for (spec, message) in cases {
        let faults = parse(spec).unwrap_err();
        assert!(faults.to_string().contains(message), "{spec}: {faults}");
    }
    let faults = parse("dragonfly:q=1,w=2").unwrap_err();
    assert_eq!(faults.0.len(), 3, "{faults}");
    let helps = [
        ("fat-tre:radix=4", Some("did you mean `fat-tree`?")),
        ("torus:8x8", Some("did you mean `dims=8x8`?")),
        ("torus:dims=8,4", Some("an x joins extents: dims=8x4")),
        ("hyperx:hosts=2,4", Some("did you mean `dims=4`?")),
        ("torus:8xa", None),
        ("star:8", None),
    ];
    for (spec, help) in helps {
        assert_eq!(parse(spec).unwrap_err().0[0].help.as_deref(), help, "{spec}");
    }
}

#[test]
fn mistakes_in_failures_and_routings() {
    let mut topology = parse("H8_S6").unwrap();
    let faults = topology
        .fail(&["s3.1", "h0", "s1.0:9", "x:1"].map(|text| Failure::parse(text).unwrap()), 0)
        .unwrap_err();
    assert_eq!(faults.0.len(), 4);
    assert!(topology.is_intact());
    for text in ["links=2.0", "links=-1", "link=5%", "switches=x", "s:x"] {
        assert!(Failure::parse(text).is_err(), "{text}");
    }
    let fault = "d-mod".parse::<Routing>().unwrap_err();
    assert_eq!(fault.help.as_deref(), Some("did you mean `d-mod-k`?"));
    assert!("d-mod-k:lanes=3".parse::<Routing>().is_err());
}

/// 25 % of the 8 links between the switches of H8_S6 are 2. A seed decides which.
#[test]
fn fractions_of_links() {
    let broken = |text: &str, seed| {
        let mut topology = parse("H8_S6").unwrap();
        topology.fail(&[Failure::parse(text).unwrap()], seed).unwrap();
        topology.graph.links().iter().map(|link| !link.up).collect::<Vec<_>>()
    };
    for seed in 0..20 {
        assert_eq!(broken("links=25%", seed).into_iter().filter(|down| *down).count(), 2);
        assert_eq!(broken("links=0.25", seed), broken("links=25%", seed));
    }
    assert!((1..20).any(|seed| broken("links=25%", seed) != broken("links=25%", 0)));
}

/// A whole number is a count: the same links as by the share that makes as many. H8_S6 has 8 links
/// between its 6 switches.
#[test]
fn numbers_of_links_and_switches() {
    let broken = |text: &str| {
        let mut topology = parse("H8_S6").unwrap();
        topology
            .fail(&[Failure::parse(text).unwrap()], 7)
            .map(|()| topology.graph.links().iter().map(|link| !link.up).collect::<Vec<_>>())
    };
    for (count, share) in [
        ("links=2", "links=25%"),
        ("links=8", "links=1.0"),
        ("links=0", "links=0%"),
        ("switches=3", "switches=0.5"),
    ] {
        assert_eq!(broken(count), broken(share), "{count}");
    }
    for (text, message) in [
        ("links=9", "9 links between switches cannot fail: there are 8"),
        ("switches=7", "7 switches cannot fail: there are 6"),
    ] {
        assert_eq!(broken(text).unwrap_err().to_string(), message);
    }
}
