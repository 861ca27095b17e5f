//! Drawings of topologies.

use topology::{Failure, parse};

/// The number of times that a text occurs in a drawing.
fn count(svg: &str, text: &str) -> usize {
    svg.matches(text).count()
}

/// A tree of 8 hosts and 6 switches, with 16 links of which one is broken. The ground is a box,
/// too.
#[test]
fn drawings_show_everything() {
    let mut topology = parse("H8_S6").unwrap();
    topology.fail(&[Failure::parse("s1.0:2").unwrap()], 0).unwrap();
    let svg = draw::topology(&topology);
    let counts = ["<circle", "<rect", "<line", "dasharray"].map(|text| count(&svg, text));
    assert_eq!(counts, [8, 7, 16, 1]);
}

/// Each device has a symbol, but hosts are left out where there are more than 512 (M9); the ground is
/// a box, too.
#[test]
fn every_shape_has_places_for_its_devices() {
    for spec in
        ["torus:dims=3x3", "ring:switches=4", "dragonfly:p=1", "rails:rails=2,hosts=2", "M9"]
    {
        let topology = parse(spec).unwrap();
        let graph = &topology.graph;
        let svg = draw::topology(&topology);
        assert!(!svg.contains("NaN"), "{spec}");
        let shown = if graph.hosts() > 512 { graph.switches() } else { graph.devices() };
        assert_eq!(count(&svg, "<circle") + count(&svg, "<rect"), shown as usize + 1, "{spec}");
    }
}

/// Links have the colour of their share, and a broken link has none.
#[test]
fn heat_maps_colour_links() {
    let mut topology = parse("H8_S6").unwrap();
    topology.fail(&[Failure::parse("s1.0:2").unwrap()], 0).unwrap();
    let svg = draw::heat_map(&topology, &[1.0; 16]);
    assert_eq!(
        [count(&svg, "#c8141e"), count(&svg, "100.0 %"), count(&svg, "dasharray")],
        [15, 15, 1]
    );
    let cold = draw::heat_map(&topology, &[]);
    assert_eq!(count(&cold, "#dce1e6"), 15);
}
