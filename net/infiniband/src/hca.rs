//! A host channel adapter: queue pairs, an arbiter per port, and what takes arrivals to memory.
//!
//! Messages of one destination and service level form a queue pair and leave in order; queue pairs
//! of a port and lane take turns by packet. A packet leaves when the port has sent the one before
//! and credits for all of it are there; its flits leave at the pace of the generator or the link,
//! whichever is slower. Notifications and acknowledgements go before data.
//!
//! Arriving flits go to memory in order of arrival, whatever their lane, as [`crate::sink`] says,
//! and their credits go back then. Notifications and acknowledgements are taken at once.

mod receive;
mod send;

use rustc_hash::{FxHashMap, FxHashSet};
use units::{HostId, MessageId, Time};

use crate::{
    congestion::Scope,
    fabric::{Fabric, NOBODY, Port},
    losses::Psn,
    outlet::{Detail, Out, Record},
    signal::{Credit, Kind, Packet, Signal},
    sink::{Piece, Sink},
};

use self::{
    receive::Receivers,
    send::{Reply, Sender, header},
};

/// A message to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    /// The host it is for. One to the sender itself is delivered at once: the network does not see
    /// it.
    pub destination: HostId,
    /// Its size in bytes.
    pub bytes: u64,
    /// Its service level, 0 to 15; [`crate::MANAGEMENT`] for subnet management.
    pub level: u8,
    /// A number that is handed out with its delivery.
    pub id: MessageId,
}

/// Messages that enter this late are past the range of time: what they lead to would overflow it.
const FAR: Time = Time::from_ps(1 << 63);

/// The state of a host channel adapter.
#[derive(Clone, Debug)]
pub struct Hca {
    host: HostId,
    senders: Box<[Sender]>,
    sinks: Box<[Sink]>,
    flows: send::Flows,
    /// Flows whose packets came marked since the last acknowledgement, by source and level.
    marked: FxHashSet<(HostId, u8)>,
    /// The receiving sides of connections, if packets get lost.
    receivers: Option<Box<Receivers>>,
    next: u64,
}

impl Hca {
    /// The adapter of a host.
    pub fn new(net: &Fabric, host: HostId) -> Self {
        let ports = net.ports(host.into());
        let parameters = &net.parameters;
        let sink = |_: &Port| {
            let pace = parameters.sink.ps() as u32;
            Sink::new(pace, parameters.hiccups, net.pauses, host)
        };
        Self {
            host,
            senders: ports.iter().map(|port| Sender::new(net, host, port)).collect(),
            sinks: ports.iter().map(sink).collect(),
            flows: send::Flows::new(net),
            marked: FxHashSet::default(),
            receivers: parameters.losses.as_ref().map(|_| Box::default()),
            next: u64::MAX,
        }
    }

    /// The time at which something will happen here if nothing is heard before; [`Time::MAX`] if
    /// nothing.
    pub const fn next(&self) -> Time {
        Time::from_ps(self.next)
    }

    /// Messages that are not sent in full or, where packets get lost, not acknowledged.
    pub const fn unsent(&self) -> u64 {
        self.flows.unsent
    }

    /// Checks that nothing waits here and all credits are back; see [`network::Network::at_rest`].
    pub(crate) fn at_rest(&self, net: &Fabric) -> Result<(), String> {
        if self.unsent() > 0 {
            return Err(format!("{} messages are not sent", self.unsent()));
        }
        if self.sinks.iter().any(Sink::holds) {
            return Err("packets wait for memory".to_owned());
        }
        let ports = net.ports(self.host.into());
        self.senders.iter().zip(ports).try_for_each(|(sender, link)| sender.at_rest(net, link))
    }

    /// A message enters; one that does so past 106 days is delivered at [`Time::MAX`]. Everything
    /// due before `at` must have been run.
    pub(crate) fn inject(&mut self, net: &Fabric, at: Time, message: Message, out: &mut impl Out) {
        let Message { destination, level, id, .. } = message;
        if destination == self.host || at >= FAR {
            let at = if at >= FAR { Time::MAX } else { at };
            out.left(at, id);
            out.deliver(at, self.host, id);
            return;
        }
        let header = header(self.host, destination, level);
        let hop = net.first_hop(&header);
        let port = usize::from(hop.port);
        let leads = net.ports(self.host.into()).get(port).is_some_and(|port| port.peer != NOBODY);
        if !leads {
            out.record(at, Record::Lost { source: self.host, destination });
            return;
        }
        let sender = &mut self.senders[port];
        self.flows.inject(net, at.ps(), &message, hop, sender);
        self.next = self.next.min(sender.wake);
    }

