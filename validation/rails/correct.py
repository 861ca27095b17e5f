#!/usr/bin/env python3
"""Whether programs that check themselves find with a component what they find with stock Open MPI.

    validation/rails/correct.py --component FOLDER [--rails A,D,B] [--ranks 4] [NAME...]
                                [--mpi4py SOURCES] [--python PROGRAM] [--seconds 120]

Runs the project's conformance programs (run/cli/tests/live), and with --mpi4py the modules of
mpi4py's own suite of tests in the folder SOURCES/test, in the rig: on ranks of two hosts, whose
messages cross all rails. Each runs with stock Open MPI and with the component bml_heddle of FOLDER.
What a program prints, and whether it ends well, must be the same. A program that stock Open MPI
cannot run within the time shows nothing, and is named. Exits with 1 if a program differs, and with
77 where there can be no rig."""

import argparse
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import rig
from run import component

SOURCES = rig.ROOT / "run/cli/tests/live"
# Those of chapters that other implementations than the project's own can run.
PROGRAMS = """basics buffers send_modes requests types collectives communicators topologies errors
attributes layouts reductions between_groups statuses groups window_variables join callbacks spawn
order many_of_each threads unasked_threads locks epochs one_sided_times""".split()
SUITE = """test_p2p_buf test_p2p_buf_matched test_p2p_obj test_p2p_obj_matched test_cco_buf
test_cco_vec test_cco_obj test_cco_nb_buf test_cco_nb_vec test_cco_ngh_buf test_cco_ngh_obj
test_cco_buf_inter test_cco_obj_inter test_comm_inter test_comm_topo test_comm test_pack
test_request test_status test_rma test_rma_nb test_win test_threads""".split()


def run(place, command, variables, seconds):
    """Runs a command in the rig: (code, lines in their order by text, seconds); the code is None if
    it does not end in time."""
    start = time.monotonic()
    process = place.start(command, 0, variables, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)
    try:
        output, errors = process.communicate(timeout=seconds)
        code = process.returncode
    except subprocess.TimeoutExpired:
        place.end_processes()
        output, errors = process.communicate()
        code = None
    return code, sorted(output.splitlines()), errors, time.monotonic() - start


def summary(errors):
    """How many tests of a suite each rank has run, and whether some have failed. The lines of ranks
    mix."""
    return sorted(map(int, re.findall(r"Ran (\d+) test", errors))), "FAILED" in errors


def verdict(stock, ours):
    """A word, and whether it is a mistake of the component's."""
    if stock[0] is None:
        return "stock does not end", False
    if ours[0] is None:
        return "ours does not end", True
    said, says = (summary(stock[2]), stock[1]), (summary(ours[2]), ours[1])
    if (stock[0] == 0) != (ours[0] == 0) or said != says:
        return "differs", True
    counts = said[0][0]
    tests = f", {max(counts)} tests" if counts else ""
    return ("the same" if stock[0] == 0 and not stock[1] else "the same complaints") + tests, False


def cases(place, arguments):
    """Names and commands, without mpirun."""
    chosen = arguments.names or PROGRAMS + SUITE
    for name in filter(PROGRAMS.__contains__, chosen):
        program = place.folder / name
        built = subprocess.run(["mpicc", "-O1", "-w", "-pthread", "-o", program,
                                SOURCES / f"{name}.c"], capture_output=True, text=True)
        if built.returncode:
            # Calls of later standards than this library's.
            print(f"{name}: not built: {built.stderr.strip().splitlines()[-1]}", file=sys.stderr)
            continue
        yield name, [program]
    if arguments.mpi4py:
        main = arguments.mpi4py / "test/main.py"
        for name in filter(SUITE.__contains__, chosen):
            yield f"mpi4py {name}", [arguments.python, main, "-q", "-i", f"{name}.*"]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--component", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--rails", default="A,D,B")
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--mpi4py", type=Path, metavar="SOURCES")
    parser.add_argument("--python", default=sys.executable, help="one that has mpi4py")
    parser.add_argument("--seconds", type=float, default=120, help="for each run [120]")
    arguments = parser.parse_args()
    for name in arguments.names:
        if name not in PROGRAMS + SUITE:
            parser.error(f"there is no program `{name}`; there are {', '.join(PROGRAMS + SUITE)}")
    wrong = 0
    try:
        for command in ("mpirun", "mpicc", "ompi_info"):
            rig.need(command, "Debian: openmpi-bin, libopenmpi-dev")
        ours = component(arguments.component)
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, rig.interrupt)
        with rig.Rig.up() as place:
            # Windows by messages: osc rdma needs what TCP has not got.
            before = ["mpirun", "-n", str(arguments.ranks), "--oversubscribe", "--mca", "btl",
                      "tcp,self", "--mca", "btl_tcp_if_include", arguments.rails, "--mca", "osc",
                      "pt2pt"]
            for name, command in cases(place, arguments):
                stock = run(place, [*before, *command], {}, arguments.seconds)
                own = run(place, [*before, *command], ours, arguments.seconds)
                word, is_wrong = verdict(stock, own)
                wrong += is_wrong
                print(f"{name:<28} {word:<24} {stock[3]:6.1f} s {own[3]:6.1f} s", flush=True)
                if is_wrong:
                    for line in (*own[1], *own[2].splitlines()[-20:]):
                        print(f"    {line}", flush=True)
    except rig.Missing as missing:
        print(f"correct.py: missing: {missing}", file=sys.stderr)
        return rig.CANNOT
    print(f"{wrong} differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
