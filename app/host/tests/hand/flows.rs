//! The hybrid model of SMPI. Hosts are joined by one link that both directions share, of 1 B/ns and
//! 1000 ns of latency; there are no factors, no envelope, and the way back carries nothing. So a
//! message of n bytes alone takes 1000 + n ns.

use flow::{Contention, Factors, Link, Network, Parameters, Routes, Sharing};
use host::{Error, Outcome, Piece, Pieces, Protocol, Protocols, Settings, simulate_flow};
use kernel::Silent;

use super::{finish, image, resources::noisy};

struct Wire;

impl Routes for Wire {
    fn route(&self, from: u32, to: u32, links: &mut Vec<u32>) -> Result<f64, String> {
        links.clear();
        if from == to {
            return Ok(0.0);
        }
        if from.max(to) == 9 {
            return Err("there is no way to host 9".to_owned());
        }
        links.push(0);
        Ok(1e-6)
    }
}

fn parameters() -> Parameters {
    Parameters {
        bandwidth_factors: Factors::default(),
        latency_factors: Factors::default(),
        cross_traffic: false,
        envelope: 0,
        ..Parameters::default()
    }
}

fn costs(base_ns: f64, per_byte_ns: f64) -> Pieces {
    Pieces::new(vec![Piece { above: 0, base: base_ns * 1e-9, per_byte: per_byte_ns * 1e-9 }])
}

/// With sends of 100 ns, non-blocking ones of 10 ns, receives of 50 ns; eager below 100 B, detached
/// below 1000 B.
fn protocol() -> Protocol {
    Protocol {
        send: costs(100.0, 0.0),
        isend: costs(10.0, 0.0),
        receive: costs(50.0, 0.0),
        eager_below: 100,
        detached_below: 1000,
    }
}

fn run_on(
    hosts: &[u32],
    cores: &[Option<u32>],
    usual: Protocol,
    text: &str,
) -> Result<Outcome, Error> {
    run_with(&Settings::default(), hosts, cores, usual, text)
}

fn run_with(
    settings: &Settings,
    hosts: &[u32],
    cores: &[Option<u32>],
    usual: Protocol,
    text: &str,
) -> Result<Outcome, Error> {
    let links = [Link { bandwidth: 1e9, sharing: Sharing::Shared }];
    let mut network = Network::new(Wire, &links, cores, parameters(), Silent);
    let protocols = Protocols { usual, ..Protocols::default() };
    let program = image(text);
    simulate_flow(&mut network, hosts, &protocols, &program, settings, Silent)
        .map(|(outcome, _)| outcome)
}

fn run(text: &str) -> Result<Outcome, Error> {
    run_on(&[0, 1, 2], &[], protocol(), text)
}

/// Latency, bandwidth and contention of the critical path and of the row of rank 1.
fn transit(text: &str) -> [[u64; 3]; 2] {
    let outcome = run(text).expect("it runs");
    let (path, row) = (outcome.path, outcome.ranks[1]);
    [[path.latency, path.bandwidth, path.contention], [row.latency, row.bandwidth, row.contention]]
        .map(|parts| parts.map(|part| part.ps() / 1000))
}

/// Alone, 50 bytes take 50 ns. Two messages share the link from 1000 ns to 1100 ns, 50 ns longer
/// than each takes alone.
#[test]
fn contention_is_what_sharing_adds() {
    let alone =
        "num_ranks 3\nrank 0 {\nsend 50b to 1\n}\nrank 1 {\nrecv 50b from 0\n}\nrank 2 {\n}\n";
    assert_eq!(transit(alone), [[1000, 50, 0]; 2]);
    let two = "num_ranks 3\nrank 0 {\nsend 50b to 1\n}\n\
               rank 1 {\nrecv 50b from 0\nrecv 50b from 2\n}\nrank 2 {\nsend 50b to 1\n}\n";
    assert_eq!(transit(two), [[1000, 50, 50]; 2]);
}

