//! The host of each rank, from the table `[placement]`.

use std::collections::BTreeSet;

use ::topology::{Fault, Faults, Placement, place};

use super::topologies;
use crate::settings::{
    configuration::Configuration,
    diagnostic::Diagnostic,
    keys::{self, Setting},
    launch,
};

/// The rule by which ranks are placed on hosts.
#[derive(Debug)]
pub(crate) struct Places {
    way: Way,
    /// The number of ranks that a live program begins with; those that these start come behind
    /// them.
    first: Option<u32>,
    /// The hosts that are out of service, ascending: no rank is on them.
    pub out: Vec<u32>,
}

#[derive(Debug)]
enum Way {
    Rule {
        rule: Placement,
        /// The hosts to use, as they are listed; without a list, all.
        hosts: Option<String>,
        /// Most ranks of each.
        per_host: Option<u32>,
    },
    /// The text of a file of this name.
    File(String, String),
}

impl Places {
    /// The host of each rank, by its place among the names of all hosts.
    pub fn hosts(&self, ranks: u32, names: &[&str]) -> Result<Vec<u32>, String> {
        let first = self.first.unwrap_or(ranks).min(ranks);
        let mut hosts = self.way.hosts(first, names, &self.out)?;
        if first < ranks {
            let (free, all) = self.behind(&hosts, names)?;
            hosts.extend(free.iter().chain(all.iter().cycle()).take((ranks - first) as usize));
        }
        Ok(hosts)
    }

    /// Returns the number of hosts without a rank when `ranks` ranks are placed.
    pub fn spare(&self, ranks: u32, names: &[&str]) -> Result<u32, String> {
        let hosts = self.hosts(ranks, names)?;
        Ok(self.behind(&hosts, names)?.0.len() as u32)
    }

    /// The hosts in their order behind that of the last rank: those without ranks, and all.
    fn behind(&self, placed: &[u32], names: &[&str]) -> Result<(Vec<u32>, Vec<u32>), String> {
        let mut all = self.way.usable(names, &self.out)?;
        let last = placed.last().and_then(|last| all.iter().position(|host| host == last));
        all.rotate_left(last.map_or(0, |last| last + 1));
        let used: BTreeSet<u32> = placed.iter().copied().collect();
        let free = all.iter().copied().filter(|host| !used.contains(host)).collect();
        Ok((free, all))
    }
}

impl Way {
    /// The hosts that may be used, in order.
    fn usable(&self, names: &[&str], out: &[u32]) -> Result<Vec<u32>, String> {
        match self {
            Self::Rule { hosts: Some(list), .. } => {
                let listed = place::listed(list, names)
                    .map_err(|faults| faults.render(keys::placement::HOSTS.name()))?;
                Ok(listed.into_iter().map(|(host, _)| host).collect())
            }
            _ => Ok(in_service(names, out).collect()),
        }
    }

    fn hosts(&self, ranks: u32, names: &[&str], out: &[u32]) -> Result<Vec<u32>, String> {
        let (rule, hosts, per_host) = match self {
            Self::File(name, text) => {
                let hosts =
                    place::from_file(text, ranks, names).map_err(|faults| faults.render(name))?;
                let placed = hosts.iter().zip(0..).find(|(host, _)| out.contains(host));
                return match placed {
                    Some((&host, rank)) => {
                        Err(format!("error: {name}: rank {rank}: {}", is_out(names, host)))
                    }
                    None => Ok(hosts),
                };
            }
            Self::Rule { rule, hosts, per_host } => (rule, hosts, *per_host),
        };
        let wrong = |fault| Faults::from(fault).render("[placement]");
        let mut slots = match hosts {
            Some(list) => place::listed(list, names)
                .map_err(|faults| faults.render(keys::placement::HOSTS.name()))?,
            None if per_host.is_none() && out.is_empty() => {
                return rule.place(ranks, names.len() as u32).map_err(wrong);
            }
            None => in_service(names, out).map(|host| (host, None)).collect(),
        };
        if slots.is_empty() && !names.is_empty() {
            return Err("error: no host is in service (network.fail)".to_owned());
        }
        if let Some(most) = per_host {
            for (_, slots) in &mut slots {
                *slots = Some(slots.map_or(most, |own| own.min(most)));
            }
        }
        rule.on(ranks, &slots).map_err(wrong)
    }
}

