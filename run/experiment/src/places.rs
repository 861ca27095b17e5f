//! Which host each rank is on, from the table `[placement]`.

use std::fs;

use topology::{Faults, Placement, place};

use crate::{
    configuration::Configuration,
    diagnostic::{Diagnostic, Place, reason},
};

/// How ranks are placed.
#[derive(Debug)]
pub(crate) enum Places {
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
        let (rule, hosts, per_host) = match self {
            Self::File(name, text) => {
                return place::from_file(text, ranks, names).map_err(|faults| faults.render(name));
            }
            Self::Rule { rule, hosts, per_host } => (rule, hosts, *per_host),
        };
        let wrong = |fault| Faults::from(fault).render("[placement]");
        let mut slots = match hosts {
            Some(list) => {
                place::listed(list, names).map_err(|faults| faults.render("placement.hosts"))?
            }
            None if per_host.is_none() => {
                return rule.place(ranks, names.len() as u32).map_err(wrong);
            }
            None => (0..names.len() as u32).map(|host| (host, None)).collect(),
        };
        if let Some(most) = per_host {
            for (_, slots) in &mut slots {
                *slots = Some(slots.map_or(most, |own| own.min(most)));
            }
        }
        rule.on(ranks, &slots).map_err(wrong)
    }
}

/// What the table says.
pub(crate) fn resolve(configuration: &Configuration) -> Result<Places, Diagnostic> {
    let file = configuration.path("placement.file");
    let rule = match (configuration.word("placement.kind"), file) {
        ("file", Some(path)) => {
            for key in ["placement.hosts", "placement.per-host"] {
                if configuration.is_said(key) {
                    let message = "the file says the host of each rank";
                    return Err(configuration.mistake(key, message));
                }
            }
            let text = fs::read_to_string(&path)
                .map_err(|error| Diagnostic::new(Place::File(path.clone()), reason(&error)))?;
            return Ok(Places::File(path.display().to_string(), text));
        }
        ("file", None) => {
            let help = "set placement.file".to_owned();
            let message = "the placement is that of a file, but there is none";
            return Err(configuration.mistake("placement.kind", message).help(help));
        }
        (_, Some(_)) => {
            let help = "set placement.kind = \"file\"".to_owned();
            let message = "the file is not used";
            return Err(configuration.mistake("placement.file", message).help(help));
        }
        ("round-robin", None) => Placement::RoundRobin,
        ("random", None) => {
            Placement::Random { seed: configuration.count("placement.seed").unwrap_or(1) }
        }
        _ => Placement::Linear,
    };
    let per_host = configuration.count("placement.per-host").map(|count| count as u32);
    Ok(Places::Rule { rule, hosts: configuration.name("placement.hosts"), per_host })
}
