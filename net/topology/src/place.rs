//! Which host a rank runs on.

use kernel::Random;
use rustc_hash::FxHashMap;

use crate::{Fault, Faults, Graph};

/// A rule that places ranks on hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// Host after host, each filled before the next.
    Linear,
    /// One rank per host, then a second one, and so on.
    RoundRobin,
    /// Linear on hosts in random order.
    Random {
        /// Seed of the order.
        seed: u64,
    },
}

/// Purpose of the random numbers.
const PURPOSE: u32 = 0x504c_4143;

impl Placement {
    /// The host of each rank. A host is given at most as many ranks as it takes to place them all evenly:
    /// `ranks` / `hosts`, rounded up.
    pub fn place(self, ranks: u32, hosts: u32) -> Result<Vec<u32>, Fault> {
        if hosts == 0 {
            return Err(Fault::new("there are no hosts to place ranks on"));
        }
        let share = ranks.div_ceil(hosts).max(1);
        Ok(match self {
            Self::Linear => (0..ranks).map(|rank| rank / share).collect(),
            Self::RoundRobin => (0..ranks).map(|rank| rank % hosts).collect(),
            Self::Random { seed } => {
                let random = Random::new(seed, PURPOSE);
                let mut order: Vec<u32> = (0..hosts).collect();
                for index in 0..hosts {
                    let other =
                        index + random.below(0, index.into(), (hosts - index).into()) as u32;
                    order.swap(index as usize, other as usize);
                }
                (0..ranks).map(|rank| order[(rank / share) as usize]).collect()
            }
        })
    }
}

/// The placement of a file: a rank and the name of its host per line; `#` begins a comment. A rank that is placed
/// twice or not at all, and a host that does not exist, are errors. `names` are those of all hosts, by number.
pub fn from_file(text: &str, ranks: u32, names: &[&str]) -> Result<Vec<u32>, Faults> {
    let known: FxHashMap<&str, u32> = names.iter().copied().zip(0..).collect();
    let mut faults = Faults::default();
    let mut lines = vec![0; ranks as usize];
    let mut hosts = vec![0; ranks as usize];
    for (index, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default();
        let number = index + 1;
        let mut words = line.split_whitespace();
        let Some(first) = words.next() else { continue };
        let column = |word: &str| column_of(line, word);
        let (Some(name), None) = (words.next(), words.next()) else {
            faults.push(Fault::at(number, column(first), "expected a rank and a host"));
            continue;
        };
        let Some(rank) = first.parse().ok().filter(|&rank: &u32| rank < ranks) else {
            let message = match ranks {
                0 => format!("there are no ranks, found `{first}`"),
                _ => format!("expected a rank from 0 to {}, found `{first}`", ranks - 1),
            };
            faults.push(Fault::at(number, column(first), message));
            continue;
        };
        let (line_of, host_of) = (&mut lines[rank as usize], &mut hosts[rank as usize]);
        if *line_of > 0 {
            let message = format!("rank {rank} is placed twice, first in line {line_of}");
            faults.push(Fault::at(number, column(first), message));
            continue;
        }
        *line_of = number;
        if let Some(&host) = known.get(name) {
            *host_of = host;
        } else {
            let Fault { message, help, .. } = unknown_host(names, name);
            faults.push(Fault::at(number, column(name), message).help(help));
        }
    }
    if let Some(rank) = lines.iter().position(|&line| line == 0) {
        let missing = lines.iter().filter(|&&line| line == 0).count();
        let message = match missing {
            1 => format!("rank {rank} is not placed"),
            _ => format!("rank {rank} and {} others are not placed", missing - 1),
        };
        faults.push(Fault::new(message));
    }
    faults.or(hosts)
}

/// The hosts of ranks that ran on hosts of these names, with or without their domains.
pub fn by_names(names: &[&str], graph: &Graph) -> Result<Vec<u32>, Faults> {
    let mut faults = Faults::default();
    let known = graph.host_names();
    let mut hosts = Vec::with_capacity(names.len());
    for (rank, name) in names.iter().enumerate() {
        let short = name.split('.').next().unwrap_or(name);
        if let Some(host) = graph.host(name).or_else(|| graph.host(short)) {
            hosts.push(host);
        } else {
            let Fault { message, help, .. } = unknown_host(&known, name);
            faults.push(Fault::new(format!("rank {rank}: {message}")).help(help));
        }
    }
    faults.or(hosts)
}

fn unknown_host(names: &[&str], name: &str) -> Fault {
    Fault::new(format!("there is no host `{name}`")).near(name, names)
}

/// Column in characters, from 1, of a part of a line.
pub(crate) fn column_of(line: &str, part: &str) -> usize {
    let offset = (part.as_ptr() as usize).saturating_sub(line.as_ptr() as usize);
    line.get(..offset).map_or(1, |before| before.chars().count() + 1)
}
