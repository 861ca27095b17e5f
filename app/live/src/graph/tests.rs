use super::*;
use units::Time;

const OP: Op = Op { kind: Kind::Calc, peer: 0, tag: 0, size: 7, cpu: 0, nic: 0 };

fn ready(graph: &mut Graph) -> Vec<u32> {
    let mut posted = Vec::new();
    graph.post(|index, _, _| posted.push(index));
    posted
}

/// An operation and what waits for it, of which there are more than few: all are set free, those
/// that wait for its start first.
#[test]
fn many_wait_for_one() {
    let mut graph = Graph::default();
    let first = graph.add(OP, None);
    for number in 0..5 {
        let edge = if number % 2 == 0 { Edge::Started } else { Edge::Done };
        let next = graph.add(OP, None);
        graph.depend(next, first, edge);
    }
    graph.seal();
    assert_eq!(graph.after(first).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
    assert!(graph.is_waited_to_start(first) && !graph.is_waited_to_start(1));
    assert_eq!(ready(&mut graph), [first]);
    graph.reached(first, Edge::Started, &host::START);
    assert_eq!(ready(&mut graph), [1, 3, 5]);
    graph.reached(first, Edge::Done, &host::START);
    assert_eq!(ready(&mut graph), [2, 4]);
}

/// One that stays does not keep the room of others: of a thousand that wait for it and then for
/// each other, each is found.
#[test]
fn one_that_stays() {
    let mut graph = Graph::default();
    let stays = graph.add(OP, Some(3));
    graph.pin(stays);
    for _ in 0..1000 {
        let next = graph.add(OP, None);
        graph.seal();
        assert_eq!(ready(&mut graph).last(), Some(&next));
        graph.reached(next, Edge::Done, &host::START);
        assert!(graph.op(next).is_none() || !graph.is_done(next));
    }
    assert_eq!(graph.nodes.len(), ROOM);
    graph.mark(stays, END);
    assert_eq!((graph.op(stays), graph.ticket(stays)), (Some(OP), Some(3)));
    assert_eq!(graph.reached(stays, Edge::Done, &host::START), Some(3));
    let late = graph.add(OP, None);
    graph.depend(late, stays, Edge::Done);
    assert_eq!(graph.missing(late), 0);
    graph.unpin(stays);
    assert_eq!(graph.op(stays), None);
}

/// One that begins with computation, short or long, is posted twice; what waits for it hears of the
/// second end.
#[test]
fn begins_with_computation() {
    for time in [0, 9, u64::from(LONG) - 1, LONG.into(), u64::from(LONG) + 1, u64::MAX] {
        begins_with(time);
    }
}

fn begins_with(time: u64) {
    let mut graph = Graph::default();
    let send = Op { kind: Kind::Send, peer: 3, tag: 4, ..OP };
    let (first, next) = (graph.add(send, None), graph.add(OP, None));
    graph.compute_before(first, time);
    graph.depend(next, first, Edge::Done);
    graph.seal();
    let mut posted = Vec::new();
    graph.post(|index, op, at| posted.push((index, op, *at)));
    assert_eq!(posted, [(first, Op { size: time, ..OP }, host::START)]);
    assert!(graph.is_held(first));
    let later = Stamp { time: Time::from_ps(9), ..host::START };
    assert!(graph.computed(first, &later));
    graph.post(|index, op, at| posted.push((index, op, *at)));
    assert_eq!(posted.get(1..), Some(&[(first, send, later)][..]));
    assert!(!graph.is_held(first) && !graph.computed(first, &later));
    assert_eq!(graph.missing(next), 1);
    graph.reached(first, Edge::Done, &later);
    assert_eq!(ready(&mut graph), [next]);
    assert!(graph.rare.is_none_or(|rare| rare.long.is_empty()));
}

/// The ring grows when all that is in it stays.
#[test]
fn many_stay() {
    let mut graph = Graph::default();
    for number in 0..1000 {
        assert_eq!(graph.add(Op { size: number, ..OP }, None) as u64, number);
    }
    graph.seal();
    let mut sizes = Vec::new();
    graph.post(|_, op, _| sizes.push(op.size));
    assert!(sizes.into_iter().eq(0..1000));
}
