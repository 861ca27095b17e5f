//! The parameters of InfiniBand, from a preset and what the table `[network]` says besides.

use ::infiniband::{
    Choice, Control, Delay, Fabric, Hiccups, Invalid, Losses, Parameters, Scope, Share, Spread,
    Tables, Victims, preset,
};
use ::topology::Fault;
use units::Time;

use super::super::topologies::faults;
use crate::settings::{
    configuration::Configuration,
    diagnostic::Diagnostic,
    keys::{self, Id, Setting},
    probability::Probability,
};

type Mistakes = Vec<Diagnostic>;

pub(crate) fn resolve(configuration: &Configuration) -> Result<Parameters, Mistakes> {
    let name = configuration.word(keys::network::PRESET);
    let Some(mut set) = preset(name) else {
        let message = format!("the preset {name} is of another model than infiniband");
        return Err(vec![configuration.mistake(keys::network::PRESET, message)]);
    };
    set.seed = configuration.value(keys::run::SEED).unwrap_or(1);
    if let Some(link) = configuration.value(keys::network::LINK) {
        set.link = link.parse().map_err(|fault: Fault| {
            faults(configuration, keys::network::LINK, None, fault.into())
        })?;
        // Hosts keep up with their link unless something else is said.
        set.generator = Fabric::flit_time(set.link);
        set.sink = set.generator;
    }
    times(configuration, &mut set);
    sizes(configuration, &mut set);
    if configuration.is_said(keys::network::PADDED) {
        set.padded = configuration.switch(keys::network::PADDED);
    }
    if configuration.is_said(keys::network::ACKNOWLEDGE) {
        set.acknowledge = configuration.switch(keys::network::ACKNOWLEDGE);
    }
    let mut mistakes = Vec::new();
    set.losses = losses(configuration).map_err(|found| mistakes.extend(found)).unwrap_or_default();
    let pauses = pauses(configuration, set.hiccups);
    set.hiccups = pauses.map_err(|found| mistakes.extend(found)).unwrap_or(set.hiccups);
    let is_lossy = set.losses.is_some();
    set.choice =
        choice(configuration, is_lossy).map_err(|found| mistakes.push(found)).unwrap_or(set.choice);
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

/// Returns the mistake in a set of parameters, placed at the key that causes it if that was set.
pub(crate) fn wrong(configuration: &Configuration, wrong: &Invalid) -> Diagnostic {
    let key = match wrong {
        Invalid::Packet { .. } => "mtu",
        Invalid::Hiccups { .. } => "pause",
        Invalid::Unserved { .. } if configuration.is_said(keys::network::arbiter::LOW) => {
            "arbiter.low"
        }
        Invalid::Unserved { .. } => "arbiter.high",
        Invalid::Lanes { .. } => "routing",
        Invalid::BeingSent => "max-being-sent",
        Invalid::Overtaking => "choice",
        Invalid::Timeout { .. } => "ack-timeout",
        Invalid::Control { key: "retry-count", .. } => "retry-count",
        Invalid::Control { key, .. } => match *key {
            "threshold" => "congestion.threshold",
            "CCTI_Min" => "congestion.min",
            key if key.starts_with("a lane") => "arbiter.low",
            _ => "congestion.table",
        },
        Invalid::Buffer { key, .. }
        | Invalid::Pace { key, .. }
        | Invalid::Delay { key, .. }
        | Invalid::Probability { key, .. } => key,
    };
    let key = format!("network.{key}");
    let said = Id::named(&key).filter(|id| configuration.is_said(*id));
    configuration.mistake(said.unwrap_or(keys::network::PRESET.id()), wrong.to_string())
}

fn times(configuration: &Configuration, set: &mut Parameters) {
    let places = [
        (keys::network::CABLE, &mut set.cable),
        (keys::network::LATENCY_IN, &mut set.latency_in),
        (keys::network::LATENCY_OUT, &mut set.latency_out),
        (keys::network::CREDIT_DELAY, &mut set.credit_delay),
        (keys::network::UPDATE, &mut set.update),
        (keys::network::GENERATOR, &mut set.generator),
        (keys::network::SINK, &mut set.sink),
    ];
    for (key, place) in places {
        if let Some(time) = configuration.value(key) {
            *place = time;
        }
    }
    if let Some(time) = configuration.value(keys::network::CROSSBAR) {
        set.crossbar = (time > Time::ZERO).then_some(time);
    }
}

fn sizes(configuration: &Configuration, set: &mut Parameters) {
    let counts = [
        (keys::network::BUFFER, &mut set.buffer),
        (keys::network::HOST_BUFFER, &mut set.host_buffer),
        (keys::network::OUTPUT_BUFFER, &mut set.output_buffer),
    ];
    for (key, place) in counts {
        if let Some(flits) = configuration.value(key) {
            *place = flits as u32;
        }
    }
    for (key, place) in
        [(keys::network::MTU, &mut set.mtu), (keys::network::HEADER, &mut set.header)]
    {
        if let Some(bytes) = configuration.value(key) {
            *place = u32::try_from(bytes.get()).unwrap_or(u32::MAX);
        }
    }
    if let Some(packets) = configuration.value(keys::network::MAX_BEING_SENT) {
        set.max_being_sent = packets as u16;
    }
}

/// The pauses of the hosts' sinks. Without a length or a period there are none, and what else is
/// said of them is a mistake.
fn pauses(configuration: &Configuration, preset: Hiccups) -> Result<Hiccups, Mistakes> {
    use keys::network::{PAUSE, PAUSE_PERIOD, PAUSE_PHASE, PAUSE_RESUME, PAUSE_SPREAD};
    let time = |key, otherwise| configuration.value(key).map_or(otherwise, Time::ps);
    let hiccups = Hiccups {
        period: time(PAUSE_PERIOD, preset.period),
        pause: time(PAUSE, preset.pause),
        phase: time(PAUSE_PHASE, preset.phase),
        resume: time(PAUSE_RESUME, preset.resume),
        spread: match configuration.word(PAUSE_SPREAD) {
            "fixed" => Spread::Fixed,
            "uniform" => Spread::Uniform,
            "exponential" => Spread::Exponential,
            _ => preset.spread,
        },
    };
    let useless = |first: Setting<Time>, missing: Setting<Time>| {
        let keys = [first.id(), PAUSE_PHASE.id(), PAUSE_RESUME.id(), PAUSE_SPREAD.id()];
        let said = keys.into_iter().filter(|id| configuration.is_said(*id));
        let mistake = |id: Id| {
            let message = format!("`{}` does nothing where there are no pauses", id.key().name);
            configuration.mistake(id, message).help(format!("set {} too", missing.name()))
        };
        said.map(mistake).collect::<Vec<_>>()
    };
    let none = configuration.value(PAUSE) == Some(Time::ZERO);
    let mistakes = match (hiccups.pause, hiccups.period) {
        (0, _) if none => Vec::new(),
        (0, _) => useless(PAUSE_PERIOD, PAUSE),
        (_, 0) => useless(PAUSE, PAUSE_PERIOD),
        _ => return Ok(hiccups),
    };
    if mistakes.is_empty() { Ok(Hiccups::NONE) } else { Err(mistakes) }
}

/// Losses, if packets get lost. Without a probability of them, what else is said of them is a
/// mistake.
fn losses(configuration: &Configuration) -> Result<Option<Losses>, Mistakes> {
    use keys::network::{ACK_TIMEOUT, ACKNOWLEDGE, BIT_ERROR_RATE, LOSS, RETRY_COUNT};
    let probability =
        |key: Setting<Probability>| configuration.value(key).map_or(0.0, Probability::get);
    let (packet, bit) = (probability(LOSS), probability(BIT_ERROR_RATE));
    if packet == 0.0 && bit == 0.0 {
        if configuration.is_said(LOSS) || configuration.is_said(BIT_ERROR_RATE) {
            return Ok(None);
        }
        let useless = [ACK_TIMEOUT.id(), RETRY_COUNT.id()].into_iter();
        let mistake = |id: Id| {
            let message = format!("`{}` does nothing where no packet gets lost", id.key().name);
            configuration.mistake(id, message).help(format!("set {} too", LOSS.name()))
        };
        let said = useless.filter(|id| configuration.is_said_of_run(*id));
        let mistakes: Vec<_> = said.map(mistake).collect();
        return if mistakes.is_empty() { Ok(None) } else { Err(mistakes) };
    }
    if configuration.is_said(ACKNOWLEDGE) && !configuration.switch(ACKNOWLEDGE) {
        let message = "where packets get lost, messages are acknowledged";
        return Err(vec![configuration.mistake(ACKNOWLEDGE, message)]);
    }
    Ok(Some(Losses {
        packet,
        bit,
        ack_timeout: configuration.value(ACK_TIMEOUT).unwrap_or(Losses::NONE.ack_timeout),
        retry_count: configuration.value(RETRY_COUNT).map_or(7, |count| count as u8),
        ..Losses::NONE
    }))
}

/// A program's messages between two hosts must not overtake each other (MPI 4.1, section 3.5).
fn choice(configuration: &Configuration, is_lossy: bool) -> Result<Choice, Diagnostic> {
    let traffic = configuration.is_traffic();
    match configuration.word(keys::network::CHOICE) {
        "pair" => Ok(Choice::Pair),
        "message" if !traffic && configuration.is_said_of_run(keys::network::CHOICE) => {
            let message = "the messages of a program must not overtake each other";
            let help = "`message` is for synthetic traffic".to_owned();
            Err(configuration.mistake(keys::network::CHOICE, message).help(help))
        }
        "message" if traffic => Ok(Choice::Message),
        _ if traffic && !is_lossy => Ok(Choice::Message),
        _ => Ok(Choice::Pair),
    }
}

fn arbiter(
    configuration: &Configuration,
    preset: Option<Tables>,
) -> Result<Option<Tables>, Mistakes> {
    let table = |key: Setting<String>| {
        let table = pairs(configuration, key, "LANE:WEIGHT", [14, 255])?;
        let share = |(lane, weight)| Share { lane: lane as u8, weight: weight as u8 };
        Ok(table.map(|table| table.into_iter().map(share).collect::<Vec<_>>()))
    };
    let (high, low) =
        match (table(keys::network::arbiter::HIGH), table(keys::network::arbiter::LOW)) {
            (Ok(high), Ok(low)) => (high, low),
            (high, low) => return Err([high.err(), low.err()].into_iter().flatten().collect()),
        };
    let limit = configuration.value(keys::network::arbiter::HIGH_LIMIT);
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
        return Err(vec![
            configuration.mistake(keys::network::arbiter::HIGH_LIMIT, message).help(help),
        ]);
    }
    Ok(Some(tables))
}

