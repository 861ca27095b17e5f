#!/usr/bin/env python3
"""Records small MPI programs with SMPI 3.32 (smpirun -trace-ti), replays each recording under
SimGrid and under heddle, and compares when each rank is done. SimGrid does not replay all that it
records (MPI_Waitany, persistent requests, non-blocking collectives); heddle has to read these too.

    validation/simgrid/recorded.py target/release/heddle [NAME ...]

Needs Debian's libsimgrid-dev; says so and ends well without it.
"""
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from compare import HERE, PLATFORMS, PRECISION, TOLERANCE, Refused, heddle, simgrid

RANKS = 6
SETTINGS = {
    "default": [],
    "costs": ["smpi/os:0:8.9e-6:7.8e-10;1000:2e-6:1e-9", "smpi/ois:0:3e-6:2e-10;3000:5e-6:0",
              "smpi/or:0:6e-6:1e-10;900:4e-6:3e-10", "smpi/test:2e-6", "smpi/wtime:0"],
}
# Programs that are refused, by the error that says why: neither replays them.
REFUSED = {"persistent_all": "`Startall` does not say which requests it starts"}
# Cases that differ, and why.
KNOWN = {
    "test_loop, default": "SMPI counts the failed tests of all ranks together",
}


def record(folder, program, name):
    """Writes trace.index and its files. The index names them from the folder."""
    shutil.rmtree(folder / "trace.index_files", ignore_errors=True)
    command = ["smpirun", "-np", str(RANKS), "-platform", "platform.xml", "-hostfile", "hosts",
               "--log=root.thresh:error", "--cfg=smpi/host-speed:1Gf",
               "--cfg=smpi/simulate-computation:no", "-trace-ti",
               "--cfg=tracing/filename:trace.index", str(program), name]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60)
    if done.returncode:
        raise Refused(f"SMPI does not record {name}:\n{done.stderr[-500:]}")


def main():
    if not (shutil.which("smpirun") and shutil.which("smpicc")):
        print("SimGrid is not installed (Debian: apt-get install libsimgrid-dev): nothing compared")
        return 0
    binary = os.path.abspath(sys.argv[1])
    wrong = total = read = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        replayer, program = folder / "replay", folder / "recorded"
        for source, target in (("replay.c", replayer), ("recorded.c", program)):
            subprocess.run(["smpicc", "-O1", "-w", str(HERE / source), "-o", str(target)],
                           check=True)
        (folder / "platform.xml").write_text(PLATFORMS["backbone"])
        (folder / "hosts").write_text("".join(f"n{host}\n" for host in range(RANKS)))
        listed = subprocess.run(["smpirun", "-np", "1", "-platform", "platform.xml", "-hostfile",
                                 "hosts", "--log=root.thresh:error", str(program)], cwd=folder,
                                capture_output=True, text=True, check=True)
        names = sys.argv[2:] or listed.stdout.split()
        print(f"{'program':<34}{'SimGrid, s':>16}{'heddle, s':>16}{'largest difference':>20}")
        for name in names:
            record(folder, program, name)
            for setting, cfg in SETTINGS.items():
                total += 1
                case = f"{name}, {setting}"
                try:
                    ours = heddle(binary, folder, cfg)
                except RuntimeError as error:
                    is_known = REFUSED.get(name, "\0") in str(error)
                    said = "refused, as it must be" if is_known else error
                    print(f"{case:<34}{said}", flush=True)
                    wrong, total = wrong + (not is_known), total - is_known
                    continue
                try:
                    theirs = simgrid(folder, RANKS, cfg, replayer)
                except (Refused, subprocess.TimeoutExpired):
                    print(f"{case:<34}{'not replayed':>16}{max(ours):>16.9f}", flush=True)
                    total, read = total - 1, read + 1
                    continue
                pairs = list(zip(theirs, ours))
                difference = max(abs(a - b) / max(a, b, 1e-12) for a, b in pairs)
                slack = all(abs(a - b) <= 2 * PRECISION for a, b in pairs)
                verdict = "  DIFFERS"
                if difference <= TOLERANCE:
                    verdict = ""
                elif slack:
                    verdict = "  within 2 ns"
                elif case in KNOWN:
                    verdict = f"  known: {KNOWN[case]}"
                wrong += verdict == "  DIFFERS"
                print(f"{case:<34}{max(theirs):>16.9f}{max(ours):>16.9f}{difference:>20.2e}"
                      f"{verdict}", flush=True)
    print(f"{total - wrong} of {total} agree to {TOLERANCE:g} or differ for a known reason; "
          f"{read} more are read, which SimGrid records and does not replay")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
