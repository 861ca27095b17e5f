//! Groups of processes (MPI 4.1, section 7.3): ordered lists of ranks of the world.
//!
//! Most groups of large programs are the world, its rows or its columns, so a group whose ranks are
//! evenly spaced is kept as first rank, distance and number: such a group costs the same for two
//! ranks and for a million. A group has one form only, so equal groups compare equal part by part.

use std::cell::OnceCell;
use std::ffi::c_int;
use std::hash::{Hash, Hasher};
use std::rc::Rc;

use crate::abi::{self, Handle};
use crate::error::{Error, Result};
use crate::table::Table;

pub mod ranges;
#[cfg(test)]
mod tests;

/// A group. Copies share the list.
#[derive(Clone, Debug)]
pub struct Group {
    members: Rc<Members>,
    /// The session that it came from, which equal groups need not share.
    session: Option<Handle>,
}

/// The members of a group, as ranks of the world.
#[derive(Debug)]
pub enum Members {
    /// `count` ranks, `stride` apart, which may be negative.
    Even {
        /// The first rank.
        first: u32,
        /// The distance from one rank to the next.
        stride: i64,
        /// The number of ranks.
        count: u32,
    },
    /// Ranks that are not evenly spaced: at least three.
    List {
        /// The ranks, in the order of the group.
        ranks: Vec<u32>,
        /// The ranks with their places in the group, sorted, once somebody has asked for a place.
        places: OnceCell<Vec<(u32, u32)>>,
    },
}

impl Group {
    fn new(members: Members) -> Self {
        Self { members: Rc::new(members), session: None }
    }

    /// The group without members.
    pub fn empty() -> Self {
        Self::range(0, 0)
    }

    /// `count` ranks of the world from `first` on.
    pub fn range(first: u32, count: u32) -> Self {
        let first = if count == 0 { 0 } else { first };
        Self::new(Members::Even { first, stride: 1, count })
    }

    /// The group of these ranks of the world, which must differ from each other.
    pub fn of(ranks: Vec<u32>) -> Self {
        let count = ranks.len() as u32;
        let (first, stride) = match ranks.as_slice() {
            [] => return Self::empty(),
            [only] => return Self::range(*only, 1),
            [first, second, ..] => (*first, i64::from(*second) - i64::from(*first)),
        };
        let even = ranks.windows(2).all(|pair| match pair {
            [one, next] => i64::from(*next) - i64::from(*one) == stride,
            _ => true,
        });
        Self::new(if even {
            Members::Even { first, stride, count }
        } else {
            Members::List { ranks, places: OnceCell::new() }
        })
    }

    /// Marks the group as one that came from a session.
    #[must_use]
    pub fn of_session(self, session: Option<Handle>) -> Self {
        Self { session, ..self }
    }

    /// The session that it came from.
    pub fn session(&self) -> Option<Handle> {
        self.session
    }

    /// Number of members.
    pub fn size(&self) -> u32 {
        match &*self.members {
            Members::Even { count, .. } => *count,
            Members::List { ranks, .. } => ranks.len() as u32,
        }
    }

    /// The members, in the form in which they are kept.
    pub fn members(&self) -> &Members {
        &self.members
    }

    /// The rank in the world of a rank of the group.
    pub fn world(&self, rank: u32) -> Option<u32> {
        match &*self.members {
            Members::Even { first, stride, count } => {
                (rank < *count).then(|| (i64::from(*first) + stride * i64::from(rank)) as u32)
            }
            Members::List { ranks, .. } => ranks.get(rank as usize).copied(),
        }
    }

    /// The rank in the group of a rank of the world.
    pub fn rank_of(&self, world: u32) -> Option<u32> {
        match &*self.members {
            Members::Even { first, stride, count } => {
                let distance = i64::from(world) - i64::from(*first);
                let rank = distance / stride;
                (distance % stride == 0 && (0..i64::from(*count)).contains(&rank))
                    .then_some(rank as u32)
            }
            Members::List { ranks, places } => {
                let places = places.get_or_init(|| {
                    let mut places: Vec<(u32, u32)> =
                        ranks.iter().zip(0..).map(|(&world, rank)| (world, rank)).collect();
                    places.sort_unstable();
                    places
                });
                let place = places.binary_search_by_key(&world, |&(world, _)| world).ok()?;
                places.get(place).map(|&(_, rank)| rank)
            }
        }
    }

