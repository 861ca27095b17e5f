//! Seconds of the solver for dense patterns: everyone sends 100 KB to everyone at once, on a fat
//! tree and on a torus; a halo exchange of 8 KB, ten times, on hosts around a backbone. Latencies,
//! penalties, bounds and factors are those of SimGrid's SMPI model (weight-S 8775, TCP-gamma
//! 4194304, cross traffic on).
//!
//! `cargo run --release -p heddle-flow --example flow_speed [NAME ...]`

use std::{sync::LazyLock, time::Instant};

use flow::{Flow, Fluid, Link, Sharing, Use};
use kernel::Random;
use units::Time;

const WEIGHT_S: f64 = 8775.0;
const GAMMA: f64 = 4_194_304.0;

/// Seconds of CPU of this thread, or of the clock where that is not known.
fn seconds() -> f64 {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    let known = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let spent = known.and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    spent.map_or_else(|| START.elapsed().as_secs_f64(), |ns| ns * 1e-9)
}

/// Links with latencies in seconds, and the way from one host to another.
struct Platform {
    links: Vec<Link>,
    latencies: Vec<f64>,
    route: Box<dyn Fn(u32, u32) -> Vec<u32>>,
}

impl Platform {
    fn new(links: &[(f64, f64)], route: impl Fn(u32, u32) -> Vec<u32> + 'static) -> Self {
        let shared = |&(bandwidth, _): &(f64, f64)| Link { bandwidth, sharing: Sharing::Shared };
        Self {
            links: links.iter().map(shared).collect(),
            latencies: links.iter().map(|link| link.1).collect(),
            route: Box::new(route),
        }
    }

    /// Starts a message with these factors of latency and bandwidth.
    #[allow(clippy::cast_sign_loss, reason = "latencies are positive")]
    fn send(
        &self,
        fluid: &mut Fluid,
        now: Time,
        ends: (u32, u32),
        bytes: f64,
        factors: (f64, f64),
        token: u32,
    ) {
        let way = (self.route)(ends.0, ends.1);
        let links = || way.iter().map(|&link| link as usize);
        let latency: f64 = links().map(|link| self.latencies[link]).sum();
        let narrowest =
            links().map(|link| self.links[link].bandwidth).fold(f64::INFINITY, f64::min);
        let back = (self.route)(ends.1, ends.0).into_iter().map(|link| Use { link, weight: 0.05 });
        let uses = way.iter().map(|&link| Use { link, weight: 1.0 }).chain(back);
        let flow = Flow {
            uses: &uses.collect::<Vec<_>>(),
            penalty: latency
                + links().map(|link| WEIGHT_S / self.links[link].bandwidth).sum::<f64>(),
            bound: narrowest.min(GAMMA / (2.0 * latency)),
            factor: factors.1,
            latency: Time::from_ps((latency * factors.0 * 1e12).round() as u64),
            work: bytes + 16.0,
        };
        fluid.start(now, &flow, token);
    }
}

/// SimGrid's `FAT_TREE` "2;32,32;1,32;1,1": 32 leaves of 32 hosts, 32 spines.
fn fat_tree() -> Platform {
    let route = |from: u32, to: u32| {
        let port = |leaf: u32| 2 * (1024 + 32 * leaf + to % 32);
        let (first, last) = (from / 32, to / 32);
        if first == last {
            vec![2 * from, 2 * to + 1]
        } else {
            vec![2 * from, port(first), port(last) + 1, 2 * to + 1]
        }
    };
    Platform::new(&vec![(12.5e9, 500e-9); 4096], route)
}

/// A torus of 8 x 8 x 16; by dimension, the short way round, up if both are short except where
/// SimGrid goes down.
fn torus() -> Platform {
    let extents = [8, 8, 16];
    let route = move |from: u32, to: u32| {
        let (mut way, mut step, mut node) = (Vec::new(), 1, from);
        for (dimension, extent) in extents.into_iter().enumerate() {
            let place = |node: u32| node / step % extent;
            let (mine, target) = (place(from), place(to));
            let up = target > mine && target <= mine + extent / 2
                || mine > extent / 2 && (mine + extent / 2) % extent >= target;
            while place(node) != target {
                let next = (place(node) + if up { 1 } else { extent - 1 }) % extent;
                let other = node - place(node) * step + next * step;
                let link = 3 * if up { node } else { other } + dimension as u32;
                way.push(2 * link + u32::from(!up));
                node = other;
            }
            step *= extent;
        }
        way
    };
    Platform::new(&vec![(12.5e9, 500e-9); 6144], route)
}

