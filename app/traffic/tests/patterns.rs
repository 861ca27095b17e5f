//! Who sends to whom, by hand; lengths and arrivals against their means.

use kernel::Random;
use traffic::{Lengths, Misfit, Pattern};

fn to(spec: &str, pattern: &Pattern) -> Vec<u32> {
    let topology = topology::parse(spec).expect(spec);
    let destinations = pattern.on(&topology).expect(spec);
    let random = Random::new(1, 1);
    (0..destinations.hosts())
        .map(
            |host| if destinations.sends(host) { destinations.draw(random, host, 0) } else { host },
        )
        .collect()
}

/// Dally and Towles, table 3.1, for 16 hosts of 4 bits, or 4 by 4.
#[test]
fn permutations() {
    let star = "star:hosts=16";
    // (x, y) to (y, x): host x + 4 y.
    let transpose = [0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15];
    assert_eq!(to(star, &Pattern::Transpose), transpose);
    // 0001 to 1000, 0011 to 1100, 0110 stays.
    let reversal = [0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15];
    assert_eq!(to(star, &Pattern::BitReversal), reversal);
    let complement: Vec<u32> = (0..16).rev().collect();
    assert_eq!(to(star, &Pattern::BitComplement), complement);
    // Twice, modulo 15.
    let shuffle = [0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15];
    assert_eq!(to(star, &Pattern::Shuffle), shuffle);
    // No grid: a ring of 16, 8 - 1 further, and 1 further.
    assert_eq!(to(star, &Pattern::Tornado)[..3], [7, 8, 9]);
    assert_eq!(to(star, &Pattern::Neighbour)[14..], [15, 0]);
    assert_eq!(to(star, &Pattern::Ring)[14..], [15, 0]);
}

/// On 4 by 4 switches: tornado is 1 further in both dimensions, as is the neighbour; on 6 by 4
/// tornado is 2 further in x and 1 in y: host 5 = (5, 0) to (1, 1) = 7. Two hosts per switch: host
/// 1 is the second of switch 0 and sends to the second of switch 5 = (1, 1).
#[test]
fn grids() {
    assert_eq!(to("torus:dims=4x4", &Pattern::Tornado)[..4], [5, 6, 7, 4]);
    assert_eq!(to("torus:dims=4x4", &Pattern::Neighbour)[12..], [1, 2, 3, 0]);
    assert_eq!(to("torus:dims=6x4", &Pattern::Tornado)[5], 7);
    assert_eq!(to("torus:dims=4x4,hosts=2", &Pattern::Neighbour)[1], 11);
}

/// Returns the hosts that a host sends to in 4000 draws, and the share of each.
fn drawn(spec: &str, pattern: &Pattern, host: u32) -> Vec<(u32, f64)> {
    let topology = topology::parse(spec).expect(spec);
    let destinations = pattern.on(&topology).expect(spec);
    let mut counts = vec![0; destinations.hosts() as usize];
    for number in 0..4000 {
        counts[destinations.draw(Random::new(1, 1), host, number) as usize] += 1;
    }
    let shares = (0..).zip(counts).filter(|(_, count)| *count > 0);
    shares.map(|(to, count)| (to, f64::from(count) / 4000.0)).collect()
}

/// The patterns of BookSim 2 that draw: shares by hand, which deviate by 4 sqrt(p (1-p) / 4000) <
/// 0.032. In a dragonfly of p = 2, groups have 8 hosts; host 10 is of the second group.
#[test]
fn drawn_destinations() {
    let close = |found: Vec<(u32, f64)>, wanted: &[(u32, f64)]| {
        let same = found.len() == wanted.len()
            && found.iter().zip(wanted).all(|(a, b)| a.0 == b.0 && (a.1 - b.1).abs() < 0.032);
        assert!(same, "{found:?} {wanted:?}");
    };
    let star = "star:hosts=16";
    close(drawn(star, &Pattern::Diagonal, 15), &[(0, 1.0 / 3.0), (15, 2.0 / 3.0)]);
    close(drawn(star, &Pattern::Asymmetric, 11), &[(3, 0.5), (11, 0.5)]);
    close(drawn(star, &Pattern::Columns, 6), &[(1, 0.25), (5, 0.25), (9, 0.25), (13, 0.25)]);
    let weights = Pattern::Weighted(vec![(3, 3), (7, 1)]);
    close(drawn(star, &weights, 3), &[(3, 0.75), (7, 0.25)]);
    let next: Vec<_> = (16..24).map(|host| (host, 0.125)).collect();
    close(drawn("dragonfly:p=2", &Pattern::NextGroup, 10), &next);
    let next = [(4, 0.5), (5, 0.5)];
    close(drawn("hyperx:dims=4,hosts=2", &Pattern::NextGroup, 3), &next);
    // Host 0 of 8 x 8: half to the nine around it and 1/128 to each host besides.
    let near = drawn("star:hosts=64", &Pattern::Taper64, 0);
    let around = [0, 1, 7, 8, 9, 55, 56, 57, 63];
    let often: Vec<_> = near.iter().filter(|(_, share)| *share > 0.03).map(|n| n.0).collect();
    assert_eq!(often.len(), 9, "{near:?}");
    assert!(often.iter().all(|host| around.contains(host)), "{often:?}");
}

