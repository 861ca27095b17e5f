//! The server and the client of measurements over TCP, and clients that are none.

use std::{
    io::{Read, Write},
    net::{Shutdown, TcpListener, TcpStream},
    thread,
    time::Duration,
};

use measure::{
    plan::{STREAM, Step},
    session::{Error, Prober},
    tcp::{Client, Limits, Server},
};
use samples::Operation;

/// More bytes than a handshake has: whoever sends them one by one would end it.
const HANDSHAKE: usize = 200;

fn limits() -> Limits {
    let short = Duration::from_millis;
    Limits { handshake: short(1000), run: short(8000), silence: short(1500) }
}

fn server() -> Server {
    Server::bind("127.0.0.1:0", limits()).expect("a free port")
}

fn client(server: &Server) -> Client {
    let address = server.address().expect("an address").to_string();
    Client { address, token: server.token().to_owned(), limits: limits() }
}

fn steps() -> Vec<Step> {
    let step = |operation: &Operation, messages, wait, bytes| {
        let operation = || operation.clone();
        [None, Some(0)].map(|repetition| Step {
            operation: operation(),
            messages,
            wait,
            bytes,
            repetition,
        })
    };
    let sizes = [1, 10_000, 1_000_000];
    let all = STREAM.iter().flat_map(|operation| {
        sizes.map(|bytes| match operation {
            Operation::RoundTrip => step(operation, 4, 100_000, bytes),
            Operation::Receive | Operation::ReceiveBusy => step(operation, 2, 500_000, bytes),
            _ => step(operation, 2, 0, bytes),
        })
    });
    all.flatten().collect()
}

/// Serves the next client while `client` runs.
fn serve(server: &Server, client: impl FnOnce()) -> Result<usize, String> {
    thread::scope(|scope| {
        let served = scope.spawn(|| server.serve().expect("a client").1);
        client();
        served.join().expect("served")
    })
}

fn refused(run: &Result<measure::session::Measured, Error>) -> String {
    run.as_ref().expect_err("an error").to_string()
}

#[test]
fn all_operations_are_measured() {
    let server = server();
    let served = serve(&server, || {
        let measured = client(&server).run(&steps(), None).expect("times");
        assert_eq!(measured.times.len(), STREAM.len() * 3);
        for (step, time, _) in measured.times {
            // Waits between messages are within the time, the one of `recv` is before it.
            let waits = match step.operation {
                Operation::RoundTrip => 3.0 * step.wait as f64,
                Operation::ReceiveBusy => step.wait as f64,
                _ => 0.0,
            };
            assert!(time > waits && time < 1e9, "{step:?} {time}");
        }
    });
    assert_eq!(served, Ok(steps().len()));
}

/// Without time, the warm-up is left out and the first repetition is done; with time enough, all
/// are. The server carries out as much as the client.
#[test]
fn the_time_ends_a_run_between_repetitions() {
    let server = server();
    let round = |repetition| {
        [1, 1000].map(|bytes| Step {
            operation: Operation::RoundTrip,
            messages: 2,
            wait: 0,
            bytes,
            repetition,
        })
    };
    let steps = [round(None), round(Some(0)), round(Some(1)), round(Some(2))].concat();
    for (time, kept, carried_out) in [
        (Some(Duration::ZERO), &steps[2..4], 2),
        (Some(Duration::from_secs(3600)), &steps[2..], 8),
        (None, &steps[2..], 8),
    ] {
        let served = serve(&server, || {
            let measured = client(&server).run(&steps, time).expect("times");
            let found: Vec<Step> = measured.times.into_iter().map(|(step, ..)| step).collect();
            assert_eq!(found, kept);
        });
        assert_eq!(served, Ok(carried_out));
    }
}

#[test]
fn a_wrong_token_is_refused() {
    let server = server();
    let served = serve(&server, || {
        let mut client = client(&server);
        client.token.replace_range(..1, "x");
        assert!(refused(&client.run(&steps(), None)).ends_with("the server refused the token"));
    });
    assert_eq!(served, Err("the token is wrong".to_owned()));
    // The server is there for the next client.
    let served = serve(&server, || drop(client(&server).run(&steps()[..1], None).expect("times")));
    assert_eq!(served, Ok(1));
}

