//! Perfetto timelines, read back by a small decoder that shares nothing with the writer.

mod common;

use std::collections::BTreeMap;
use std::fmt::Write;

use common::{EVERYTHING, busy, collect, ns, of_receiver, of_sender, recorded};
use host::{Activity, Record};
use results::{LinkLoad, Recorded, write_perfetto};
use units::Time;

/// A field's value in the protobuf wire format.
#[derive(Clone, Debug, PartialEq)]
enum Value<'a> {
    Varint(u64),
    Fixed64(u64),
    Bytes(&'a [u8]),
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let mut value = 0;
    for shift in (0..).step_by(7) {
        let (&byte, rest) = bytes.split_first().expect("a varint ends");
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            break;
        }
    }
    value
}

/// The fields of a message: number and value, in order.
fn fields(mut bytes: &[u8]) -> Vec<(u64, Value<'_>)> {
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let tag = varint(&mut bytes);
        let value = match tag % 8 {
            0 => Value::Varint(varint(&mut bytes)),
            1 => {
                let (value, rest) = bytes.split_first_chunk().expect("eight bytes");
                bytes = rest;
                Value::Fixed64(u64::from_le_bytes(*value))
            }
            2 => {
                let length = varint(&mut bytes) as usize;
                let (value, rest) = bytes.split_at(length);
                bytes = rest;
                Value::Bytes(value)
            }
            other => panic!("wire type {other}"),
        };
        fields.push((tag / 8, value));
    }
    fields
}

fn numbers(bytes: &[u8], field: u64) -> Vec<u64> {
    fields(bytes)
        .into_iter()
        .filter(|(number, _)| *number == field)
        .map(|(_, value)| match value {
            Value::Varint(value) | Value::Fixed64(value) => value,
            Value::Bytes(_) => panic!("field {field} is a number"),
        })
        .collect()
}

fn messages(bytes: &[u8], field: u64) -> Vec<&[u8]> {
    fields(bytes)
        .into_iter()
        .filter(|(number, _)| *number == field)
        .map(|(_, value)| match value {
            Value::Bytes(value) => value,
            _ => panic!("field {field} has a length"),
        })
        .collect()
}

fn number(bytes: &[u8], field: u64) -> Option<u64> {
    numbers(bytes, field).first().copied()
}

fn string(bytes: &[u8], field: u64) -> String {
    String::from_utf8(messages(bytes, field)[0].to_vec()).unwrap()
}

/// Interned names by their ids.
fn names(data: &[u8], field: u64) -> BTreeMap<u64, String> {
    messages(data, field)
        .into_iter()
        .map(|entry| (number(entry, 1).unwrap(), string(entry, 2)))
        .collect()
}

/// The trace as text, one line per packet, with names in place of ids:
/// `thread`: pid, tid, name; `begin`: track, time, name, arrows, annotations; `end`: track, time.
fn show(ranks: u32, recorded: &Recorded) -> Vec<String> {
    let mut trace = Vec::new();
    write_perfetto(&mut trace, ranks, recorded).unwrap();
    let packets = messages(&trace, 1);
    assert_eq!(fields(&trace).len(), packets.len(), "packets and nothing else");
    let interned = messages(packets[0], 12)[0];
    let (events, annotations) = (names(interned, 2), names(interned, 3));
    let mut lines = Vec::new();
    for (index, packet) in packets.into_iter().enumerate() {
        // The state of the one sequence is cleared by its first packet and needed by all others.
        let sequence = (number(packet, 10), number(packet, 13), number(packet, 87));
        match index {
            0 => assert_eq!(sequence, (Some(1), Some(1), Some(1))),
            _ => assert_eq!(sequence, (Some(1), Some(2), None)),
        }
        lines.extend(messages(packet, 60).into_iter().map(descriptor));
        let time = number(packet, 8);
        for event in messages(packet, 11) {
            lines.push(slice(event, time.expect("events have a time"), &events, &annotations));
        }
    }
    lines
}

fn descriptor(track: &[u8]) -> String {
    let uuid = number(track, 1).unwrap();
    if let Some(process) = messages(track, 3).first() {
        let pid = number(process, 1).unwrap();
        return format!("track {uuid}: process {pid} {}", string(process, 6));
    }
    let thread = messages(track, 4)[0];
    let ids = [number(thread, 1), number(thread, 2)].map(Option::unwrap);
    let parent = number(track, 5).unwrap();
    format!("track {uuid} in {parent}: thread {ids:?} {}", string(thread, 5))
}

fn slice(
    event: &[u8],
    time: u64,
    events: &BTreeMap<u64, String>,
    annotations: &BTreeMap<u64, String>,
) -> String {
    let track = number(event, 11).unwrap();
    match number(event, 9) {
        Some(1) => {}
        Some(2) => return format!("{track} end {time}"),
        other => panic!("event type {other:?}"),
    }
    let mut line = format!("{track} begin {time} {}", events[&number(event, 10).unwrap()]);
    for arrow in numbers(event, 47) {
        write!(line, " flow {arrow}").unwrap();
    }
    for arrow in numbers(event, 48) {
        write!(line, " flow end {arrow}").unwrap();
    }
    for annotation in messages(event, 4) {
        let value = match (number(annotation, 3), number(annotation, 4)) {
            (Some(unsigned), None) => unsigned.to_string(),
            (None, Some(signed)) => signed.cast_signed().to_string(),
            other => panic!("one value, not {other:?}"),
        };
        let name = &annotations[&number(annotation, 1).unwrap()];
        write!(line, " {name}={value}").unwrap();
    }
    line
}

