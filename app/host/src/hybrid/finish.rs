//! Reports of a run over flows, and its outcome.

use flow::{Load, Routes};
use kernel::Probe;

use super::engine::Engine;
use super::mailbox::Stage;
use crate::deadlock::Stuck;
use crate::path::Clock;
use crate::rank::{Matching, Unreleased};
use crate::simulate::critical_path;
use crate::source::Source;
use crate::{Error, Outcome, Record};

/// Number of events between two reports to the meter.
const REPORT_EVERY: u64 = 1 << 12;

impl<S: Source, R: Routes, W: Probe<Load>, B: Probe<Record>> Engine<'_, S, R, W, B> {
    /// Tells the meter how far the simulation is; an error if it is to end early.
    pub fn report(&mut self) -> Result<(), Error> {
        if self.events - self.reported >= REPORT_EVERY
            && let Some(meter) = &self.settings.progress
        {
            meter.advance(self.events - self.reported, 0, self.now);
            self.reported = self.events;
            meter.goes_on()?;
        }
        Ok(())
    }

    pub fn finish(mut self) -> (Outcome, B) {
        if let Some(meter) = &self.settings.progress {
            meter.advance(self.events - self.reported, 0, self.now);
        }
        let mut stuck = Stuck::default();
        let (mut last, mut ends_on) = (Clock::default(), 0);
        let mut unreceived = 0;
        // By rank, the messages that wait for their receives.
        let mut waiting = vec![Vec::new(); self.ranks.len()];
        for rank in &self.ranks {
            for (.., number) in rank.mailbox.unexpected.iter() {
                unreceived += 1;
                let message = self.messages.at(*number);
                if message.stage == Stage::Waits && !message.detached {
                    let send = Unreleased {
                        send: message.send,
                        destination: message.destination,
                        ..Unreleased::default()
                    };
                    waiting[message.source as usize].push(send);
                }
            }
        }
        let mut totals = Vec::with_capacity(self.ranks.len());
        for ((id, rank), waiting) in (0..).zip(&mut self.ranks).zip(waiting) {
            let end = rank.last;
            rank.totals.finish = end.free;
            if end.free > last.free {
                (last, ends_on) = (end, id);
            }
            if self.source.unfinished(&rank.source, id) {
                let mut matching = Matching::default();
                for (source, tag, (index, _)) in rank.mailbox.posted.iter() {
                    matching.posted.insert(source, tag, *index);
                }
                matching.rare().unreleased = waiting;
                stuck.add(&self.source, &rank.source, id, Some(&matching));
            }
            totals.push(rank.totals.with_path(&end.path));
        }
        let remark = || format!("messages that were never received: {unreceived}");
        let outcome = Outcome {
            events: self.events,
            signals: 0,
            path: critical_path(ends_on, last),
            deadlock: stuck.describe(totals.len() as u32, self.now),
            remarks: (unreceived > 0).then(remark).into_iter().collect(),
            ranks: totals,
        };
        (outcome, self.probe)
    }
}