#[test]
fn an_eager_message_travels_before_its_receive_is_posted() {
    // Sent at 0, posted at 100 (blocking, since the computation waits for it), there at 100 + 1050;
    // the receive is posted at 5000 and costs 50. The sender goes on at 100.
    let text = "num_ranks 3\nrank 0 {\nl1: send 50b to 1\nl2: calc 7\nl2 requires l1\n}\n\
                rank 1 {\nl1: calc 5000\nl2: recv 50b from 0\nl2 requires l1\n}\nrank 2 {\n}\n";
    assert_eq!(finish(run(text)), [107, 5050, 0]);
}

/// Interruptions double all that a CPU does: the send takes 200, so that the message is there at
/// 1250; the receive is posted at 10 000. On the critical path, noise is waiting.
#[test]
fn noise_lengthens_what_cpus_do() {
    let text = "num_ranks 2\nrank 0 {\nl1: send 50b to 1\nl2: calc 7\nl2 requires l1\n}\n\
                rank 1 {\nl1: calc 5000\nl2: recv 50b from 0\nl2 requires l1\n}\n";
    let outcome = run_with(&noisy(), &[0, 1], &[], protocol(), text).expect("it runs");
    let path = outcome.path;
    let parts = [path.compute, path.overhead, path.latency, path.bandwidth, path.waiting];
    assert_eq!(parts.map(|part| part.ps() / 1000), [5000, 50, 0, 0, 5050]);
    assert_eq!(finish(Ok(outcome)), [214, 10_100]);
    // Two ranks take turns on a core: each has 200 ns to do.
    let text = "num_ranks 2\nrank 0 {\ncalc 100\n}\nrank 1 {\ncalc 100\n}\n";
    let shared = run_with(&noisy(), &[0, 0], &[Some(1)], protocol(), text);
    assert_eq!(finish(shared), [400, 400]);
}

#[test]
fn a_buffered_message_travels_from_the_post_of_its_receive_on() {
    // 500 bytes: detached, so the sender goes on at 100; the message travels from 5000 to 6500.
    let text = "num_ranks 3\nrank 0 {\nl1: send 500b to 1\nl2: calc 7\nl2 requires l1\n}\n\
                rank 1 {\nl1: calc 5000\nl2: recv 500b from 0\nl2 requires l1\n}\nrank 2 {\n}\n";
    assert_eq!(finish(run(text)), [107, 6550, 0]);
}

#[test]
fn a_rendezvous_holds_the_sender_until_the_message_has_arrived() {
    // 2000 bytes: no overheads at all; from 5000 to 8000.
    let text = "num_ranks 3\nrank 0 {\nl1: send 2000b to 1\nl2: calc 7\nl2 requires l1\n}\n\
                rank 1 {\nl1: calc 5000\nl2: recv 2000b from 0\nl2 requires l1\n}\nrank 2 {\n}\n";
    assert_eq!(finish(run(text)), [8007, 8000, 0]);
}

/// 2000 bytes travel from 5000 to 8000: the send is done when they start, not when they have left.
/// It costs nothing, as a detached one would.
#[test]
fn a_rendezvous_done_at_its_start() {
    let text = "num_ranks 3\nrank 0 {\nl1: send 2000b to 1\nl2: calc 7\nl2 requires l1\n}\n\
                rank 1 {\nl1: calc 5000\nl2: recv 2000b from 0\nl2 requires l1\n}\nrank 2 {\n}\n";
    let links = [Link { bandwidth: 1e9, sharing: Sharing::Shared }];
    let mut network = Network::new(Wire, &links, &[], parameters(), Silent);
    let protocols = Protocols { usual: protocol(), done_at_start: true, ..Protocols::default() };
    let (hosts, settings) = ([0, 1, 2], Settings::default());
    let ran = simulate_flow(&mut network, &hosts, &protocols, &image(text), &settings, Silent);
    assert_eq!(finish(ran.map(|(outcome, _)| outcome)), [5007, 8000, 0]);
}