    /// A signal reaches the host. Everything due before `at` must have been run.
    pub(crate) fn hear<O: Out>(&mut self, net: &Fabric, at: Time, signal: Signal, out: &mut O) {
        match signal {
            Signal::Packet(packet) => self.arrive(net, at.ps(), &packet, out),
            Signal::Credit(credit) => {
                let Some(sender) = self.senders.get_mut(usize::from(credit.port)) else { return };
                sender.credit(at.ps(), &credit);
                self.next = self.next.min(sender.wake);
            }
        }
    }

    /// Sends what is due before `until`. The answer is when something will be next.
    pub(crate) fn run<O: Out>(&mut self, net: &Fabric, until: Time, out: &mut O) -> Time {
        while self.next < until.ps() {
            let now = self.next;
            self.flows.time_out(net, self.host, &mut self.senders, now, out);
            self.next = u64::MAX;
            for (port, sender) in self.senders.iter_mut().enumerate() {
                if sender.wake <= now {
                    let link = &net.ports(self.host.into())[port];
                    sender.run(net, (port as u16, link), &mut self.flows, now, out);
                }
                self.next = self.next.min(sender.wake);
            }
            let host = self.host;
            for sink in &mut self.sinks {
                if sink.wake <= now {
                    sink.go_on(now, |packet, piece, whole| {
                        taken(net, host, packet, piece, whole, out);
                    });
                }
                self.next = self.next.min(sink.wake);
            }
            self.next = self.next.min(self.flows.wake());
        }
        Time::from_ps(self.next)
    }

    fn arrive<O: Out>(&mut self, net: &Fabric, now: u64, packet: &Packet, out: &mut O) {
        let Some(link) = net.ports(self.host.into()).get(usize::from(packet.port)).copied() else {
            return;
        };
        let host = self.host;
        let is_damaged = net.is_damaged(packet);
        if is_damaged && O::LISTENS {
            let lost = Record::Lost { source: packet.source, destination: host };
            out.record(Time::from_ps(whole(now, packet)), lost);
        }
        let piece = Piece { start: now, shape: packet.shape, flits: packet.flits };
        if !packet.is_data() {
            give_back(net, link, packet, piece, out);
            if !is_damaged {
                self.answered(net, now, packet, out);
            }
            return;
        }
        let (takes, answer) = self.receive(net, packet);
        if takes {
            let sink = &mut self.sinks[usize::from(packet.port)];
            sink.take(now, packet, |packet, piece, whole| {
                taken(net, host, packet, piece, whole, out);
            });
            self.next = self.next.min(sink.wake);
        } else {
            give_back(net, link, packet, piece, out);
        }
        if let Some((kind, psn)) = answer {
            self.answer(net, now, packet, (kind, psn), out);
        }
    }

    /// Receives a data packet. Returns true if it goes to memory, and the answer to it. A damaged
    /// packet goes there too, because only its end shows that it is damaged.
    fn receive(&mut self, net: &Fabric, packet: &Packet) -> (bool, Option<(Kind, Psn)>) {
        let none = Psn::default();
        if net.is_damaged(packet) {
            return (true, None);
        }
        let flow = (packet.source, packet.level);
        let acknowledges = self.receivers.is_some() || net.parameters.acknowledge;
        if !acknowledges {
            return (true, packet.marked.then_some((Kind::Notification, none)));
        }
        if packet.marked {
            self.marked.insert(flow);
        }
        let (takes, mut answer) = match &mut self.receivers {
            Some(receivers) => receivers.receive(packet),
            None => (true, (packet.kind == Kind::Tail).then_some((Kind::Acknowledgement, none))),
        };
        if let Some((kind @ Kind::Acknowledgement, _)) = &mut answer
            && self.marked.remove(&flow)
        {
            *kind = Kind::Backward;
        }
        (takes, answer)
    }

