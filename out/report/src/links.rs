//! The busy periods in which messages are sent and received.
//!
//! The periods of a rank send its messages in the order of their numbers, and receive those that
//! come to it in almost that order. So a page does not need the number of a period's message, but
//! only its place among the messages of the rank that no period before has sent, or received. And a
//! message takes its times from its periods: most often the network has it when its sending ends,
//! and it is matched when its receipt begins.

use std::collections::{HashMap, VecDeque};

use host::Activity;
use results::{ActivityRow, MessageRow};

use crate::blob::folded;

/// A period is looked for among so many messages.
const NEAR: usize = 256;

/// The period in which a message is sent, in picoseconds.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    pub start: u64,
    pub end: u64,
}

/// The messages of a page.
#[derive(Debug, Default)]
pub struct Links {
    rows: Vec<MessageRow>,
    /// By source, and by destination, the messages that have no period yet.
    open: [HashMap<u32, VecDeque<usize>>; 2],
    sent: Vec<Option<Sent>>,
    /// The starts of the periods that receive messages, in picoseconds.
    received: Vec<Option<u64>>,
    /// The last message of each activity.
    last: [u64; 3],
}

impl Links {
    /// Messages in the order of the page.
    pub fn new(rows: Vec<MessageRow>) -> Self {
        let mut open: [HashMap<u32, VecDeque<usize>>; 2] = Default::default();
        for (place, row) in rows.iter().enumerate() {
            open[0].entry(row.source).or_default().push_back(place);
            open[1].entry(row.destination).or_default().push_back(place);
        }
        let count = rows.len();
        let (sent, received) = (vec![None; count], vec![None; count]);
        Self { rows, open, sent, received, last: [0; 3] }
    }

    /// Finds the message of a period, and returns how the page names it: 0 if there is none;
    /// 2 k + 1 if it is the one behind k others; else, 2 n + 2 for its difference n, folded, from
    /// the last message of such a period. Periods come by rank, CPU and start.
    pub fn period(&mut self, row: &ActivityRow) -> u64 {
        let Some(message) = row.message.map(u64::from) else { return 0 };
        let last = std::mem::replace(&mut self.last[row.activity as usize], message);
        let receives = row.activity == Activity::Receive;
        let open = self.open[usize::from(receives)].get_mut(&row.rank);
        let found = open.and_then(|open| {
            let is_it = |place: &usize| self.rows[*place].id == message;
            let behind = open.iter().take(NEAR).position(is_it)?;
            Some((behind, open.remove(behind)?))
        });
        let Some((behind, place)) = found else {
            return folded(message, last).wrapping_mul(2).wrapping_add(2);
        };
        let (start, end) = (row.start.ps(), row.end.ps());
        if receives {
            self.received[place] = Some(start);
        } else {
            self.sent[place] = Some(Sent { start, end });
        }
        2 * behind as u64 + 1
    }

    /// The messages, each with the period that sends it, and the start of the one that receives it.
    pub fn messages(&self) -> impl Iterator<Item = (&MessageRow, Option<Sent>, Option<u64>)> {
        let periods = self.sent.iter().zip(&self.received);
        self.rows.iter().zip(periods).map(|(row, (sent, received))| (row, *sent, *received))
    }
}
