#!/usr/bin/env python3
"""Compares what random programs compute under `heddle mpirun` with what they compute under MPICH
and Open MPI.

    validation/random/run.py HEDDLE [SEED...]

Every line that a program prints is a case of its own. Heddle is right where one of the others
prints the same: some cases the others do not survive. Without either of them this says so and
compares nothing.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
OTHERS = {
    "mpich": ["mpirun.mpich"],
    "openmpi": ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe"],
}
# Name, cases, numbers of ranks.
PROGRAMS = [("datatypes", 500, [1]), ("collectives", 150, [1, 2, 4, 7]),
            ("onesided", 60, [1, 2, 4])]


def lines(command):
    """The lines of a run by their numbers, as far as it comes."""
    try:
        ended = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                               timeout=300)
        text = ended.stdout
    except subprocess.TimeoutExpired as late:
        text = late.stdout or b""
    split = (line.split(" ", 1) for line in text.decode(errors="replace").splitlines())
    return {words[0].rstrip(":"): words[1] for words in split
            if len(words) == 2 and words[0].rstrip(":").isdigit()}


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    heddle = pathlib.Path(sys.argv[1]).resolve()
    seeds = sys.argv[2:] or ["1", "2"]
    others = {name: command for name, command in OTHERS.items()
              if shutil.which(f"mpicc.{name}") and shutil.which(command[0])}
    if not others:
        print("random programs: neither MPICH nor Open MPI is here (Debian: apt-get install mpich "
              "openmpi-bin)")
        return
    folder = heddle.parent / "mpi"
    os.environ.setdefault("HEDDLE_MPI", str(folder / "lib"))
    wrong = 0
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        for program, count, numbers in PROGRAMS:
            compilers = {"heddle": folder / "bin" / "mpicc",
                         **{name: f"mpicc.{name}" for name in others}}
            for name, compiler in compilers.items():
                subprocess.run([compiler, "-O1", "-o", scratch / f"{program}-{name}",
                                HERE / f"{program}.c"], check=True)
            for ranks in numbers:
                for seed in seeds:
                    what = [str(seed), str(count)]
                    theirs = [
                        lines([*command, "-n", str(ranks), scratch / f"{program}-{name}", *what])
                        for name, command in others.items()
                    ]
                    for ways in ([], ["--in-process"]):
                        command = [heddle, "mpirun", "-q", "-n", str(ranks), *ways,
                                   scratch / f"{program}-heddle", *what]
                        ours = lines(command)
                        known = [number for number in map(str, range(count))
                                 if any(number in their for their in theirs)]
                        differ = [
                            number
                            for number in known
                            if all(their.get(number) != ours.get(number) for their in theirs)
                        ]
                        holder = "in process" if ways else "processes"
                        print(f"{program}, seed {seed}, {ranks} ranks, {holder}: {len(known)} "
                              f"cases, {len(differ)} differ", *differ[:10])
                        wrong += len(differ)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