    /// Queues the answer to a data packet.
    fn answer<O: Out>(
        &mut self,
        net: &Fabric,
        now: u64,
        packet: &Packet,
        (kind, psn): (Kind, Psn),
        out: &mut O,
    ) {
        let Packet { source, level, .. } = *packet;
        let hop = net.first_hop(&header(self.host, source, level));
        let Some(sender) = self.senders.get_mut(usize::from(hop.port)) else { return };
        let lane = hop.lane;
        let reply = Reply { at: whole(now, packet), destination: source, level, lane, kind, psn };
        if kind == Kind::Notification && sender.is_full(net) {
            let unsent = Detail::Unsent { destination: source };
            out.record(Time::from_ps(now), Record::Detail(unsent));
            return;
        }
        sender.reply(reply);
        self.next = self.next.min(sender.wake);
    }

    /// A notification or acknowledgement arrives.
    fn answered<O: Out>(&mut self, net: &Fabric, now: u64, packet: &Packet, out: &mut O) {
        if matches!(packet.kind, Kind::Notification | Kind::Backward) {
            self.notified(net, now, packet, out);
        }
        if packet.kind == Kind::Notification || net.parameters.losses.is_none() {
            return;
        }
        let hop = net.first_hop(&header(self.host, packet.source, packet.level));
        let Some(sender) = self.senders.get_mut(usize::from(hop.port)) else { return };
        self.flows.answered(net, sender, now, packet, out);
        self.next = self.next.min(sender.wake).min(self.flows.wake());
    }

    /// A BECN arrives: the flow to the packet's source slows down.
    fn notified<O: Out>(&mut self, net: &Fabric, now: u64, packet: &Packet, out: &mut O) {
        let Some(control) = &net.parameters.congestion else { return };
        let Packet { source, level, .. } = *packet;
        let index = match control.scope {
            Scope::QueuePair => self.flows.index(source, level),
            Scope::ServiceLevel => self.flows.levels.get_mut(usize::from(level)),
        };
        let Some(index) = index else { return };
        let trigger = index.raise(control, now);
        if O::LISTENS {
            let (index, destination) = (index.at(control, now), source);
            out.record(Time::from_ps(now), Record::Throttled { destination, level, index });
            if trigger {
                let triggered = Detail::Triggered { destination, level };
                out.record(Time::from_ps(now), Record::Detail(triggered));
            }
        }
    }
}

/// Returns when the last flit of a packet arrives whose first one arrives now.
fn whole(now: u64, packet: &Packet) -> u64 {
    now + packet.shape.offset(u32::from(packet.flits) - 1)
}

/// The credits of flits that are taken go back.
fn give_back<O: Out>(net: &Fabric, link: Port, packet: &Packet, piece: Piece, out: &mut O) {
    if packet.lane != net.lanes {
        let back = net.parameters.credit_delay.ps() + link.cable;
        let (port, lane) = (link.plug, packet.lane);
        let credit = Credit { shape: piece.shape, port, flits: piece.flits, lane };
        out.send(link.peer, Time::from_ps(piece.start + back), Signal::Credit(credit));
    }
}

/// Flits of a packet are taken, and with the last one of a message it is delivered.
fn taken<O: Out>(
    net: &Fabric,
    host: HostId,
    packet: &Packet,
    piece: Piece,
    whole: bool,
    out: &mut O,
) {
    let Some(&link) = net.ports(host.into()).get(usize::from(packet.port)) else { return };
    give_back(net, link, packet, piece, out);
    if !whole || packet.kind != Kind::Tail || net.is_damaged(packet) {
        return;
    }
    let at = Time::from_ps(piece.start + piece.shape.offset(u32::from(piece.flits) - 1));
    out.deliver(at, packet.source, packet.id());
    if O::LISTENS {
        let hops = net.path(&net.header(packet)).map_or(0, |path| path.len() as u16);
        out.record(at, Record::Arrived { source: packet.source, hops });
    }
}

/// Queue pairs by destination and level.
type Pairs = FxHashMap<(HostId, u8), u32>;
