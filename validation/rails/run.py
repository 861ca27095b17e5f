#!/usr/bin/env python3
"""How Open MPI uses the rails of the rig, for several configurations in turn.

    validation/rails/run.py [--pairs 6] [--points 8:1,1024:32 | --full] [--component FOLDER]
                            [--configuration "LABEL: WORD..."]...

A configuration is a label and words: rails=A,D for the rails it may use, NAME=VALUE for a variable
of the environment, `ours` for those that load the component in FOLDER; all others are arguments of
mpirun, a program that starts the benchmark the last of them. Without any there are stock Open MPI
over A, B, A+D and A+B, and with --component ours over A, A+D, A+B and A+D+B beside it. A pair is a
run of each configuration, in random order; every run is a new mpirun. The first configuration is
what the others are compared with: the ratio of rates pair by pair, with its interval of 95 %, and
the probability that the ratio is --below or more, one-sided, by Wilcoxon's signed rank test with
Holm's correction over all points of all configurations. Prints the rates with those of the same
rails measured earlier, on an idle machine with another shaper, and how late this shaper was. Exits
with 1 if a ratio of ours is certainly too low, or if a run failed, and with 77 where there can be
no rig."""

import argparse
import csv
import io
import math
import os
import random
import re
import shlex
import signal
import statistics
import subprocess
import sys
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import rig
from signed_rank import below, holm, interval

POINTS = [(8, 1), (1024, 32), (8192, 32), (32768, 32), (1 << 20, 32)]
FULL = [(1 << power, messages) for messages in (1, 8, 16, 32) for power in range(21)]
STOCK = ["A: rails=A", "B: rails=B", "A+D: rails=A,D", "A+B: rails=A,B"]
OURS = ["A, ours: ours rails=A", "A+D, ours: ours rails=A,D", "A+B, ours: ours rails=A,B",
        "A+D+B, ours: ours rails=A,D,B"]
# Half a round trip in us, then MB/s, of Open MPI 4.1.4 at POINTS.
EARLIER = {
    "A": ["62", "66", "92", "116", "117"],
    "B": ["221", "10.4", "10.8", "11.0", "10.8"],
    "A+D": ["62", "86-91", "88-92", "117", "209"],
    "A+B": ["221", "9.3", "10.4", "10.8", "23.5"],
}
# A run that takes longer has failed.
SECONDS = 300
# Bytes one way for each point and run, if three repetitions do not need more.
MOST = 32 << 20


@dataclass
class Configuration:
    label: str
    rails: list
    variables: dict
    arguments: list
    is_ours: bool = False
    # By point, the time of a message in ns of each pair; None where a run failed.
    times: dict = field(default_factory=lambda: defaultdict(list))
    lateness: list = field(default_factory=list)


def component(folder):
    """What makes Open MPI load the component `bml_heddle` of a folder, beside its own."""
    asked = subprocess.run(["ompi_info", "--parsable", "--path", "pkglibdir"], check=True,
                           capture_output=True, text=True).stdout
    own = asked.strip().rsplit(":", 1)[-1]
    return {"OMPI_MCA_mca_base_component_path": f"{folder.resolve()}:{own}",
            "OMPI_MCA_bml": "heddle"}


def configuration(text, folder, rails):
    label, colon, rest = text.partition(":")
    if not colon:
        raise SystemExit(f"run.py: `{text}` is not of the form LABEL: WORDS...")
    made = Configuration(label.strip(), rails, {}, [])
    for word in shlex.split(rest):
        name, equals, value = word.partition("=")
        if word == "ours":
            if folder is None:
                raise SystemExit(f"run.py: `{label}` is ours, which needs --component FOLDER")
            made.variables.update(component(folder))
            made.is_ours = True
        elif word.startswith("rails="):
            made.rails = value.split(",")
            for unknown in set(made.rails) - set(rails):
                raise SystemExit(f"run.py: `{label}` names the rail `{unknown}`; there are "
                                 + ", ".join(rails))
        elif equals and re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
            made.variables[name] = value
        else:
            made.arguments.append(word)
    return made


