//! The records that may be watched.

use crate::common::{fabric, message, ps, simula, watch};
use infiniband::{Infiniband, Parameters, Record};
use kernel::TransportKind;
use network::{Script, Transfer};
use units::HostId;

/// One full packet over two switches: the links carry it for 34 * 32 = 1088 ns each, from 0, from
/// 81 ns (20 of cable and 61 of the first switch) and from 162 ns on. It is in each switch's queue
/// from 30 ns after it has arrived, and granted at once. It crosses three links.
#[test]
fn one_packet() {
    let net = fabric("chain:switches=2,hosts=1", simula());
    let (delivered, records) = watch(&net, &[(0, 0, message(1, 2156, 0))]);
    assert_eq!(delivered.len(), 1);
    let sent: Vec<_> = records
        .iter()
        .filter_map(|&(_, device, record)| match record {
            Record::Sent { flits, start, end, .. } => Some((device, flits, start.ps(), end.ps())),
            _ => None,
        })
        .collect();
    let expected = [(0, 34, 0, 1_088_000), (2, 34, 81_000, 1_169_000), (3, 34, 162_000, 1_250_000)];
    assert_eq!(sent, expected);
    let queues: Vec<_> = records
        .iter()
        .filter_map(|&(at, device, record)| match record {
            Record::Queue { flits, .. } => Some((at, device, flits)),
            _ => None,
        })
        .collect();
    assert_eq!(queues, [(50_000, 2, 34), (50_000, 2, 0), (131_000, 3, 34), (131_000, 3, 0)]);
    let hops = records.iter().filter_map(|&(_, device, record)| match record {
        Record::Arrived { source, hops } => Some((device, source.0, hops)),
        _ => None,
    });
    assert_eq!(hops.collect::<Vec<_>>(), [(1, 0, 3)]);
}

/// Two full packets into a buffer for one: the host has sent the first at 1088 ns and may send the
/// second at 1126 ns, when the last credit is back.
#[test]
fn a_stall() {
    let net = fabric("star:hosts=2", Parameters { buffer: 34, ..simula() });
    let (_, records) = watch(&net, &[(0, 0, message(1, 4312, 0))]);
    let stalls: Vec<_> = records
        .iter()
        .filter_map(|&(at, device, record)| match record {
            Record::Stalled { from, .. } => Some((device, from.ps(), at)),
            _ => None,
        })
        .collect();
    assert_eq!(stalls, [(0, 1_088_000, 1_126_000)]);
}

/// A full packet of 34 flits of 32 ns has left its host at 1088 ns, and one right behind it at 2176
/// ns; they are delivered later, each flit 33.6 ns behind the one before.
#[test]
fn messages_leave_before_they_arrive() {
    let network = Infiniband::new(fabric("star:hosts=2", simula()), 0);
    let transfer = (ps(0), Transfer::new(HostId(0), HostId(1), 2156));
    let script = Script::of(2, &[transfer, transfer]);
    let played = script.play(&network, 1, TransportKind::Shared).expect("no overflow");
    assert_eq!(played.logs[0].left, [(ps(1_088_000), 0), (ps(2_176_000), 1)]);
    let delivered = played.logs[1].delivered.iter().map(|(at, _)| at.ps());
    let head = 101_000;
    assert_eq!(delivered.collect::<Vec<_>>(), [head + 34 * 33_600, head + 68 * 33_600]);
}