/// A list of pairs of numbers, at most so large, separated by commas.
fn pairs(
    configuration: &Configuration,
    key: Setting<String>,
    form: &str,
    most: [u16; 2],
) -> Result<Option<Vec<(u16, u16)>>, Diagnostic> {
    let Some(text) = configuration.value(key) else { return Ok(None) };
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
    let control = match configuration.word(keys::network::congestion::CONTROL) {
        "off" => None,
        "on" => preset.or_else(|| {
            ::infiniband::preset("infiniband-ddr-simula-cc").and_then(|set| set.congestion)
        }),
        _ => preset,
    };
    let Some(mut control) = control else {
        let useless = Id::all()
            .filter(|id| id.key().table() == "network.congestion" && id.key().short() != "control")
            .filter(|id| configuration.is_said_of_run(*id));
        let mistakes: Vec<_> = useless
            .map(|id| {
                configuration
                    .mistake(id, format!("`{}` needs congestion control", id.key().name))
                    .help("set network.congestion.control = \"on\"".to_owned())
            })
            .collect();
        return if mistakes.is_empty() { Ok(None) } else { Err(mistakes) };
    };
    counts(configuration, &mut control);
    if let Some(timer) = configuration.value(keys::network::congestion::TIMER) {
        control.timer = timer;
    }
    control.victims = match configuration.word(keys::network::congestion::VICTIMS) {
        "none" => Victims::None,
        "hosts" => Victims::Hosts,
        "all" => Victims::All,
        _ => control.victims,
    };
    control.scope = match configuration.word(keys::network::congestion::SCOPE) {
        "queue-pair" => Scope::QueuePair,
        "service-level" => Scope::ServiceLevel,
        _ => control.scope,
    };
    let table =
        pairs(configuration, keys::network::congestion::TABLE, "SHIFT:MULTIPLIER", [3, 16383]);
    if let Some(table) = table.map_err(|found| vec![found])? {
        let entry = |(shift, multiplier)| Delay { shift: shift as u8, multiplier };
        control.table = table.into_iter().map(entry).collect();
    }
    Ok(Some(control))
}

/// Sets the counts of congestion control that the settings name.
fn counts(configuration: &Configuration, control: &mut Control) {
    use keys::network::congestion as key;
    let counts = [
        (key::MARKING_RATE, &mut control.marking_rate),
        (key::INCREASE, &mut control.increase),
        (key::LIMIT, &mut control.limit),
        (key::MIN, &mut control.min),
        (key::TRIGGER, &mut control.trigger),
        (key::NOTIFICATIONS, &mut control.notifications),
    ];
    for (key, place) in counts {
        *place = configuration.value(key).map_or(*place, |number| number as u16);
    }
    for (key, place) in
        [(key::THRESHOLD, &mut control.threshold), (key::PACKET_SIZE, &mut control.packet_size)]
    {
        *place = configuration.value(key).map_or(*place, |number| number as u8);
    }
}
