//! Processes that are threads, so that tests need no launcher.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};

use super::Peers;

/// A peer whose others are threads of the same process.
#[derive(Debug)]
pub struct Channels {
    me: usize,
    senders: Vec<Sender<Vec<u8>>>,
    receivers: Vec<Mutex<Receiver<Vec<u8>>>>,
}

impl Channels {
    /// Returns so many peers of each other. They stay for good, since a run keeps no track of its
    /// peers: this is for tests.
    pub fn peers(count: usize) -> Vec<&'static dyn Peers> {
        let mut all: Vec<_> =
            (0..count).map(|me| Self { me, senders: Vec::new(), receivers: Vec::new() }).collect();
        for from in 0..count {
            for to in 0..count {
                let (sender, receiver) = channel();
                all[from].senders.push(sender);
                all[to].receivers.push(Mutex::new(receiver));
            }
        }
        all.into_iter().map(|peer| &*Box::leak(Box::new(peer)) as &'static dyn Peers).collect()
    }
}

impl Peers for Channels {
    fn me(&self) -> usize {
        self.me
    }

    fn count(&self) -> usize {
        self.senders.len()
    }

    fn send(&self, to: usize, bytes: Vec<u8>) {
        // A receiver that has panicked does not need it.
        let _ = self.senders[to].send(bytes);
    }

    fn receive(&self, from: usize) -> Vec<u8> {
        let receiver = self.receivers[from].lock().unwrap_or_else(PoisonError::into_inner);
        receiver.recv().expect("a peer that lives")
    }

    fn abandon(&self) {}
}
