#!/usr/bin/env python3
"""Whether what heddle measures of this host predicts what programs then take here.

    validation/measure/run.py HEDDLE [--calibrations 4] [--runs 10] [--quick] [--only MPI[-PATH]]

For each MPI library and path (loopback TCP, shared memory), the parameters are measured, the times
of a ping-pong, a halo exchange and an allreduce on two ranks are predicted with their intervals of
95 %, and only then the programs run. An interval has the doubt about the parameters, which
`heddle run --uncertainty` tells, and the scatter between runs of the calibration. Counts how many
runs are inside. Programs are found by HEDDLE_MEASURE or beside the command.

MPICH over UCX's TCP now and then waits for ever in MPI_Finalize. By then the time is told: it
counts, the job is ended, and the number of such ends is told."""

import argparse
import csv
import json
import math
import os
import selectors
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

TESTS = [("pingpong", 100), ("pingpong", 5000), ("pingpong", 20000), ("halo", 2000),
         ("allreduce", 1024)]
ITERATIONS = 200

PATHS = {
    ("openmpi", "tcp"): (["--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", "lo"], {}),
    ("openmpi", "shm"): (["--mca", "btl", "vader,self"], {}),
    ("mpich", "tcp"): ([], {"MPIR_CVAR_NOLOCAL": "1", "UCX_TLS": "tcp,self", "FI_PROVIDER": "tcp"}),
    ("mpich", "shm"): ([], {}),
}


def environment(extra):
    own = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
           "OMPI_MCA_rmaps_base_oversubscribe": "1"}
    return {**os.environ, **own, **extra}


def schedule(kind, size):
    """One iteration in GOAL. An allreduce on two ranks is an exchange of the whole vector."""
    send, receive = "l1: send {}b to {} tag 0", "l2: recv {}b from {} tag 0"
    ranks = []
    for rank in (0, 1):
        lines = [send.format(size, 1 - rank), receive.format(size, 1 - rank)]
        if kind == "pingpong":
            lines.append("l2 requires l1" if rank == 0 else "l1 requires l2")
        ranks.append(f"rank {rank} {{\n" + "\n".join(lines) + "\n}\n")
    return "num_ranks 2\n" + "".join(ranks)


def deviation(values):
    """That of a normal distribution with the same median absolute deviation."""
    middle = statistics.median(values)
    return 1.4826 * statistics.median(abs(value - middle) for value in values)


def scatter(samples):
    """The deviation of the logarithm of a time from run to run, from the medians of each run."""
    cells = defaultdict(lambda: defaultdict(list))
    with open(samples, newline="") as file:
        for row in csv.DictReader(file):
            if row["operation"] == "prtt" and row["n"] == "1" and int(row["bytes"]) <= 24576:
                cells[row["bytes"]][row["run"]].append(float(row["time_ns"]))
    logs = [[math.log(statistics.median(times)) for times in runs.values()]
            for runs in cells.values()]
    return statistics.median(deviation(each) for each in logs)


def predicted(heddle, folder, kind, size, noise):
    goal = folder / f"{kind}-{size}.goal"
    goal.write_text(schedule(kind, size))
    ended = subprocess.run(
        [heddle, "run", goal, "--machine", folder / "m.toml", "--uncertainty", "200", "--format",
         "json"], check=True, capture_output=True, text=True)
    found = json.loads(ended.stdout)["uncertainty"]
    middle, low, high = (found[f"{key}_ps"] / 1000 for key in ("median", "low", "high"))
    # Both doubts are taken to be independent. An interval that reaches to nothing begins at 1 ps.
    below, above = ((abs(math.log(max(end, 1e-3) / middle)) / 1.96) ** 2 for end in (low, high))
    reach = [1.96 * math.sqrt(part + noise ** 2) for part in (below, above)]
    return middle, middle * math.exp(-reach[0]), middle * math.exp(reach[1])


def taken(command, variables):
    """The time that a program printed, and whether it ended by itself within ten seconds more."""
    with subprocess.Popen(command, env=variables, stdout=subprocess.PIPE, text=True) as job:
        ready = selectors.DefaultSelector()
        ready.register(job.stdout, selectors.EVENT_READ)
        line = job.stdout.readline() if ready.select(60) else ""
        try:
            status = job.wait(10)
        except subprocess.TimeoutExpired:
            status = None
            job.terminate()
        if not line or status not in (0, None):
            raise RuntimeError(f"{command} ended with {status} after {line!r}")
    return float(line.split()[-1]), status == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("heddle", type=Path)
    parser.add_argument("--calibrations", type=int, default=4)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", metavar="MPI", help="as mpich or mpich-tcp")
    arguments = parser.parse_args()
    heddle = arguments.heddle.resolve()
    inside, outside, waited = defaultdict(int), defaultdict(int), defaultdict(int)
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for (mpi, path), (flags, extra) in PATHS.items():
            if arguments.only not in (None, mpi, f"{mpi}-{path}"):
                continue
            bench, source = folder / f"bench-{mpi}", Path(__file__).parent / "bench.c"
            launcher = [f"mpirun.{mpi}", *flags, "-n", "2"]
            variables = environment(extra)
            subprocess.run([f"mpicc.{mpi}", "-O2", "-o", bench, source], check=True)
            for _ in range(arguments.calibrations):
                subprocess.run(
                    [heddle, "measure", "--force", "-o", folder / "m.toml",
                     *(["--quick"] if arguments.quick else []), "--", *launcher],
                    check=True, env=variables, capture_output=True)
                noise = scatter(folder / "m.samples.csv")
                said = {test: predicted(heddle, folder, *test, noise) for test in TESTS}
                for _ in range(arguments.runs):
                    for (kind, size), (middle, low, high) in said.items():
                        command = [*launcher, bench, kind, str(size), str(ITERATIONS)]
                        time, ended = taken(command, variables)
                        waited[mpi, path] += not ended
                        key = (mpi, path, f"{kind} {size} B")
                        (inside if low <= time <= high else outside)[key] += 1
                        interval = f"[{low:.0f}, {high:.0f}]"
                        print(*key, f"{time:.0f} ns, predicted {middle:.0f} {interval}",
                              flush=True)
    for key in sorted({*inside, *outside}):
        print(*key, f"{inside[key]} of {inside[key] + outside[key]} inside")
    for key, number in waited.items():
        if number > 0:
            print(*key, f"{number} programs did not end by themselves after they told their time")
    total = sum(inside.values())
    share = total / (total + sum(outside.values()))
    print(f"{total} of {total + sum(outside.values())} runs inside, {100 * share:.0f} %")
    return 0 if share >= 0.9 else 1


if __name__ == "__main__":
    sys.exit(main())