def points(text):
    try:
        return [tuple(map(int, point.split(":"))) for point in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"`{text}` is not of the form 8:1,1024:32") from None


def launch(place, made, program, arguments):
    """Runs the benchmark once and returns its times by point, or the reason why there are none."""
    # Open MPI passes its own variables on.
    passed = [part for name in made.variables if not name.startswith("OMPI_")
              for part in ("-x", name)]
    command = ["mpirun", "-n", "2", "--mca", "btl_tcp_if_include", ",".join(made.rails),
               *passed, *made.arguments, program, "bulk", ",".join(
                   f"{size}:{messages}:{max(3, MOST // (size * messages))}"
                   for size, messages in arguments.points), str(arguments.repetitions)]
    process = place.start(command, arguments.nice, made.variables, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)
    try:
        output, errors = process.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        place.end_processes()
        process.communicate()
        return None, f"took more than {SECONDS} s"
    if process.returncode != 0:
        return None, errors.strip()
    rows = csv.DictReader(io.StringIO(output))
    return {(int(row["bytes"]), int(row["messages"])): float(row["time_ns"]) for row in rows}, ""


def measure(place, configurations, program, arguments):
    """Runs all pairs. Returns how many runs failed."""
    failed, order = 0, random.Random(1)
    for pair in range(arguments.pairs):
        for made in order.sample(configurations, len(configurations)):
            place.lateness()
            times, why = launch(place, made, program, arguments)
            made.lateness += [each for each in place.lateness() if each["rail"] in made.rails]
            if times is None:
                failed += 1
                print(f"{made.label}, pair {pair + 1}: {why}", file=sys.stderr)
            for point in arguments.points:
                made.times[point].append(times and times.get(point))
        print(f"pair {pair + 1} of {arguments.pairs}, load {os.getloadavg()[0]:.1f}",
              file=sys.stderr, flush=True)
    return failed


def table(head, rows):
    """Prints rows of text below each other, as Markdown."""
    widths = [max(map(len, column)) for column in zip(head, *rows)]
    for row in [head, ["-" * width for width in widths], *rows]:
        print("| " + " | ".join(f"{cell:>{width}}" for cell, width in zip(row, widths)) + " |")
    print()


def shown(point, time):
    """Half a round trip in us where one message is under way, else MB/s."""
    if time is None:
        return "-"
    value = time / 1000 if point[1] == 1 else point[0] / time * 1000
    return f"{value:.0f}" if value >= 50 else f"{value:.1f}"


def median(times):
    there = [time for time in times if time is not None]
    return statistics.median(there) if there else None


def name(point):
    size, messages = point
    unit = next(((unit, factor) for unit, factor in (("MiB", 1 << 20), ("KiB", 1 << 10))
                 if size >= factor), ("B", 1))
    return f"{size / unit[1]:g} {unit[0]}, N = {messages}, {'us' if messages == 1 else 'MB/s'}"


def print_rates(configurations, chosen):
    print("Medians of all pairs, and what was measured earlier.\n")
    rows = []
    for made in configurations:
        rows.append([made.label, *(shown(point, median(made.times[point])) for point in chosen)])
        if made.label in EARLIER and chosen == POINTS:
            rows.append(["earlier", *EARLIER[made.label]])
    table(["rails", *map(name, chosen)], rows)


def ratios(first, made, point):
    """The logarithms of the ratio of rates, of the pairs in which neither run failed."""
    pairs = zip(first.times[point], made.times[point])
    return [math.log(one / other) for one, other in pairs if one and other]


def print_ratios(configurations, arguments):
    """Returns how many ratios of ours are below the bound, beyond doubt. Stock Open MPI over other
    rails is shown, and not judged."""
    first, *others = configurations
    cases = [(made, point, ratios(first, made, point))
             for made in others for point in arguments.points]
    cases = [case for case in cases if case[2]]
    if not cases:
        return 0
    found = holm([below(logs, math.log(arguments.below)) for _, _, logs in cases])
    rows, low = [], 0
    for (made, point, logs), probability in zip(cases, found):
        ends = ["-" if end is None else f"{math.exp(end):.3f}" for end in interval(logs)]
        is_below = probability <= 0.025
        low += is_below and made.is_ours
        rows.append([made.label, name(point), *ends, f"{probability:.2g}",
                     "below" if is_below else ""])
    print(f"Rates as a multiple of those of {first.label}, {arguments.pairs} pairs; p: that the"
          f" ratio is {arguments.below} or more (Holm, {len(cases)} points).\n")
    table(["rails", "point", "ratio", "95 % from", "to", "p", ""], rows)
    return low


