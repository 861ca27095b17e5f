//! The assignment of ranks to hosts.

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
    /// The host of each rank. A host is given at most as many ranks as it takes to place them all
    /// evenly: `ranks` / `hosts`, rounded up.
    pub fn place(self, ranks: u32, hosts: u32) -> Result<Vec<u32>, Fault> {
        if hosts == 0 {
            return Err(Fault::new("there are no hosts to place ranks on"));
        }
        let share = ranks.div_ceil(hosts).max(1);
        Ok(match self {
            Self::Linear => (0..ranks).map(|rank| rank / share).collect(),
            Self::RoundRobin => (0..ranks).map(|rank| rank % hosts).collect(),
            Self::Random { seed } => {
                let mut order: Vec<u32> = (0..hosts).collect();
                shuffle(&mut order, seed);
                (0..ranks).map(|rank| order[(rank / share) as usize]).collect()
            }
        })
    }
}

/// Room that is said, or that is shared out evenly.
pub type Slots = Option<u32>;

impl Placement {
    /// The host of each rank, on these hosts in this order, of which each takes at most as many
    /// ranks as it has slots. Hosts whose slots are not said take an even share of the ranks that
    /// the others leave.
    ///
    /// # Errors
    /// If there is not enough room.
    pub fn on(self, ranks: u32, hosts: &[(u32, Slots)]) -> Result<Vec<u32>, Fault> {
        let said: u64 = hosts.iter().filter_map(|(_, slots)| *slots).map(u64::from).sum();
        let unsaid = hosts.iter().filter(|(_, slots)| slots.is_none()).count() as u64;
        let left = u64::from(ranks).saturating_sub(said);
        let share = left.div_ceil(unsaid.max(1)).max(1) as u32;
        if unsaid == 0 && left > 0 {
            let room = match hosts.len() {
                1 => "1 host has".to_owned(),
                count => format!("{count} hosts have"),
            };
            let message = format!("{ranks} ranks, but {room} room for {said}");
            let help = "choose more hosts, more ranks for each, or fewer ranks";
            return Err(Fault::new(message).help(Some(help.to_owned())));
        }
        let mut rooms: Vec<(u32, u32)> =
            hosts.iter().map(|(host, slots)| (*host, slots.unwrap_or(share))).collect();
        if let Self::Random { seed } = self {
            shuffle(&mut rooms, seed);
        }
        let mut placed = Vec::with_capacity(ranks as usize);
        while placed.len() < ranks as usize {
            for (host, room) in &mut rooms {
                let most = if self == Self::RoundRobin { 1.min(*room) } else { *room };
                let count = most.min(ranks - placed.len() as u32);
                *room -= count;
                placed.extend(std::iter::repeat_n(*host, count as usize));
            }
        }
        Ok(placed)
    }
}

fn shuffle<T>(list: &mut [T], seed: u64) {
    let random = Random::new(seed, PURPOSE);
    let count = list.len() as u32;
    for index in 0..count {
        let other = index + random.below(0, index.into(), (count - index).into()) as u32;
        list.swap(index as usize, other as usize);
    }
}

/// So many hosts, or those that there are, may be listed in all: a few ranges name many.
const MOST_LISTED: usize = 1 << 22;

/// Hosts as they are listed for an `mpirun`: names between commas or spaces, each with its slots
/// behind a colon, or without. A name that stands there several times has so many slots. A short
/// name is that of the first host that begins with it and a point; a number that is nobody's name
/// is that of a host, and two with a dash between them are those of a range.
///
/// # Errors
/// Names that no host has.
pub fn listed(text: &str, names: &[&str]) -> Result<Vec<(u32, Slots)>, Faults> {
    let known: FxHashMap<&str, u32> = names.iter().copied().zip(0..).collect();
    let mut short: FxHashMap<&str, u32> = FxHashMap::default();
    for (name, host) in names.iter().zip(0..) {
        short.entry(name.split('.').next().unwrap_or(name)).or_insert(host);
    }
    let named = |name: &str| {
        let number = || name.parse::<u32>().ok().filter(|host| (*host as usize) < names.len());
        known.get(name).or_else(|| short.get(name)).copied().or_else(number)
    };
    let range = |name: &str| {
        let (first, last) = name.split_once('-')?;
        let (first, last) = (first.parse::<u32>().ok()?, last.parse::<u32>().ok()?);
        (first <= last && (last as usize) < names.len()).then_some((first, last))
    };
    let named = |name: &str| named(name).map(|host| (host, host)).or_else(|| range(name));
    let mut faults = Faults::default();
    let mut hosts: Vec<(u32, Slots, u32)> = Vec::new();
    let mut places: FxHashMap<u32, usize> = FxHashMap::default();
    let mut left = MOST_LISTED.max(names.len());
    for word in text.split([',', ' ', '\t', '\n']).filter(|word| !word.is_empty()) {
        let counted = || {
            let (name, slots) = word.rsplit_once(':')?;
            Some((named(name)?, Some(slots.parse().ok()?)))
        };
        let Some(((first, last), slots)) = named(word).map(|hosts| (hosts, None)).or_else(counted)
        else {
            let name = word.rsplit_once(':').map_or(word, |(name, _)| name);
            if named(name).is_some() {
                let message =
                    format!("expected a number of slots behind the colon, found `{word}`");
                faults.push(Fault::new(message));
            } else {
                faults.push_near(Fault::new(no_host(name)), name, || names.to_vec());
            }
            continue;
        };
        let Some(rest) = left.checked_sub((last - first) as usize + 1) else {
            let message = format!("`{word}` lists hosts again and again: too many in all");
            faults.push(Fault::new(message));
            break;
        };
        left = rest;
        for host in first..=last {
            let place = *places.entry(host).or_insert(hosts.len());
            match hosts.get_mut(place) {
                Some((_, known, times)) => {
                    *known = Some(known.unwrap_or(*times).saturating_add(slots.unwrap_or(1)));
                    *times += 1;
                }
                None => hosts.push((host, slots, 1)),
            }
        }
    }
    faults.or(hosts.into_iter().map(|(host, slots, _)| (host, slots)).collect())
}

/// The placement of a file: a rank and the name of its host per line, or `rank N=HOST slot=…` as in
/// Open MPI's rank files, of which the slot means nothing here; `#` begins a comment. Names may
/// hold blanks, but not in rank files. A rank that is placed twice or not at all, and a host that
/// does not exist, are errors. `names` are those of all hosts, by number.
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
        let pair = if first == "rank" {
            words.next().and_then(|word| word.split_once('='))
        } else {
            // The name of a host may hold blanks.
            let name = line.trim().strip_prefix(first).unwrap_or_default().trim_start();
            let is_one = known.contains_key(name) || name.split_whitespace().count() == 1;
            is_one.then_some((first, name))
        };
        let Some((first, name)) = pair else {
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
            let fault = Fault::at(number, column(name), no_host(name));
            faults.push_near(fault, name, || names.to_vec());
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
            let fault = Fault::new(format!("rank {rank}: {}", no_host(name)));
            faults.push_near(fault, name, || known.clone());
        }
    }
    faults.or(hosts)
}

fn no_host(name: &str) -> String {
    format!("there is no host `{name}`")
}

/// Column in characters, from 1, of a part of a line.
pub(crate) fn column_of(line: &str, part: &str) -> usize {
    let offset = (part.as_ptr() as usize).saturating_sub(line.as_ptr() as usize);
    line.get(..offset).map_or(1, |before| before.chars().count() + 1)
}
