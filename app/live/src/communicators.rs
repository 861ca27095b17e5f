//! The communicators that a rank has told of.

use std::borrow::Cow;
use std::collections::hash_map::Entry;

use calls::Neighbours;
use rank_ipc::{Command, Members};

use crate::rank::{Rank, Rules};
use crate::shared::FIRST_CONTEXT;

/// A communicator as a rank knows it.
#[derive(Clone, Debug)]
pub struct Communicator {
    /// The number that stands for it in the tags of messages.
    pub slot: u32,
    /// The number of times that the rank has told of it and not released it: several members of one
    /// context may be the same rank.
    uses: u32,
    pub me: u32,
    pub local: Members,
    pub remote: Members,
    pub neighbours: Option<Neighbours>,
}

impl Rank {
    /// Returns the number that stands for a context in the tags of messages.
    pub fn slot(&self, context: u64) -> Result<u32, String> {
        if context < FIRST_CONTEXT {
            return Ok(context as u32);
        }
        self.told(context)
            .map(|known| known.slot)
            .ok_or_else(|| "it uses a communicator that it has not told of".to_owned())
    }

    fn told(&self, context: u64) -> Option<&Communicator> {
        self.communicators.as_ref()?.get(&context)
    }

    /// A communicator that the rank has told of, or that all have from the beginning: the world,
    /// and each rank alone.
    pub fn known(&self, context: u64) -> Option<Cow<'_, Communicator>> {
        if let Some(told) = self.told(context) {
            return Some(Cow::Borrowed(told));
        }
        let (first, count) = match context {
            0 => (0, self.ranks),
            1 => (self.number, 1),
            _ => return None,
        };
        Some(Cow::Owned(Communicator {
            slot: context as u32,
            uses: 1,
            me: self.number - first,
            local: Members::Range { first, stride: 1, count },
            remote: Members::List(Vec::new()),
            neighbours: None,
        }))
    }

    /// The rank tells of a communicator.
    pub fn communicator(&mut self, command: &mut Command, rules: &Rules) {
        let command = std::mem::replace(command, Command::Exit);
        let Command::Communicator { context, me, local, remote, neighbours } = command else {
            return;
        };
        let places = |members: &Members| {
            let all = (0..members.len()).filter_map(|place| members.get(place));
            all.map(|rank| if rank == rank_ipc::ANY { -2 } else { i64::from(rank) }).collect()
        };
        let neighbours = neighbours.map(|(sources, destinations)| Neighbours {
            sources: places(&sources),
            destinations: places(&destinations),
        });
        let members = local.len() + remote.len();
        let slot = rules.shared.slot(context, members);
        self.expansion = None;
        let communicators = self.communicators.get_or_insert_default();
        let known = communicators.entry(context).or_insert(Communicator {
            slot,
            uses: 0,
            me,
            local,
            remote,
            neighbours,
        });
        known.uses += 1;
    }

    /// The rank has no more use for a communicator that it has told of.
    pub fn release(&mut self, context: u64) {
        let Some(communicators) = &mut self.communicators else { return };
        if let Entry::Occupied(mut known) = communicators.entry(context) {
            known.get_mut().uses -= 1;
            if known.get().uses == 0 {
                known.remove();
            }
        }
    }
}
