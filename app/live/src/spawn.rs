//! Ranks that ranks start.
//!
//! They exist from the beginning, with numbers behind those of the others, and cost nothing until a
//! rank asks for a process. The process gets its first turn with the message that tells it who it
//! is ([`rank_ipc::BIRTH`]), so that it begins at a simulated time.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::ops::Range;
use std::os::unix::ffi::OsStringExt;
use std::sync::{Mutex, PoisonError};

use rank_ipc::start::{Start, Started};

use crate::{Launch, Live, Runner};

/// The ranks for which no process has been started.
#[derive(Debug)]
pub struct Dormant {
    all: Range<u32>,
    left: Mutex<BTreeSet<u32>>,
}

impl Dormant {
    /// Makes a pool of these ranks.
    pub fn new(all: Range<u32>) -> Self {
        Self { left: Mutex::new(all.clone().collect()), all }
    }

    fn with<T>(&self, act: impl FnOnce(&mut BTreeSet<u32>) -> T) -> T {
        act(&mut self.left.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the number of all ranks: one more than the last dormant one.
    pub const fn end(&self) -> u32 {
        self.all.end
    }

    /// Returns how many ranks there were in all: the last for which a process was started, and all
    /// before it.
    pub fn lived(&self) -> u32 {
        self.with(|left| {
            self.all
                .clone()
                .rev()
                .find(|rank| !left.contains(rank))
                .map_or(self.all.start, |last| last + 1)
        })
    }

    /// Takes ranks for all processes of some programs, each on one of the hosts that its program
    /// names. Takes none if there are too few.
    fn take(
        &self,
        programs: &[Start],
        host_of: impl Fn(u32) -> Option<String>,
    ) -> Result<Vec<u32>, String> {
        self.with(|left| {
            let mut rest = left.clone();
            let mut taken = Vec::new();
            for Start { host, count, .. } in programs {
                let list = String::from_utf8_lossy(host);
                // Where hosts are not known, each rank has its own.
                let fits = |rank: &u32| {
                    list.is_empty() || host_of(*rank).is_none_or(|host| is_among(&host, &list))
                };
                let found: Vec<u32> =
                    rest.iter().copied().filter(fits).take(*count as usize).collect();
                if found.len() < *count as usize {
                    let on = if list.is_empty() { String::new() } else { format!(" on {list}") };
                    let (found, most) = (found.len(), self.all.len());
                    return Err(format!(
                        "{count} processes{on}: {found} more can be started, of {most} in all \
                         (live.spawn, --spawn-at-most)"
                    ));
                }
                rest.retain(|rank| !found.contains(rank));
                taken.extend(found);
            }
            *left = rest;
            Ok(taken)
        })
    }
}

/// Returns whether a host is in a list with commas, by its name with or without the domain.
fn is_among(host: &str, list: &str) -> bool {
    let short = host.split('.').next();
    list.split(',').map(str::trim).any(|name| name == host || Some(name) == short)
}

fn launch(start: Start) -> Launch {
    let Start { program, arguments, directory, count, .. } = start;
    Launch {
        program: OsString::from_vec(program),
        arguments: arguments.into_iter().map(OsString::from_vec).collect(),
        ranks: count,
        directory: Some(OsString::from_vec(directory).into()),
        environment: Vec::new(),
    }
}

impl<H: Runner + ?Sized> Live<'_, H> {
    /// Starts the processes that a rank asks for.
    pub(crate) fn spawn(&self, by: u32, what: &[u8]) -> Started {
        let programs = Start::decode(what).ok_or("it does not say what to start")?;
        let memory = self.runner.memory();
        let ranks = self.dormant.take(&programs, |rank| rank_ipc::hosts::name(memory, rank))?;
        let launches: Vec<Launch> = programs.into_iter().map(launch).collect();
        self.runner.spawn(by, &ranks, &launches).inspect_err(|_| {
            self.dormant.with(|left| left.extend(&ranks));
        })?;
        Ok(ranks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(count: u32, host: &str) -> Start {
        Start { count, host: host.into(), ..Start::default() }
    }

    /// Ranks 3 to 8, in turn on the hosts a.x, b.x and c.x.
    #[test]
    fn ranks_are_taken_in_order_and_by_host() {
        let dormant = Dormant::new(3..9);
        let host = |rank: u32| Some(["a.x", "b.x", "c.x"][rank as usize % 3].to_owned());
        assert_eq!(dormant.lived(), 3);
        assert_eq!(dormant.take(&[wanted(2, "b"), wanted(1, "")], host), Ok(vec![4, 7, 3]));
        assert_eq!(dormant.lived(), 8);
        assert_eq!(dormant.take(&[wanted(1, "c.x, a")], host), Ok(vec![5]));
        // Rank 6 is left on a, rank 8 on c: nothing is taken if not all is there.
        let none = dormant.take(&[wanted(1, "a"), wanted(1, "b")], host);
        assert!(none.is_err_and(|why| why.contains("1 processes on b: 0 more")));
        assert_eq!(dormant.take(&[wanted(2, "")], host), Ok(vec![6, 8]));
        assert_eq!(dormant.lived(), 9);
    }
}
