//! Timelines for Perfetto: one track per rank and CPU, one slice per busy period, arrows for
//! messages; a counter for the use of each link, where the network tells of it.
//!
//! Perfetto counts nanoseconds; slices are rounded down to them and carry their exact times in
//! picoseconds as annotations. Arrows run from a message's first slice to its last receive slice;
//! one whose both ends fall into the same nanosecond may be left out by the viewer.
//!
//! Field numbers: `protos/perfetto/trace` of the Perfetto sources (`trace_packet.proto`,
//! `interned_data.proto`, and `track_event/{track_descriptor, process_descriptor,
//! thread_descriptor, counter_descriptor, track_event, debug_annotation}.proto`).

use std::io::{self, Write};

use host::Activity;
use units::Time;

use crate::format::or_any;
use crate::protobuf::{fixed64, message, string, uint};
use crate::{LinkLoad, Message, Recorded, Slice};

/// Packets are handed on in pieces of at least this many bytes.
pub(crate) const PIECE: usize = 1 << 16;

/// The process that all ranks belong to: its process id and its track.
const PROCESS: u64 = 1;

/// All packets form one sequence, whose strings are interned in its first packet.
pub(crate) const SEQUENCE: u64 = 1;
pub(crate) const SEQUENCE_STATE_CLEARED: u64 = 1;
pub(crate) const SEQUENCE_NEEDS_STATE: u64 = 2;

/// Names of slices; the id of each is its place, from 1.
const ACTIVITIES: [&str; 3] = ["compute", "send", "receive"];

/// Names of annotations; the id of each is its place, from 1.
const ANNOTATIONS: [&str; 6] = ["start_ps", "end_ps", "message", "peer", "bytes", "tag"];

pub(crate) mod field {
    pub const TRACE_PACKET: u64 = 1;

    pub const PACKET_TIMESTAMP: u64 = 8;
    pub const PACKET_SEQUENCE: u64 = 10;
    pub const PACKET_TRACK_EVENT: u64 = 11;
    pub const PACKET_INTERNED_DATA: u64 = 12;
    pub const PACKET_SEQUENCE_FLAGS: u64 = 13;
    pub const PACKET_TRACK_DESCRIPTOR: u64 = 60;
    pub const PACKET_FIRST_ON_SEQUENCE: u64 = 87;

    pub const INTERNED_EVENT_NAMES: u64 = 2;
    pub const INTERNED_ANNOTATION_NAMES: u64 = 3;
    pub const NAME_ID: u64 = 1;
    pub const NAME_TEXT: u64 = 2;

    pub const TRACK_UUID: u64 = 1;
    pub const TRACK_NAME: u64 = 2;
    pub const TRACK_PROCESS: u64 = 3;
    pub const TRACK_THREAD: u64 = 4;
    pub const TRACK_PARENT: u64 = 5;
    pub const TRACK_COUNTER: u64 = 8;
    pub const COUNTER_UNIT_NAME: u64 = 6;
    pub const PROCESS_PID: u64 = 1;
    pub const PROCESS_NAME: u64 = 6;
    pub const THREAD_PID: u64 = 1;
    pub const THREAD_TID: u64 = 2;
    pub const THREAD_NAME: u64 = 5;

    pub const EVENT_ANNOTATION: u64 = 4;
    pub const EVENT_TYPE: u64 = 9;
    pub const EVENT_NAME_ID: u64 = 10;
    pub const EVENT_TRACK: u64 = 11;
    pub const EVENT_FLOW: u64 = 47;
    pub const EVENT_FLOW_END: u64 = 48;
    pub const TYPE_SLICE_BEGIN: u64 = 1;
    pub const EVENT_COUNTER_VALUE: u64 = 44;
    pub const TYPE_SLICE_END: u64 = 2;
    pub const TYPE_COUNTER: u64 = 4;

    pub const ANNOTATION_NAME_ID: u64 = 1;
    pub const ANNOTATION_UINT: u64 = 3;
    pub const ANNOTATION_INT: u64 = 4;
}

