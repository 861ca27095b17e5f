//! Parameter sets that ship with the project. They are data: a file each, in `presets/`.

use serde::Deserialize;
use topology::Rate;
use units::Time;

use crate::{
    arbiter::{Share, Tables},
    congestion::{Control, Delay, Scope, Victims, quadratic},
    parameters::{Choice, Parameters, flit_time},
    sink::{Hiccups, Spread},
};

const PRESETS: [(&str, &str); 7] = [
    ("infiniband-ddr-simula", include_str!("presets/infiniband-ddr-simula.toml")),
    ("infiniband-ddr-simula-cc", include_str!("presets/infiniband-ddr-simula-cc.toml")),
    ("infiniband-qdr", include_str!("presets/infiniband-qdr.toml")),
    ("infiniband-fdr", include_str!("presets/infiniband-fdr.toml")),
    ("infiniband-edr", include_str!("presets/infiniband-edr.toml")),
    ("infiniband-hdr", include_str!("presets/infiniband-hdr.toml")),
    ("infiniband-ndr", include_str!("presets/infiniband-ndr.toml")),
];

/// Names of the presets.
pub fn names() -> Vec<&'static str> {
    PRESETS.iter().map(|preset| preset.0).collect()
}

/// The preset of this name.
pub fn preset(name: &str) -> Option<Parameters> {
    let text = PRESETS.iter().find(|preset| preset.0 == name)?.1;
    let file: File = toml::from_str(text).ok()?;
    file.parameters()
}

/// A file as it is written: quantities are text with units.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct File {
    link: String,
    cable: String,
    latency_in: String,
    latency_out: String,
    credit_delay: String,
    #[serde(default = "yes")]
    padded: bool,
    update: Option<String>,
    crossbar: Option<String>,
    max_being_sent: u16,
    buffer: u32,
    host_buffer: u32,
    output_buffer: u32,
    mtu: u32,
    header: u32,
    generator: Option<String>,
    sink: Option<String>,
    hiccups: Option<HiccupsFile>,
    arbiter: Option<ArbiterFile>,
    #[serde(default)]
    acknowledge: bool,
    congestion: Option<CongestionFile>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct HiccupsFile {
    period: String,
    pause: String,
    phase: String,
    resume: String,
    spread: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct ArbiterFile {
    high: Vec<[u8; 2]>,
    low: Vec<[u8; 2]>,
    high_limit: u8,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct CongestionFile {
    threshold: u8,
    marking_rate: u16,
    packet_size: u8,
    victims: String,
    scope: String,
    increase: u16,
    limit: u16,
    min: u16,
    timer: String,
    trigger: u16,
    /// Pairs of shift and multiplier; the quadratic table if there are none.
    #[serde(default)]
    table: Vec<(u8, u16)>,
    notifications: u16,
}

const fn yes() -> bool {
    true
}

fn time(text: &str) -> Option<Time> {
    text.parse().ok()
}

impl File {
    fn parameters(self) -> Option<Parameters> {
        let link: Rate = self.link.parse().ok()?;
        let paced = |text: &Option<String>| match text {
            Some(text) => time(text),
            None => Some(flit_time(link)),
        };
        let crossbar = match &self.crossbar {
            Some(text) => Some(time(text)?),
            None => None,
        };
        let update = match &self.update {
            Some(text) => time(text)?,
            None => Time::ZERO,
        };
        let hiccups = match &self.hiccups {
            Some(hiccups) => hiccups.read()?,
            None => Hiccups::NONE,
        };
        let congestion = match &self.congestion {
            Some(congestion) => Some(congestion.read()?),
            None => None,
        };
        Some(Parameters {
            link,
            cable: time(&self.cable)?,
            latency_in: time(&self.latency_in)?,
            latency_out: time(&self.latency_out)?,
            credit_delay: time(&self.credit_delay)?,
            padded: self.padded,
            update,
            crossbar,
            max_being_sent: self.max_being_sent,
            buffer: self.buffer,
            host_buffer: self.host_buffer,
            output_buffer: self.output_buffer,
            mtu: self.mtu,
            header: self.header,
            generator: paced(&self.generator)?,
            sink: paced(&self.sink)?,
            hiccups,
            arbiter: self.arbiter.map(|arbiter| arbiter.tables()),
            acknowledge: self.acknowledge,
            losses: None,
            congestion,
            choice: Choice::Pair,
            seed: 1,
        })
    }
}

impl HiccupsFile {
    fn read(&self) -> Option<Hiccups> {
        let spread = match self.spread.as_str() {
            "fixed" => Spread::Fixed,
            "uniform" => Spread::Uniform,
            "exponential" => Spread::Exponential,
            _ => return None,
        };
        let ps = |text: &String| Some(time(text)?.ps());
        let (period, pause) = (ps(&self.period)?, ps(&self.pause)?);
        let (phase, resume) = (ps(&self.phase)?, ps(&self.resume)?);
        Some(Hiccups { period, pause, phase, resume, spread })
    }
}

impl ArbiterFile {
    fn tables(&self) -> Tables {
        let shares = |table: &[[u8; 2]]| {
            table.iter().map(|&[lane, weight]| Share { lane, weight }).collect()
        };
        Tables { high: shares(&self.high), low: shares(&self.low), high_limit: self.high_limit }
    }
}

impl CongestionFile {
    fn read(&self) -> Option<Control> {
        let victims = match self.victims.as_str() {
            "none" => Victims::None,
            "hosts" => Victims::Hosts,
            "all" => Victims::All,
            _ => return None,
        };
        let scope = match self.scope.as_str() {
            "queue-pair" => Scope::QueuePair,
            "service-level" => Scope::ServiceLevel,
            _ => return None,
        };
        let entry = |&(shift, multiplier): &(u8, u16)| Delay { shift, multiplier };
        Some(Control {
            threshold: self.threshold,
            marking_rate: self.marking_rate,
            packet_size: self.packet_size,
            victims,
            scope,
            increase: self.increase,
            limit: self.limit,
            min: self.min,
            timer: time(&self.timer)?,
            trigger: self.trigger,
            table: if self.table.is_empty() {
                quadratic()
            } else {
                self.table.iter().map(entry).collect()
            },
            notifications: self.notifications,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_are_valid() {
        for name in names() {
            let preset = preset(name).expect(name);
            assert_eq!(preset.check(1), [], "{name}");
        }
        assert_eq!(preset("infiniband"), None);
    }

    /// Bytes per flit over data rate: 64 B at 2, 4, 4 * 13.6364/8, 12.5, 25 and 50 B/ns.
    #[test]
    fn flit_times() {
        let expected = [("ddr-simula", 32_000), ("qdr", 16_000), ("fdr", 9_387), ("edr", 5_120)];
        for (name, ps) in expected.into_iter().chain([("hdr", 2_560), ("ndr", 1_280)]) {
            let preset = preset(&format!("infiniband-{name}")).expect(name);
            assert_eq!(flit_time(preset.link).ps(), ps, "{name}");
        }
    }
}