/// Hosts around a backbone.
fn cluster(hosts: u32, backbone: f64) -> Platform {
    let mut links = vec![(1.25e9, 50e-6); 2 * hosts as usize];
    links.push((backbone, 20e-6));
    Platform::new(&links, move |from, to| vec![2 * from, 2 * hosts, 2 * to + 1])
}

/// Runs until nothing is left; events, completions, and the time then.
fn run(fluid: &mut Fluid, mut now: Time) -> (u32, usize, Time) {
    let (mut events, mut done) = (0, Vec::new());
    while let Some(at) = fluid.next_event() {
        fluid.advance(at, &mut done);
        (now, events) = (at, events + 1);
    }
    (events, done.len(), now)
}

/// Everyone to everyone: 100 KB, or with `spread` between half and one and a half of that, so that
/// no two flows end together.
fn all_to_all(name: &str, platform: &Platform, ranks: u32, spread: bool) {
    let random = Random::new(1, 1);
    let start = seconds();
    let mut fluid = Fluid::new(platform.links.iter().copied());
    for from in 0..ranks {
        for to in (0..ranks).filter(|&to| to != from) {
            let bytes = if spread { 5e4 + 1e5 * random.unit(from, to.into()) } else { 1e5 };
            platform.send(&mut fluid, Time::ZERO, (from, to), bytes, (11.6436, 0.940_694), 0);
        }
    }
    let posted = seconds() - start;
    let (events, flows, until) = run(&mut fluid, Time::ZERO);
    let spent = seconds() - start;
    println!(
        "{name}: {flows} flows, {events} events until {until}: {spent:.4} s ({posted:.4} s of it \
         to start them)"
    );
}

fn halo(name: &str, side: u32, backbone: f64) {
    let platform = cluster(side * side, backbone);
    let start = seconds();
    let mut fluid = Fluid::new(platform.links.iter().copied());
    let (mut now, mut events, mut flows) = (Time::ZERO, 0, 0);
    for _ in 0..10 {
        for host in 0..side * side {
            let (x, y) = (host % side, host / side);
            let at = |x: u32, y: u32| y % side * side + x % side;
            for to in [at(x + 1, y), at(x + side - 1, y), at(x, y + 1), at(x, y + side - 1)] {
                platform.send(&mut fluid, now, (host, to), 8192.0, (2.18796, 1.08739), 0);
            }
        }
        let ran = run(&mut fluid, now);
        (events, flows, now) = (events + ran.0, flows + ran.1, ran.2);
    }
    let spent = seconds() - start;
    println!("{name}: {flows} flows, {events} events until {now}: {spent:.4} s");
}

/// The halo exchange with hosts that start up to 10 ms late and go on as soon as their own four
/// messages are through.
fn ragged(name: &str, side: u32, backbone: f64) {
    let platform = cluster(side * side, backbone);
    let start = seconds();
    let mut fluid = Fluid::new(platform.links.iter().copied());
    let random = Random::new(1, 1);
    let mut posts: Vec<(u64, u32)> =
        (0..side * side).map(|host| (random.below(host, 0, 10_000_000_000), host)).collect();
    posts.sort_unstable_by(|a, b| b.cmp(a));
    let mut state = vec![(0_u32, 0_u32); (side * side) as usize];
    let (mut events, mut flows, mut done) = (0, 0, Vec::new());
    loop {
        let post = posts.last().map(|post| Time::from_ps(post.0));
        let Some(now) = fluid.next_event().into_iter().chain(post).min() else { break };
        events += 1;
        fluid.advance(now, &mut done);
        let mut ready = Vec::new();
        flows += done.len();
        for host in done.drain(..) {
            let (steps, left) = &mut state[host as usize];
            *left -= 1;
            if *left == 0 && *steps < 10 {
                ready.push(host);
            }
        }
        while let Some(&(_, host)) = posts.last().filter(|post| post.0 <= now.ps()) {
            ready.push(host);
            posts.pop();
        }
        for host in ready {
            state[host as usize] = (state[host as usize].0 + 1, 4);
            let (x, y) = (host % side, host / side);
            let at = |x: u32, y: u32| y % side * side + x % side;
            for to in [at(x + 1, y), at(x + side - 1, y), at(x, y + 1), at(x, y + side - 1)] {
                platform.send(&mut fluid, now, (host, to), 8192.0, (2.18796, 1.08739), host);
            }
        }
    }
    let spent = seconds() - start;
    println!("{name}: {flows} flows, {events} events: {spent:.4} s");
}

