//! Datagrams through a real shaper: it skips itself, and says why, where the machine lacks what a
//! rig needs.
#![cfg(target_os = "linux")]

use std::{
    fs::File,
    io::{BufRead, BufReader, Read, Write},
    net::UdpSocket,
    os::{fd::AsFd, unix::net::UnixStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use rustix::{
    process::{Pid, Signal, kill_process},
    thread::{LinkNameSpaceType, move_into_link_name_space},
};

/// A rail of 10 Mb/s and 5 ms. A frame of 1514 bytes takes 1538 × 800 ns = 1.2304 ms.
const RAIL: &str = "slow:10Mb/s:5ms";
const FRAME: Duration = Duration::from_nanos(1_230_400);
const DELAY: Duration = Duration::from_millis(5);
/// The contents of a datagram in a frame of 1514 bytes: without 14, 20 and 8 of headers.
const CONTENTS: usize = 1472;
/// Frames of 1514 bytes that a queue of 64 KiB holds: 65536 / 1514 = 43.3.
const HELD: usize = 43;

struct Shaper {
    child: Child,
    socket: PathBuf,
    namespaces: Vec<String>,
}

impl Shaper {
    /// Starts a shaper, or returns `None` if there can be none.
    fn start(name: &str) -> Option<Self> {
        let folder = std::env::temp_dir();
        let socket = folder.join(format!("heddle-shaper-{name}-{}", std::process::id()));
        let mut child = Command::new(env!("CARGO_BIN_EXE_heddle-shaper"))
            .args(["--rail", RAIL, "--queue", "64KiB", "--with-parent", "--control"])
            .arg(&socket)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the shaper starts");
        let mut line = String::new();
        let output = child.stdout.as_mut().expect("a pipe");
        BufReader::new(output).read_line(&mut line).expect("a line");
        if line.is_empty() {
            let ended = child.wait_with_output().expect("the shaper's end");
            let why = String::from_utf8_lossy(&ended.stderr);
            assert_eq!(ended.status.code(), Some(77), "{why}");
            eprintln!("skipped: {why}");
            return None;
        }
        let namespaces = line.split('"').filter(|word| word.starts_with("/proc/"));
        let namespaces = namespaces.map(str::to_owned).collect();
        Some(Self { child, socket, namespaces })
    }

    /// Returns a socket of a node, which has the address 10.71.1.1 or 10.71.1.2.
    fn bind(&self, node: usize) -> UdpSocket {
        let space = Path::new(&self.namespaces[node - 1]).join("net");
        let enter = move || {
            let space = File::open(space).expect("a namespace");
            move_into_link_name_space(space.as_fd(), Some(LinkNameSpaceType::Network))
                .expect("the namespace can be entered");
            UdpSocket::bind(format!("10.71.1.{node}:7171")).expect("an address")
        };
        // Another thread: this one stays where it is.
        let socket = thread::spawn(enter).join().expect("a socket");
        socket.set_read_timeout(Some(Duration::from_millis(500))).expect("a timeout");
        socket
    }

    fn tell(&self, command: &str) -> String {
        let mut stream = UnixStream::connect(&self.socket).expect("the socket");
        writeln!(stream, "{command}").expect("a command");
        stream.shutdown(std::net::Shutdown::Write).expect("its end");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        answer
    }

    /// Returns a count of the direction from node 1 to node 2.
    fn count(&self, name: &str) -> usize {
        let report = self.tell("report");
        let line = report.lines().find(|line| line.contains("\"from\": \"node1\"")).expect(&report);
        let (_, rest) = line.split_once(&format!("\"{name}\": ")).expect(name);
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        rest[..digits].parse().expect(name)
    }
}

impl Drop for Shaper {
    fn drop(&mut self) {
        let _ = kill_process(Pid::from_child(&self.child), Signal::TERM);
        let _ = self.child.wait();
        let _ = std::fs::remove_file(&self.socket);
    }
}

/// The nodes learn each other's addresses with a datagram first.
fn connected(shaper: &Shaper) -> [UdpSocket; 2] {
    let [one, two] = [1, 2].map(|node| shaper.bind(node));
    one.connect("10.71.1.2:7171").expect("a way");
    one.send(b"first").expect("a datagram");
    two.recv(&mut [0; 16]).expect("the first datagram");
    [one, two]
}

/// Of 200 datagrams at once, the queue holds 43 and takes more while the first leave; the others
/// are dropped. However late the threads run, none is there before its time.
#[test]
fn a_burst_takes_its_time() {
    let Some(shaper) = Shaper::start("burst") else { return };
    let [one, two] = connected(&shaper);
    shaper.tell("reset");
    let start = Instant::now();
    for number in 0..200u8 {
        one.send(&[number; CONTENTS]).expect("a datagram");
    }
    let mut buffer = [0; CONTENTS];
    let mut numbers = Vec::new();
    while let Ok(length) = two.recv(&mut buffer) {
        numbers.push(buffer[0]);
        let due = FRAME * numbers.len() as u32 + DELAY;
        let passed = start.elapsed();
        assert!(length == CONTENTS && passed >= due, "{passed:?} for {due:?}");
    }
    assert!(numbers.len() >= HELD && numbers.is_sorted(), "{numbers:?}");
    assert_eq!(shaper.count("dropped") + numbers.len(), 200);
    assert!(shaper.count("dropped") > 0);
    assert_eq!(shaper.count("frames"), numbers.len());
}

#[test]
fn a_rail_obeys() {
    let Some(shaper) = Shaper::start("obeys") else { return };
    let [one, two] = connected(&shaper);
    assert_eq!(shaper.tell("down slow"), "ok\n");
    one.send(b"lost").expect("a datagram");
    two.recv(&mut [0; 16]).expect_err("nothing arrives");
    assert!(shaper.count("lost") >= 1);
    assert_eq!(shaper.tell("up slow\nrate slow 1 Mb/s"), "ok\nok\n");
    let start = Instant::now();
    one.send(&[0; CONTENTS]).expect("a datagram");
    two.recv(&mut [0; CONTENTS]).expect("a datagram");
    // 1538 bytes × 8 us + 5 ms.
    assert!(start.elapsed() >= Duration::from_micros(17_304), "{:?}", start.elapsed());
    let says = |command: &str, answer: &str| assert_eq!(shaper.tell(command), answer);
    says("rate slaw 1Mb/s", "error: there is no rail `slaw`, did you mean `slow`?\n");
    says("dwon slow", "error: there is no command `dwon`, did you mean `down`?\n");
    says("rate slow 0Mb/s", "error: the rate is zero; `down` loses all frames\n");
    assert!(shaper.tell("down").contains("there are rate RAIL RATE, down RAIL"));
    assert!(shaper.tell("rate slow 1 Mbit").starts_with("error: "));
}
