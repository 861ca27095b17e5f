//! A host of the rig: a thread in network and UTS namespaces of its own, and its devices.
//!
//! The namespaces have no names. They live as long as the thread does, so that the kernel removes
//! them with all devices when this process ends, however it ends, and rigs cannot collide.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    os::{
        fd::{AsRawFd, OwnedFd},
        unix::fs::OpenOptionsExt,
    },
    path::{Path, PathBuf},
    process::{self, Command, Stdio},
    sync::mpsc,
    thread,
};

use rustix::{
    io::Errno,
    system::sethostname,
    thread::{CpuSet, UnshareFlags, gettid, sched_getaffinity, unshare_unsafe},
};

/// The device that makes TAP devices.
const TUN: &str = "/dev/net/tun";

/// Settings of TCP/IP in a node: those of Linux without an administrator, so that rigs on different
/// machines measure the same; and two of the rig's own. No search for IPv6 neighbours is sent, and
/// what TCP has learnt from a connection does not change the next one.
const SETTINGS: [(&str, &str); 5] = [
    ("ipv4/tcp_rmem", "4096 131072 6291456"),
    ("ipv4/tcp_wmem", "4096 16384 4194304"),
    ("ipv4/tcp_slow_start_after_idle", "1"),
    ("ipv4/tcp_no_metrics_save", "1"),
    ("ipv6/conf/default/disable_ipv6", "1"),
];

/// The reason why there is no rig.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// This machine cannot have one.
    #[error("missing: {0}")]
    Missing(String),
    /// A step failed.
    #[error("{0}: {1}")]
    Failed(String, #[source] io::Error),
}

/// A host of the rig.
#[derive(Debug)]
pub struct Node {
    /// Its host name.
    pub name: String,
    /// The folder in `/proc` that has its namespaces `net` and `uts`.
    pub namespaces: PathBuf,
    /// Its TAP devices, in the order of the names that [`Node::new`] was given. Reading one gives a
    /// frame that the kernel sends, or [`io::ErrorKind::WouldBlock`].
    pub taps: Vec<OwnedFd>,
    /// The numbers of the processors for its programs: half of those of this process, or its only
    /// one.
    pub processors: Vec<usize>,
}

impl Node {
    /// Makes the node `nodeNUMBER` with a device for each name; the first has the address
    /// 10.71.0.NUMBER, the next 10.71.1.NUMBER, and so on, each with 24 bits of network.
    /// TCP takes the algorithm `congestion` to control congestion.
    pub fn new(number: u8, devices: &[&str], congestion: &str) -> Result<Self, Error> {
        if !Path::new(TUN).exists() {
            return Err(Error::Missing(format!("{TUN} (the kernel's tun, for TAP devices)")));
        }
        let devices: Vec<String> = devices.iter().map(ToString::to_string).collect();
        let congestion = congestion.to_owned();
        let (answer, made) = mpsc::channel();
        thread::spawn(move || {
            // Nobody hears it if the process is about to end.
            let _ = answer.send(enter(number, &devices, &congestion));
            loop {
                thread::park();
            }
        });
        made.recv().unwrap_or_else(|gone| {
            Err(Error::Failed("a node's thread".to_owned(), io::Error::other(gone)))
        })
    }
}

