//! The board on which the members of a collective lay down their contributions.
//!
//! The simulator gives all members the same list: a word that counts those who have read it, a word
//! for a result that one has worked out for all, and for each member the place of its contribution.
//! The last reader gives all of it back.

use std::sync::atomic::Ordering;

use rank_ipc::{Client, Offset};

use crate::abi;
use crate::comm::Comm;
use crate::error::{Error, Result};
use crate::{mpi, p2p};

/// Bytes before a contribution, which begin with its length: so much that it is aligned for any
/// type.
const HEAD: u64 = 64;

/// The contribution of a member.
#[derive(Clone, Copy, Debug, Default)]
pub struct Contribution {
    place: Offset,
}

impl Contribution {
    /// Nothing.
    pub fn none() -> Self {
        Self::default()
    }

    /// A contribution of `length` bytes of the program, which `fill` writes; it is empty if
    /// contents do not matter.
    pub fn new(length: u64, fill: impl FnOnce(&mut [u8])) -> Result<Self> {
        if mpi().hollow.get() { Ok(Self::none()) } else { Self::own(length, fill) }
    }

    /// A contribution of `length` bytes of this library's own.
    fn own(length: u64, fill: impl FnOnce(&mut [u8])) -> Result<Self> {
        let mpi = mpi();
        let place = p2p::block(length + HEAD)?;
        let room = p2p::bytes_mut(mpi.port()?, place, length + HEAD);
        if let Some((head, body)) = room.split_at_mut_checked(HEAD as usize) {
            head.iter_mut().zip(length.to_le_bytes()).for_each(|(place, byte)| *place = byte);
            fill(body);
        }
        Ok(Self { place })
    }

    /// A contribution of these bytes.
    pub fn of(bytes: &[u8]) -> Result<Self> {
        Self::own(bytes.len() as u64, |room| room.copy_from_slice(bytes))
    }

    /// A block for each of several, of these lengths; `fill` writes one. Numbers can be told with
    /// them.
    pub fn blocks(
        lengths: &[u64],
        whom: &[u64],
        mut fill: impl FnMut(usize, &mut [u8]),
    ) -> Result<Self> {
        let head = 8 * (1 + whom.len() + lengths.len()) as u64;
        let total = head + lengths.iter().sum::<u64>();
        Self::new(total, |room| {
            let words = [lengths.len() as u64].into_iter().chain(whom.iter().copied());
            let words = words.chain(lengths.iter().copied());
            let (front, mut rest) = room.split_at_mut(head as usize);
            for (place, word) in front.chunks_exact_mut(8).zip(words) {
                place.copy_from_slice(&word.to_le_bytes());
            }
            for (number, length) in lengths.iter().enumerate() {
                let (block, behind) = rest.split_at_mut(*length as usize);
                fill(number, block);
                rest = behind;
            }
        })
    }

    /// The place of its block in the memory that all ranks share.
    pub const fn place(self) -> Offset {
        self.place
    }
}

/// A contribution of several blocks.
#[derive(Clone, Copy, Debug)]
pub struct Blocks<'a> {
    bytes: &'a [u8],
    told: usize,
}

impl<'a> Blocks<'a> {
    /// A contribution; `told` says whether as many numbers as blocks were told with it.
    pub fn new(bytes: &'a [u8], told: bool) -> Self {
        let mut blocks = Self { bytes, told: 0 };
        blocks.told = if told { blocks.word(0) as usize } else { 0 };
        blocks
    }

    fn word(&self, place: usize) -> u64 {
        let bytes =
            self.bytes.get(8 * place..8 * place + 8).and_then(|bytes| bytes.try_into().ok());
        bytes.map_or(0, u64::from_le_bytes)
    }

    /// The numbers that were told.
    pub fn numbers(&self) -> impl Iterator<Item = u64> {
        (0..self.told).map(|place| self.word(1 + place))
    }

    /// One of the blocks.
    pub fn get(&self, number: usize) -> &'a [u8] {
        let count = self.word(0) as usize;
        let length = |number| self.word(1 + self.told + number) as usize;
        let start = 8 * (1 + self.told + count) + (0..number).map(length).sum::<usize>();
        self.bytes.get(start..start + length(number)).unwrap_or_default()
    }
}

/// The contributions of all members.
#[derive(Debug)]
pub struct Board<'a> {
    port: &'a Client,
    place: Offset,
    members: u32,
    /// The first member of the own group, and of the group of the peers.
    own: u32,
    peers: u32,
}

impl<'a> Board<'a> {
    /// The board at a place; there may be none.
    pub fn new(port: &'a Client, comm: &Comm, place: Offset) -> Self {
        let Some(remote) = &comm.remote else {
            return Self { port, place, members: comm.size(), own: 0, peers: 0 };
        };
        let members = comm.size() + remote.size();
        // The group with the lower first rank comes first.
        let behind = comm.local.world(0) > remote.world(0);
        let (own, peers) = if behind { (remote.size(), 0) } else { (0, comm.size()) };
        Self { port, place, members, own, peers }
    }

    fn slot(&self, member: u32) -> Offset {
        self.port.memory().word(self.place + 8 * (2 + u64::from(member))).load(Ordering::Acquire)
    }

    fn contribution(&self, member: u32) -> Result<&'a [u8]> {
        let place = if self.place == 0 { 0 } else { self.slot(member) };
        if place == 0 {
            return Err(Error::new(
                abi::ERR_INTERN,
                format!("member {member} has contributed nothing"),
            ));
        }
        let length = self.port.memory().word(place).load(Ordering::Relaxed);
        Ok(p2p::bytes(self.port, place + HEAD, length))
    }

    /// The contribution of a rank of the own group.
    pub fn local(&self, rank: u32) -> Result<&'a [u8]> {
        self.contribution(self.own + rank)
    }

    /// The contribution of a rank of the group that the own one communicates with: the other group
    /// of an inter-communicator.
    pub fn peer(&self, rank: u32) -> Result<&'a [u8]> {
        self.contribution(self.peers + rank)
    }

    /// The result that one of the members has worked out for all, or works out now. If several do
    /// so at once, the first who is done supplies it.
    pub fn shared(&self, work: impl FnOnce() -> Result<Vec<u8>>) -> Result<&'a [u8]> {
        let word = self.port.memory().word(self.place + 8);
        let mut known = word.load(Ordering::Acquire);
        if known == 0 {
            let made = Contribution::of(&work()?)?.place();
            known = match word.compare_exchange(0, made, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => made,
                Err(first) => {
                    self.port.give_back(made);
                    first
                }
            };
        }
        let length = self.port.memory().word(known).load(Ordering::Relaxed);
        Ok(p2p::bytes(self.port, known + HEAD, length))
    }

    /// This rank has read what it wants.
    pub fn leave(self) {
        if self.place == 0 {
            return;
        }
        let read = self.port.memory().word(self.place).fetch_add(1, Ordering::AcqRel) + 1;
        if read < u64::from(self.members) {
            return;
        }
        let result = self.port.memory().word(self.place + 8).load(Ordering::Acquire);
        let all = (0..self.members).map(|member| self.slot(member)).chain([result]);
        for place in all.filter(|place| *place != 0) {
            self.port.give_back(place);
        }
        self.port.give_back(self.place);
    }
}
