//! The MPI calls of several runs on one timeline for Perfetto: a process per run, a track per rank
//! and thread, a slice per call. Times are rounded down to nanoseconds.

use std::io::{self, Write};

use rustc_hash::FxHashMap;

use crate::Call;
use crate::perfetto::{
    PIECE, SEQUENCE, SEQUENCE_NEEDS_STATE, SEQUENCE_STATE_CLEARED, field, nanoseconds,
};
use crate::protobuf::{message, string, uint};

/// A timeline that is being written.
pub struct CallTimeline<W> {
    out: W,
    packets: Vec<u8>,
    /// The process of the current run.
    process: u64,
    begun: bool,
    /// The track of each rank and thread of the process; tracks of all so far.
    tracks: FxHashMap<(u32, u32), u64>,
    last: u64,
    names: FxHashMap<String, u64>,
}

impl<W: Write> CallTimeline<W> {
    /// An empty timeline.
    pub fn new(out: W) -> Self {
        Self {
            out,
            packets: Vec::with_capacity(2 * PIECE),
            process: 0,
            begun: false,
            tracks: FxHashMap::default(),
            last: 0,
            names: FxHashMap::default(),
        }
    }

    /// Starts a run: the calls that follow are its own.
    pub fn run(&mut self, name: &str) -> io::Result<()> {
        self.process += 1;
        self.tracks.clear();
        self.last += 1;
        let (uuid, process) = (self.last, self.process);
        self.packet(|packet| {
            message(packet, field::PACKET_TRACK_DESCRIPTOR, |track| {
                uint(track, field::TRACK_UUID, uuid);
                message(track, field::TRACK_PROCESS, |descriptor| {
                    uint(descriptor, field::PROCESS_PID, process);
                    string(descriptor, field::PROCESS_NAME, name);
                });
            });
        })
    }

    /// Adds a call; those of a thread come in order.
    pub fn call<N: AsRef<str>>(&mut self, call: &Call<N>) -> io::Result<()> {
        let track = match self.tracks.get(&(call.rank, call.thread)) {
            Some(track) => *track,
            None => self.track(call.rank, call.thread)?,
        };
        let text = call.name.as_ref();
        let known = self.names.get(text).copied();
        let name = known.unwrap_or(self.names.len() as u64 + 1);
        if known.is_none() {
            self.names.insert(text.to_owned(), name);
        }
        self.packet(|packet| {
            uint(packet, field::PACKET_TIMESTAMP, nanoseconds(call.enter));
            if known.is_none() {
                message(packet, field::PACKET_INTERNED_DATA, |data| {
                    message(data, field::INTERNED_EVENT_NAMES, |entry| {
                        uint(entry, field::NAME_ID, name);
                        string(entry, field::NAME_TEXT, text);
                    });
                });
            }
            message(packet, field::PACKET_TRACK_EVENT, |event| {
                uint(event, field::EVENT_TYPE, field::TYPE_SLICE_BEGIN);
                uint(event, field::EVENT_TRACK, track);
                uint(event, field::EVENT_NAME_ID, name);
            });
        })?;
        self.packet(|packet| {
            uint(packet, field::PACKET_TIMESTAMP, nanoseconds(call.leave));
            message(packet, field::PACKET_TRACK_EVENT, |event| {
                uint(event, field::EVENT_TYPE, field::TYPE_SLICE_END);
                uint(event, field::EVENT_TRACK, track);
            });
        })
    }

    fn track(&mut self, rank: u32, thread: u32) -> io::Result<u64> {
        self.last += 1;
        let (uuid, process) = (self.last, self.process);
        self.tracks.insert((rank, thread), uuid);
        if i32::try_from(uuid).is_err() {
            let text = "a Perfetto timeline has room for fewer than 2^31 ranks and threads";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
        let name = if thread == 0 {
            format!("rank {rank}")
        } else {
            format!("rank {rank} thread {thread}")
        };
        self.packet(|packet| {
            message(packet, field::PACKET_TRACK_DESCRIPTOR, |track| {
                uint(track, field::TRACK_UUID, uuid);
                message(track, field::TRACK_THREAD, |descriptor| {
                    uint(descriptor, field::THREAD_PID, process);
                    uint(descriptor, field::THREAD_TID, uuid);
                    string(descriptor, field::THREAD_NAME, &name);
                });
            });
        })?;
        Ok(uuid)
    }

    fn packet(&mut self, content: impl FnOnce(&mut Vec<u8>)) -> io::Result<()> {
        let first = !self.begun;
        self.begun = true;
        message(&mut self.packets, field::TRACE_PACKET, |packet| {
            uint(packet, field::PACKET_SEQUENCE, SEQUENCE);
            if first {
                uint(packet, field::PACKET_FIRST_ON_SEQUENCE, 1);
            }
            let flags = if first { SEQUENCE_STATE_CLEARED } else { SEQUENCE_NEEDS_STATE };
            uint(packet, field::PACKET_SEQUENCE_FLAGS, flags);
            content(packet);
        });
        if self.packets.len() >= PIECE {
            self.out.write_all(&self.packets)?;
            self.packets.clear();
        }
        Ok(())
    }

    /// Writes what is left.
    pub fn finish(mut self) -> io::Result<()> {
        self.out.write_all(&self.packets)?;
        self.out.flush()
    }
}
