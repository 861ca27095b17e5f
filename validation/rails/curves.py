#!/usr/bin/env python3
"""Simulated and measured curves of the rig in one table and one plot.

    validation/rails/curves.py --component FOLDER --heddle PROGRAM [--pairs 6]
                               [--rail NAME:RATE:DELAY]... [-o FOLDER]

Runs messages of 1 KiB to 64 KiB, 8, 16 and 32 one way and back, over A, A and B, and A and D under
Open MPI with the component bml_heddle of FOLDER, on the rig. Takes the parameters of the rails that
the component has measured at its start, and lets PROGRAM, the command `heddle`, simulate the same.
Writes curves.csv and curves.svg (the rates with 32 messages) into the folder of -o, and prints by
how much the simulated times differ. --rail makes other rails of these three names. Exits with 77
where there can be no rig."""

import argparse
import csv
import json
import random
import signal
import statistics
import subprocess
import sys
from pathlib import Path

import rig
from run import component, configuration, launch, table

SIZES = [1 << power for power in range(10, 17)]
AT_ONCE = [8, 16, 32]
# The rails of each curve, and those by which the component measures.
CURVES = {"A": ["A"], "A+B": ["A", "B"], "A+D": ["A", "D"]}


def measured(cache):
    """The rails of a file in the component's cache: times in ns, G in ns/B, by name."""
    rails = {}
    for line in cache.read_text().splitlines()[2:-1]:
        *values, name = line.split(" ", 6)
        send, receive, latency, gap, _, _ = (int(value) / 1024 for value in values)
        rails[name] = {"o-send": send, "o-recv": receive, "L": latency, "g": gap,
                       "G": int(values[4]) / (1 << 20)}
    return rails


def machine(rails):
    """A machine file of these rails, as the simulation and the component read it."""
    text = ""
    for name, values in rails.items():
        times = ", ".join(f"{key} = \"{values[key]:.1f} ns\"" for key in
                          ("o-send", "o-recv", "L", "g"))
        text += (f"[rail.{name}]\nmodel = \"loggops\"\nloggops = {{ {times}, "
                 f"G = \"{values['G']:.4f} ns/B\" }}\n")
    return text


def simulated(heddle, file, size, messages):
    """The time of a message in ns."""
    ended = subprocess.run([heddle, "run", "pattern:bulk-reply", "--ranks", "2", "--ways",
                            str(messages), "--size", f"{size}B", "--machine", file, "--format",
                            "json"], capture_output=True, text=True)
    if ended.returncode:
        raise SystemExit(f"curves.py: {ended.stderr.strip()}")
    return json.loads(ended.stdout)["makespan_ps"] / 1000 / (2 * messages)


def measure(place, arguments):
    """The median time of a message by curve and point, and the machine file of each curve."""
    program = place.folder / "rails_bench"
    source = rig.ROOT / "examples/programs/rails_bench.c"
    subprocess.run(["mpicc", "-O2", "-o", program, source], check=True)
    arguments.points = [(size, messages) for size in SIZES for messages in AT_ONCE]
    times = {}
    made = {label: configuration(f"{label}: ours rails={','.join(rails)} --mca bml_heddle_cache "
                                 f"{place.folder}/{label}", arguments.component,
                                 place.state["rails"]) for label, rails in CURVES.items()}
    order = random.Random(1)
    for pair in range(arguments.pairs):
        for label in order.sample(list(made), len(made)):
            found, why = launch(place, made[label], program, arguments)
            if found is None:
                raise SystemExit(f"curves.py: {label}: {why}")
            for point, time in found.items():
                times.setdefault((label, *point), []).append(time)
        print(f"pair {pair + 1} of {arguments.pairs}", file=sys.stderr, flush=True)
    kept = {}
    for label, rails in CURVES.items():
        # A single rail is not measured; it is the first of two.
        file, = (place.folder / (label if len(rails) > 1 else "A+D")).iterdir()
        kept[label] = machine({name: values for name, values in measured(file).items()
                               if name in rails})
    return {key: statistics.median(each) for key, each in times.items()}, kept


def write(folder, times, model):
    """The table, with a curve for each set of rails, measured and simulated, and for each N."""
    with open(folder / "curves.csv", "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["curve", "rails", "kind", "messages", "bytes", "time_ns", "rate_MBps"])
        for kind, values in (("measured", times), ("simulated", model)):
            for (label, size, messages), time in values.items():
                rows.writerow([f"{label} {kind}", label, kind, messages, size, round(time, 1),
                               round(size / time * 1000, 2)])
    # `heddle plot` draws all rows of a table.
    with open(folder / "curves.csv") as file, open(folder / "of-32.csv", "w") as chosen:
        rows = csv.DictReader(file)
        out = csv.DictWriter(chosen, rows.fieldnames)
        out.writeheader()
        out.writerows(row for row in rows if row["messages"] == "32")


def differs(model, times, key):
    return f"{100 * (model[key] / times[key] - 1):+.0f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--component", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--heddle", type=Path, required=True, metavar="PROGRAM")
    parser.add_argument("--pairs", type=int, default=6)
    parser.add_argument("--repetitions", type=int, default=20, help="in each run [20]")
    parser.add_argument("--nice", type=int, default=-20)
    parser.add_argument("--rail", dest="rails", action="append", metavar="NAME:RATE:DELAY")
    parser.add_argument("-o", "--output", type=Path, default=Path("curves"), metavar="FOLDER")
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    component(arguments.component)
    try:
        for command in ("mpirun", "mpicc", "ompi_info"):
            rig.need(command, "Debian: openmpi-bin, libopenmpi-dev")
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, rig.interrupt)
        with rig.Rig.up(arguments.rails) as place:
            times, machines = measure(place, arguments)
    except rig.Missing as missing:
        print(f"curves.py: missing: {missing}", file=sys.stderr)
        return rig.CANNOT
    model = {}
    for label, text in machines.items():
        file = arguments.output / f"{label}.toml"
        file.write_text(text)
        for size in SIZES:
            for messages in AT_ONCE:
                model[label, size, messages] = simulated(arguments.heddle, file, size, messages)
    write(arguments.output, times, model)
    print("Simulated time of a message, less what was measured, in per cent of that.\n")
    table(["rails", "N", *(f"{size >> 10} KiB" for size in SIZES)],
          [[label, str(messages), *(differs(model, times, (label, size, messages))
                                    for size in SIZES)]
           for label in CURVES for messages in AT_ONCE])
    subprocess.run([arguments.heddle, "plot", arguments.output / "of-32.csv", "--x", "bytes", "--y",
                    "rate_MBps", "--by", "curve", "-o", arguments.output / "curves.svg"],
                   check=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