def print_lateness(configurations):
    print("Lateness of the shaper in us: median and 99th percentile, each of the median run, and"
          " the largest of all.\n")
    rows = []
    for made in configurations:
        for rail in made.rails:
            each = [one for one in made.lateness if one["rail"] == rail and one["frames"]]
            if not each:
                continue
            late = [one["late_us"] for one in each]
            middle = [f"{statistics.median(one[key] for one in late):.1f}"
                      for key in ("median", "p99")]
            sums = [str(sum(one[key] for one in each)) for key in ("frames", "dropped")]
            rows.append([made.label, rail, *middle, f"{max(one['max'] for one in late):.0f}",
                         *sums])
    table(["rails", "rail", "median", "p99", "max", "frames", "dropped"], rows)


def write(path, configurations):
    with open(path, "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["configuration", "bytes", "messages", "pair", "time_ns"])
        for made in configurations:
            for (size, messages), times in made.times.items():
                for pair, time in enumerate(times, 1):
                    rows.writerow([made.label, size, messages, pair, time])


def parse():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--configuration", action="append", dest="configurations")
    parser.add_argument("--component", type=Path, metavar="FOLDER")
    parser.add_argument("--pairs", type=int, default=6)
    parser.add_argument("--repetitions", type=int, default=20, help="in each run [20]")
    parser.add_argument("--points", type=points, default=POINTS, metavar="BYTES:MESSAGES,...")
    parser.add_argument("--full", action="store_const", const=FULL, dest="points",
                        help="1 B to 1 MiB, 1 to 32 messages at once")
    parser.add_argument("--below", type=float, default=0.97)
    parser.add_argument("--nice", type=int, default=-20,
                        help="of the programs; below 0, others on this machine wait [-20]")
    parser.add_argument("--rail", dest="rails", action="append", metavar="NAME:RATE:DELAY")
    parser.add_argument("--shaper", action="append", default=[], metavar="OPTION",
                        help="an option of heddle-shaper, as --shaper=--spin=10us")
    parser.add_argument("--csv", type=Path, metavar="FILE", help="all times")
    return parser.parse_args()


def main():
    arguments = parse()
    rails = [each.split(":")[0] for each in arguments.rails or rig.RAILS]
    texts = arguments.configurations or STOCK + (OURS if arguments.component else [])
    try:
        for command in ("mpirun", "mpicc", "ompi_info"):
            rig.need(command, "Debian: openmpi-bin, libopenmpi-dev")
        configurations = [configuration(text, arguments.component, rails) for text in texts]
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, rig.interrupt)
        with rig.Rig.up(arguments.rails, arguments.shaper) as place:
            program = place.folder / "rails_bench"
            source = rig.ROOT / "examples/programs/rails_bench.c"
            subprocess.run(["mpicc", "-O2", "-o", program, source], check=True)
            print(f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}; the shaper waits"
                  f" for the last {place.state['spin_us']:.0f} us with a processor in use.\n")
            failed = measure(place, configurations, program, arguments)
    except rig.Missing as missing:
        print(f"run.py: missing: {missing}", file=sys.stderr)
        return rig.CANNOT
    print(f"Load at the end: {os.getloadavg()[0]:.1f}.")
    print_rates(configurations, arguments.points)
    low = print_ratios(configurations, arguments)
    print_lateness(configurations)
    if arguments.csv:
        write(arguments.csv, configurations)
    if failed:
        print(f"{failed} runs failed")
    return 1 if failed or low else 0


if __name__ == "__main__":
    sys.exit(main())
