//! A worker's knowledge of its blocks, from which it can tell what is next without looking at them.

use units::Time;

use crate::Wire;
use crate::block::Block;
use crate::transport::Bounds;

pub struct Agenda {
    /// The earliest event of each block, mail included.
    pub earliest: Vec<Time>,
    /// The earliest mail of each block.
    mail: Vec<Time>,
    /// The value of [`Block::urgent`] of each block.
    urgent: Vec<Time>,
    /// The value of [`Block::is_urgent`] of each block, and the number of those that are.
    answers: Vec<bool>,
    answering: usize,
}

impl Agenda {
    pub fn new(blocks: usize) -> Self {
        Self {
            earliest: vec![Time::ZERO; blocks],
            mail: vec![Time::MAX; blocks],
            urgent: vec![Time::MAX; blocks],
            answers: vec![false; blocks],
            answering: 0,
        }
    }

    /// Notes mail for a block.
    pub fn mail(&mut self, block: usize, earliest: Time, urgent: Time) {
        self.earliest[block] = self.earliest[block].min(earliest);
        self.mail[block] = self.mail[block].min(earliest);
        self.urgent[block] = self.urgent[block].min(urgent);
    }

    /// Notes the state of a block that has run.
    pub fn ran<M: Wire>(&mut self, block: usize, state: &Block<M>) {
        self.earliest[block] = state.earliest();
        self.mail[block] = state.mail();
        self.urgent[block] = state.urgent();
        let answers = state.is_urgent();
        self.answering += usize::from(answers);
        self.answering -= usize::from(std::mem::replace(&mut self.answers[block], answers));
    }

    /// Returns the bounds of all blocks.
    pub fn bounds(&self) -> Bounds {
        let least = |times: &[Time]| times.iter().copied().min().unwrap_or(Time::MAX);
        Bounds {
            earliest: least(&self.earliest),
            urgent: least(&self.urgent),
            mail: least(&self.mail),
            answers: self.answering > 0,
            end: Time::MAX,
        }
    }
}
