#!/usr/bin/env python3
"""Checks timelines against Perfetto's own messages, of the package `perfetto` of PyPI:

    validation/perfetto/check.py HEDDLE

Runs are written with a timeline and with tables. Each packet of the timeline must be read without
a field that Perfetto does not know, and slices and arrows must be those that the tables tell.
"""

import csv
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent

MACHINES = Path(__file__).resolve().parents[2] / "examples/machines"

RUNS = {
    "halos with noise": [
        "pattern:halo2d", "--ranks", "16", "--steps", "3", "--size", "1KiB", "--compute", "40us",
        "--set", "noise.interval=50us", "--set", "noise.duration=20us",
    ],
    "large messages": ["pattern:linear-alltoall", "--ranks", "8", "--size", "1MiB"],
    "flows, with the use of links": [
        "pattern:linear-alltoall", "--ranks", "8", "--size", "1MiB", "--network", "flow",
        "--machine", MACHINES / "edr-cluster.toml",
    ],
}


def unknown(message, path="Trace"):
    """The paths of the fields that Perfetto's messages do not have."""
    from google.protobuf.unknown_fields import UnknownFieldSet

    found = [f"{path}.{field.field_number}" for field in UnknownFieldSet(message)]
    for field, value in message.ListFields():
        if field.type == field.TYPE_MESSAGE:
            for one in value if field.is_repeated else [value]:
                found += unknown(one, f"{path}.{field.name}")
    return found


def rows(folder, name):
    with open(folder / name, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def check(folder):
    """Returns the numbers of slices, of arrows and of values of counters."""
    trace = Trace()
    trace.ParseFromString((folder / "timeline.pftrace").read_bytes())
    assert not unknown(trace), unknown(trace)[:5]
    names, annotations, tracks = {}, {}, {}
    slices, flows, counters = Counter(), defaultdict(list), 0
    open_slices = defaultdict(list)
    for packet in trace.packet:
        names.update((name.iid, name.name) for name in packet.interned_data.event_names)
        annotations.update(
            (name.iid, name.name) for name in packet.interned_data.debug_annotation_names
        )
        if packet.HasField("track_descriptor"):
            track = packet.track_descriptor
            assert track.uuid not in tracks, f"track {track.uuid} is described twice"
            tracks[track.uuid] = track
        if not packet.HasField("track_event"):
            continue
        event = packet.track_event
        assert event.track_uuid in tracks, f"track {event.track_uuid} is not described"
        stack = open_slices[event.track_uuid]
        if event.type == TrackEvent.TYPE_SLICE_BEGIN:
            said = {annotations[one.name_iid]: one for one in event.debug_annotations}
            start, end = said["start_ps"].uint_value, said["end_ps"].uint_value
            assert packet.timestamp == start // 1000, (packet.timestamp, start)
            slices[names[event.name_iid], start, end] += 1
            stack.append(end)
            for flow in event.flow_ids:
                flows[flow].append("start")
            for flow in event.terminating_flow_ids:
                flows[flow].append("end")
        elif event.type == TrackEvent.TYPE_SLICE_END:
            assert packet.timestamp == stack.pop() // 1000
        else:
            assert event.type == TrackEvent.TYPE_COUNTER, event.type
            assert tracks[event.track_uuid].HasField("counter")
            counters += 1
    assert not any(open_slices.values()), "a slice does not end"
    told = Counter(
        (row["activity"], int(row["start_ps"]), int(row["end_ps"]))
        for row in rows(folder, "activity.csv")
    )
    assert slices == told, (slices - told, told - slices)
    # An arrow ends at a receive; a receive that costs nothing is no busy period.
    activity = rows(folder, "activity.csv")
    received = {row["message"] for row in activity if row["activity"] == "receive"}
    arrows = sum(ends.count("end") == 1 and "start" in ends for ends in flows.values())
    assert arrows == len(received), (arrows, len(received))
    assert len(flows) == len(rows(folder, "messages.csv")), "a message has no arrow"
    loads = folder / "loads.csv"
    if loads.exists():
        assert counters >= len(rows(folder, "loads.csv")) > 0
    return sum(slices.values()), arrows, counters


def main():
    heddle = sys.argv[1]
    with tempfile.TemporaryDirectory() as scratch:
        for number, (name, arguments) in enumerate(RUNS.items()):
            folder = Path(scratch) / str(number)
            tables = "messages,activity" + (",loads" if "flow" in arguments else "")
            subprocess.run(
                [heddle, "run", *arguments, "-q", "-o", folder, "--timeline", "perfetto",
                 "--tables", tables],
                check=True,
            )
            slices, arrows, counters = check(folder)
            print(f"{name}: {slices} slices, {arrows} arrows, {counters} values of counters")


main()
