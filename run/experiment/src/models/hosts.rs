//! The costs of messages at their hosts and the protocol: the tables `[loggops]`, `[protocol]` and
//! `[noise]`, and what else a simulation is told.

use std::sync::Arc;

use host::{Rendezvous, SendDone, Settings, TransportKind};
use loggops::{Classes, Costs, Inject, Parameters, Receive};
use units::{Bytes, Time, TimePerByte};

use super::{classes, noise};
use crate::settings::{
    configuration::Configuration,
    diagnostic::Diagnostic,
    keys::{self, Id, Setting},
    scope::Model,
};

/// The settings of a simulation, with the trace of noise read.
pub(crate) fn settings(configuration: &Configuration) -> Result<Settings, Vec<Diagnostic>> {
    settings_with(configuration, classes::resolve(configuration)?)
}

/// The settings of a simulation whose pairs of hosts belong to these classes.
pub(crate) fn settings_with(
    configuration: &Configuration,
    classes: Option<Arc<Classes>>,
) -> Result<Settings, Vec<Diagnostic>> {
    let default = Settings::default();
    let parameters = parameters(configuration);
    Ok(Settings {
        send_done: send_done(configuration, parameters.eager_limit)?,
        parameters,
        rendezvous: match configuration.word(keys::protocol::RENDEZVOUS) {
            "rts-cts" => Rendezvous::RtsCts,
            "" if !has_wire(configuration) => Rendezvous::RtsCts,
            _ => Rendezvous::Abstract,
        },
        rails: None,
        classes,
        noise: noise::resolve(configuration)?,
        time_unit: configuration.value(keys::workload::TIME_UNIT).unwrap_or(default.time_unit),
        threads: configuration.value(keys::run::THREADS).map_or(1, |count| count as usize),
        transport: match configuration.word(keys::run::TRANSPORT) {
            "serialised" => TransportKind::Serialised,
            _ => TransportKind::Shared,
        },
        seed: configuration.value(keys::run::SEED).unwrap_or(default.seed),
        progress: None,
    })
}

/// Returns when sends are done, where messages of up to `eager_limit` bytes are eager.
fn send_done(configuration: &Configuration, eager_limit: u64) -> Result<SendDone, Vec<Diagnostic>> {
    const BUFFER: Setting<Bytes> = keys::protocol::SEND_BUFFER;
    if !is_left(configuration) {
        if stated_beside(configuration, BUFFER, keys::protocol::SEND_DONE) {
            let message = "every send is done at the end of its overhead";
            let help = "set protocol.send-done = \"left\", or leave this out".to_owned();
            return Err(vec![configuration.mistake(BUFFER, message).help(help)]);
        }
        return Ok(SendDone::Overhead);
    }
    let buffer = configuration.value(BUFFER).map_or(eager_limit, Bytes::get);
    Ok(SendDone::Left { buffer })
}

/// Returns whether sends are done when their messages have left.
pub(super) fn is_left(configuration: &Configuration) -> bool {
    match configuration.word(keys::protocol::SEND_DONE) {
        "" => !has_wire(configuration),
        word => word == "left",
    }
}

/// Returns whether a setting is stated where another one is, too: both by the machine, or both for
/// the run.
pub(super) fn stated_beside(
    configuration: &Configuration,
    setting: impl Into<Id>,
    other: impl Into<Id>,
) -> bool {
    let (setting, other) = (setting.into(), other.into());
    let both = configuration.is_said(setting) && configuration.is_said(other);
    both && configuration.is_of_machine(setting) == configuration.is_of_machine(other)
}

/// Returns whether the network is a wire, on which bytes take their time at the hosts.
fn has_wire(configuration: &Configuration) -> bool {
    matches!(configuration.model(), Model::Loggops | Model::Loggopsim)
}

/// The keys of the costs of a class of messages.
struct Class {
    latency: Setting<Time>,
    send_overhead: Setting<Time>,
    receive_overhead: Setting<Time>,
    gap: Setting<Time>,
    gap_per_byte: Setting<TimePerByte>,
    send_overhead_per_byte: Setting<TimePerByte>,
    receive_overhead_per_byte: Setting<TimePerByte>,
}

/// The keys of a table, which all three classes have.
macro_rules! class {
    ($($table:tt)*) => {
        Class {
            latency: $($table)*::LATENCY,
            send_overhead: $($table)*::SEND_OVERHEAD,
            receive_overhead: $($table)*::RECEIVE_OVERHEAD,
            gap: $($table)*::GAP,
            gap_per_byte: $($table)*::GAP_PER_BYTE,
            send_overhead_per_byte: $($table)*::SEND_OVERHEAD_PER_BYTE,
            receive_overhead_per_byte: $($table)*::RECEIVE_OVERHEAD_PER_BYTE,
        }
    };
}

const SMALL: Class = class!(keys::loggops);
const LARGE: Class = class!(keys::loggops::large);
const LOCAL: Class = class!(keys::loggops::local);
const PAIR: Class = class!(keys::loggops::class);
const LARGE_PAIR: Class = class!(keys::loggops::class::large);

/// Returns the costs of small and of large messages in a class of pairs, of which these are the
/// settings.
pub(super) fn of_class(configuration: &Configuration) -> (Costs, Costs) {
    let costs = |class: &Class| costs(configuration, class, true);
    (costs(&PAIR), costs(&LARGE_PAIR))
}

fn costs(configuration: &Configuration, class: &Class, has_gap: bool) -> Costs {
    let time = |setting| configuration.value(setting).unwrap_or(Time::ZERO);
    let rate = |setting| configuration.value(setting).unwrap_or(TimePerByte::ZERO);
    Costs {
        latency: time(class.latency),
        send_overhead: time(class.send_overhead),
        receive_overhead: time(class.receive_overhead),
        gap: time(class.gap),
        gap_per_byte: if has_gap { rate(class.gap_per_byte) } else { TimePerByte::ZERO },
        send_overhead_per_byte: rate(class.send_overhead_per_byte),
        receive_overhead_per_byte: rate(class.receive_overhead_per_byte),
    }
}

pub(super) fn parameters(configuration: &Configuration) -> Parameters {
    // Where the network has switches, bytes take their time there.
    let on_wire = has_wire(configuration);
    let costs = |class: &Class, has_gap: bool| costs(configuration, class, has_gap);
    Parameters {
        small: costs(&SMALL, on_wire),
        large: costs(&LARGE, on_wire),
        local: costs(&LOCAL, true),
        eager_limit: configuration.value(keys::loggops::EAGER_LIMIT).map_or(u64::MAX, Bytes::get),
        inject: match configuration.word(keys::loggops::INJECT) {
            "start" => Inject::Start,
            _ => Inject::End,
        },
        receive: match configuration.word(keys::loggops::RECEIVE) {
            "nic" => Receive::Nic,
            _ => Receive::Cpu,
        },
    }
}