/// Moves this thread into new namespaces and fills them.
fn enter(number: u8, devices: &[String], congestion: &str) -> Result<Node, Error> {
    #[allow(unsafe_code)]
    // SAFETY: only unsharing the table of file descriptors is unsafe, which is not done.
    let unshared = unsafe { unshare_unsafe(UnshareFlags::NEWNET | UnshareFlags::NEWUTS) };
    unshared.map_err(|errno| match errno {
        Errno::PERM => Error::Missing("root (CAP_SYS_ADMIN, for namespaces)".to_owned()),
        Errno::INVAL | Errno::NOSYS => {
            Error::Missing("network namespaces in the kernel".to_owned())
        }
        errno => Error::Failed("new namespaces".to_owned(), errno.into()),
    })?;
    let name = format!("node{number}");
    sethostname(name.as_bytes()).map_err(|errno| failed("the host name", errno.into()))?;
    for (name, value) in SETTINGS {
        // Kernels may lack any of them.
        let _ = fs::write(Path::new("/proc/sys/net").join(name), value);
    }
    let taps = devices.iter().map(|device| tap(device)).collect::<Result<_, _>>()?;
    let commands = devices.iter().enumerate().map(|(subnet, device)| {
        // Only the first namespace of a machine may take any algorithm for all routes.
        format!(
            "address add 10.71.{subnet}.{number}/24 dev {device}\n\
             link set {device} up\n\
             route replace 10.71.{subnet}.0/24 dev {device} src 10.71.{subnet}.{number} \
             congctl {congestion}\n"
        )
    });
    ip(&format!("link set lo up\n{}", commands.collect::<String>()))?;
    let namespaces = format!("/proc/{}/task/{}/ns", process::id(), gettid().as_raw_nonzero());
    let processors = half(number).map_err(|errno| failed("processors", errno.into()))?;
    Ok(Node { name, namespaces: namespaces.into(), taps, processors })
}

/// Returns the processors of a node.
fn half(number: u8) -> Result<Vec<usize>, Errno> {
    let allowed = sched_getaffinity(None)?;
    let all: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|&number| allowed.is_set(number)).collect();
    let (first, second) = all.split_at(all.len() / 2);
    Ok(if number == 1 && !first.is_empty() { first } else { second }.to_vec())
}

fn failed(what: &str, error: io::Error) -> Error {
    Error::Failed(what.to_owned(), error)
}

/// Makes a TAP device in the namespace of this thread. It passes whole frames, which no hardware
/// segments, merges or sums.
fn tap(name: &str) -> Result<OwnedFd, Error> {
    let file = OpenOptions::new().read(true).write(true).custom_flags(libc::O_NONBLOCK).open(TUN);
    let file = file.map_err(|error| match error.kind() {
        io::ErrorKind::PermissionDenied => Error::Missing(format!("access to {TUN}")),
        _ if error.raw_os_error() == Some(libc::ENODEV) => {
            Error::Missing(format!("{TUN} (the kernel's tun, for TAP devices)"))
        }
        _ => failed(TUN, error),
    })?;
    configure(&file, name).map_err(|error| match error.kind() {
        io::ErrorKind::PermissionDenied => {
            Error::Missing("root (CAP_NET_ADMIN, for TAP devices)".to_owned())
        }
        _ => failed(&format!("the TAP device {name}"), error),
    })?;
    Ok(file.into())
}

#[allow(unsafe_code)]
fn configure(file: &File, name: &str) -> io::Result<()> {
    // SAFETY: a structure of numbers, for which zeros are valid.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    // The last byte stays zero: names are shorter (`Rail`).
    let places = request.ifr_name.len() - 1;
    for (place, byte) in request.ifr_name[..places].iter_mut().zip(name.bytes()) {
        *place = byte.cast_signed();
    }
    request.ifr_ifru.ifru_flags = (libc::IFF_TAP | libc::IFF_NO_PI) as i16;
    // SAFETY: TUNSETIFF reads and writes a structure of this type, which outlives the call.
    let done = unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETIFF, &raw mut request) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Runs the lines of `batch` by `ip` in the namespace of this thread.
fn ip(batch: &str) -> Result<(), Error> {
    let mut child = Command::new("ip")
        .args(["-batch", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => Error::Missing("ip (Debian: iproute2)".to_owned()),
            _ => failed("ip", error),
        })?;
    if let Some(mut input) = child.stdin.take() {
        input.write_all(batch.as_bytes()).map_err(|error| failed("ip", error))?;
    }
    let ended = child.wait_with_output().map_err(|error| failed("ip", error))?;
    if ended.status.success() {
        return Ok(());
    }
    let message = String::from_utf8_lossy(&ended.stderr).trim().to_owned();
    Err(failed("ip", io::Error::other(message)))
}
