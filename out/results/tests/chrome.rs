//! Timelines in the format of Chrome's tracing.

mod common;

use common::recorded;
use results::{LinkLoad, write_chrome};
use serde_json::{Value, json};
use units::Time;

/// The run of the tests of Paje's format: rank 0 computes for 100 ns and sends for 1500, and the
/// message of 10 bytes is received from 4100 to 5654 ns.
#[test]
fn one_message() {
    let mut recorded = recorded();
    let loads = vec![(Time::ZERO, 5), (Time::from_ps(1_600_000), 0)];
    recorded.links = vec![LinkLoad { name: "up \"a\"".to_owned(), bandwidth: 20, loads }];
    let mut out = Vec::new();
    write_chrome(&mut out, 2, &recorded).expect("memory");
    let text = String::from_utf8(out).expect("text");
    // Exact to the picosecond.
    assert!(text.contains("\"ts\":0.100000,\"dur\":1.500000"), "{text}");
    let all: Value = serde_json::from_str(&text).expect("JSON");
    let events = all["traceEvents"].as_array().expect("a list");
    let of =
        |kind: &str| -> Vec<&Value> { events.iter().filter(|event| event["ph"] == kind).collect() };
    let spans: Vec<_> = of("X")
        .into_iter()
        .map(|event| json!([event["name"], event["pid"], event["ts"], event["dur"]]))
        .collect();
    assert_eq!(
        spans,
        [
            json!(["compute", 0, 0.0, 0.1]),
            json!(["send", 0, 0.1, 1.5]),
            json!(["receive", 1, 4.1, 1.554]),
        ]
    );
    let flows = [of("s"), of("f")].concat();
    let flows: Vec<_> =
        flows.into_iter().map(|event| json!([event["id"], event["pid"], event["ts"]])).collect();
    assert_eq!(flows, [json!([0, 0, 0.1]), json!([0, 1, 4.1])]);
    let counters: Vec<_> = of("C")
        .into_iter()
        .map(|event| json!([event["name"], event["ts"], event["args"]["percent"]]))
        .collect();
    assert_eq!(counters, [json!(["up \"a\"", 0.0, 25.0]), json!(["up \"a\"", 1.6, 0.0])]);
    assert_eq!(of("M").len(), 4);
}