/// Everyone to everyone, 64 KiB, each host one message after the other in steps of 0.3 us: to the
/// hosts that follow it, or `in_turn` to host 0, 1, 2 and so on.
fn staggered(name: &str, platform: &Platform, ranks: u32, in_turn: bool) {
    let start = seconds();
    let mut fluid = Fluid::new(platform.links.iter().copied());
    let (mut events, mut flows, mut done) = (0, 0, Vec::new());
    let mut step = 1;
    let mut until = Time::ZERO;
    loop {
        let post = (step < ranks).then(|| Time::from_ps(300_000 * u64::from(step)));
        let Some(now) = fluid.next_event().into_iter().chain(post).min() else { break };
        events += 1;
        until = now;
        fluid.advance(now, &mut done);
        flows += done.len();
        done.clear();
        if Some(now) == post {
            for from in 0..ranks {
                let others = if in_turn { step - u32::from(step <= from) } else { from + step };
                let ends = (from, others % ranks);
                platform.send(&mut fluid, now, ends, 65536.0, (11.6436, 0.940_694), 0);
            }
            step += 1;
        }
    }
    let spent = seconds() - start;
    println!("{name}: {flows} flows, {events} events until {until}: {spent:.4} s");
}

fn main() {
    let names: Vec<String> = std::env::args().skip(1).collect();
    let wanted =
        |name: &str| names.is_empty() || names.iter().any(|other| name.starts_with(other.as_str()));
    for (name, ranks) in [("tree-64", 64), ("tree-256", 256), ("tree-1024", 1024)] {
        if wanted(name) {
            all_to_all(name, &fat_tree(), ranks, false);
        }
    }
    for (name, spread) in [("torus-64", false), ("torus-64-spread", true)] {
        if wanted(name) {
            all_to_all(name, &torus(), 64, spread);
        }
    }
    for (name, ranks) in [
        ("staggered-96", 96),
        ("staggered-192", 192),
        ("staggered-384", 384),
        ("staggered-512", 512),
    ] {
        if wanted(name) {
            staggered(name, &fat_tree(), ranks, false);
            staggered(&format!("{name}-in-turn"), &fat_tree(), ranks, true);
        }
    }
    if wanted("tree-64-spread") {
        all_to_all("tree-64-spread", &fat_tree(), 64, true);
    }
    for (name, side, backbone) in [
        ("halo-4096-1e10", 64, 1e10),
        ("halo-4096-1e12", 64, 1e12),
        ("halo-65536-1e10", 256, 1e10),
        ("halo-65536-1e12", 256, 1e12),
    ] {
        if wanted(name) {
            halo(name, side, backbone);
        }
    }
    for (name, side, backbone) in [
        ("ragged-256-1e10", 16, 1e10),
        ("ragged-1024-1e9", 32, 1e9),
        ("ragged-1024-1e12", 32, 1e12),
        ("ragged-4096-1e13", 64, 1e13),
        ("ragged-65536-1e11", 256, 1e11),
    ] {
        if wanted(name) {
            ragged(name, side, backbone);
        }
    }
    if let Ok(status) = std::fs::read_to_string("/proc/self/status") {
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        println!("peak memory: {}", peak.unwrap_or("unknown").trim());
    }
}
