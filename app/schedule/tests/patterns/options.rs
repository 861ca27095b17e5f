//! Options that make no pattern.

use schedule::pattern::{NAMES, Options, Pattern, users};

fn error(name: &str, options: &Options) -> String {
    match Pattern::build(name, options) {
        Ok(_) => "no error".to_owned(),
        Err(error) => error.to_string(),
    }
}

fn plain() -> Options {
    Options::new(8, 4)
}

#[test]
fn names() {
    let text = error("binomial-bcats", &plain());
    let start = "unknown pattern \"binomial-bcats\", did you mean \"binomial-bcast\"? (patterns: \
                 dissemination, binomial-bcast, ";
    assert!(text.starts_with(start), "{text}");
    let text = error("xyzzy", &plain());
    assert!(text.starts_with("unknown pattern \"xyzzy\" (patterns: "), "{text}");
}

#[test]
fn ranks_and_root() {
    for name in NAMES {
        let none = Options::new(0, 4);
        assert_eq!(error(name, &none), "\"ranks\" must be at least 1", "{name}");
    }
    let options = Options { root: 8, ..plain() };
    assert_eq!(error("gather", &options), "\"root\" is 8, but the ranks are 0 to 7");
}

#[test]
fn zeros() {
    let zero = |name, options| {
        let option = error(name, &options);
        option.strip_suffix(" must be at least 1").map(ToOwned::to_owned)
    };
    let found = [
        zero("nway-dissemination", Options { ways: 0, ..plain() }),
        zero("pipelined-ring", Options { segment: 0, ..plain() }),
        zero("alltoallv", Options { skew: 0, ..plain() }),
        zero("random", Options { steps: 0, ..plain() }),
        zero("halo2d", Options { steps: 0, ..plain() }),
    ];
    let expected = ["ways", "segment", "skew", "steps", "steps"];
    assert_eq!(found, expected.map(|option| Some(format!("\"{option}\""))));
}

#[test]
fn options_of_other_patterns() {
    let options = Options { ways: 2, ..plain() };
    let text = "pattern gather does not use \"ways\" (it is for nway-dissemination, bulk-reply)";
    assert_eq!(error("gather", &options), text);
    let halo = "pattern random does not use \"compute\" (it is for halo1d, halo2d, halo3d)";
    assert_eq!(error("random", &Options { compute: 1, ..plain() }), halo);
    let changed = [
        ("root", Options { root: 1, ..plain() }),
        ("ways", Options { ways: 2, ..plain() }),
        ("segment", Options { segment: 2, ..plain() }),
        ("skew", Options { skew: 2, ..plain() }),
        ("steps", Options { steps: 2, ..plain() }),
        ("compute", Options { compute: 2, ..plain() }),
        ("allreduce", Options { allreduce: Some(2), ..plain() }),
    ];
    for name in NAMES {
        for (option, options) in &changed {
            let uses = users(option).is_some_and(|users| users.contains(&name));
            assert_eq!(Pattern::build(name, options).is_ok(), uses, "{name} {option}");
        }
        let all = Options { seed: 5, permute: Some(1), ..plain() };
        assert!(Pattern::build(name, &all).is_ok(), "{name}");
    }
}

#[test]
fn grids() {
    let grid = |name, grid: &[u32]| error(name, &Options { grid: grid.to_vec(), ..plain() });
    assert_eq!(grid("halo2d", &[4, 2]), "no error");
    assert_eq!(grid("halo2d", &[4, 3]), "\"grid\" 4 x 3 does not hold 8 ranks");
    assert_eq!(grid("halo2d", &[8, 0]), "\"grid\" 8 x 0 does not hold 8 ranks");
    let large = "\"grid\" 65536 x 65536 does not hold 8 ranks";
    assert_eq!(grid("halo2d", &[1 << 16, 1 << 16]), large);
    let dimensions = "\"grid\" has 2 extents, but the pattern has 3 dimensions";
    assert_eq!(grid("halo3d", &[4, 2]), dimensions);
}

#[test]
fn more_operations_than_can_be_numbered() {
    let text = "pattern allreduce-ring has up to 17179869180 operations per rank here; \
                the limit is 4294967295";
    assert_eq!(error("allreduce-ring", &Options::new(u32::MAX, 4)), text);
    let long = Options { segment: 1, ..Options::new(2, u64::MAX) };
    assert!(error("pipelined-ring", &long).contains("operations per rank"));
    let steps = Options { steps: u32::MAX, ..plain() };
    assert!(error("halo1d", &steps).contains("operations per rank"));
    let ways = Options { ways: u32::MAX, ..plain() };
    assert!(error("nway-dissemination", &ways).contains("operations per rank"));
}
