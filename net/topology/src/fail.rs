//! Links and switches out of service.

use kernel::Random;

use crate::{Fault, Faults, Graph, Topology};

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
                        "{key} = {value}: expected a number, such as 3, or a share from 0% to \
                         100%, such as 5% or 0.05"
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

/// The number of names that are shown; more than these say nothing to a reader.
const NAMED: usize = 8;

/// The links and switches that are out of service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutOfService {
    /// All links of these switches are out of service.
    pub switches: Vec<u32>,
    /// The other links, by number.
    pub links: Vec<u32>,
    /// The number of all links that are out of service, those of the switches included.
    pub all_links: u32,
}

impl OutOfService {
    /// Says what is out of service: numbers, and names if there are few.
    pub fn describe(&self, graph: &Graph) -> String {
        let named = |names: &[String]| match names.len() {
            1..=NAMED => format!(" ({})", names.join(", ")),
            _ => String::new(),
        };
        let counted = |count: usize, one: &str, several: &str| match count {
            1 => format!("1 {one}"),
            _ => format!("{count} {several}"),
        };
        let link =
            |link: &u32| graph.link(*link).ends.map(|plug| graph.plug_name(plug)).join(" - ");
        let links: Vec<_> = self.links.iter().map(link).collect();
        let switches: Vec<_> =
            self.switches.iter().map(|switch| graph.name(*switch).to_owned()).collect();
        let shown_links = counted(links.len(), "link", "links") + &named(&links);
        if switches.is_empty() {
            return if links.is_empty() { "nothing".to_owned() } else { shown_links };
        }
        let theirs = self.all_links as usize - links.len();
        let shown = format!(
            "{}{} with {}",
            counted(switches.len(), "switch", "switches"),
            named(&switches),
            counted(theirs, "link", "links")
        );
        if links.is_empty() { shown } else { format!("{shown}, and {shown_links}") }
    }
}

impl Topology {
    /// Returns the links and switches that are out of service.
    pub fn out_of_service(&self) -> OutOfService {
        let graph = &self.graph;
        let mut linked = vec![false; graph.devices() as usize];
        for plug in graph.links().iter().flat_map(|link| link.ends) {
            linked[plug.device as usize] = true;
        }
        let is_out =
            |device: &u32| linked[*device as usize] && graph.neighbours(*device).next().is_none();
        let switches: Vec<u32> = (graph.hosts()..graph.devices()).filter(is_out).collect();
        let down: Vec<u32> =
            (0..graph.links().len() as u32).filter(|link| !graph.link(*link).up).collect();
        let is_theirs = |link: &u32| {
            let ends = graph.link(*link).ends;
            ends.iter().any(|plug| switches.binary_search(&plug.device).is_ok())
        };
        let links = down.iter().copied().filter(|link| !is_theirs(link)).collect();
        OutOfService { links, all_links: down.len() as u32, switches }
    }

    /// Returns a remark on each share above zero of which rounding leaves nothing.
    pub fn rounded_away(&self, failures: &[Failure]) -> Vec<String> {
        let remark = |failure: &Failure| {
            let (kind, amount, all) = match failure {
                Failure::Links(amount) => ("links", amount, self.links_between_switches().len()),
                Failure::Switches(amount) => {
                    ("switches", amount, (self.graph.devices() - self.graph.hosts()) as usize)
                }
                Failure::Switch(_) | Failure::Link(..) => return None,
            };
            let Amount::Share(share) = *amount else { return None };
            let is_none = share > 0.0 && amount.of(kind, all) == Ok(0);
            let between = if kind == "links" { " between switches" } else { "" };
            is_none.then(|| {
                format!(
                    "{kind}={}% takes nothing out of service: it is less than half of one of \
                     {all} {kind}{between}",
                    // Ten digits hide what the division by 100 added.
                    (share * 1e12).round() / 1e10
                )
            })
        };
        failures.iter().filter_map(remark).collect()
    }

    /// The links of which neither end is a host.
    fn links_between_switches(&self) -> Vec<u32> {
        let between = |link: &u32| {
            let ends = self.graph.link(*link).ends;
            ends.iter().all(|plug| !self.graph.is_host(plug.device))
        };
        (0..self.graph.links().len() as u32).filter(between).collect()
    }

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
                    let all = self.links_between_switches();
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
