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

/// Each device has a symbol, but hosts are left out where there are more than 512 (M9); the ground
/// is a box, too.
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

/// Links have the colour of their share, and a broken link has none. The legend has each colour
/// once.
#[test]
fn heat_maps_colour_links() {
    let mut topology = parse("H8_S6").unwrap();
    topology.fail(&[Failure::parse("s1.0:2").unwrap()], 0).unwrap();
    let svg = draw::heat_map(&topology, &[1.0; 16]);
    assert_eq!(
        [count(&svg, "#c8141e"), count(&svg, "100.0 %"), count(&svg, "dasharray")],
        [16, 15, 1]
    );
    assert_eq!([count(&svg, ">100 %<"), count(&svg, ">broken<")], [1, 1]);
    let cold = draw::heat_map(&topology, &[]);
    assert_eq!(count(&cold, "#dce1e6"), 16);
}

/// The places of the elements of a drawing that have two attributes.
fn all_at(svg: &str, element: &str, keys: [&str; 2]) -> Vec<(f64, f64)> {
    let value = |text: &str, key: &str| {
        let rest = text.split_once(&format!(" {key}=\"")).unwrap().1;
        rest.split('"').next().unwrap().parse::<f64>().unwrap()
    };
    let found =
        svg.split(element).skip(1).filter(|text| text.starts_with(&format!(" {}", keys[0])));
    found.map(|text| (value(text, keys[0]), value(text, keys[1]))).collect()
}

/// Rings of a torus are closed by curves: 2 x 4 in a 4x4 torus, and for each of 3 dimensions 9 in a
/// 3x3x3 torus; a mesh has none. In a 4x4 HyperX 3 links of each of 8 lines pass over switches.
#[test]
fn links_that_pass_over_switches_bend() {
    for (spec, curves) in [
        ("torus:dims=4x4", 8),
        ("torus:dims=3x3x3", 27),
        ("mesh:dims=4x4x4", 0),
        ("hyperx:dims=4x4", 24),
        ("ring:switches=6", 0),
    ] {
        let svg = draw::topology(&parse(spec).unwrap());
        assert_eq!(count(&svg, "<path"), curves, "{spec}");
    }
}

/// Boxes do not touch each other, nor do dots, and all of it fits on a page of 3200 by 2500.
#[test]
fn large_topologies_can_be_read() {
    for spec in [
        "torus:dims=8x8x8",
        "torus:dims=4x4x4,hosts=2",
        "torus:dims=3x3x3x3",
        "hypercube:dimensions=6",
        "hyperx:dims=4x4x4",
        "H512_S48",
        "fat-tree:levels=3,radix=12",
        "fat-tree:levels=2,radix=40",
        "k-ary-n-tree:k=2,n=6",
        "rails:rails=8,hosts=32,units=4,spines=8",
    ] {
        let svg = draw::topology(&parse(spec).unwrap());
        let mut boxes = all_at(&svg, "<rect", ["x", "y"]);
        let mut dots = all_at(&svg, "<circle", ["cx", "cy"]);
        assert!(!boxes.is_empty(), "{spec}");
        for (places, (wide, high)) in [(&mut boxes, (22.0, 12.0)), (&mut dots, (8.0, 8.0))] {
            places.sort_by(|a, b| a.partial_cmp(b).unwrap());
            for (index, a) in places.iter().enumerate() {
                assert!(a.0 < 3200.0 && a.1 < 2500.0, "{spec}: {a:?}");
                for b in places[index + 1..].iter().take_while(|b| b.0 - a.0 < wide) {
                    assert!((b.1 - a.1).abs() >= high, "{spec}: {a:?} and {b:?}");
                }
            }
        }
    }
}

/// Eight hosts of a star are 38 from their switch, an eighth of a turn apart; 64 are as far as the
/// circumference of 64 x 11 asks for.
#[test]
fn hosts_of_a_star_are_all_round() {
    for (hosts, reach) in [(8_usize, 38.0), (64, 64.0 * 11.0 / std::f64::consts::TAU)] {
        let svg = draw::topology(&parse(&format!("star:hosts={hosts}")).unwrap());
        let dots = all_at(&svg, "<circle", ["cx", "cy"]);
        assert_eq!(dots.len(), hosts);
        let centre = 40.0 + reach;
        for (x, y) in dots {
            assert!(((x - centre).hypot(y - centre) - reach).abs() < 0.1, "{hosts}: {x} {y}");
        }
    }
}

/// The ends of a line, behind the name of the element.
fn ends(line: &str) -> [(f64, f64); 2] {
    let numbers = line.split('"').skip(1).step_by(2).take(4);
    let numbers: Vec<f64> = numbers.map(|number| number.parse().unwrap()).collect();
    let [ax, ay, bx, by] = numbers[..] else { panic!("{line}") };
    [(ax, ay), (bx, by)]
}

/// The square of the distance of a point from a line between two others.
fn apart((x, y): (f64, f64), [(ax, ay), (bx, by)]: [(f64, f64); 2]) -> f64 {
    let length = (bx - ax).powi(2) + (by - ay).powi(2);
    let share = (((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / length).clamp(0.0, 1.0);
    (ax + share * (bx - ax) - x).powi(2) + (ay + share * (by - ay) - y).powi(2)
}

/// No dot, which has a radius of 4, lies on a link of another host or between switches; curves are
/// looked at in 50 parts. Dots do not touch each other.
#[test]
fn dots_are_clear_of_links() {
    for spec in [
        "torus:dims=4x4",
        "torus:dims=8x6,hosts=4",
        "torus:dims=3x3,hosts=8",
        "hyperx:dims=4x4,hosts=2",
        "mesh:dims=4x4,hosts=3",
        "ring:switches=16,hosts=8",
        "ring:switches=3,hosts=20",
        "star:hosts=100",
    ] {
        let svg = draw::topology(&parse(spec).unwrap());
        let dots = all_at(&svg, "<circle", ["cx", "cy"]);
        let mut parts: Vec<_> = svg.split("<line").skip(1).map(ends).collect();
        assert!(dots.len() > 8 && parts.len() > 8, "{spec}");
        for curve in svg.split("<path d=\"M").skip(1) {
            let numbers = curve.split('"').next().unwrap().replace('Q', " ");
            let numbers: Vec<f64> =
                numbers.split(' ').map(|number| number.parse().unwrap()).collect();
            let [ax, ay, cx, cy, bx, by] = numbers[..] else { panic!("{spec}: {numbers:?}") };
            let at = |step: i32| {
                let t = f64::from(step) / 50.0;
                let of = |a, c, b| (1.0 - t).powi(2) * a + 2.0 * t * (1.0 - t) * c + t * t * b;
                (of(ax, cx, bx), of(ay, cy, by))
            };
            parts.extend((0..50).map(|step| [at(step), at(step + 1)]));
        }
        for (index, dot) in dots.iter().enumerate() {
            // A link that ends at the dot is its own.
            let others = parts.iter().filter(|ends| !ends.contains(dot));
            for part in others {
                assert!(apart(*dot, *part) > 16.0, "{spec}: {dot:?} on {part:?}");
            }
            for other in &dots[index + 1..] {
                let distance = (dot.0 - other.0).hypot(dot.1 - other.1);
                assert!(distance > 8.0, "{spec}: {dot:?} and {other:?}");
            }
        }
    }
}