    /// The group of the first members.
    #[must_use]
    pub fn first(&self, number: u32) -> Self {
        match &*self.members {
            _ if number >= self.size() => self.clone(),
            Members::Even { first, stride, .. } if number > 1 => {
                let members = Members::Even { first: *first, stride: *stride, count: number };
                Self::new(members).of_session(self.session)
            }
            _ => self.chosen(0..number),
        }
    }

    /// The members' ranks in the world, in order.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.size()).filter_map(|rank| self.world(rank))
    }

    /// True if both have the same members, in any order.
    pub fn has_members_of(&self, other: &Self) -> bool {
        self == other
            || (self.size() == other.size()
                && self.iter().all(|world| other.rank_of(world).is_some()))
    }

    /// `IDENT`, `SIMILAR` or `UNEQUAL`.
    pub fn compare(&self, other: &Self) -> c_int {
        if self == other {
            abi::IDENT
        } else if self.has_members_of(other) {
            abi::SIMILAR
        } else {
            abi::UNEQUAL
        }
    }

    /// A number that is the same wherever the group is; different groups have, but for a freak of
    /// chance, different ones.
    pub fn fingerprint(&self) -> u64 {
        let mut hasher = rustc_hash::FxHasher::default();
        self.hash(&mut hasher);
        hasher.finish()
    }

    /// The group of some members, in this order.
    #[must_use]
    pub fn chosen(&self, ranks: impl IntoIterator<Item = u32>) -> Self {
        let ranks = ranks.into_iter().filter_map(|rank| self.world(rank));
        Self::of(ranks.collect()).of_session(self.session)
    }

    /// All but the members for whom `leave_out` holds.
    #[must_use]
    pub fn without(&self, leave_out: impl Fn(u32) -> bool) -> Self {
        let ranks = self.iter().filter(|&world| !leave_out(world));
        Self::of(ranks.collect()).of_session(self.session)
    }
}

impl Default for Group {
    fn default() -> Self {
        Self::empty()
    }
}

impl PartialEq for Group {
    fn eq(&self, other: &Self) -> bool {
        if Rc::ptr_eq(&self.members, &other.members) {
            return true;
        }
        match (&*self.members, &*other.members) {
            (
                Members::Even { first, stride, count },
                Members::Even { first: other_first, stride: other_stride, count: other_count },
            ) => (first, stride, count) == (other_first, other_stride, other_count),
            (Members::List { ranks, .. }, Members::List { ranks: other_ranks, .. }) => {
                ranks == other_ranks
            }
            _ => false,
        }
    }
}

impl Eq for Group {}

impl Hash for Group {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        match &*self.members {
            Members::Even { first, stride, count } => (first, stride, count).hash(hasher),
            Members::List { ranks, .. } => ranks.hash(hasher),
        }
    }
}

/// The ranks in `to` of those who have these ranks in `from`.
pub fn translate(from: &Group, ranks: &[c_int], to: &Group) -> Result<Vec<c_int>> {
    ranks
        .iter()
        .map(|&rank| {
            if rank == abi::PROC_NULL {
                return Ok(abi::PROC_NULL);
            }
            let world = u32::try_from(rank).ok().and_then(|rank| from.world(rank));
            let Some(world) = world else {
                return Err(Error::new(
                    abi::ERR_RANK,
                    format!("rank {rank} in a group of {}", from.size()),
                ));
            };
            Ok(to.rank_of(world).map_or(abi::UNDEFINED, |rank| rank as c_int))
        })
        .collect()
}

/// The groups of a rank.
#[derive(Debug, Default)]
pub struct Groups(Table<Group>);

impl Groups {
    /// The group of a handle.
    pub fn get(&self, handle: Handle) -> Result<Group> {
        match handle {
            abi::GROUP_EMPTY => Ok(Group::empty()),
            abi::GROUP_NULL => Err(Error::new(abi::ERR_GROUP, "the group is MPI_GROUP_NULL")),
            _ => match self.0.get(handle) {
                Some(group) => Ok((*group).clone()),
                None => Err(Error::new(abi::ERR_GROUP, "no such group (freed?)")),
            },
        }
    }

    /// A handle for a group.
    pub fn add(&self, group: Group) -> Handle {
        if group.size() == 0 { abi::GROUP_EMPTY } else { self.0.add(Rc::new(group)) }
    }

    /// Gives a handle back. The empty group, which is predefined, stays.
    pub fn free(&self, handle: Handle) -> Result {
        self.get(handle)?;
        self.0.remove(handle);
        Ok(())
    }
}
