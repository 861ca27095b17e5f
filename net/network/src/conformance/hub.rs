//! A simple network with a device, and what the suite finds where it breaks the contract.

use std::sync::atomic::{AtomicU64, Ordering};

use kernel::Wire;
use units::{DeviceId, HostId, MessageId, Time};

use super::all;
use crate::{Network, Outlet, Transfer, Uncontended};

/// The time of a signal between a host and the hub.
const CABLE: Time = Time::from_ps(1000);

/// A defect of a [`Hub`].
#[derive(Clone, Copy, PartialEq, Eq)]
enum Defect {
    None,
    /// The lookahead is longer than a signal takes.
    Impatient,
    /// Messages are said to have left after they are delivered.
    LeavesLate,
    /// The hub says that it waits for answers, and says at once that messages have left.
    Unanswered,
    /// Messages of 64 bytes are never said to have left.
    Silent,
    /// The hub keeps something of messages of 15 bytes.
    Hoards,
    /// The time of a message of 3 bytes depends on the order in which hosts act.
    Racy,
}

/// All hosts are connected to one device, which forwards each message at once. A message is one
/// signal, and takes the same time whatever its size.
struct Hub {
    hosts: u32,
    defect: Defect,
    turns: AtomicU64,
}

#[derive(Clone, Copy)]
struct Message {
    transfer: Transfer,
    id: u64,
}

impl Wire for Message {
    fn encode(&self, bytes: &mut Vec<u8>) {
        let Transfer { source, destination, bytes: size, .. } = self.transfer;
        for word in [u64::from(source.0), u64::from(destination.0), size, self.id] {
            bytes.extend_from_slice(&word.to_le_bytes());
        }
    }

    fn decode(bytes: &mut &[u8]) -> Option<Self> {
        let mut word = || {
            let (word, rest) = bytes.split_first_chunk()?;
            *bytes = rest;
            Some(u64::from_le_bytes(*word))
        };
        let [source, destination] = [HostId(word()? as u32), HostId(word()? as u32)];
        let transfer = Transfer::new(source, destination, word()?);
        Some(Self { transfer, id: word()? })
    }
}

impl Network for Hub {
    type Interface = ();
    /// The number of messages that it keeps something of.
    type Device = u64;
    type Signal = Message;
    type Detail = crate::Never;

    const DIRECT: bool = false;
    const TELLS_LEFT: bool = true;

    fn hosts(&self) -> Option<u32> {
        Some(self.hosts)
    }

    fn devices(&self) -> u32 {
        1
    }

    fn interface(&self, _: HostId) {}

    fn device(&self, _: DeviceId) -> u64 {
        0
    }

    fn lookahead(&self) -> Time {
        if self.defect == Defect::Impatient { Time::from_ps(1001) } else { CABLE }
    }

    fn waits_for_answers(&self) -> bool {
        self.defect == Defect::Unanswered
    }

    fn uncontended(&self, transfer: Transfer) -> Uncontended {
        let local = transfer.source == transfer.destination;
        let transit = if local { Time::ZERO } else { CABLE.saturating_add(CABLE) };
        Uncontended { transit, ..Uncontended::default() }
    }

    fn inject(
        &self,
        (): &mut (),
        at: Time,
        transfer: Transfer,
        id: MessageId,
        out: &mut impl Outlet<Self>,
    ) -> Option<Time> {
        let late = if self.defect == Defect::LeavesLate { 2001 } else { 0 };
        if self.defect != Defect::Silent || transfer.bytes != 64 {
            out.left(at.saturating_add(Time::from_ps(late)), id);
        }
        if transfer.source == transfer.destination {
            out.deliver(at, transfer.source, id);
            return None;
        }
        let message = Message { transfer, id: id.0 };
        out.send(DeviceId(self.hosts), at.saturating_add(CABLE), message);
        None
    }

    fn hear(&self, (): &mut (), at: Time, message: Message, out: &mut impl Outlet<Self>) {
        let turn = self.turns.fetch_add(1, Ordering::Relaxed);
        // A size that the random script has, but no test of single messages.
        let racy = self.defect == Defect::Racy && message.transfer.bytes == 3;
        let late = Time::from_ps(if racy { turn } else { 0 });
        out.deliver(at.saturating_add(late), message.transfer.source, MessageId(message.id));
    }

    fn run_device(
        &self,
        kept: &mut u64,
        _: Time,
        signals: impl Iterator<Item = (Time, Message)>,
        out: &mut impl Outlet<Self>,
    ) -> Time {
        for (at, message) in signals {
            *kept += u64::from(self.defect == Defect::Hoards && message.transfer.bytes == 15);
            let to = message.transfer.destination;
            out.send(to.into(), at.saturating_add(CABLE), message);
        }
        Time::MAX
    }

    fn device_at_rest(&self, kept: &u64) -> Result<(), String> {
        if *kept == 0 { Ok(()) } else { Err(format!("{kept} messages are kept")) }
    }
}

fn check(defect: Defect) {
    all(&Hub { hosts: 4, defect, turns: AtomicU64::new(0) }, 4);
}

#[test]
fn accepts_a_hub() {
    check(Defect::None);
}

/// The announcement of a message of a host is due a lookahead after it enters, and so is the first
/// signal, which comes a picosecond sooner.
#[test]
#[should_panic(expected = "lookahead")]
fn catches_signals_within_the_lookahead() {
    let hub = Hub { hosts: 4, defect: Defect::Impatient, turns: AtomicU64::new(0) };
    super::shuffled(&hub, 4);
}

#[test]
#[should_panic(expected = "after its delivery")]
fn catches_leaving_after_delivery() {
    check(Defect::LeavesLate);
}

#[test]
#[should_panic(expected = "message 0 of 0 left at 0 ns, before 2 ns")]
fn catches_leaving_before_an_answer() {
    check(Defect::Unanswered);
}

#[test]
#[should_panic(expected = "not each message has left once")]
fn catches_messages_that_never_leave() {
    check(Defect::Silent);
}

#[test]
#[should_panic(expected = "not at rest")]
fn catches_lost_credits() {
    check(Defect::Hoards);
}

#[test]
#[should_panic(expected = "not as")]
fn catches_an_order_of_devices_that_matters() {
    check(Defect::Racy);
}