/// A permutation gives every host to one; another seed gives another one. Hosts that it leaves
/// alone send to themselves if that is asked for.
#[test]
fn random_permutation() {
    let seeded = |seed| to("star:hosts=16", &Pattern::RandomPermutation { seed });
    let mut sorted = seeded(1);
    sorted.sort_unstable();
    assert_eq!(sorted, (0..16).collect::<Vec<_>>());
    assert_ne!(seeded(1), seeded(2));
    let star = topology::parse("star:hosts=4").expect("a star");
    let places = [0, 1, 2, 3];
    let alone = Pattern::Transpose.placed(&star, &places).expect("a pattern");
    let with = Pattern::Transpose.placed_with_senders(&star, &places).expect("a pattern");
    assert!(!alone.sends(0) && alone.sends(1) && with.sends(0));
}

#[test]
fn incast_and_flows() {
    let star = "star:hosts=6";
    assert_eq!(to(star, &Pattern::Incast { host: 4, ways: 3 }), [4, 4, 2, 3, 4, 4]);
    assert_eq!(to(star, &Pattern::Flows(vec![(0, 3), (5, 0)])), [3, 1, 2, 3, 4, 0]);
}

/// Uniform on 5 hosts: 4 destinations, a quarter each; with the sender 5, a fifth each. A hot spot
/// with a share of 0.2: 0.2 + 0.8/4 = 0.4 for it and 0.2 for the rest; at the hot host itself,
/// uniform. 20 000 draws of a share p deviate by 4 sqrt(p (1-p) / 20 000) < 0.014.
#[test]
fn shares() {
    let topology = topology::parse("star:hosts=5").expect("a star");
    let count = |pattern: Pattern, host: u32| {
        let destinations = pattern.on(&topology).expect("a pattern");
        let mut counts = [0.0; 5];
        for number in 0..20_000 {
            counts[destinations.draw(Random::new(1, 1), host, number) as usize] += 1.0 / 20_000.0;
        }
        counts
    };
    let close = |found: [f64; 5], wanted: [f64; 5]| {
        assert!(found.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 0.014), "{found:?}");
    };
    close(count(Pattern::Uniform, 2), [0.25, 0.25, 0.0, 0.25, 0.25]);
    close(count(Pattern::UniformWithSelf, 2), [0.2; 5]);
    let hot = Pattern::HotSpot { host: 1, share: 0.2 };
    close(count(hot.clone(), 2), [0.2, 0.4, 0.0, 0.2, 0.2]);
    close(count(hot, 1), [0.25, 0.0, 0.25, 0.25, 0.25]);
}

/// A chain of 5 switches with a host each: within 3 links (two of hosts, one between) of host 2 are
/// 1 and 3, 0.7 of the messages to them, 0.15 each to 0 and 4.
#[test]
fn sphere() {
    let topology = topology::parse("mesh:dims=5").expect("a chain");
    // By default the nearest others.
    for radius in [Some(3), None] {
        share_of_sphere(&topology, radius);
    }
    let empty = Pattern::Sphere { radius: Some(2), share: 0.7 }.on(&topology);
    let wanted = "no host lies within 2 links of host 0; a radius of 3 holds one for every host";
    assert_eq!(empty.expect_err("it is empty").to_string(), wanted);
}

fn share_of_sphere(topology: &topology::Topology, radius: Option<u32>) {
    let pattern = Pattern::Sphere { radius, share: 0.7 };
    let destinations = pattern.on(topology).expect("a pattern");
    let mut counts = [0.0; 5];
    for number in 0..20_000 {
        counts[destinations.draw(Random::new(1, 1), 2, number) as usize] += 1.0 / 20_000.0;
    }
    let wanted = [0.15, 0.35, 0.0, 0.35, 0.15];
    assert!(
        counts.iter().zip(wanted).all(|(a, b): (&f64, f64)| (a - b).abs() < 0.014),
        "{counts:?}"
    );
}

