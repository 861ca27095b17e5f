//! Devices may be run in any order within a window of one lookahead: an independent driver, which
//! takes them in a different random order in each window, gives what the plain one gives.

mod common;

use common::{fabric_with_levels, message, ps, run};
use infiniband::{Delivery, Fabric, Hca, Message, Outlet, Parameters, Signal, Switch, preset};
use kernel::{Random, Wire};
use units::Time;

/// What a device hears: time, source, the source's sequence, the signal as bytes.
type Mail = (u64, u32, u64, Vec<u8>);

#[derive(Default)]
struct Gathered {
    device: u32,
    sequence: u64,
    mail: Vec<(u32, Mail)>,
    delivered: Vec<Delivery>,
}

impl Outlet for Gathered {
    fn send(&mut self, device: u32, at: Time, signal: Signal) {
        let mut bytes = Vec::new();
        signal.encode(&mut bytes);
        self.sequence += 1;
        self.mail.push((device, (at.ps(), self.device, self.sequence, bytes)));
    }

    fn deliver(&mut self, at: Time, source: u32, sequence: u64) {
        self.delivered.push(Delivery { at, destination: self.device, source, sequence });
    }
}

enum Device {
    Host(Box<Hca>),
    Switch(Box<Switch>),
}

impl Device {
    fn run(&mut self, net: &Fabric, until: u64, out: &mut Gathered) {
        match self {
            Self::Host(host) => _ = host.run(net, ps(until), out),
            Self::Switch(switch) => _ = switch.run(net, ps(until), out),
        }
    }

    fn hear(&mut self, net: &Fabric, at: u64, signal: Signal, out: &mut Gathered) {
        match self {
            Self::Host(host) => host.hear(net, ps(at), signal, out),
            Self::Switch(switch) => switch.hear(net, ps(at), signal, out),
        }
    }
}

fn windows(net: &Fabric, messages: &[(u64, u32, Message)], end: u64, seed: u64) -> Vec<Delivery> {
    let hosts = net.hosts();
    let mut devices: Vec<_> = (0..net.devices())
        .map(|id| {
            if id < hosts {
                Device::Host(Hca::new(net, id).into())
            } else {
                Device::Switch(Switch::new(net, id).into())
            }
        })
        .collect();
    let mut mail: Vec<Vec<Mail>> = vec![Vec::new(); devices.len()];
    let mut out = Gathered::default();
    let window = net.lookahead().ps();
    let random = Random::new(seed, 0);
    for begin in (0..end).step_by(window as usize) {
        let until = begin + window;
        let mut order: Vec<u32> = (0..net.devices()).collect();
        order.sort_by_key(|&device| random.number(device, begin));
        for id in order {
            out.device = id;
            let device = &mut devices[id as usize];
            let all = std::mem::take(&mut mail[id as usize]);
            let (mut inbox, later): (Vec<_>, Vec<_>) = all.into_iter().partition(|m| m.0 < until);
            mail[id as usize] = later;
            inbox.sort();
            // Signals first, injections after them, then what the device does by itself.
            let entering = messages.iter().filter(|m| m.1 == id && (begin..until).contains(&m.0));
            let mut entering = entering.copied().peekable();
            let mut inject_before = |device: &mut Device, time: u64, out: &mut Gathered| {
                while let Some(&(at, _, message)) = entering.peek()
                    && at < time
                {
                    device.run(net, at, out);
                    if let Device::Host(host) = device {
                        host.inject(net, ps(at), message, out);
                    }
                    entering.next();
                }
            };
            for (at, _, _, bytes) in inbox {
                inject_before(device, at, &mut out);
                device.run(net, at, &mut out);
                let signal = Signal::decode(&mut &bytes[..]).expect("a signal");
                device.hear(net, at, signal, &mut out);
            }
            inject_before(device, until, &mut out);
            device.run(net, until, &mut out);
        }
        for (device, letter) in out.mail.drain(..) {
            assert!(letter.0 >= until, "a signal within the window");
            mail[device as usize].push(letter);
        }
    }
    out.delivered.sort();
    out.delivered
}

#[test]
fn any_order_within_a_window() {
    let preset = preset("infiniband-ddr-simula-cc").expect("a preset");
    let parameters = Parameters { buffer: 80, host_buffer: 80, ..preset };
    let net = fabric_with_levels("H8_S6", 2, parameters);
    let random = Random::new(7, 7);
    let mut messages: Vec<_> = (0..200)
        .map(|sequence| {
            let source = random.below(0, 4 * sequence, 8) as u32;
            let destination = (source + 1 + random.below(0, 4 * sequence + 1, 7) as u32) % 8;
            let bytes = random.below(0, 4 * sequence + 2, 20_000);
            let at = random.below(0, 4 * sequence + 3, 100_000) / 1000 * 1000;
            let level = (sequence % 2) as u8;
            (at, source, Message { level, ..message(destination, bytes, sequence) })
        })
        .collect();
    messages.sort_by_key(|message| message.0);
    let mut expected = run(&net, &messages);
    expected.sort();
    assert_eq!(expected.len(), 200);
    let end = expected.iter().map(|delivery| delivery.at.ps()).max().unwrap_or(0) + 1;
    for seed in 0..3 {
        assert_eq!(windows(&net, &messages, end, seed), expected, "{seed}");
    }
}
