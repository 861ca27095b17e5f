//! Links and switches out of service.

use kernel::Random;

use crate::{Fault, Faults, Topology};

/// Something that is out of service, written `SWITCH`, `DEVICE:PORT`, `links=5%` or
/// `switches=0.02`.
#[derive(Clone, Debug, PartialEq)]
pub enum Failure {
    /// A switch with all its links.
    Switch(String),
    /// The link at a port of a device.
    Link(String, u16),
    /// A fraction of the links between switches, chosen at random.
    Links(f64),
    /// A fraction of the switches, chosen at random.
    Switches(f64),
}

/// Purposes of the random numbers.
const LINKS: u32 = 0x4c49_4e4b;
const SWITCHES: u32 = 0x5357_4954;

impl Failure {
    /// Reads one of the forms.
    pub fn parse(text: &str) -> Result<Self, Fault> {
        if let Some((key, value)) = text.split_once('=') {
            let fraction = match value.trim().strip_suffix('%') {
                Some(percent) => percent.trim().parse::<f64>().map(|percent| percent / 100.0),
                None => value.trim().parse(),
            };
            let fraction = fraction.ok().filter(|fraction| (0.0..=1.0).contains(fraction));
            return match (key.trim(), fraction) {
                ("links", Some(fraction)) => Ok(Self::Links(fraction)),
                ("switches", Some(fraction)) => Ok(Self::Switches(fraction)),
                ("links" | "switches", None) => {
                    let message = format!("{key} = {value}: expected a fraction, such as 5% or 0.05");
                    Err(Fault::new(message))
                }
                (other, _) => Err(Fault::new(format!(
                    "unknown failure `{other}`; expected SWITCH, DEVICE:PORT, links=5% or switches=5%"
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
    /// Takes links and switches out of service; all mistakes are reported at once. Fractions are
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
                Failure::Links(fraction) => {
                    let between = |link: &&u32| {
                        let ends = self.graph.link(**link).ends;
                        ends.iter().all(|plug| !self.graph.is_host(plug.device))
                    };
                    let all: Vec<u32> = (0..self.graph.links().len() as u32).collect();
                    let all = all.iter().filter(between).copied().collect();
                    links.extend(chosen(all, *fraction, Random::new(seed, LINKS)));
                }
                Failure::Switches(fraction) => {
                    let all = (self.graph.hosts()..self.graph.devices()).collect();
                    switches.extend(chosen(all, *fraction, Random::new(seed, SWITCHES)));
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

/// The first numbers of a random permutation (Fisher and Yates).
fn chosen(mut all: Vec<u32>, fraction: f64, random: Random) -> Vec<u32> {
    // The fraction is at most 1.
    #[allow(clippy::cast_sign_loss)]
    let count = ((all.len() as f64 * fraction).round() as usize).min(all.len());
    for index in 0..count {
        let rest = (all.len() - index) as u64;
        all.swap(index, index + random.below(0, index as u64, rest) as usize);
    }
    all.truncate(count);
    all
}