/// 90 bytes and then one byte: they travel from 10 and 20, and use the link from 1010 and 1020. The
/// first has moved 10 bytes by then; both get half, so the second is there at 1022, and the first,
/// of which 79 are left, at 1101. The receiver computes behind the second receive: from 1022 + 50
/// to 6072, and the first receive costs its 50 after that. In order, both are there at 1101: 50 and
/// 50, and then 5000.
#[test]
fn a_short_message_overtakes_unless_they_arrive_in_order() {
    let text = "num_ranks 3\nrank 0 {\nl1: send 90b to 1\nl2: send 1b to 1\nl3: calc 0\n\
                l3 requires l1\nl3 requires l2\n}\nrank 1 {\nl1: recv 90b from 0\n\
                l2: recv 1b from 0\nl3: calc 5000\nl3 requires l2\n}\nrank 2 {\n}\n";
    let program = image(text);
    for (in_order, end) in [(false, 6122), (true, 6201)] {
        let links = [Link { bandwidth: 1e9, sharing: Sharing::Shared }];
        let mut network = Network::new(Wire, &links, &[], parameters(), Silent);
        let protocols = Protocols { usual: protocol(), in_order, ..Protocols::default() };
        let (hosts, settings) = ([0, 1, 2], Settings::default());
        let ran = simulate_flow(&mut network, &hosts, &protocols, &program, &settings, Silent);
        assert_eq!(finish(ran.map(|(outcome, _)| outcome)), [20, end, 0], "{in_order}");
    }
}

#[test]
fn a_send_with_company_is_not_blocking() {
    // Both sends are waited for together: 10 ns each. The first travels from 10, the second from 20
    // on; both use the link from 1010 and 1020. Until 1020 the first has moved 10 bytes, then both
    // get half: the first's 40 bytes last to 1100. The second has moved 40 by then and has 10 left:
    // 1110.
    let text = "num_ranks 3\nrank 0 {\nl1: send 50b to 1\nl2: send 50b to 2\nl3: calc 0\n\
                l3 requires l1\nl3 requires l2\n}\nrank 1 {\nl1: recv 50b from 0\n}\nrank 2 {\n\
                l1: recv 50b from 0\n}\n";
    assert_eq!(finish(run(text)), [20, 1150, 1160]);
}

#[test]
fn of_receives_that_are_waited_for_together_those_that_are_there_end() {
    // Rank 2's message is there at 1150 and costs 50, though it was posted second; rank 1's comes
    // at 3000 + 100 + 1050 = 4150.
    let text = "num_ranks 3\nrank 0 {\nl1: recv 50b from 1\nl2: recv 50b from 2\nl3: calc 9\n\
                l3 requires l1\nl3 requires l2\n}\nrank 1 {\nl1: calc 3000\nl2: send 50b to 0\n\
                l2 requires l1\nl3: calc 0\nl3 requires l2\n}\nrank 2 {\nl1: send 50b to 0\n\
                l2: calc 0\nl2 requires l1\n}\n";
    assert_eq!(finish(run(text)), [4209, 3100, 100]);
}

#[test]
fn receives_that_are_waited_for_one_after_the_other_end_in_that_order() {
    // The same, but the second is waited for after the computation that waits for the first: 4150 +
    // 50 + 9 + 50 + 1.
    let text = "num_ranks 3\nrank 0 {\nl1: recv 50b from 1\nl2: recv 50b from 2\nl3: calc 9\n\
                l3 requires l1\nl4: calc 1\nl4 requires l2\nl4 requires l3\n}\nrank 1 {\n\
                l1: calc 3000\nl2: send 50b to 0\nl2 requires l1\nl3: calc 0\nl3 requires l2\n}\n\
                rank 2 {\nl1: send 50b to 0\nl2: calc 0\nl2 requires l1\n}\n";
    assert_eq!(finish(run(text)), [4260, 3100, 100]);
}

#[test]
fn the_overhead_of_a_receive_is_due_where_it_is_waited_for() {
    // The message is there at 1150 while rank 0 computes until 2000; its overhead lasts from 2000
    // to 2050.
    let text = "num_ranks 3\nrank 0 {\nl1: recv 50b from 1\nl2: calc 2000\nl3: calc 9\n\
                l3 requires l1\nl3 requires l2\n}\nrank 1 {\nl1: send 50b to 0\nl2: calc 0\n\
                l2 requires l1\n}\nrank 2 {\n}\n";
    assert_eq!(finish(run(text)), [2059, 100, 0]);
}

