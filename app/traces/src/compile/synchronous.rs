//! Synchronous sends: their receives answer them, and they end with the answer, as live ranks have
//! it.
//!
//! The receive that a message meets shows when all ranks are compiled: those of one pair with one
//! tag do not overtake each other. That takes a list of all messages, and operations that stay
//! open; so traces are compiled once more when a synchronous send is found.

use rustc_hash::{FxHashMap, FxHashSet};
use schedule::{Edge, Kind, Op};

use super::align::{pairs, void};
use super::keys::Purpose;
use super::rank::Compiler;
use super::run::Run;
use crate::options::{Mode, Options, Window};

/// A synchronous send: its operations, and the tag of the answer.
#[derive(Clone, Copy, Debug)]
pub struct Synchronous {
    send: u32,
    answer: u32,
    tag: u32,
}

/// The receives for which places of answers are left.
#[derive(Debug, Default)]
pub struct Answers {
    /// Messages that were probed: those with these numbers, by rank of all copies, or all.
    probed: Option<Vec<FxHashSet<u32>>>,
}

impl Answers {
    /// Returns whether a message that was probed may be answered.
    pub fn may_be(&self, rank: u32, number: u32) -> bool {
        let of_rank = self.probed.as_ref().map(|probed| probed.get(rank as usize));
        of_rank.is_none_or(|numbers| numbers.is_some_and(|numbers| numbers.contains(&number)))
    }
}

/// The warning where synchronous sends are not answered.
pub const STANDARD: &str = "MPI_Ssend and MPI_Issend are replayed as standard sends: short ones do \
                            not wait for the receiver";

/// Returns whether there are some that can be answered: not where the recorded run is followed, nor
/// where messages are cut.
pub fn want_answers(runs: &mut [Run], options: &Options) -> bool {
    let has_some = |run: &mut Run| run.made().counts.contains_key(STANDARD);
    let can_be = options.window == Window::All && options.mode != Mode::Aligned;
    can_be && runs.iter_mut().any(has_some)
}

/// A send is synchronous: the call receives the answer, too.
pub fn expect(compiler: &mut Compiler, send: u32, to: u32, communicator: i64) {
    let purpose = Purpose::Met(compiler.out.synchronous.len() as u32);
    let answer = compiler.receive(to, communicator, purpose, 0);
    compiler.now.starts.push(answer);
    compiler.now.ends.push(answer);
    let tag = compiler.tag(communicator, purpose);
    compiler.out.synchronous.push(Synchronous { send, answer, tag });
}

/// Gives the receives their answers. Where no receive is known, none is waited for; tells how often
/// that is the case, and, if places were left for messages that were probed and are not
/// synchronous, for which they are to be left.
pub fn answer(runs: &mut [Run]) -> (usize, Option<Answers>) {
    let mut open: Vec<FxHashMap<u32, Synchronous>> = Vec::new();
    for run in runs.iter_mut() {
        let all = std::mem::take(&mut run.made().synchronous);
        open.push(all.into_iter().map(|one| (one.send, one)).collect());
    }
    // Receiver, receive, tag and destination of the answer.
    let mut met = Vec::new();
    for [sends, receives] in pairs(runs) {
        for ((sender, send), (receiver, receive)) in sends.into_iter().zip(receives) {
            let one = open.get_mut(sender).and_then(|open| open.remove(&send));
            let place = runs.get_mut(sender).map(|run| run.made().place);
            met.extend(one.zip(place).map(|(one, place)| (receiver, receive, one.tag, place)));
        }
    }
    met.sort_unstable();
    let mut probed = vec![FxHashSet::default(); runs.len()];
    for (receiver, receive, tag, peer) in met {
        if let Some(run) = runs.get_mut(receiver).map(Run::made) {
            // There is a place for it right behind each receive, or where the program received what
            // it had probed.
            let place = run.answered.remove(&receive);
            if let (Some((_, number)), Some(numbers)) = (place, probed.get_mut(receiver)) {
                numbers.insert(number);
            }
            let before = place.map_or(receive, |(before, _)| before);
            let answer = before + 1;
            if let Some(op) = run.draft.get_mut(answer) {
                *op = Op { kind: Kind::Send, peer, tag, size: 0, cpu: 0, nic: 0 };
                run.draft.depend(answer, before, Edge::Done);
            }
        }
    }
    let left = open.iter().map(FxHashMap::len).sum();
    for (run, open) in runs.iter_mut().zip(open) {
        for one in open.into_values() {
            if let Some(op) = run.made().draft.get_mut(one.answer) {
                *op = void(*op);
            }
        }
    }
    let too_many = runs.iter_mut().any(|run| !run.made().answered.is_empty());
    (left, too_many.then_some(Answers { probed: Some(probed) }))
}