fn in_service(names: &[&str], out: &[u32]) -> impl Iterator<Item = u32> {
    (0..names.len() as u32).filter(|host| out.binary_search(host).is_err())
}

fn is_out(names: &[&str], host: u32) -> String {
    let name = names.get(host as usize).copied().unwrap_or_default();
    format!("host `{name}` is out of service: all its links are (network.fail)")
}

/// Reads the table `[placement]`.
pub(crate) fn resolve(configuration: &Configuration) -> Result<Places, Diagnostic> {
    let way = way(configuration)?;
    let programs = configuration.programs().ok().filter(|programs| !programs.is_empty());
    Ok(Places { way, first: programs.as_deref().map(launch::first), out: Vec::new() })
}

fn unused_seed(configuration: &Configuration) -> Diagnostic {
    let help = "set placement.kind = \"random\"".to_owned();
    configuration.mistake(keys::placement::SEED, "the seed is not used").help(help)
}

/// Returns the mistakes in the list of hosts, on a machine whose hosts have these names, some of
/// them out of service.
pub(crate) fn mistakes(
    configuration: &Configuration,
    names: &[&str],
    out: &[u32],
) -> Vec<Diagnostic> {
    const KEY: Setting<String> = keys::placement::HOSTS;
    let list =
        configuration.value(KEY).filter(|_| configuration.word(keys::placement::KIND) != "file");
    let listed = list.map_or(Ok(Vec::new()), |list| place::listed(&list, names));
    let listed = listed.and_then(|hosts| {
        let mut faults = Faults::default();
        let listed_out = hosts.iter().filter(|(host, _)| out.contains(host));
        listed_out.for_each(|(host, _)| faults.push(Fault::new(is_out(names, *host))));
        faults.or(())
    });
    listed.err().map_or_else(Vec::new, |found| topologies::faults(configuration, KEY, None, found))
}

fn way(configuration: &Configuration) -> Result<Way, Diagnostic> {
    let file = configuration.value(keys::placement::FILE);
    let rule = match (configuration.word(keys::placement::KIND), file) {
        ("file", Some(path)) => {
            for key in [keys::placement::HOSTS.id(), keys::placement::PER_HOST.id()] {
                if configuration.is_said(key) {
                    let message = "the file says the host of each rank";
                    return Err(configuration.mistake(key, message));
                }
            }
            if configuration.is_said_of_run(keys::placement::SEED) {
                return Err(unused_seed(configuration));
            }
            let text =
                units::text::read(&path).map_err(|error| Diagnostic::unread(&path, &error))?;
            return Ok(Way::File(path.display().to_string(), text));
        }
        ("file", None) => {
            let help = "set placement.file".to_owned();
            let message = "the placement is that of a file, but there is none";
            return Err(configuration.mistake(keys::placement::KIND, message).help(help));
        }
        (_, Some(_)) => {
            let help = "set placement.kind = \"file\"".to_owned();
            let message = "the file is not used";
            return Err(configuration.mistake(keys::placement::FILE, message).help(help));
        }
        ("round-robin", None) => Placement::RoundRobin,
        ("random", None) => {
            Placement::Random { seed: configuration.value(keys::placement::SEED).unwrap_or(1) }
        }
        _ => Placement::Linear,
    };
    let seed = keys::placement::SEED;
    let is_random = matches!(rule, Placement::Random { .. });
    if !is_random && configuration.is_said_of_run(seed) && !configuration.is_from_manifest(seed) {
        return Err(unused_seed(configuration));
    }
    let per_host = configuration.value(keys::placement::PER_HOST).map(|count| count as u32);
    Ok(Way::Rule { rule, hosts: configuration.value(keys::placement::HOSTS), per_host })
}