#[test]
fn a_deadlock_names_its_ranks() {
    let text = "num_ranks 3\nrank 0 {\nl1: recv 5b from 1\nl2: send 5b to 1\nl2 requires l1\n}\n\
                rank 1 {\nl1: recv 5b from 0\nl2: send 5b to 0\nl2 requires l1\n}\nrank 2 {\n}\n";
    let deadlock = run(text).expect("it runs").deadlock.expect("a deadlock");
    assert_eq!((deadlock.ranks, deadlock.cycle), (2, vec![0, 1]));
}

#[test]
fn a_message_larger_than_its_receive_is_an_error() {
    let text = "num_ranks 3\nrank 0 {\nl1: send 50b to 1\n}\nrank 1 {\nl1: recv 5b from 0\n}\n\
                rank 2 {\n}\n";
    assert!(matches!(run(text), Err(Error::Truncated { rank: 1, size: 50, room: 5, .. })));
}

#[test]
fn hosts_without_a_way_are_an_error() {
    let text = "num_ranks 2\nrank 0 {\nl1: send 50b to 1\n}\nrank 1 {\nl1: recv 50b from 0\n}\n";
    let error = run_on(&[0, 9], &[], protocol(), text).expect_err("no way");
    assert_eq!(error.to_string(), "there is no way to host 9");
}

#[test]
fn ranks_share_the_cores_of_their_host() {
    // Two ranks on one core: both at half speed until 2000, when the shorter computation has had
    // its 1000; the other has 2000 left of its 3000 and is alone: 4000.
    let text = "num_ranks 3\nrank 0 {\nl1: calc 1000\n}\nrank 1 {\nl1: calc 3000\n}\nrank 2 {\n\
                l1: calc 500\n}\n";
    let outcome = run_on(&[0, 0, 1], &[Some(1), None], protocol(), text);
    assert_eq!(finish(outcome), [2000, 4000, 500]);
}

#[test]
fn without_contention_messages_do_not_meet() {
    let links = [Link { bandwidth: 1e9, sharing: Sharing::Shared }];
    let parameters = Parameters { contention: Contention::None, ..parameters() };
    let program = image(
        "num_ranks 3\nrank 0 {\nl1: send 5000b to 1\n}\nrank 1 {\nl1: recv 5000b from 0\n\
         l2: recv 5000b from 2\n}\nrank 2 {\nl1: send 5000b to 1\n}\n",
    );
    let protocols = Protocols::default();
    let mut network = Network::new(Wire, &links, &[], parameters, Silent);
    let settings = Settings::default();
    let (outcome, _) =
        simulate_flow(&mut network, &[0, 1, 2], &protocols, &program, &settings, Silent)
            .expect("it runs");
    // Detached sends are done at once.
    assert_eq!(finish(Ok(outcome)), [0, 6000, 0]);
}

#[test]
fn receives_that_one_operation_waits_for_are_taken_together_whatever_waits_later() {
    // While rank 0 computes until 5000, there come a message, a request, and another message, whose
    // receive was posted first. Both messages are waited for from then on: at 5050 and 5100. Then
    // the request, at 5150, and its answer: 10 to send, 1050 on the way, 50 to receive. That
    // something waits for one of the messages once more, afterwards, changes nothing.
    let others = "rank 1 {\nl1: send 50b to 0 tag 1\nl2: calc 100\nl2 requires l1\n\
                  l3: send 50b to 0 tag 3\nl3 requires l2\nl4: recv 50b from 0 tag 4\n}\nrank 2 {\n\
                  l1: calc 2000\nl2: send 50b to 0 tag 2\nl2 requires l1\n}\n";
    for later in ["", "f: calc 0\nf requires w\nf requires b\n"] {
        let text = format!(
            "num_ranks 3\nrank 0 {{\nb: recv 50b from 2 tag 2\na: recv 50b from 1 tag 1\n\
             q: recv 50b from 1 tag 3\ns: send 50b to 1 tag 4\ns requires q\nc: calc 5000\n\
             w: calc 0\nw requires a\nw requires b\nw requires c\n{later}}}\n{others}"
        );
        assert_eq!(finish(run(&text)), [5160, 6260, 2010], "{later}");
    }
}