/// Writes a timeline of `ranks` ranks in Perfetto's protobuf format.
///
/// # Errors
///
/// Besides errors of `out`: [`io::ErrorKind::InvalidInput`] if there are 2^31 tracks or more, for
/// which the format has no thread ids.
pub fn write_perfetto(out: &mut impl Write, ranks: u32, recorded: &Recorded) -> io::Result<()> {
    let several_cpus = recorded.slices.iter().any(|slice| slice.cpu > 0);
    let last_receives = last_receives(recorded);
    let mut trace = Trace { out, packets: Vec::with_capacity(2 * PIECE), tracks: 0 };
    trace.header();
    let mut slices = (0..).zip(&recorded.slices).peekable();
    for rank in 0..ranks {
        let mut track = trace.track(rank, 0, several_cpus)?;
        let mut cpu = 0;
        while let Some((index, slice)) = slices.next_if(|(_, slice)| slice.rank == rank) {
            if slice.cpu != cpu {
                cpu = slice.cpu;
                track = trace.track(rank, cpu, several_cpus)?;
            }
            let message = slice.message.and_then(|id| {
                let message = recorded.messages.get(id as usize)?;
                let last = last_receives.get(id as usize) == Some(&Some(index));
                Some(Flow { id, message, last })
            });
            trace.slice(track, slice, message.as_ref())?;
        }
    }
    for link in &recorded.links {
        trace.link(link)?;
    }
    trace.finish()
}

/// The relation of a slice to its message.
struct Flow<'a> {
    id: u32,
    message: &'a Message,
    last: bool,
}

/// For each message, the index of the receive slice that ends last. A rendezvous has several slices
/// at either side; the arrow ends at the last.
fn last_receives(recorded: &Recorded) -> Vec<Option<usize>> {
    let mut last: Vec<Option<usize>> = vec![None; recorded.messages.len()];
    for (index, slice) in recorded.slices.iter().enumerate() {
        let (Activity::Receive, Some(id)) = (slice.activity, slice.message) else {
            continue;
        };
        if let Some(best) = last.get_mut(id as usize) {
            let end = best.and_then(|other| recorded.slices.get(other).map(|other| other.end));
            if end.is_none_or(|end| end <= slice.end) {
                *best = Some(index);
            }
        }
    }
    last
}

struct Trace<'a, W> {
    out: &'a mut W,
    packets: Vec<u8>,
    tracks: u64,
}

impl<W: Write> Trace<'_, W> {
    /// The first packet: interned names, and the process.
    fn header(&mut self) {
        message(&mut self.packets, field::TRACE_PACKET, |packet| {
            uint(packet, field::PACKET_SEQUENCE, SEQUENCE);
            uint(packet, field::PACKET_SEQUENCE_FLAGS, SEQUENCE_STATE_CLEARED);
            uint(packet, field::PACKET_FIRST_ON_SEQUENCE, 1);
            message(packet, field::PACKET_INTERNED_DATA, |data| {
                intern(data, field::INTERNED_EVENT_NAMES, &ACTIVITIES);
                intern(data, field::INTERNED_ANNOTATION_NAMES, &ANNOTATIONS);
            });
            message(packet, field::PACKET_TRACK_DESCRIPTOR, |track| {
                uint(track, field::TRACK_UUID, PROCESS);
                message(track, field::TRACK_PROCESS, |process| {
                    uint(process, field::PROCESS_PID, PROCESS);
                    string(process, field::PROCESS_NAME, "heddle");
                });
            });
        });
    }

    /// Opens the next track and answers its number.
    fn track(&mut self, rank: u32, cpu: u8, name_cpu: bool) -> io::Result<u64> {
        self.tracks += 1;
        let thread = self.tracks;
        if i32::try_from(thread).is_err() {
            let text = "a Perfetto timeline has room for fewer than 2^31 ranks and CPUs";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
        let uuid = PROCESS + thread;
        let name = if name_cpu { format!("rank {rank} cpu {cpu}") } else { format!("rank {rank}") };
        self.packet(|packet| {
            message(packet, field::PACKET_TRACK_DESCRIPTOR, |track| {
                uint(track, field::TRACK_UUID, uuid);
                uint(track, field::TRACK_PARENT, PROCESS);
                message(track, field::TRACK_THREAD, |descriptor| {
                    uint(descriptor, field::THREAD_PID, PROCESS);
                    uint(descriptor, field::THREAD_TID, thread);
                    string(descriptor, field::THREAD_NAME, &name);
                });
            });
        })?;
        Ok(uuid)
    }

    fn slice(&mut self, track: u64, slice: &Slice, flow: Option<&Flow>) -> io::Result<()> {
        self.packet(|packet| {
            uint(packet, field::PACKET_TIMESTAMP, nanoseconds(slice.start));
            message(packet, field::PACKET_TRACK_EVENT, |event| {
                uint(event, field::EVENT_TYPE, field::TYPE_SLICE_BEGIN);
                uint(event, field::EVENT_TRACK, track);
                uint(event, field::EVENT_NAME_ID, name_id(slice.activity));
                annotate(event, 1, slice.start.ps());
                annotate(event, 2, slice.end.ps());
                if let Some(flow) = flow {
                    describe(event, slice, flow);
                }
            });
        })?;
        self.packet(|packet| {
            uint(packet, field::PACKET_TIMESTAMP, nanoseconds(slice.end));
            message(packet, field::PACKET_TRACK_EVENT, |event| {
                uint(event, field::EVENT_TYPE, field::TYPE_SLICE_END);
                uint(event, field::EVENT_TRACK, track);
            });
        })
    }

    /// A counter of the use of a link, in percent.
    fn link(&mut self, link: &LinkLoad) -> io::Result<()> {
        self.tracks += 1;
        let uuid = PROCESS + self.tracks;
        self.packet(|packet| {
            message(packet, field::PACKET_TRACK_DESCRIPTOR, |track| {
                uint(track, field::TRACK_UUID, uuid);
                uint(track, field::TRACK_PARENT, PROCESS);
                string(track, field::TRACK_NAME, &format!("link {}", link.name));
                message(track, field::TRACK_COUNTER, |counter| {
                    string(counter, field::COUNTER_UNIT_NAME, "%");
                });
            });
        })?;
        for (at, load) in &link.loads {
            self.packet(|packet| {
                uint(packet, field::PACKET_TIMESTAMP, nanoseconds(*at));
                message(packet, field::PACKET_TRACK_EVENT, |event| {
                    uint(event, field::EVENT_TYPE, field::TYPE_COUNTER);
                    uint(event, field::EVENT_TRACK, uuid);
                    let percent = 100.0 * link.share(*load);
                    fixed64(event, field::EVENT_COUNTER_VALUE, percent.to_bits());
                });
            })?;
        }
        Ok(())
    }

    fn packet(&mut self, content: impl FnOnce(&mut Vec<u8>)) -> io::Result<()> {
        message(&mut self.packets, field::TRACE_PACKET, |packet| {
            uint(packet, field::PACKET_SEQUENCE, SEQUENCE);
            uint(packet, field::PACKET_SEQUENCE_FLAGS, SEQUENCE_NEEDS_STATE);
            content(packet);
        });
        if self.packets.len() >= PIECE {
            self.out.write_all(&self.packets)?;
            self.packets.clear();
        }
        Ok(())
    }

    fn finish(self) -> io::Result<()> {
        self.out.write_all(&self.packets)?;
        self.out.flush()
    }
}

