//! Links and switches out of service.

use kernel::Random;

use crate::{Fault, Faults, Topology};

/// The number of links or switches that are out of service.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Amount {
    /// A number of them, written as a whole number: `3`.
    Count(u32),
    /// A share of all, from 0 to 1, written `5%` or `0.05`.
    Share(f64),
}

impl Amount {
    /// Reads a whole number, a percentage or a number with a decimal point.
    fn parse(text: &str) -> Option<Self> {
        if let Ok(count) = text.parse() {
            return Some(Self::Count(count));
        }
        let share = match text.strip_suffix('%') {
            Some(percent) => percent.trim().parse::<f64>().map(|percent| percent / 100.0),
            None => text.parse(),
        };
        share.ok().filter(|share| (0.0..=1.0).contains(share)).map(Self::Share)
    }

    /// The number that is meant of `all` things of a kind; more than there are is an error.
    fn of(self, kind: &str, all: usize) -> Result<usize, Fault> {
        match self {
            // A share is at most 1.
            #[allow(clippy::cast_sign_loss)]
            Self::Share(share) => Ok(((all as f64 * share).round() as usize).min(all)),
            Self::Count(count) if count as usize <= all => Ok(count as usize),
            Self::Count(count) => {
                Err(Fault::new(format!("{count} {kind} cannot fail: there are {all}")))
            }
        }
    }
}

/// Something that is out of service, written `SWITCH`, `DEVICE:PORT`, `links=5%`, `links=3`,
/// `switches=0.02` or `switches=1`.
#[derive(Clone, Debug, PartialEq)]
pub enum Failure {
    /// A switch with all its links.
    Switch(String),
    /// The link at a port of a device.
    Link(String, u16),
    /// A number of the links between switches, chosen at random.
    Links(Amount),
    /// A number of the switches, chosen at random.
    Switches(Amount),
}

/// Purposes of the random numbers.
const LINKS: u32 = 0x4c49_4e4b;
const SWITCHES: u32 = 0x5357_4954;

impl Failure {
    /// Reads one of the forms.
    pub fn parse(text: &str) -> Result<Self, Fault> {
        if let Some((key, value)) = text.split_once('=') {
            return match (key.trim(), Amount::parse(value.trim())) {
                ("links", Some(amount)) => Ok(Self::Links(amount)),
                ("switches", Some(amount)) => Ok(Self::Switches(amount)),
                ("links" | "switches", None) => {
                    let message = format!(
                        "{key} = {value}: expected a number, such as 3, or a share, such as 5% or \
                         0.05"
                    );
                    Err(Fault::new(message))
                }
                (other, _) => Err(Fault::new(format!(
                    "unknown failure `{other}`; expected SWITCH, DEVICE:PORT, links=3, links=5%, \
                     switches=1 or switches=5%"
                ))
                .near(other, &["links", "switches"])),
            };
        }
        match text.rsplit_once(':') {
            None => Ok(Self::Switch(text.to_owned())),
            Some((device, port)) => match port.parse() {
                Ok(port) => Ok(Self::Link(device.to_owned(), port)),
                Err(_) => Err(Fault::new(format!("`{text}`: a port is a number, found `{port}`"))),
            },
        }
    }
}

impl Topology {
    /// Takes links and switches out of service; all mistakes are reported at once. Shares are
    /// rounded to the nearest number; which links they mean depends on the seed alone.
    pub fn fail(&mut self, failures: &[Failure], seed: u64) -> Result<(), Faults> {
        let mut faults = Faults::default();
        let (mut links, mut switches) = (Vec::new(), Vec::new());
        for failure in failures {
            match failure {
                Failure::Switch(name) => match self.graph.switch(name) {
                    Some(switch) => switches.push(switch),
                    None => self.unknown(name, &mut faults),
                },
                Failure::Link(name, port) => match self.graph.device(name) {
                    None => self.unknown(name, &mut faults),
                    Some(device) => match self.graph.peer(device, *port) {
                        Some(end) => links.push(end.link),
                        None => {
                            faults.push(Fault::new(format!("`{name}` has no link at port {port}")));
                        }
                    },
                },
                Failure::Links(amount) => {
                    let between = |link: &&u32| {
                        let ends = self.graph.link(**link).ends;
                        ends.iter().all(|plug| !self.graph.is_host(plug.device))
                    };
                    let all: Vec<u32> = (0..self.graph.links().len() as u32).collect();
                    let all: Vec<u32> = all.iter().filter(between).copied().collect();
                    match amount.of("links between switches", all.len()) {
                        Ok(count) => links.extend(chosen(all, count, Random::new(seed, LINKS))),
                        Err(fault) => faults.push(fault),
                    }
                }
                Failure::Switches(amount) => {
                    let all: Vec<u32> = (self.graph.hosts()..self.graph.devices()).collect();
                    match amount.of("switches", all.len()) {
                        Ok(count) => {
                            switches.extend(chosen(all, count, Random::new(seed, SWITCHES)));
                        }
                        Err(fault) => faults.push(fault),
                    }
                }
            }
        }
        faults.or(())?;
        for switch in switches {
            links.extend(self.graph.neighbours(switch).map(|(_, end)| end.link));
        }
        for link in links {
            self.graph.fail(link);
        }
        Ok(())
    }

    fn unknown(&self, name: &str, faults: &mut Faults) {
        if self.graph.host(name).is_some() {
            let message = format!("`{name}` is a host; switches and links can fail");
            return faults.push(Fault::new(message));
        }
        let known = || (0..self.graph.devices()).map(|device| self.graph.name(device)).collect();
        faults.push_near(Fault::new(format!("there is no switch `{name}`")), name, known);
    }
}

/// The first `count` of a random permutation (Fisher and Yates).
fn chosen(mut all: Vec<u32>, count: usize, random: Random) -> Vec<u32> {
    for index in 0..count {
        let rest = (all.len() - index) as u64;
        all.swap(index, index + random.below(0, index as u64, rest) as usize);
    }
    all.truncate(count);
    all
}
