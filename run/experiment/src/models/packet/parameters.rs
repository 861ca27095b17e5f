//! The parameters of routers, from a preset and what the table `[network]` says besides.

use ::packet::{
    Allocation, Arbitration, Choice, Delay, Injector, Invalid, Parameters, Switching, names, preset,
};
use ::topology::{Fault, Rate};

use super::super::topologies::faults;
use crate::settings::{
    configuration::Configuration,
    diagnostic::Diagnostic,
    keys::{self, Id, Setting},
};

type Mistakes = Vec<Diagnostic>;

/// The preset of those who name none.
const USUAL: &str = "packet-default";

/// Returns whether the preset that is set is one of this model.
pub(in super::super) fn takes(configuration: &Configuration) -> bool {
    names().contains(&configuration.word(keys::network::PRESET))
}

pub(in super::super) fn resolve(configuration: &Configuration) -> Result<Parameters, Mistakes> {
    const PRESET: Setting<&str> = keys::network::PRESET;
    let said = configuration.is_said(PRESET);
    let name = if said { configuration.word(PRESET) } else { USUAL };
    let Some(mut set) = preset(name) else {
        let message = format!("the preset {name} is of another model than packet");
        let help = format!("the presets of packet are {}", names().join(" and "));
        return Err(vec![configuration.mistake(PRESET, message).help(help)]);
    };
    set.seed = configuration.value(keys::run::SEED).unwrap_or(1);
    let mut mistakes = Vec::new();
    let mut rate = |key: Setting<String>| {
        let parsed: Result<Rate, Fault> = configuration.value(key)?.parse();
        let told = |fault: Fault| mistakes.extend(faults(configuration, key, None, fault.into()));
        parsed.map_err(told).ok()
    };
    set.link = rate(keys::network::LINK).unwrap_or(set.link);
    set.host_link = rate(keys::network::HOST_LINK).or(set.host_link);
    sizes(configuration, &mut set);
    mistakes.extend(delays(configuration, &mut set));
    node(configuration, &mut set);
    policies(configuration, &mut set);
    injection_control(configuration, &mut set);
    mistakes.extend(order(configuration, &mut set));
    if mistakes.is_empty() { Ok(set) } else { Err(mistakes) }
}

fn sizes(configuration: &Configuration, set: &mut Parameters) {
    if let Some(cable) = configuration.value(keys::network::CABLE) {
        set.cable = cable;
    }
    let bytes = [
        (keys::network::FLIT, &mut set.flit),
        (keys::network::MTU, &mut set.mtu),
        (keys::network::HEADER, &mut set.header),
    ];
    for (key, place) in bytes {
        if let Some(bytes) = configuration.value(key) {
            *place = u32::try_from(bytes.get()).unwrap_or(u32::MAX);
        }
    }
    let counts = [
        (keys::network::OUTPUT_BUFFER, &mut set.output_buffer),
        (keys::network::SPEED_UP, &mut set.speed_up),
        (keys::network::ITERATIONS, &mut set.iterations),
        (keys::network::INJECTION_PORTS, &mut set.injection_ports),
        (keys::network::EJECTION_PORTS, &mut set.ejection_ports),
    ];
    for (key, place) in counts {
        if let Some(count) = configuration.value(key) {
            *place = count as u32;
        }
    }
    let optional =
        [(keys::network::BUFFER, &mut set.buffer), (keys::network::CHANNELS, &mut set.channels)];
    for (key, place) in optional {
        if let Some(count) = configuration.value(key) {
            *place = Some(count as u32);
        }
    }
}

/// Reads the rates of the parts of hosts.
fn node(configuration: &Configuration, set: &mut Parameters) {
    let rates = [
        (keys::network::MEMORY_RATE, &mut set.memory),
        (keys::network::DMA_RATE, &mut set.dma),
        (keys::network::HCA_RATE, &mut set.adapter),
    ];
    for (key, place) in rates {
        *place = configuration.value(key).or(*place);
    }
}

/// Reads the delays of the stages: times, or numbers of cycles.
fn delays(configuration: &Configuration, set: &mut Parameters) -> Mistakes {
    if let Some(time) = configuration.value(keys::network::CREDIT_DELAY) {
        set.credit = Delay::Time(time);
    }
    let stages = [
        (keys::network::ROUTE_DELAY, &mut set.route),
        (keys::network::VC_ALLOCATION_DELAY, &mut set.vc_allocation),
        (keys::network::SWITCH_ALLOCATION_DELAY, &mut set.switch_allocation),
        (keys::network::TRAVERSAL_DELAY, &mut set.traversal),
        (keys::network::INJECTION_DELAY, &mut set.injection),
    ];
    let mut mistakes = Vec::new();
    for (key, place) in stages {
        let Some(text) = configuration.value(key) else { continue };
        if let Some(delay) = delay(&text) {
            *place = delay;
        } else {
            let message = format!(
                "expected a time such as `10 ns`, or cycles such as `2 cycles`, found `{text}`"
            );
            mistakes.push(configuration.mistake(key, message));
        }
    }
    mistakes
}