/// Adds the message's annotations and its arrow to a slice.
fn describe(event: &mut Vec<u8>, slice: &Slice, flow: &Flow) {
    let Flow { id, message, last } = flow;
    let peer = if slice.rank == message.source { message.destination } else { message.source };
    annotate(event, 3, u64::from(*id));
    annotate(event, 4, u64::from(peer));
    annotate(event, 5, message.size);
    annotate_signed(event, 6, or_any(message.tag));
    let arrow = if *last { field::EVENT_FLOW_END } else { field::EVENT_FLOW };
    // Flow ids begin at 1: 0 means none.
    fixed64(event, arrow, u64::from(*id) + 1);
}

fn intern(data: &mut Vec<u8>, kind: u64, names: &[&str]) {
    for (id, name) in (1..).zip(names) {
        message(data, kind, |entry| {
            uint(entry, field::NAME_ID, id);
            string(entry, field::NAME_TEXT, name);
        });
    }
}

/// Adds a number under the name with this id in [`ANNOTATIONS`].
fn annotate(event: &mut Vec<u8>, name: u64, value: u64) {
    message(event, field::EVENT_ANNOTATION, |annotation| {
        uint(annotation, field::ANNOTATION_NAME_ID, name);
        uint(annotation, field::ANNOTATION_UINT, value);
    });
}

fn annotate_signed(event: &mut Vec<u8>, name: u64, value: i64) {
    message(event, field::EVENT_ANNOTATION, |annotation| {
        uint(annotation, field::ANNOTATION_NAME_ID, name);
        uint(annotation, field::ANNOTATION_INT, value.cast_unsigned());
    });
}

/// The id of a slice's name in [`ACTIVITIES`].
const fn name_id(activity: Activity) -> u64 {
    match activity {
        Activity::Compute => 1,
        Activity::Send => 2,
        Activity::Receive => 3,
    }
}

pub(crate) const fn nanoseconds(time: Time) -> u64 {
    time.ps() / 1000
}