/// The token is not in what is sent, and a recorded answer is of no use for another challenge.
#[test]
fn a_recorded_handshake_is_worthless() {
    let (server, relay) = (server(), TcpListener::bind("127.0.0.1:0").expect("a port"));
    let mut sent = Vec::new();
    let served = serve(&server, || {
        let through = Client {
            address: relay.local_addr().expect("an address").to_string(),
            ..client(&server)
        };
        thread::scope(|scope| {
            scope.spawn(move || drop({ through }.run(&steps()[..1], None)));
            let (mut near, _) = relay.accept().expect("the client");
            let mut far = TcpStream::connect(server.address().expect("one")).expect("the server");
            let mut greeting = [0; 48];
            far.read_exact(&mut greeting).expect("a challenge");
            near.write_all(&greeting).expect("sent");
            let mut answer = [0; 64];
            near.read_exact(&mut answer).expect("an answer");
            far.write_all(&answer).expect("sent");
            sent.extend_from_slice(&answer);
        });
    });
    assert_eq!(served, Err("the other side closed the connection".to_owned()));
    let token = server.token().as_bytes();
    assert!(!sent.windows(8).any(|part| token.windows(8).any(|of| part == of)));
    let served = serve(&server, || {
        let mut far = TcpStream::connect(server.address().expect("one")).expect("the server");
        far.write_all(&sent).expect("sent");
        let _ = far.read_to_end(&mut Vec::new());
    });
    assert_eq!(served, Err("the token is wrong".to_owned()));
}

#[test]
fn garbage_and_silence_end_soon() {
    let server = server();
    let connect = || TcpStream::connect(server.address().expect("an address")).expect("connected");
    let garbage = serve(&server, || {
        let mut stream = connect();
        stream.write_all(&[7; 4096]).expect("sent");
        let _ = stream.read_to_end(&mut Vec::new());
    });
    assert_eq!(garbage, Err("the token is wrong".to_owned()));
    let gone = serve(&server, || drop(connect()));
    assert_eq!(gone, Err("the other side closed the connection".to_owned()));
    let silent = serve(&server, || {
        let _ = connect().read_to_end(&mut Vec::new());
    });
    assert_eq!(silent, Err("the other side was silent for too long".to_owned()));
    // A byte now and then does not make the handshake longer.
    let slow = serve(&server, || {
        let mut stream = connect();
        let is_cut_off = |_| {
            thread::sleep(Duration::from_millis(50));
            stream.write_all(&[1]).is_err()
        };
        assert!((0..HANDSHAKE).any(is_cut_off), "it may say as much as it likes");
    });
    assert_eq!(slow, Err("the other side was silent for too long".to_owned()));
}

/// Bounds are checked before anything is done.
#[test]
fn too_much_is_refused() {
    let server = server();
    let step =
        Step { operation: Operation::Send, messages: 1, wait: 0, bytes: 1, repetition: Some(0) };
    let wrong = [
        Step { bytes: 1 << 40, ..step.clone() },
        Step { messages: 1 << 20, ..step.clone() },
        Step { messages: 0, ..step.clone() },
        Step { wait: u64::MAX, ..step.clone() },
        Step { operation: Operation::Isend, ..step.clone() },
    ];
    for wrong in wrong {
        let served = serve(&server, || {
            let run = client(&server).run(&[wrong], None);
            assert!(refused(&run).ends_with("the other side closed the connection"), "{run:?}");
        });
        assert_eq!(served, Err("step 1 is not allowed".to_owned()));
    }
}

/// A client that dies, and a server that does.
#[test]
fn a_dead_peer_is_noticed() {
    let server = server();
    let address = server.address().expect("an address").to_string();
    let relay = TcpListener::bind("127.0.0.1:0").expect("a port");
    let through = relay.local_addr().expect("an address").to_string();
    let served = serve(&server, || {
        let mut client = Client { address: through, ..client(&server) };
        thread::scope(|scope| {
            scope.spawn(|| {
                let (near, _) = relay.accept().expect("the client");
                let far = TcpStream::connect(&address).expect("the server");
                let handles = || Ok::<_, std::io::Error>((near.try_clone()?, far.try_clone()?));
                let (from_near, mut to_far) = handles().expect("handles");
                // The handshake and the steps go through, and no message.
                let through = 64 + 4 + 24 * steps().len() as u64;
                scope.spawn(move || std::io::copy(&mut from_near.take(through), &mut to_far));
                let (mut to_near, mut from_far) = handles().expect("handles");
                scope.spawn(move || std::io::copy(&mut from_far, &mut to_near));
                // Both are cut off in the middle of the measurement.
                thread::sleep(Duration::from_millis(200));
                let _ = near.shutdown(Shutdown::Both);
                let _ = far.shutdown(Shutdown::Both);
            });
            let run = client.run(&steps(), None);
            assert!(refused(&run).contains("the other side"), "{run:?}");
        });
    });
    assert_eq!(served, Err("the other side closed the connection".to_owned()));
    drop(server);
    let mut late = Client { address, token: "t".to_owned(), limits: limits() };
    assert!(refused(&late.run(&steps(), None)).contains("no server is there"));
}