/// Hosts 4, 0, 1 and 3 of that chain have the numbers 0 to 3. Nearest are 3 to 4 and 0 to 1, 3
/// links; so the sphere of number 0 (host 4) is number 3 (host 3), of 1 is 2, of 2 (host 1) is 1,
/// and of 3 is 0. The next in a ring, or in a grid of which a part takes no part, is the next by
/// number.
#[test]
fn placed() {
    let topology = topology::parse("mesh:dims=5").expect("a chain");
    let to = |pattern: Pattern| {
        let destinations = pattern.placed(&topology, &[4, 0, 1, 3]).expect("a pattern");
        [0, 1, 2, 3].map(|host| destinations.draw(Random::new(1, 1), host, 0))
    };
    assert_eq!(to(Pattern::Sphere { radius: None, share: 1.0 }), [3, 2, 1, 0]);
    assert_eq!(to(Pattern::Ring), [1, 2, 3, 0]);
    assert_eq!(to(Pattern::Neighbour), [1, 2, 3, 0]);
}

#[test]
fn what_does_not_fit() {
    let six = topology::parse("star:hosts=6").expect("a star");
    let wrong = |pattern: Pattern| pattern.on(&six).expect_err("it does not fit").to_string();
    assert_eq!(wrong(Pattern::Transpose), "transpose needs a square of hosts, and there are 6");
    let wanted = "bit-reversal needs a power of two of hosts, and there are 6";
    assert_eq!(wrong(Pattern::BitReversal), wanted);
    assert_eq!(wrong(Pattern::HotSpot { host: 6, share: 0.1 }), "there is no host 6: there are 6");
    let wanted = "a share of 1.5 is not between 0 and 1";
    assert_eq!(wrong(Pattern::HotSpot { host: 0, share: 1.5 }), wanted);
    assert_eq!(wrong(Pattern::Incast { host: 0, ways: 6 }), "6 hosts cannot send to one of 6");
    let wanted = "the flows from host 1 must be one, to another host";
    assert_eq!(wrong(Pattern::Flows(vec![(1, 2), (1, 3)])), wanted);
    assert_eq!(wrong(Pattern::Flows(Vec::new())), Misfit::Silent.to_string());
    // Flows have no name: they are given.
    assert!(Pattern::named("flows").is_err());
    let unknown = Pattern::named("unifrom").expect_err("a typing error").to_string();
    assert!(unknown.contains("did you mean `uniform`?"), "{unknown}");
}

/// Means: 100 fixed; (10 + 20)/2; 1000 (normal, its tail below zero negligible at 10 deviations);
/// 0.9 * 64 + 0.1
/// * 4096 = 467.2. The median of the normal is its mean, its 97.5 % quantile 1.96 deviations above.
#[test]
fn lengths() {
    let mean = |lengths: &Lengths| lengths.mean(|bytes| bytes as f64);
    assert!((mean(&Lengths::Fixed(100)) - 100.0).abs() < 1e-9);
    assert!((mean(&Lengths::Uniform(10, 20)) - 15.0).abs() < 0.01);
    let uniform = Lengths::Uniform(10, 20);
    assert_eq!([1e-9, 0.5, 1.0].map(|u| uniform.quantile(u)), [10, 15, 20]);
    let normal = Lengths::Normal { mean: 1000.0, deviation: 100.0 };
    assert!((mean(&normal) - 1000.0).abs() < 1.0);
    assert_eq!((normal.quantile(0.5), normal.quantile(0.975)), (1000, 1196));
    let bimodal = Lengths::bimodal(64, 4096, 0.9);
    assert!((mean(&bimodal) - 467.2).abs() < 1e-9);
    assert_eq!([0.1, 0.89, 0.91].map(|u| bimodal.quantile(u)), [64, 64, 4096]);
    assert_eq!(Lengths::parse("bimodal:64B:4KiB:0.9"), Some(Ok(bimodal)));
    assert_eq!(Lengths::parse("uniform:10B:20B"), Some(Ok(uniform)));
    assert_eq!(Lengths::parse("normal: 1 kB : 100 B"), Some(Ok(normal)));
    assert_eq!(Lengths::parse("2 KiB"), Some(Ok(Lengths::Fixed(2048))));
    for other in ["", "2", "poisson:1B"] {
        assert_eq!(Lengths::parse(other), None, "{other}");
    }
    for (wrong, why) in [
        ("uniform:20B:10B", "the least length, 20B, is above the most, 10B"),
        ("uniform:1B", "expected uniform:LEAST:MOST"),
        ("normal:1B:2", "`2` is no length with its unit, such as `64B`"),
        ("bimodal:1B:2B:1.5", "a share of 1.5 is not between 0 and 1"),
    ] {
        assert_eq!(Lengths::parse(wrong), Some(Err(why.to_owned())), "{wrong}");
    }
    let read = Lengths::read("# lengths\n64 0.9\n4 KiB 0.1 # long\n").expect("a list");
    assert_eq!(read, Lengths::Listed(vec![(64, 0.9), (4096, 0.1)]));
    let wrong = Lengths::read("64\nabc\n5 -1\n").expect_err("two lines are wrong");
    assert_eq!(wrong.len(), 2);
    assert!(wrong[0].to_string().starts_with("line 2"), "{}", wrong[0]);
    assert!(Lengths::read("# nothing\n").is_err());
}
