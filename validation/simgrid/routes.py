#!/usr/bin/env python3
"""Compares what SimGrid makes of platform files with what Heddle makes of them.

    validation/simgrid/routes.py [--keep] [--stride N] [--timeout S] [FILE.xml ...]

Without files: all of validation/simgrid/platforms. For each file, every host (speed, cores), every
link (bandwidth, latency, policy) and the route of every pair of hosts (links in order, latency to
1e-12 relative) must be the same. --keep writes a sample of what SimGrid says into
net/platform/tests/expected, which the crate's own tests check. Needs libsimgrid-dev (Debian) and a
C++ compiler; without them it says so and succeeds.
"""

import argparse
import json
import math
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
EXPECTED = ROOT / "net/platform/tests/expected"


def peer(folder):
    """The compiled program, or None where SimGrid is not installed."""
    program = pathlib.Path(folder) / "routes"
    if not shutil.which("c++") or not pathlib.Path("/usr/include/simgrid/s4u.hpp").exists():
        return None
    command = ["c++", "-std=c++17", "-O1", str(HERE / "routes.cpp"), "-lsimgrid", "-o",
               str(program)]
    return program if subprocess.run(command).returncode == 0 else None


def ours():
    subprocess.run(["cargo", "build", "-q", "-p", "heddle-platform", "--example", "routes"],
                   cwd=ROOT, check=True)
    command = ["cargo", "metadata", "--no-deps", "--format-version", "1"]
    folder = json.loads(subprocess.run(command, cwd=ROOT, check=True,
                                       capture_output=True).stdout)["target_directory"]
    return pathlib.Path(folder) / "debug/examples/routes"


def facts(text):
    """Lines by what they are about; the first number of each is compared with a tolerance."""
    table = {}
    for line in text.splitlines():
        kind, *fields = line.split("\t")
        keys = 2 if kind == "route" else 1
        table[(kind, *fields[:keys])] = fields[keys:]
    return table


def same(a, b):
    if a is None or b is None or len(a) != len(b):
        return False
    for x, y in zip(a, b):
        if x == y:
            continue
        try:
            x, y = float(x), float(y)
        except ValueError:
            return False
        if abs(x - y) > 1e-12 * max(abs(x), abs(y)):
            return False
    return True


def sample(text):
    """Up to 60 routes, 20 links and 10 hosts of an output, evenly; a step that shares no factor
    with the hosts."""
    lines = text.splitlines()
    kept = []
    for kind, most in (("host", 10), ("link", 20), ("route", 60)):
        of_kind = [line for line in lines if line.startswith(kind + "\t")]
        hosts = sum(line.startswith("host\t") for line in lines)
        step = -(-len(of_kind) // most)
        while math.gcd(step, hosts) > 1 and step > 1:
            step += 1
        kept += of_kind[::step]
    return "\n".join(["# Printed by SimGrid 3.32 (validation/simgrid/routes.cpp); a sample.", *kept,
                      ""])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--stride", type=int, default=1)
    parser.add_argument("--timeout", type=float, default=60, help="seconds for a file")
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    options = parser.parse_args()
    files = options.files or sorted((HERE / "platforms").glob("*.xml"))
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        theirs = peer(folder)
        if theirs is None:
            print("skipped: SimGrid's headers or a C++ compiler are not installed (Debian: "
                  "libsimgrid-dev, g++)")
            return 0
        mine = ours()
        for file in files:
            try:
                runs = [subprocess.run([program, file, str(options.stride)], capture_output=True,
                                       text=True,
                                       timeout=options.timeout) for program in (theirs, mine)]
            except subprocess.TimeoutExpired as expired:
                failed += 1
                print(f"{file.name}: {expired.cmd[0].name} takes more than {options.timeout} s; "
                      f"try --stride", flush=True)
                continue
            if runs[1].returncode or runs[0].returncode:
                failed += 1
                which = "both refuse" if runs[0].returncode and runs[1].returncode else \
                    "only SimGrid refuses" if runs[0].returncode else "only Heddle refuses"
                print(f"{file.name}: {which}")
                said = (runs[1].stderr or runs[0].stderr).strip()
                print("    " + said.replace("\n", "\n    ")[:1500])
                continue
            a, b = (facts(run.stdout) for run in runs)
            wrong = [key for key in sorted(a.keys() | b.keys()) if not same(a.get(key), b.get(key))]
            pairs = sum(key[0] == "route" for key in a)
            print(f"{file.name}: {pairs} routes, {len(a) - pairs} hosts and links, {len(wrong)} "
                  f"differ", flush=True)
            for key in wrong[:5]:
                print(f"    {key}\n        SimGrid {a.get(key)}\n        Heddle  {b.get(key)}")
            failed += bool(wrong)
            if options.keep and not wrong:
                EXPECTED.mkdir(exist_ok=True)
                (EXPECTED / f"{file.stem}.txt").write_text(sample(runs[0].stdout))
    print(f"{len(files) - failed} of {len(files)} platforms are the same")
    return 1 if failed else 0


sys.exit(main())
