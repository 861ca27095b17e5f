//! Tables of other programs, in `data/`: real output of OSU and IMB on two ranks that Heddle
//! simulated with L = 700 ns, o = 400 ns, g = 200 ns, G = 0.08 ns/B (the machine of
//! `examples/machines/edr-cluster.toml`), and the forms of Netgauge and of SimGrid's calibration
//! with values of equations.

use calibrate::{Calibration, Options, fit, read::read};

fn fitted(text: &str) -> Calibration {
    let reading = read(text).expect("samples");
    assert!(!reading.notes.is_empty());
    fit(&reading.samples, &Options { replicates: 300 })
}

/// Checks that a parameter is within a share of its truth and that its interval has it.
fn near(fitted: &Calibration, name: &str, truth: f64, share: f64) {
    let found = fitted.parameters.get(name);
    let found = found.unwrap_or_else(|| panic!("{name}: {:?}", fitted.refused));
    assert!((found.value / truth - 1.0).abs() < share, "{name} {found:?}");
    assert!(found.low <= truth && truth <= found.high, "{name} {found:?}");
}

/// L + 2 o = 1500 ns is half a round trip of a byte; OSU's own loop adds nearly 10 ns.
fn only_a_trip(fitted: &Calibration) {
    near(fitted, "G", 0.08, 0.01);
    assert_eq!(fitted.parameters.keys().copied().collect::<Vec<_>>(), ["G"]);
    let sum = fitted.one_way.expect("L + 2 o");
    assert!((sum.value - 1500.0).abs() < 10.0, "{sum:?}");
    assert!(fitted.refused["L"].contains("L + 2 o is 1"), "{:?}", fitted.refused);
    assert!(["o", "g", "O"].iter().all(|name| fitted.refused.contains_key(name)));
}

#[test]
fn osu_latency() {
    only_a_trip(&fitted(include_str!("data/osu_latency.txt")));
}

#[test]
fn imb_ping_pong_and_exchange() {
    let fitted = fitted(include_str!("data/imb_pingpong_exchange.txt"));
    only_a_trip(&fitted);
    assert!(fitted.segments.contains_key("exchange"));
}

/// A window of 64 messages and an answer costs a little more than 64 gaps: G is within 1 %.
#[test]
fn osu_bandwidth_and_message_rate() {
    for text in [include_str!("data/osu_bw.txt"), include_str!("data/osu_mbw_mr.txt")] {
        let fitted = fitted(text);
        let found = fitted.parameters["G"];
        assert!((found.value / 0.08 - 1.0).abs() < 0.01, "{found:?}");
        assert_eq!(fitted.parameters.len(), 1);
        assert!(fitted.refused["g"].contains("the longer of o and g"), "{:?}", fitted.refused);
    }
}

#[test]
fn netgauge() {
    let fitted = fitted(include_str!("data/netgauge-loggp.txt"));
    let expected =
        [("L", 50_000.0), ("o", 5000.0), ("o_receive", 5000.0), ("g", 7000.0), ("G", 8.0)];
    for (name, value) in expected {
        near(&fitted, name, value, 0.001);
    }
}

/// A send takes 2 us + 0.3 ns/B, the rest of its round trip 400 us + 20 ns/B: half of that is
/// 201 us + 10.15 ns/B, of which both overheads are 4 us.
#[test]
fn simgrid_calibration() {
    let fitted = fitted(include_str!("data/simgrid-calibration.csv"));
    let pieces =
        |name: &str| fitted.segments[name].iter().map(|s| (s.base, s.slope)).collect::<Vec<_>>();
    let send = pieces("send");
    assert_eq!(send.len(), 1);
    assert!((send[0].0 - 2000.0).abs() < 2.0 && (send[0].1 - 0.3).abs() < 0.001, "{send:?}");
    let isend = pieces("isend");
    assert!((isend[0].0 - 1500.0).abs() < 2.0 && (isend[0].1 - 0.1).abs() < 0.001, "{isend:?}");
    near(&fitted, "o_send", 2000.3, 0.001);
    near(&fitted, "L", 201_000.0 + 10.15 - 2.0 * 2000.3, 0.001);
    assert!(!fitted.parameters.contains_key("g"));
}

#[test]
fn mistakes_have_their_places() {
    let mistakes = |text: &str| {
        let mistakes = read(text).expect_err("mistakes");
        mistakes.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    };
    let osu = "# OSU MPI Latency Test v7.4\n# Size       Avg Latency(us)\n1   1.51\n2   -1\n4\n";
    let found = mistakes(osu);
    assert!(found.contains("line 4: expected a latency, a positive number, found `-1`"), "{found}");
    assert!(found.contains("line 5: expected a latency, found nothing"), "{found}");
    assert!(mistakes("# OSU MPI Latency Test v7\n").contains("no figures"));
    assert!(mistakes("# OSU MPI Allreduce Latency Test\n").contains("osu_mbw_mr are read"));
    let calls = "MPI_Send,1,0.0,1e-6\nMPI_Bsend,1,0.0,1e-6\n";
    assert!(mistakes(calls).contains("line 2: unknown call `MPI_Bsend`"));
    let netgauge = "# size n PRTT(1,0,s) PRTT(n,0,s)\n1 1 2 3 4\n";
    assert!(mistakes(netgauge).contains("line 2: expected a number of messages, at least 2"));
}
