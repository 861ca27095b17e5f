use super::{Permutation, below, draw};

/// The first numbers of `SplitMix64` from seed 1234567, as published with several other
/// implementations of it.
#[test]
fn draws_the_known_numbers() {
    let expected = [
        6_457_827_717_110_365_317,
        3_203_168_211_198_807_973,
        9_817_491_932_198_370_423,
        4_593_380_528_125_082_431,
        16_408_922_859_458_223_821,
    ];
    for (counter, expected) in (0..).zip(expected) {
        assert_eq!(draw(1_234_567, counter), expected);
    }
}

#[test]
fn scales_the_whole_range_evenly() {
    assert_eq!(below(0, 10), 0);
    assert_eq!(below(u64::MAX, 10), 9);
    assert_eq!(below(1 << 63, 10), 5);
    assert_eq!(below(u64::MAX, u64::MAX), u64::MAX - 1);
}

#[test]
fn is_a_permutation_with_its_inverse() {
    for n in (1..130).chain([1_000, 4_096, 5_003]) {
        for key in 0..4 {
            let order = Permutation::new(n);
            let mut hit = vec![false; n as usize];
            for x in 0..n {
                let y = order.forward(key, x);
                assert!(!std::mem::replace(&mut hit[y as usize], true), "{n}: {x}");
                assert_eq!(order.backward(key, y), x, "{n}");
            }
        }
    }
    let order = Permutation::new(u32::MAX);
    for x in [0, 1, u32::MAX / 2, u32::MAX - 1] {
        assert_eq!(order.backward(9, order.forward(9, x)), x);
    }
}

/// 5000 keys and 5 places: 1000 hits each, with a standard deviation of √(5000 × 0.2 × 0.8) = 28;
/// five of those are allowed.
#[test]
fn takes_every_number_to_every_place_equally_often() {
    let order = Permutation::new(5);
    for x in 0..5 {
        let mut hits = [0_i32; 5];
        for key in 0..5_000 {
            hits[order.forward(draw(1, key), x) as usize] += 1;
        }
        assert!(hits.iter().all(|hits| (hits - 1_000).abs() < 140), "{hits:?}");
    }
}
