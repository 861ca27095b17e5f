//! The parameters of InfiniBand, from a preset and what the table `[network]` says besides.

use infiniband::{
    Choice, Control, Delay, Fabric, Hiccups, Invalid, Parameters, Scope, Share, Spread, Tables,
    Victims, preset,
};
use topology::Fault;
use units::Time;

use crate::{configuration::Configuration, diagnostic::Diagnostic, keys::KEYS, machine::faults};

type Mistakes = Vec<Diagnostic>;

pub(crate) fn resolve(configuration: &Configuration) -> Result<Parameters, Mistakes> {
    let name = configuration.word("network.preset");
    let Some(mut set) = preset(name) else {
        let message = format!("the preset {name} cannot be read");
        return Err(vec![configuration.mistake("network.preset", message)]);
    };
    set.seed = configuration.count("run.seed").unwrap_or(1);
    if let Some(link) = configuration.name("network.link") {
        set.link = link
            .parse()
            .map_err(|fault: Fault| faults(configuration, "network.link", None, fault.into()))?;
        // Hosts keep up with their link unless something else is said.
        set.generator = Fabric::flit_time(set.link);
        set.sink = set.generator;
    }
    times(configuration, &mut set);
    sizes(configuration, &mut set);
    if configuration.is_said("network.padded") {
        set.padded = configuration.switch("network.padded");
    }
    if configuration.is_said("network.acknowledge") {
        set.acknowledge = configuration.switch("network.acknowledge");
    }
    let mut mistakes = Vec::new();
    let pauses = pauses(configuration, set.hiccups);
    set.hiccups = pauses.map_err(|found| mistakes.extend(found)).unwrap_or(set.hiccups);
    set.choice = choice(configuration).map_err(|found| mistakes.push(found)).unwrap_or(set.choice);
    match arbiter(configuration, set.arbiter.take()) {
        Ok(tables) => set.arbiter = tables,
        Err(found) => mistakes.extend(found),
    }
    match congestion(configuration, set.congestion.take()) {
        Ok(control) => set.congestion = control,
        Err(found) => mistakes.extend(found),
    }
    if mistakes.is_empty() { Ok(set) } else { Err(mistakes) }
}

/// What is wrong with a set of parameters, at the key that is to blame if it was said.
pub(crate) fn wrong(configuration: &Configuration, wrong: &Invalid) -> Diagnostic {
    let key = match wrong {
        Invalid::Packet { .. } => "mtu",
        Invalid::Hiccups { .. } => "pause",
        Invalid::Unserved { .. } if configuration.is_said("network.arbiter.low") => "arbiter.low",
        Invalid::Unserved { .. } => "arbiter.high",
        Invalid::Lanes { .. } => "routing",
        Invalid::BeingSent => "max-being-sent",
        Invalid::Control { key, .. } => match *key {
            "threshold" => "congestion.threshold",
            "CCTI_Min" => "congestion.min",
            key if key.starts_with("a lane") => "arbiter.low",
            _ => "congestion.table",
        },
        Invalid::Buffer { key, .. } | Invalid::Pace { key, .. } | Invalid::Delay { key, .. } => key,
    };
    let key = format!("network.{key}");
    let known = KEYS.iter().any(|known| known.name == key) && configuration.is_said(&key);
    let key = if known { &key } else { "network.preset" };
    configuration.mistake(key, wrong.to_string())
}

fn times(configuration: &Configuration, set: &mut Parameters) {
    let places = [
        ("cable", &mut set.cable),
        ("latency-in", &mut set.latency_in),
        ("latency-out", &mut set.latency_out),
        ("credit-delay", &mut set.credit_delay),
        ("update", &mut set.update),
        ("generator", &mut set.generator),
        ("sink", &mut set.sink),
    ];
    for (key, place) in places {
        if let Some(time) = configuration.time(&format!("network.{key}")) {
            *place = time;
        }
    }
    if let Some(time) = configuration.time("network.crossbar") {
        set.crossbar = (time > Time::ZERO).then_some(time);
    }
}

