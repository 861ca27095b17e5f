#!/usr/bin/env python3
"""Whether heddle measures the latency and the bandwidth of networks that are shaped to known ones.

    validation/measure/rails.py HEDDLE [--repeat 3] [--time 10] [--rail A:1Gb/s:50us]...

Two network namespaces are joined by shaped pairs of TAP devices (validation/rails): by default
A (1 Gb/s, 50 us one way) and B (100 Mb/s, 200 us), and by U, which has no delay and no limit that
shows. In each repetition, `heddle measure --tcp` measures U and each rail, in turn, to
`heddle measure --serve` in the other namespace. What is to come out:

  L  the delay, the serialisation of the smallest frame, and the L of U in the same repetition:
     within 5 % or 5 us, and inside the interval that was printed, widened by that of U
  G  the time of a full frame on the wire by what it carries: within 3 %

The last line counts what was right. Exits with 1 if anything was not, and with 77 where something
is missing (root, TAP devices, the shaper). Times are those of a loaded machine if it is one: the
lateness of the shaper comes with each repetition."""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "rails"))
import rig as rigs  # noqa: E402

RAILS = ["A:1Gb/s:50us", "B:100Mb/s:200us"]
UNSHAPED = "U:100Gb/s:0us"
PORT = 5001
# Sixteen messages of 64 KiB in a row have room: what is dropped comes again, and late. A frame of
# 12 us is so short that a receiver whose processor waits for the next one gets none of it, and
# copies all messages behind the last: 17 us for 64 KiB, 3 % of G at 1 Gb/s. So frames of a long
# burst are gathered, as an interface does that interrupts seldom. While the shaper waits for a
# frame with the processor in use, its sender has none: half of the shortest delay is left to it.
OPTIONS = ["--queue=4MiB", "--gather=50us", "--spin=25us"]
# A frame that carries one byte: headers of Ethernet, IP and TCP with its time stamps.
SMALLEST = 14 + 20 + 32 + 1
# Preamble, check sequence and gap of a frame, and the least that a frame takes with them.
AROUND, LEAST = 24, 84
# A full frame in the device, and what it carries.
FULL, CARRIED = 1514, 1448

UNITS = {"Gb/s": 1e9, "Mb/s": 1e6, "us": 1e3, "ms": 1e6, "ns": 1.0}


def quantity(text):
    """A rate in bits per second, or a time in nanoseconds."""
    unit = next(unit for unit in UNITS if text.endswith(unit))
    return float(text.removesuffix(unit)) * UNITS[unit]


def truth(rail):
    """What a rail adds to L, in ns, and its G, in ns/B."""
    _, rate, delay = rail.split(":")
    bit = 1e9 / quantity(rate)
    smallest = max(SMALLEST + AROUND, LEAST) * 8 * bit
    return quantity(delay) + smallest, (FULL + AROUND) * 8 * bit / CARRIED


class Server:
    """`heddle measure --serve` on the second host, at its address on a rail."""

    def __init__(self, rig, heddle, number, nice, token):
        self.address = f"10.71.{number}.2:{PORT}"
        command = [heddle, "measure", "--serve", self.address]
        self.process = rig.start(command, nice, node="node2", stdout=subprocess.PIPE,
                                 stderr=subprocess.DEVNULL, text=True)
        token.write_text(self.process.stdout.readline())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()


def measure(rig, heddle, number, arguments, folder):
    """The parameters that heddle measures over a rail."""
    token = folder / "token"
    with Server(rig, heddle, number, arguments.nice, token) as server:
        command = [heddle, "measure", "--force", "--tcp", server.address, "--token-file", token,
                   "--time", arguments.time, "--format", "json", "-o", folder / "m.toml"]
        process = rig.start(command, arguments.nice, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)
        found, said = process.communicate()
    if process.returncode != 0:
        raise SystemExit(f"rails.py: heddle measure failed: {said.strip()}")
    return json.loads(found)


def check_rail(rail, found, unshaped):
    """Compares what was measured over a rail with the truth; prints it, returns what was right."""
    added, per_byte = truth(rail)
    parameters, base = found["parameters"], unshaped["parameters"]
    right = {}
    if "L" in parameters and "L" in base:
        value, own = parameters["L"], base["L"]
        expected = added + own["value"]
        # The truth has the doubt about the unshaped L.
        low = value["low"] - (own["high"] - own["value"])
        high = value["high"] + (own["value"] - own["low"])
        away = value["value"] - expected
        right["L"] = abs(away) <= max(0.05 * expected, 5000)
        right["L inside"] = low <= expected <= high
        print(f"  L {value['value'] / 1e3:8.2f} us ({low / 1e3:.2f} to {high / 1e3:.2f}), expected "
              f"{expected / 1e3:.2f}: {away / 1e3:+.2f} us, {away / expected:+.1%}")
    else:
        right["L"] = right["L inside"] = False
        print(f"  L refused: {found['refused'].get('L') or unshaped['refused'].get('L')}")
    if "G" in parameters:
        value = parameters["G"]
        away = value["value"] / per_byte - 1
        right["G"] = abs(away) <= 0.03
        print(f"  G {value['value']:8.4f} ns/B ({value['low']:.4f} to {value['high']:.4f}), "
              f"expected {per_byte:.4f}: {away:+.2%}")
    else:
        right["G"] = False
        print(f"  G refused: {found['refused'].get('G')}")
    print(f"  diagnoses: {', '.join(found['diagnoses']) or 'none'}", flush=True)
    return right


def load():
    """The mean number of processes that want a processor, over a minute."""
    return os.getloadavg()[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("heddle", type=Path)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--time", default="10", help="seconds for each rail")
    parser.add_argument("--rail", dest="rails", action="append", metavar="NAME:RATE:DELAY")
    parser.add_argument("--nice", type=int, default=-20)
    arguments = parser.parse_args()
    rails = arguments.rails or RAILS
    heddle, count = arguments.heddle.resolve(), {}
    try:
        rig = rigs.Rig.up([*rails, UNSHAPED], OPTIONS)
    except rigs.Missing as missing:
        print(f"rails.py: missing: {missing}", file=sys.stderr)
        return rigs.CANNOT
    with rig, tempfile.TemporaryDirectory() as folder:
        names = rig.state["rails"]
        numbers = {name: number for number, name in enumerate(names, 1)}
        for repetition in range(arguments.repeat):
            print(f"repetition {repetition + 1}, load {load():.1f}", flush=True)
            rig.lateness()
            start = time.monotonic()
            over = {name: measure(rig, heddle, numbers[name], arguments, Path(folder))
                    for name in (UNSHAPED.split(":")[0], *names[:-1])}
            base = over[UNSHAPED.split(":")[0]]
            if "L" in base["parameters"]:
                value = base["parameters"]["L"]
                print(f" U: L {value['value'] / 1e3:.2f} us "
                      f"({value['low'] / 1e3:.2f} to {value['high'] / 1e3:.2f})")
            for rail in rails:
                name = rail.split(":")[0]
                print(f" {rail}")
                for what, is_right in check_rail(rail, over[name], base).items():
                    key = (name, what)
                    done, right = count.get(key, (0, 0))
                    count[key] = (done + 1, right + is_right)
            print(f" after {time.monotonic() - start:.0f} s; lateness: {rig.lateness()}")
    print("; ".join(f"{name} {what}: {right} of {done}"
                    for (name, what), (done, right) in count.items()))
    return 0 if all(done == right for done, right in count.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
