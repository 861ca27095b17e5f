//! The declarations of all tables.

use std::{io, sync::Arc};

use host::{Activity, RankTotals};
use units::Time;

use super::{
    Cell, Column, Fixed, Row, Table, TableOutput, Text, Value, Writer, read::Cells, write::Line,
};
use crate::{Artifact, Lines, LinkLoad, MessageTable, SliceTable, format::or_any};

/// Declares tables: for each, the row's structure, its schema, and how its cells are written and
/// read. A column is `field: type, "name", "unit", "meaning";`.
macro_rules! tables {
    ($(
        $(#[doc = $doc:literal])+
        $row:ident = $artifact:ident, $about:literal {
            $($field:ident: $type:ty, $name:literal, $unit:literal, $meaning:literal;)+
        }
    )+) => {
        /// The schemas of all tables.
        pub const TABLES: &[Table] = &[$($row::TABLE),+];

        $(
            $(#[doc = $doc])+
            #[derive(Clone, Debug, PartialEq)]
            pub struct $row {
                $(#[doc = $meaning] pub $field: $type,)+
            }

            impl Row for $row {
                const TABLE: Table = Table {
                    artifact: Artifact::$artifact,
                    about: $about,
                    columns: &[$(Column {
                        name: $name,
                        kind: <$type as Cell>::KIND,
                        optional: <$type as Cell>::OPTIONAL,
                        unit: $unit,
                        about: $meaning,
                    }),+],
                };

                #[inline]
                fn write(&self, line: &mut Line) {
                    $(self.$field.write(line); line.end();)+
                }

                fn read(cells: &mut Cells) -> Option<Self> {
                    Some(Self { $($field: cells.next()?),+ })
                }

                #[inline]
                fn values(&self, each: &mut impl FnMut(Option<Value<'_>>)) {
                    $(each(self.$field.value());)+
                }
            }
        )+
    };
}

tables! {
    /// A row of `ranks.csv`.
    RankRow = Ranks, "A row per rank, in the order of their numbers." {
        rank: u64, "rank", "", "Number of the rank.";
        finish: Time, "finish_ps", "ps",
            "When its last CPU became free for good and its last send was done.";
        busy: Time, "cpu_busy_ps", "ps",
            "Time that its CPUs were busy (computation, overheads, noise), summed over its CPUs.";
        waiting: Time, "waiting_ps", "ps",
            "Finish less busy less blocked, not below 0: time with nothing to do but to wait \
             for messages.";
        blocked: Time, "blocked_ps", "ps",
            "Time that its sends spent between the end of their overhead and their own end: \
             waiting for their receive, or until their message had left the host.";
        sent_messages: u64, "sent_messages", "", "Messages that it sent.";
        sent_bytes: u64, "sent_bytes", "B", "Bytes that it sent.";
        received_messages: u64, "received_messages", "", "Messages that met a receive.";
        received_bytes: u64, "received_bytes", "B", "Bytes that met a receive.";
        latency: Time, "latency_ps", "ps",
            "Latency on the chain of causes that ends at its finish.";
        bandwidth: Time, "bandwidth_ps", "ps", "Time per byte on that chain.";
        contention: Time, "contention_ps", "ps",
            "Time that messages on that chain spent in the network beyond what they take on an \
             idle one.";
    }

    /// A row of `messages.csv`.
    MessageRow = Messages,
        "A row per message, in the order of injection; of one instant, by source and the order \
         of its sends." {
        id: u64, "id", "", "Number of the row, from 0.";
        source: u32, "source", "", "Rank that sends.";
        destination: u32, "destination", "", "Rank that receives.";
        tag: i64, "tag", "",
            "Tag of the program; -1 is the wildcard, and from 2^31 on it is a message of live \
             ranks that is no program's.";
        size: u64, "size", "B", "Bytes.";
        posted: Option<Time>, "posted_ps", "ps",
            "When everything that the send required had happened.";
        injected: Option<Time>, "injected_ps", "ps", "When it entered the network.";
        delivered: Option<Time>, "delivered_ps", "ps",
            "When it arrived at its destination's interface.";
        matched: Option<Time>, "matched_ps", "ps", "When it met its receive.";
    }

    /// A row of `calls.csv`.
    CallRow = Calls,
        "A row per MPI call, by rank; those of a rank in the order of its trace. Calls that \
         cost nothing in the schedule, such as `MPI_Comm_rank`, have no row." {
        rank: u32, "rank", "", "Rank that called.";
        thread: u32, "thread", "", "Its thread, numbered within the rank.";
        call: Text, "call", "", "Name of the function.";
        enter: Option<Time>, "enter_ps", "ps",
            "When it was called: the computation before it is over.";
        leave: Option<Time>, "return_ps", "ps",
            "When it returned: the computation behind it begins.";
        place: Option<Text>, "place", "",
            "Where a live program called it: file and line, or the name of the function where no \
             line is known.";
    }

    /// A row of `computation.csv`.
    ComputationRow = Computation,
        "A row per region of computation, by rank; those of a rank in the order of time." {
        rank: u32, "rank", "", "Number of the rank.";
        cpu: u64, "cpu_ns", "ns", "What the region took of the rank's processor.";
    }

    /// A row of `activity.csv`.
    ActivityRow = Activity, "A row per busy period of a CPU, by rank, CPU and start." {
        rank: u32, "rank", "", "Number of the rank.";
        cpu: u8, "cpu", "", "Its CPU.";
        activity: Activity, "activity", "",
            "`compute`, or the overhead of `send` or `receive`; noise is part of it.";
        start: Time, "start_ps", "ps", "When it began.";
        end: Time, "end_ps", "ps", "When it was over.";
        message: Option<u32>, "message", "", "The `id` of its message in `messages.csv`.";
        line: Option<u32>, "line", "",
            "The line that it comes from: of the schedule's text, or of the text of the rank's \
             trace.";
    }

    /// A row of `lines.csv`.
    LineRow = Lines, "A row per line of the schedule's text that has operations, in their order." {
        line: u32, "line", "", "Number of the line, from 1.";
        text: Text, "text", "", "The line, at most its first 200 characters.";
        operations: u64, "operations", "", "Operations that it has.";
        compute: Time, "compute_ps", "ps", "Time that CPUs computed for it, noise included.";
        send: Time, "send_ps", "ps", "Overhead of sending.";
        receive: Time, "receive_ps", "ps", "Overhead of receiving.";
    }

    /// A row of `loads.csv`.
    LoadRow = Loads, "A row per change of the load of a link, by link and time." {
        link: Text, "link", "", "Name of the link.";
        bandwidth: u64, "bandwidth", "B/s", "Bandwidth of the link.";
        time: Time, "time_ps", "ps", "Time of the change.";
        load: u64, "load", "B/s", "Rate at which it carries bytes from then on.";
    }

    /// A row of `points.csv`.
    PointRow = Points, "A row per offered load, in the order of measurement." {
        load: f64, "load", "",
            "Load that was asked for, as a share of the bandwidth of the hosts' links.";
        offered: Fixed<6>, "offered", "", "Load that hosts offered.";
        accepted: Fixed<6>, "accepted", "", "Load that the network accepted.";
        accepted_half_width: Option<Fixed<6>>, "accepted_half_width", "",
            "Half the width of its confidence interval.";
        latency_mean: Option<Fixed<0>>, "latency_mean_ps", "ps", "Mean latency of messages.";
        latency_half_width: Option<Fixed<0>>, "latency_half_width_ps", "ps",
            "Half the width of its confidence interval.";
        latency_min: Option<u64>, "latency_min_ps", "ps", "Least latency.";
        latency_median: Option<u64>, "latency_median_ps", "ps", "Median latency.";
        latency_p95: Option<u64>, "latency_p95_ps", "ps", "95th percentile of the latency.";
        latency_p99: Option<u64>, "latency_p99_ps", "ps", "99th percentile of the latency.";
        latency_max: Option<u64>, "latency_max_ps", "ps", "Greatest latency.";
        hops: Option<Fixed<6>>, "hops", "", "Mean number of links that a message crossed.";
        messages: u64, "messages", "", "Messages that were measured.";
        warm_up: u64, "warm_up_ps", "ps", "Time before the measurement began.";
        measured: u64, "measured_ps", "ps", "Length of the measurement.";
        batches: u64, "batches", "", "Batches of the measurement.";
        steady: bool, "steady", "",
            "True if latency had settled and the accepted load did not lag behind the offered.";
        saturated: bool, "saturated", "",
            "True if the network accepts less than is offered, or has not settled.";
        deadlock: Option<u64>, "deadlock_ps", "ps", "Since when nothing moves.";
        stuck: Option<u64>, "stuck", "", "Messages that are stuck.";
        bound: Option<Fixed<6>>, "bound", "",
            "Load at which the busiest link is full, counted over the routes.";
        zero_load: Option<Fixed<0>>, "zero_load_ps", "ps", "Mean latency on the idle network.";
    }

    /// A row of `lanes.csv`.
    LaneRow = Lanes,
        "A row per output port, lane and interval in which something happened, in this order." {
        device: Text, "device", "", "Name of the host or switch.";
        port: u16, "port", "", "Its output port.";
        lane: u8, "lane", "", "The virtual lane.";
        start: u64, "start_ps", "ps", "Start of the interval.";
        flits: u64, "flits", "", "Flits that were sent.";
        utilisation: Fixed<6>, "utilisation", "", "Share of the link's time that they took.";
        queue_mean: Fixed<3>, "queue_mean_flits", "flit", "Mean length of the queue.";
        queue_max: u64, "queue_max_flits", "flit", "Greatest length of the queue.";
        stalled: u64, "stalled_ps", "ps", "Time that the lane had flits to send, and no credit.";
        marked: u64, "fecn", "", "Packets that were marked for congestion (FECN).";
    }

    /// A row of `flows.csv`.
    FlowRow = Flows, "A row per congestion notification (BECN), by flow and time." {
        source: Text, "source", "", "Name of the host that sends.";
        destination: Text, "destination", "", "Name of the host that receives.";
        level: u8, "level", "", "Service level.";
        time: Time, "time_ps", "ps", "When the notification reached the source.";
        index: u16, "ccti", "", "Index of the flow's injection delay from then on.";
    }

    /// A row of `hops.csv`.
    HopRow = Hops, "A row per number of links." {
        links: u32, "links", "", "Links that a message crosses.";
        messages: u64, "messages", "", "Messages that crossed so many.";
    }

    /// A row of `losses.csv`.
    LossRow = Losses, "A row per host or switch that discarded packets or sent some again." {
        device: Text, "device", "", "Name of the host or switch.";
        discarded: u64, "discarded", "",
            "Packets that it discarded: a host, because they were damaged; a switch, because they \
             led nowhere.";
        resent: u64, "resent", "", "Packets that it sent again.";
    }

    /// A row of `devices.csv`.
    DeviceRow = Devices, "A row per host and switch, hosts first." {
        device: Text, "device", "", "Name of the host or switch.";
        host: bool, "host", "", "True if it is a host.";
        x: Option<Fixed<1>>, "x", "", "Its place in a drawing, from the left.";
        y: Option<Fixed<1>>, "y", "", "Its place in a drawing, from the top.";
    }

    /// A row of `connections.csv`.
    ConnectionRow = Connections, "A row per link of the topology." {
        first: u32, "first", "", "Row of the device at one end in `devices.csv`, from 0.";
        first_port: u16, "first_port", "", "Its port.";
        second: u32, "second", "", "Row of the device at the other end.";
        second_port: u16, "second_port", "", "Its port.";
        up: bool, "up", "", "False if the link is broken.";
    }
}

impl RankRow {
    /// The row of a rank. It waits for what remains of its finish time when busy and blocked time
    /// are taken off; that is 0 where they exceed it, as on a rank with several CPUs, whose busy
    /// times are summed.
    pub fn new(rank: u64, totals: &RankTotals) -> Self {
        Self {
            rank,
            finish: totals.finish,
            busy: totals.busy,
            waiting: totals.finish.saturating_sub(totals.busy).saturating_sub(totals.blocked),
            blocked: totals.blocked,
            sent_messages: totals.sent_messages,
            sent_bytes: totals.sent_bytes,
            received_messages: totals.received_messages,
            received_bytes: totals.received_bytes,
            latency: totals.latency,
            bandwidth: totals.bandwidth,
            contention: totals.contention,
        }
    }
}

impl MessageRow {
    /// The row of a message.
    pub fn new(id: u64, message: &crate::Message) -> Self {
        Self {
            id,
            source: message.source,
            destination: message.destination,
            tag: or_any(message.tag),
            size: message.size,
            posted: reached(message.posted),
            injected: reached(message.injected),
            delivered: reached(message.delivered),
            matched: reached(message.matched),
        }
    }
}

/// A time, unless it never came: in a deadlock it is [`Time::MAX`].
fn reached(time: Time) -> Option<Time> {
    (time != Time::MAX).then_some(time)
}

impl CallRow {
    /// The row of a call.
    pub fn new(call: &Call) -> Self {
        Self {
            rank: call.rank,
            thread: call.thread,
            call: call.name.to_string().into(),
            enter: reached(call.enter),
            leave: reached(call.leave),
            place: (!call.place.is_empty()).then(|| call.place.to_string().into()),
        }
    }
}

/// Writes `ranks.csv`.
pub fn write_ranks(out: &mut impl TableOutput, ranks: &[RankTotals]) -> io::Result<()> {
    Writer::all(out, (0..).zip(ranks).map(|(rank, totals)| RankRow::new(rank, totals)))
}

/// Writes `messages.csv`.
///
/// # Errors
/// If the table cannot be written, or kept messages cannot be read.
pub fn write_messages(out: &mut impl TableOutput, messages: &MessageTable) -> io::Result<()> {
    let mut table = Writer::new(out)?;
    for (id, message) in (0..).zip(messages.read()?) {
        table.row(&MessageRow::new(id, &message?))?;
    }
    table.finish()
}

/// An MPI call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call<N = Arc<str>> {
    /// The rank that made it.
    pub rank: u32,
    /// The thread that made it.
    pub thread: u32,
    /// Its name in C.
    pub name: N,
    /// The place in the program that it was called from; empty if that is not known.
    pub place: N,
    /// Time at which it was called. This and the following are [`Time::MAX`] if that never
    /// happened.
    pub enter: Time,
    /// Time at which it returned.
    pub leave: Time,
}

/// Writes `calls.csv`.
pub fn write_calls(
    out: &mut impl TableOutput,
    calls: impl Iterator<Item = Call>,
) -> io::Result<()> {
    Writer::all(out, calls.map(|call| CallRow::new(&call)))
}

/// Writes `activity.csv`.
pub fn write_activity(
    out: &mut impl TableOutput,
    slices: &SliceTable,
    lines: &Lines,
) -> io::Result<()> {
    let mut table = Writer::new(out)?;
    for slice in slices.read()? {
        let slice = slice?;
        table.row(&ActivityRow {
            rank: slice.rank,
            cpu: slice.cpu,
            activity: slice.activity,
            start: slice.start,
            end: slice.end,
            message: slice.message,
            line: lines.of(&slice),
        })?;
    }
    table.finish()
}

/// Writes `loads.csv`.
pub fn write_loads(out: &mut impl TableOutput, links: &[LinkLoad]) -> io::Result<()> {
    let rows = links.iter().flat_map(|link| {
        link.loads.iter().map(|&(time, load)| LoadRow {
            link: link.name.clone().into(),
            bandwidth: link.bandwidth,
            time,
            load,
        })
    });
    Writer::all(out, rows)
}

/// Writes `computation.csv`; `lists` has the regions of each rank in nanoseconds of its processor.
pub fn write_computation(out: &mut impl TableOutput, lists: &[Vec<u64>]) -> io::Result<()> {
    let ranks = (0..).zip(lists);
    let rows =
        ranks.flat_map(|(rank, list)| list.iter().map(move |&cpu| ComputationRow { rank, cpu }));
    Writer::all(out, rows)
}