fn sizes(configuration: &Configuration, set: &mut Parameters) {
    let number = |key: &str| configuration.count(&format!("network.{key}"));
    set.buffer = number("buffer").map_or(set.buffer, |flits| flits as u32);
    set.host_buffer = number("host-buffer").map_or(set.host_buffer, |flits| flits as u32);
    set.output_buffer = number("output-buffer").map_or(set.output_buffer, |flits| flits as u32);
    set.max_being_sent = number("max-being-sent").map_or(set.max_being_sent, |n| n as u16);
    let bytes = |key: &str, place: u32| {
        let bytes = configuration.bytes(&format!("network.{key}"));
        bytes.map_or(place, |bytes| u32::try_from(bytes.get()).unwrap_or(u32::MAX))
    };
    set.mtu = bytes("mtu", set.mtu);
    set.header = bytes("header", set.header);
}

/// The pauses of the hosts' sinks. Without a length or a period there are none, and what else is
/// said of them is a mistake.
fn pauses(configuration: &Configuration, preset: Hiccups) -> Result<Hiccups, Mistakes> {
    const REST: [&str; 3] = ["network.pause-phase", "network.pause-resume", "network.pause-spread"];
    const PERIOD: &str = "network.pause-period";
    let time = |key, otherwise| configuration.time(key).map_or(otherwise, Time::ps);
    let [phase, resume, spread] = REST;
    let hiccups = Hiccups {
        period: time(PERIOD, preset.period),
        pause: time("network.pause", preset.pause),
        phase: time(phase, preset.phase),
        resume: time(resume, preset.resume),
        spread: match configuration.word(spread) {
            "fixed" => Spread::Fixed,
            "uniform" => Spread::Uniform,
            "exponential" => Spread::Exponential,
            _ => preset.spread,
        },
    };
    let useless = |keys: &[&str], missing: &str| {
        let said = keys.iter().filter(|key| configuration.is_said(key));
        let mistake = |key: &&str| {
            configuration
                .mistake(key, format!("`{key}` does nothing where there are no pauses"))
                .help(format!("set {missing} too"))
        };
        said.map(mistake).collect::<Vec<_>>()
    };
    let none = configuration.time("network.pause") == Some(Time::ZERO);
    let mistakes = match (hiccups.pause, hiccups.period) {
        (0, _) if none => Vec::new(),
        (0, _) => useless(&[PERIOD, REST[0], REST[1], REST[2]], "network.pause"),
        (_, 0) => useless(&["network.pause", REST[0], REST[1], REST[2]], PERIOD),
        _ => return Ok(hiccups),
    };
    if mistakes.is_empty() { Ok(Hiccups::NONE) } else { Err(mistakes) }
}

/// A program's messages between two hosts must not overtake each other (MPI 4.1, section 3.5).
fn choice(configuration: &Configuration) -> Result<Choice, Diagnostic> {
    let traffic = configuration.is_traffic();
    match configuration.word("network.choice") {
        "pair" => Ok(Choice::Pair),
        "message" if !traffic && configuration.is_said_of_run("network.choice") => {
            let message = "the messages of a program must not overtake each other";
            let help = "`message` is for synthetic traffic".to_owned();
            Err(configuration.mistake("network.choice", message).help(help))
        }
        _ if traffic => Ok(Choice::Message),
        _ => Ok(Choice::Pair),
    }
}

fn arbiter(
    configuration: &Configuration,
    preset: Option<Tables>,
) -> Result<Option<Tables>, Mistakes> {
    let table = |key: &str| {
        let table = pairs(configuration, key, "LANE:WEIGHT", [14, 255])?;
        let share = |(lane, weight)| Share { lane: lane as u8, weight: weight as u8 };
        Ok(table.map(|table| table.into_iter().map(share).collect::<Vec<_>>()))
    };
    let (high, low) = match (table("network.arbiter.high"), table("network.arbiter.low")) {
        (Ok(high), Ok(low)) => (high, low),
        (high, low) => return Err([high.err(), low.err()].into_iter().flatten().collect()),
    };
    let limit = configuration.count("network.arbiter.high-limit");
    if high.is_none() && low.is_none() && limit.is_none() {
        return Ok(preset);
    }
    // Lanes that the high table serves need no place in the low one.
    let rest = if high.is_some() { Tables::default() } else { Tables::equal(15) };
    let mut tables = preset.unwrap_or(Tables { high_limit: 255, ..rest });
    tables.high = high.unwrap_or(tables.high);
    tables.low = low.unwrap_or(tables.low);
    tables.high_limit = limit.map_or(tables.high_limit, |limit| limit as u8);
    if tables.high.is_empty() && limit.is_some() {
        let message = "there is no high table that it could limit";
        let help = "set network.arbiter.high too".to_owned();
        return Err(vec![configuration.mistake("network.arbiter.high-limit", message).help(help)]);
    }
    Ok(Some(tables))
}