fn delay(text: &str) -> Option<Delay> {
    let text = text.trim();
    let cycles = text.strip_suffix("cycles").or_else(|| text.strip_suffix("cycle"));
    match cycles {
        Some(count) => count.trim().parse().ok().map(Delay::Cycles),
        None => text.parse().ok().map(Delay::Time),
    }
}

fn policies(configuration: &Configuration, set: &mut Parameters) {
    set.switching = match configuration.word(keys::network::SWITCHING) {
        "cut-through" => Switching::CutThrough,
        "wormhole" => Switching::Wormhole,
        _ => set.switching,
    };
    let allocators = [
        (keys::network::VC_ALLOCATOR, &mut set.vc_allocator),
        (keys::network::SWITCH_ALLOCATOR, &mut set.switch_allocator),
    ];
    for (key, place) in allocators {
        *place = match configuration.word(key) {
            "input-first" => Allocation::InputFirst,
            "output-first" => Allocation::OutputFirst,
            "islip" => Allocation::Islip,
            "wavefront" => Allocation::Wavefront,
            _ => *place,
        };
    }
    set.arbiter = match configuration.word(keys::network::ARBITRATION) {
        "round-robin" => Arbitration::RoundRobin,
        "matrix" => Arbitration::Matrix,
        "oldest" => Arbitration::Oldest,
        "age" => Arbitration::Age,
        "priority" => Arbitration::Priority,
        "random" => Arbitration::Random,
        _ => set.arbiter,
    };
}

/// Reads the rules of injection control.
fn injection_control(configuration: &Configuration, set: &mut Parameters) {
    if let Some(probability) = configuration.value(keys::network::IPR) {
        set.transit_priority = probability.get();
    }
    if let Some(packets) = configuration.value(keys::network::LBR) {
        set.local_buffer = packets as u32;
    }
    set.congested_after = configuration.value(keys::network::CONGESTED_AFTER);
    if let Some(share) = configuration.value(keys::network::THRESHOLD) {
        set.threshold = Some(share.get());
    }
    set.threshold_update = configuration.value(keys::network::THRESHOLD_UPDATE);
    set.injector = match configuration.word(keys::network::INJECTOR) {
        "next" => Injector::Next,
        "shortest" => Injector::Shortest,
        "direction" => Injector::Direction,
        _ => set.injector,
    };
}

/// A program's messages between two hosts must not overtake each other (MPI 4.1, section 3.5): they
/// are delivered in order, whichever way they take.
fn order(configuration: &Configuration, set: &mut Parameters) -> Option<Diagnostic> {
    const ORDERED: Setting<bool> = keys::network::ORDERED;
    let traffic = configuration.is_traffic();
    set.choice = match configuration.word(keys::network::CHOICE) {
        "pair" => Choice::Pair,
        "message" => Choice::Message,
        _ if traffic => Choice::Message,
        _ => Choice::Pair,
    };
    set.ordered = !traffic;
    if !configuration.is_said(ORDERED) {
        return None;
    }
    let ordered = configuration.switch(ORDERED);
    if ordered || traffic {
        set.ordered = ordered;
        return None;
    }
    let message = "the messages of a program must not overtake each other";
    let help = "`false` is for synthetic traffic".to_owned();
    configuration
        .is_said_of_run(ORDERED)
        .then(|| configuration.mistake(ORDERED, message).help(help))
}

/// Returns the mistake in a set of parameters, placed at the key that causes it if that was set.
pub(super) fn wrong(configuration: &Configuration, wrong: &Invalid) -> Diagnostic {
    let key = match wrong {
        Invalid::Buffer { .. } | Invalid::Bubble { .. } => "buffer",
        Invalid::Wormhole => "switching",
        Invalid::Packet { .. } => "mtu",
        Invalid::Pace { .. } => "link",
        Invalid::Channels { .. } => "channels",
        Invalid::Bundle { channels, .. } if *channels > 255 => "ejection-ports",
        Invalid::Bundle { .. } => "injection-ports",
        Invalid::Priority => "ipr",
        Invalid::LocalBuffer { .. } => "lbr",
        Invalid::Unarmed => "congested-after",
        Invalid::Threshold => "threshold",
        Invalid::Update { .. } | Invalid::NoThreshold => "threshold-update",
        Invalid::Delay { key, .. }
        | Invalid::Instant { key }
        | Invalid::Slow { key, .. }
        | Invalid::Range { key, .. } => key,
    };
    let key = format!("network.{key}");
    let said = Id::named(&key).filter(|id| configuration.is_said(*id));
    configuration.mistake(said.unwrap_or(keys::network::PRESET.id()), wrong.to_string())
}
