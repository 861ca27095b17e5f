#!/usr/bin/env python3
"""What a program gets over rails of which one becomes slow or fails while it runs.

    validation/rails/broken.py --component FOLDER [--rail NAME:RATE:DELAY]... [--nice -20]

Rank 0 sends windows of 32 messages of 8 KiB to rank 1 (stream.c). In a first run over A and B, B
becomes ten times slower after 4 seconds and as fast as before after 8; the second does the same
with A beside its twin D; in the third, over A and D, A drops everything after 4 seconds. Prints
the rate that is kept after each change, how long it took to be at 95 % of it (by the median of half
a second), and how the last run ended. Exits with 1 if a rate takes more than a second for that, if
the last one is below 95 % of that before the changes, or if the last run neither goes on within 30
seconds nor ends with an error that names the rail; with 77 where there can be no rig."""

import argparse
import statistics
import subprocess
import sys
import time
from pathlib import Path

import rig
from run import component

CHANGE, BACK, END = 4.0, 8.0, 12.0
SHARE, SECOND, PATIENCE = 0.95, 1.0, 30.0
HALF = 0.5


def stream(place, program, rails, changes, seconds, arguments):
    """Runs the program over these rails and makes the changes, (seconds since its first rate,
    words for the rig), in time. Returns the rates as (time, MB/s), its code, None if it does not
    end, its errors, and how long it took."""
    command = ["mpirun", "-n", "2", "--mca", "btl_tcp_if_include", ",".join(rails), program,
               "8192", "32", str(seconds)]
    began = time.monotonic()
    process = place.start(command, arguments.nice, component(arguments.component),
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    rates = [process.stdout.readline()]
    first = time.monotonic()
    for after, words in changes:
        time.sleep(max(0.0, first + after - time.monotonic()))
        place.tell(*words)
    try:
        output, errors = process.communicate(timeout=seconds + PATIENCE)
        code = process.returncode
    except subprocess.TimeoutExpired:
        place.end_processes()
        output, errors = process.communicate()
        code = None
    rates += output.splitlines()
    found = [tuple(map(float, line.split())) for line in rates if line.strip()]
    return found, code, errors, time.monotonic() - began


def settled(rates, since, until):
    """The rate that is kept between two times, the median of the last half of them; the seconds
    until the median of the half second that follows is at 95 % of it; and the least rate."""
    part = [(at - since, rate) for at, rate in rates if since < at <= until]
    kept = statistics.median(rate for at, rate in part if at > (until - since) / 2)
    for start, _ in part:
        following = [rate for at, rate in part if start <= at < start + HALF]
        if statistics.median(following) >= SHARE * kept:
            return kept, start, min(rate for _, rate in part)
    return kept, float("inf"), min(rate for _, rate in part)


def slower(place, program, rails, slow, arguments):
    """A rail becomes ten times slower and is as before."""
    named = {rail.split(":")[0]: rail.split(":")[1] for rail in arguments.rails}
    amount = named[slow]
    digits = amount.rstrip("GMkb/s")
    tenth = f"{float(digits) / 10:g}{amount[len(digits):]}"
    changes = [(CHANGE, ("rate", slow, tenth)), (BACK, ("rate", slow, amount))]
    rates, code, errors, _ = stream(place, program, rails, changes, END, arguments)
    if code != 0:
        print(errors, file=sys.stderr)
        return False
    before = statistics.median(rate for at, rate in rates if 1 < at < CHANGE)
    print(f"{slow} of {', '.join(rails)} ten times slower: {before:.1f} MB/s before")
    good = True
    for what, since, until in [("slower", CHANGE, BACK), ("as before", BACK, END)]:
        kept, took, least = settled(rates, since, until)
        print(f"  {what:<10} {kept:7.1f} MB/s kept, at 95 % after {took:.2f} s; least {least:.1f}")
        good = good and took <= SECOND
    return good and kept >= SHARE * before


def fails(place, program, arguments):
    """A drops everything in a run over A and D."""
    changes = [(CHANGE, ("down", "A"))]
    rates, code, errors, took = stream(place, program, ["A", "D"], changes, 3 * END, arguments)
    place.tell("up", "A")
    after = took - CHANGE
    print(f"A drops everything beside D: last rate at {rates[-1][0]:.1f} s, code {code}, "
          f"about {after:.0f} s after")
    named = [line for line in errors.splitlines() if "rail A" in line]
    for line in named[:2]:
        print(f"  {line}")
    gaps = [later - at for (at, _), (later, _) in zip(rates, rates[1:])]
    goes_on = code == 0 and max(gaps) <= PATIENCE
    return goes_on or (code not in (0, None) and bool(named) and after <= PATIENCE + CHANGE)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--component", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--rail", dest="rails", action="append", metavar="NAME:RATE:DELAY")
    parser.add_argument("--nice", type=int, default=-20, choices=range(-20, 20), metavar="N")
    arguments = parser.parse_args()
    arguments.rails = arguments.rails or rig.RAILS
    try:
        with rig.Rig.up(arguments.rails) as place:
            program = place.folder / "stream"
            source = Path(__file__).with_name("stream.c")
            subprocess.run(["mpicc", "-O2", "-o", program, source], check=True)
            good = [slower(place, program, ["A", "B"], "B", arguments),
                    slower(place, program, ["A", "D"], "A", arguments),
                    fails(place, program, arguments)]
    except rig.Missing as missing:
        print(f"broken.py: missing: {missing}", file=sys.stderr)
        return rig.CANNOT
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