/// A list of pairs of numbers, at most so large, separated by commas.
fn pairs(
    configuration: &Configuration,
    key: &str,
    form: &str,
    most: [u16; 2],
) -> Result<Option<Vec<(u16, u16)>>, Diagnostic> {
    let Some(text) = configuration.name(key) else { return Ok(None) };
    let pair = |item: &str| {
        let (first, second) = item.split_once(':')?;
        let number = |text: &str, most: u16| {
            text.trim().parse::<u16>().ok().filter(|number| *number <= most)
        };
        Some((number(first, most[0])?, number(second, most[1])?))
    };
    let read = text.split(',').map(|item| {
        pair(item).ok_or_else(|| {
            let [first, second] = most;
            let message = format!("expected `{form}`, up to {first} and {second}, found `{item}`");
            configuration.mistake(key, message)
        })
    });
    read.collect::<Result<_, _>>().map(Some)
}

fn congestion(
    configuration: &Configuration,
    preset: Option<Control>,
) -> Result<Option<Control>, Mistakes> {
    let control = match configuration.word("network.congestion.control") {
        "off" => None,
        "on" => preset.or_else(|| {
            infiniband::preset("infiniband-ddr-simula-cc").and_then(|set| set.congestion)
        }),
        _ => preset,
    };
    let Some(mut control) = control else {
        let keys = KEYS.iter().map(|key| key.name);
        let useless = keys
            .filter(|key| key.starts_with("network.congestion.") && !key.ends_with(".control"))
            .filter(|key| configuration.is_said_of_run(key));
        let mistakes: Vec<_> = useless
            .map(|key| {
                configuration
                    .mistake(key, format!("`{key}` needs congestion control"))
                    .help("set network.congestion.control = \"on\"".to_owned())
            })
            .collect();
        return if mistakes.is_empty() { Ok(None) } else { Err(mistakes) };
    };
    let number = |key: &str, otherwise: u16| {
        let number = configuration.count(&format!("network.congestion.{key}"));
        number.map_or(otherwise, |number| number as u16)
    };
    control.threshold = number("threshold", control.threshold.into()) as u8;
    control.marking_rate = number("marking-rate", control.marking_rate);
    control.packet_size = number("packet-size", control.packet_size.into()) as u8;
    control.increase = number("increase", control.increase);
    control.limit = number("limit", control.limit);
    control.min = number("min", control.min);
    control.trigger = number("trigger", control.trigger);
    control.notifications = number("notifications", control.notifications);
    if let Some(timer) = configuration.time("network.congestion.timer") {
        control.timer = timer;
    }
    control.victims = match configuration.word("network.congestion.victims") {
        "none" => Victims::None,
        "hosts" => Victims::Hosts,
        "all" => Victims::All,
        _ => control.victims,
    };
    control.scope = match configuration.word("network.congestion.scope") {
        "queue-pair" => Scope::QueuePair,
        "service-level" => Scope::ServiceLevel,
        _ => control.scope,
    };
    let table = pairs(configuration, "network.congestion.table", "SHIFT:MULTIPLIER", [3, 16383]);
    if let Some(table) = table.map_err(|found| vec![found])? {
        let entry = |(shift, multiplier)| Delay { shift: shift as u8, multiplier };
        control.table = table.into_iter().map(entry).collect();
    }
    Ok(Some(control))
}