#[test]
fn one_message() {
    assert_eq!(
        show(2, &recorded()),
        [
            "track 1: process 1 heddle",
            "track 2 in 1: thread [1, 1] rank 0",
            "2 begin 0 compute start_ps=0 end_ps=100000",
            "2 end 100",
            "2 begin 100 send flow 1 start_ps=100000 end_ps=1600000 message=0 peer=1 bytes=10 \
             tag=7",
            "2 end 1600",
            "track 3 in 1: thread [1, 2] rank 1",
            "3 begin 4100 receive flow end 1 start_ps=4100000 end_ps=5654000 message=0 peer=0 \
             bytes=10 tag=7",
            "3 end 5654",
        ]
    );
}

/// Ranks that do nothing have a track as well; 1999 ps are 1 ns and stay exact in the annotation.
#[test]
fn picoseconds_and_idle_ranks() {
    let times = (Time::from_ps(999), Time::from_ps(1999));
    let records = vec![busy((1, 0), Activity::Compute, times, None, None)];
    assert_eq!(
        show(3, &collect(EVERYTHING, &[records]))[1..],
        [
            "track 2 in 1: thread [1, 1] rank 0",
            "track 3 in 1: thread [1, 2] rank 1",
            "3 begin 0 compute start_ps=999 end_ps=1999",
            "3 end 1",
            "track 4 in 1: thread [1, 3] rank 2",
        ]
    );
}

#[test]
fn several_cpus_have_a_track_each() {
    let on = |rank, cpu| busy((rank, cpu), Activity::Compute, (ns(0), ns(1)), None, None);
    let lines = show(2, &collect(EVERYTHING, &[vec![on(0, 3), on(0, 0), on(1, 3)]]));
    let tracks: Vec<&String> = lines.iter().filter(|line| line.contains("thread")).collect();
    assert_eq!(
        tracks,
        [
            "track 2 in 1: thread [1, 1] rank 0 cpu 0",
            "track 3 in 1: thread [1, 2] rank 0 cpu 3",
            "track 4 in 1: thread [1, 3] rank 1 cpu 0",
            "track 5 in 1: thread [1, 4] rank 1 cpu 3",
        ]
    );
    assert!(lines.contains(&"5 begin 0 compute start_ps=0 end_ps=1000".to_owned()));
}

/// A rendezvous: request, answer and data occupy CPUs at both ends. One arrow leads through all of
/// them and ends with the last slice at the receiver.
#[test]
fn a_rendezvous_is_one_arrow() {
    let key = Some((0, 0));
    let (mut sender, mut receiver) = (of_sender(), of_receiver());
    sender.push(busy((0, 0), Activity::Receive, (ns(8000), ns(8500)), key, None));
    sender.push(busy((0, 0), Activity::Send, (ns(8500), ns(9000)), key, None));
    receiver.push(busy((1, 0), Activity::Send, (ns(5654), ns(6000)), key, None));
    receiver.push(busy((1, 0), Activity::Receive, (ns(12_000), ns(13_000)), key, None));
    let arrows: Vec<String> = show(2, &collect(EVERYTHING, &[sender, receiver]))
        .into_iter()
        .filter_map(|line| Some(line.split_once(" start_ps")?.0.to_owned()))
        .collect();
    assert_eq!(
        arrows,
        [
            "2 begin 0 compute",
            "2 begin 100 send flow 1",
            "2 begin 8000 receive flow 1",
            "2 begin 8500 send flow 1",
            "3 begin 4100 receive flow 1",
            "3 begin 5654 send flow 1",
            "3 begin 12000 receive flow end 1",
        ]
    );
}

#[test]
fn a_wildcard_tag_is_negative() {
    let mut records = of_sender();
    for record in &mut records {
        if let Record::Sent { tag, .. } = record {
            *tag = u32::MAX;
        }
    }
    let lines = show(2, &collect(EVERYTHING, &[records]));
    assert!(lines.iter().any(|line| line.ends_with("tag=-1")), "{lines:?}");
}

/// More than one piece of output: 3000 slices begin and end, in order.
#[test]
fn long_timelines_are_complete() {
    let slices = (0..3000).map(|i| busy((0, 0), Activity::Compute, (ns(i), ns(i + 1)), None, None));
    let lines = show(1, &collect(EVERYTHING, &[slices.collect()]));
    let expected = (0..3000_u64).flat_map(|i| {
        let (start, end) = (i * 1000, (i + 1) * 1000);
        let begin = format!("2 begin {i} compute start_ps={start} end_ps={end}");
        [begin, format!("2 end {}", i + 1)]
    });
    assert_eq!(lines[2..], expected.collect::<Vec<_>>());
}

/// The use of a link is a counter in percent: 5 of 20 B/s are 25.
#[test]
fn links_are_counters() {
    let loads = vec![(Time::ZERO, 5), (ns(7), 0)];
    let links = vec![LinkLoad { name: "up".to_owned(), bandwidth: 20, loads }];
    let mut bytes = Vec::new();
    write_perfetto(&mut bytes, 0, &Recorded { links, ..Recorded::default() }).expect("memory");
    let packets = messages(&bytes, 1);
    let tracks: Vec<_> = packets.iter().flat_map(|packet| messages(packet, 60)).collect();
    let counter = tracks.iter().find(|track| !messages(track, 8).is_empty()).expect("a counter");
    assert_eq!(string(counter, 2), "link up");
    let events: Vec<_> = packets
        .iter()
        .flat_map(|packet| messages(packet, 11).into_iter().map(|event| (number(packet, 8), event)))
        .map(|(at, event)| (at, number(event, 9), number(event, 44).map(f64::from_bits)))
        .collect();
    assert_eq!(events, [(Some(0), Some(4), Some(25.0)), (Some(7), Some(4), Some(0.0))]);
}
