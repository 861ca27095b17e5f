#!/usr/bin/env python3
"""Replays time-independent traces under SimGrid 3.32 and under heddle and compares when each rank
is done.

    validation/simgrid/compare.py target/release/heddle [--keep] [WORD ...]

Only cases whose names contain all words are run; with the word `algorithm`, every collective by
every algorithm that SMPI names, which takes minutes and is not done otherwise. Needs Debian's
libsimgrid-dev; says so and ends well without it. --keep writes a sample of the cases with what
SimGrid says of them into validation/simgrid/replays, which the command's own tests run.
"""
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
# Relative difference of a rank's end. SimGrid's times carry its precision of 1 ns
# (`surf/precision`): what ends within it of another end ends with that.
TOLERANCE = 1e-6
PRECISION = 1e-9

HEAD = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
"""


def cluster(count, extra=""):
    return (f'{HEAD}<zone id="world" routing="Full"><cluster id="c" prefix="n" suffix="" '
            f'radical="0-{count - 1}" '
            f'speed="1Gf" {extra}/></zone></platform>\n')


PLATFORMS = {
    "flat": cluster(64, 'bw="125MBps" lat="50us"'),
    "backbone": cluster(64, 'bw="125MBps" lat="50us" bb_bw="1.25GBps" bb_lat="20us"'),
    "slow-backbone": cluster(64, 'bw="125MBps" lat="5us" bb_bw="200MBps" bb_lat="2us"'),
    "limiter": cluster(64, 'bw="125MBps" lat="50us" bb_bw="1.25GBps" bb_lat="20us" '
                           'limiter_link="187.5MBps"'),
    "loopback": cluster(64, 'bw="125MBps" lat="50us" loopback_bw="1GBps" loopback_lat="1us"'),
    "shared-links": cluster(64, 'bw="125MBps" lat="50us" sharing_policy="SHARED" bb_bw="1.25GBps" '
                                'bb_lat="20us"'),
    "fat-tree": cluster(64, 'bw="12.5GBps" lat="500ns" topology="FAT_TREE" '
                            'topo_parameters="2;8,8;1,8;1,1"'),
    "fat-tree-tapered": cluster(64, 'bw="12.5GBps" lat="500ns" topology="FAT_TREE" '
                                    'topo_parameters="3;4,4,4;1,2,2;1,1,2"'),
    "torus": cluster(64, 'bw="12.5GBps" lat="500ns" topology="TORUS" topo_parameters="4,4,4"'),
    "dragonfly": cluster(48, 'bw="12.5GBps" lat="500ns" topology="DRAGONFLY" '
                             'topo_parameters="3,3;2,2;4,1;2"'),
}

MODES = ["smpi/async-small-thresh:1000", "smpi/send-is-detached-thresh:20000",
         "smpi/os:0:8.9e-6:7.8e-10;1000:2e-6:1e-9", "smpi/ois:0:3e-6:2e-10;3000:5e-6:0",
         "smpi/or:0:6e-6:1e-10;900:4e-6:3e-10"]
SIZES = [1, 64, 256, 300, 1000, 1420, 4000, 8000, 16000, 60000, 65536, 300000, 4000000]


class Refused(Exception):
    """SimGrid does not simulate the case."""


# What --keep keeps.
KEPT = {"ping-pong modes", "two flows 1", "three flows 0", "limiter 1", "all-to-all fat-tree 16",
        "all-to-all torus 16", "all-to-all dragonfly 4", "all-to-all slow-backbone 16",
        "all-to-all modes medium", "halo modes", "pipeline", "random 0", "random modes 1",
        "random modes 4", "ping-pong weight and window"}


class Program:
    """A time-independent trace."""

    def __init__(self, ranks):
        self.lines = [[f"{rank} init"] for rank in range(ranks)]

    def add(self, rank, *words):
        self.lines[rank].append(" ".join(str(word) for word in (rank, *words)))

    def everyone(self, *words):
        for rank in range(len(self.lines)):
            self.add(rank, *words)

    def send(self, source, target, tag, size):
        self.add(source, "send", target, tag, size, 6)

    def isend(self, source, target, tag, size):
        self.add(source, "isend", target, tag, size, 6)

    def recv(self, target, source, tag, size):
        self.add(target, "recv", source, tag, size, 6)

    def irecv(self, target, source, tag, size):
        self.add(target, "irecv", source, tag, size, 6)

    def write(self, folder):
        names = []
        for rank, lines in enumerate(self.lines):
            name = f"rank{rank}.ti"
            (folder / name).write_text("\n".join([*lines, f"{rank} finalize", ""]))
            names.append(name)
        (folder / "trace.index").write_text("\n".join(names) + "\n")


def ping_pong(ranks, sizes, far=1):
    program = Program(ranks)
    for size in sizes:
        for source, target in ((0, far), (far, 0)):
            program.send(source, target, 0, size)
            program.recv(target, source, 0, size)
    return program


def flows(ranks, pairs, size):
    program = Program(ranks)
    for source, target in pairs:
        program.isend(source, target, 0, size)
        program.irecv(target, source, 0, size)
    program.everyone("waitall", 99)
    return program


def all_to_all(ranks, size):
    """All receives, then all sends, then one wait."""
    program = Program(ranks)
    for rank in range(ranks):
        others = [(rank + step) % ranks for step in range(1, ranks)]
        for other in others:
            program.irecv(rank, other, 0, size)
        for other in others:
            program.isend(rank, other, 0, size)
    program.everyone("waitall", 2 * ranks - 2)
    return program


def halo(ranks, width, size, steps):
    program = Program(ranks)
    for step in range(steps):
        for rank in range(ranks):
            row, column = divmod(rank, width)
            around = [((row + dy) % (ranks // width)) * width + (column + dx) % width
                      for dy, dx in ((0, 1), (0, -1), (1, 0), (-1, 0))]
            program.add(rank, "compute", 100000 * (1 + rank % 3))
            for tag, other in enumerate((around[1], around[0], around[3], around[2])):
                program.irecv(rank, other, tag, size)
            for tag, other in enumerate(around):
                program.isend(rank, other, tag, size)
            program.add(rank, "waitall", 8)
        program.everyone("allreduce", 1, 0, 0)
    return program


def pipeline(ranks, size, steps):
    """A wave front, as in LU and Sweep3D."""
    program = Program(ranks)
    for _ in range(steps):
        for rank in range(ranks):
            if rank > 0:
                program.recv(rank, rank - 1, 1, size)
            program.add(rank, "compute", 50000)
            if rank < ranks - 1:
                program.send(rank, rank + 1, 1, size)
    return program


def random_program(ranks, rounds, seed):
    """Random messages, blocking and not, among random computation and collectives."""
    draw = random.Random(seed)
    program = Program(ranks)
    for step in range(rounds):
        kind = draw.random()
        if kind < 0.3:
            size = draw.choice(SIZES[:-1])
            for rank in range(ranks):
                program.add(rank, "compute", draw.randrange(1, 2000000))
            shift = draw.randrange(1, ranks)
            for rank in range(ranks):
                program.irecv(rank, (rank - shift) % ranks, step, size)
                program.send(rank, (rank + shift) % ranks, step, size)
                program.add(rank, "wait", (rank - shift) % ranks, rank, step)
        elif kind < 0.6:
            count = {rank: 0 for rank in range(ranks)}
            for number in range(draw.randrange(1, 3 * ranks)):
                source, target = draw.sample(range(ranks), 2)
                size = draw.choice(SIZES[:-1])
                program.irecv(target, source, 1000 * step + number, size)
                program.isend(source, target, 1000 * step + number, size)
                count[source] += 1
                count[target] += 1
            for rank in range(ranks):
                if count[rank]:
                    program.add(rank, "waitall", count[rank])
        else:
            count, root = draw.choice([1, 10, 500, 3000, 20000]), draw.randrange(ranks)
            program.everyone(*draw.choice(collectives(ranks, count, root)))
    return program


def collectives(ranks, count, root):
    each = [count + rank for rank in range(ranks)]
    return [
        ("barrier",),
        ("bcast", count, root, 0),
        ("reduce", count, 1000 * count, root, 0),
        ("allreduce", count, 1000 * count, 0),
        ("alltoall", count, count, 0, 0),
        ("gather", count, count, root, 0, 0),
        ("scatter", count, count, root, 0, 0),
        ("allgather", count, count, 0, 0),
        ("scan", count, 1000 * count, 0),
        ("reducescatter", *each, 100 * count, 0),
    ]


def single(words, ranks):
    """A collective twice, entered at different times."""
    return twice(lambda rank: words, ranks)


def twice(words, ranks):
    program = Program(ranks)
    for rank in range(ranks):
        program.add(rank, "compute", 1000 * rank)
        program.add(rank, *words(rank))
        program.add(rank, *words(rank))
    return program


# SMPI's names of algorithms by the names of its configuration items.
ALGORITHMS = {
    "allgather": "default 2dmesh 3dmesh bruck GB loosely_lr NTSLR NTSLR_NB pair rdb rhv ring "
                 "SMP_NTS smp_simple spreading_simple ompi ompi_neighborexchange mvapich2 "
                 "mvapich2_smp mpich impi",
    "allgatherv": "default GB pair ring ompi ompi_neighborexchange ompi_bruck mpich mpich_rdb "
                  "mpich_ring mvapich2 impi",
    "allreduce": "default lr rab1 rab2 rab_rdb rdb smp_binomial smp_binomial_pipeline smp_rdb "
                 "smp_rsag smp_rsag_lr smp_rsag_rab redbcast ompi ompi_ring_segmented mpich "
                 "mvapich2 mvapich2_rs mvapich2_two_level impi rab",
    "alltoall": "default 2dmesh 3dmesh basic_linear bruck pair pair_rma pair_light_barrier "
                "pair_mpi_barrier pair_one_barrier rdb ring ring_light_barrier ring_mpi_barrier "
                "ring_one_barrier mvapich2 mvapich2_scatter_dest ompi mpich impi",
    "alltoallv": "default bruck pair pair_light_barrier pair_mpi_barrier pair_one_barrier ring "
                 "ring_light_barrier ring_mpi_barrier ring_one_barrier ompi mpich "
                 "ompi_basic_linear mvapich2 impi",
    "barrier": "default ompi ompi_basic_linear ompi_two_procs ompi_tree ompi_bruck "
               "ompi_recursivedoubling ompi_doublering mpich_smp mpich mvapich2_pair mvapich2 "
               "impi",
    "bcast": "default arrival_pattern_aware arrival_pattern_aware_wait arrival_scatter "
             "binomial_tree flattree flattree_pipeline NTSB NTSL NTSL_Isend scatter_LR_allgather "
             "scatter_rdb_allgather SMP_binary SMP_binomial SMP_linear ompi ompi_split_bintree "
             "ompi_pipeline mpich mvapich2 mvapich2_inter_node mvapich2_intra_node "
             "mvapich2_knomial_intra_node impi",
    "gather": "default ompi ompi_basic_linear ompi_binomial ompi_linear_sync mpich mvapich2 "
              "mvapich2_two_level impi",
    "reduce": "default arrival_pattern_aware binomial flat_tree NTSL scatter_gather ompi "
              "ompi_chain ompi_pipeline ompi_basic_linear ompi_in_order_binary ompi_binary "
              "ompi_binomial mpich mvapich2 mvapich2_knomial mvapich2_two_level impi rab",
    "reduce_scatter": "default ompi ompi_basic_recursivehalving ompi_ring ompi_butterfly mpich "
                      "mpich_pair mpich_rdb mpich_noncomm mvapich2 impi",
    "scatter": "default ompi ompi_basic_linear ompi_linear_nb ompi_binomial mpich mvapich2 "
               "mvapich2_two_level_binomial mvapich2_two_level_direct impi",
}


def words_of(collective, ranks, count, root):
    """What each rank's line says; blocks of different lengths where that is possible."""
    blocks = [count + rank for rank in range(ranks)]
    rows = [[count + (source + 2 * target) % 3 for target in range(ranks)]
            for source in range(ranks)]
    # Without displacements, SimGrid's GB broadcasts the longest block only.
    places = [sum(blocks[:rank]) for rank in range(ranks)]
    columns = [[row[target] for row in rows] for target in range(ranks)]
    return {
        "allgather": lambda rank: ("allgather", count, count, 0, 0),
        "allgatherv": lambda rank: ("allgatherv", blocks[rank], *blocks, 0, 0, *places),
        "allreduce": lambda rank: ("allreduce", count, 1000, 0),
        "alltoall": lambda rank: ("alltoall", count, count, 0, 0),
        "alltoallv": lambda rank: ("alltoallv", sum(rows[rank]), *rows[rank], sum(columns[rank]),
                                   *columns[rank], 0, 0),
        "barrier": lambda rank: ("barrier",),
        "bcast": lambda rank: ("bcast", count, root, 0),
        "gather": lambda rank: ("gather", count, count, root, 0, 0),
        "reduce": lambda rank: ("reduce", count, 1000, root, 0),
        "reduce_scatter": lambda rank: ("reducescatter", *([count] * ranks), 1000, 0),
        "scatter": lambda rank: ("scatter", count, count, root, 0, 0),
    }[collective]


def algorithm_cases():
    for collective, names in ALGORITHMS.items():
        for algorithm in names.split():
            for ranks in (5, 8, 16):
                if (collective, algorithm, ranks) == ("alltoall", "2dmesh", 5):
                    continue  # returns an error, which SimGrid's replay does not look at
                for count, root in ((10, 1), (20000, ranks - 1)):
                    program = twice(words_of(collective, ranks, count, root), ranks)
                    name = f"algorithm {collective} {algorithm} {ranks} {count}"
                    yield name, "backbone", program, [f"smpi/{collective}:{algorithm}"]
                    if collective == "barrier":
                        break


def cases():
    yield "ping-pong flat", "flat", ping_pong(2, SIZES), []
    yield "ping-pong backbone", "backbone", ping_pong(2, SIZES), []
    yield "ping-pong loopback", "loopback", ping_pong(2, SIZES), []
    yield "ping-pong torus", "torus", ping_pong(64, SIZES, 42), []
    yield "ping-pong dragonfly", "dragonfly", ping_pong(48, SIZES, 47), []
    yield "ping-pong modes", "backbone", ping_pong(2, SIZES), MODES
    yield "ping-pong no cross traffic", "backbone", ping_pong(2, SIZES), ["network/crosstraffic:0"]
    yield ("ping-pong weight and window", "backbone", ping_pong(2, SIZES),
           ["network/weight-S:20000", "network/TCP-gamma:10000"])
    for cross in ("1", "0"):
        cfg = [f"network/crosstraffic:{cross}"]
        yield f"two flows {cross}", "fat-tree", flows(64, [(0, 1), (0, 63)], 1000000), cfg
        yield f"three flows {cross}", "torus", flows(64, [(0, 3), (1, 3), (17, 3)], 1000000), cfg
        program = flows(4, [(0, 1), (1, 0), (2, 1)], 1000000)
        yield f"opposite flows {cross}", "backbone", program, cfg
        yield f"limiter {cross}", "limiter", flows(4, [(0, 1), (1, 0), (2, 1)], 1000000), cfg
    for name in ("fat-tree", "fat-tree-tapered", "torus", "dragonfly", "backbone", "slow-backbone",
                 "limiter", "shared-links"):
        for ranks in (4, 16, 48, 64):
            if ranks <= (48 if name == "dragonfly" else 64):
                yield f"all-to-all {name} {ranks}", name, all_to_all(ranks, 100000), []
    yield "all-to-all small", "fat-tree", all_to_all(16, 1000), []
    yield "all-to-all modes small", "backbone", all_to_all(16, 500), MODES
    yield "all-to-all modes medium", "backbone", all_to_all(16, 5000), MODES
    yield "all-to-all modes large", "backbone", all_to_all(16, 50000), MODES
    for ranks in (5, 8, 16):
        for words in [*collectives(ranks, 10, 1), *collectives(ranks, 20000, ranks - 1)]:
            name = f"collective {words[0]} {ranks} {words[1] if len(words) > 1 else ''}"
            yield name, "backbone", single(words, ranks), []
    yield "halo", "backbone", halo(16, 4, 8192, 5), []
    yield "halo modes", "torus", halo(16, 4, 8192, 5), MODES
    yield "pipeline", "backbone", pipeline(16, 2000, 10), []
    yield "pipeline modes", "fat-tree", pipeline(16, 80000, 5), MODES
    for seed in range(6):
        platform = ("backbone", "fat-tree", "torus")[seed % 3]
        yield f"random {seed}", platform, random_program(12, 12, seed), []
        platform = ("backbone", "dragonfly", "torus")[seed % 3]
        yield f"random modes {seed}", platform, random_program(12, 12, seed), MODES


def simgrid(folder, ranks, cfg, replayer):
    command = ["smpirun", "-np", str(ranks), "-platform", "platform.xml", "-hostfile", "hosts",
               "--log=root.thresh:error", "--cfg=smpi/host-speed:1Gf",
               *(f"--cfg={item}" for item in cfg), "-replay", "trace.index", str(replayer)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60)
    finish = [None] * ranks
    for line in done.stdout.splitlines():
        words = line.split()
        if words[:1] == ["finish"]:
            finish[int(words[1])] = float(words[2])
    if done.returncode or None in finish:
        raise Refused(f"SimGrid failed:\n{done.stdout[-1000:]}{done.stderr[-1000:]}")
    return finish


def heddle(binary, folder, cfg):
    command = [binary, "run", "trace.index", "--machine", "platform.xml", "--network", "flow",
               "--format", "json", "--per-rank"]
    for item in cfg:
        command += ["--cfg", item]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600)
    if done.returncode:
        raise RuntimeError(f"heddle failed:\n{done.stderr[:1000]}")
    return [ps * 1e-12 for ps in json.loads(done.stdout)["finish_ps"]]


def keep(folder, name, program, cfg, finish):
    """Writes a case for the command's tests: the platform, the trace in one file, and when each
    rank ends."""
    target = HERE / "replays" / name.replace(" ", "-")
    target.mkdir(parents=True, exist_ok=True)
    shutil.copy(folder / "platform.xml", target)
    lines = [line for rank, lines in enumerate(program.lines)
             for line in [*lines, f"{rank} finalize"]]
    (target / "trace.ti").write_text("\n".join([*lines, ""]))
    (target / "trace.index").write_text("trace.ti\n")
    (target / "expected.txt").write_text("\n".join(
        ["# SimGrid 3.32: configuration, then the end of each rank in seconds",
         *(f"cfg {item}" for item in cfg),
         *(f"{end:.12f}" for end in finish), ""]))


def main():
    if not (shutil.which("smpirun") and shutil.which("smpicc")):
        print("SimGrid is not installed (Debian: apt-get install libsimgrid-dev): nothing compared")
        return 0
    binary = os.path.abspath(sys.argv[1])
    words = [word for word in sys.argv[2:] if word != "--keep"]
    wrong = total = refused = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        replayer = folder / "replay"
        subprocess.run(["smpicc", "-O1", str(HERE / "replay.c"), "-o", str(replayer)], check=True)
        print(f"{'case':<56}{'SimGrid, s':>16}{'heddle, s':>16}{'largest difference':>20}")
        chosen = algorithm_cases() if "algorithm" in words else cases()
        for name, platform, program, cfg in chosen:
            if not all(word in name.split() for word in words):
                continue
            total += 1
            (folder / "platform.xml").write_text(PLATFORMS[platform])
            program.write(folder)
            ranks = len(program.lines)
            (folder / "hosts").write_text("".join(f"n{host}\n" for host in range(ranks)))
            try:
                theirs = simgrid(folder, ranks, cfg, replayer)
            except (Refused, subprocess.TimeoutExpired):
                if not name.startswith("algorithm"):
                    raise
                print(f"{name:<56}  SimGrid refuses", flush=True)
                total, refused = total - 1, refused + 1
                continue
            if "--keep" in sys.argv and name in KEPT:
                keep(folder, name, program, cfg, theirs)
            try:
                ours = heddle(binary, folder, cfg)
            except RuntimeError as error:
                print(f"{name:<56}{max(theirs):>16.9f}  {error}")
                wrong += 1
                continue
            difference = max(abs(a - b) / max(a, b, 1e-12) for a, b in zip(theirs, ours))
            slack = all(abs(a - b) <= 2 * PRECISION for a, b in zip(theirs, ours))
            verdict = "" if difference <= TOLERANCE else "  within 2 ns" if slack else "  DIFFERS"
            if verdict == "  DIFFERS":
                # By default SimGrid solves again what it thinks a change can reach, and misses some
                # of it with cross traffic.
                whole = simgrid(folder, ranks, [*cfg, "network/optim:Full"], replayer)
                difference = max(abs(a - b) / max(a, b, 1e-12) for a, b in zip(whole, ours))
                verdict = "  as with network/optim:Full" if difference <= TOLERANCE else verdict
            wrong += verdict == "  DIFFERS"
            print(f"{name:<56}{max(theirs):>16.9f}{max(ours):>16.9f}{difference:>20.2e}{verdict}",
                  flush=True)
    more = f"; SimGrid refuses {refused} more" if refused else ""
    print(f"{total - wrong} of {total} agree to {TOLERANCE:g}{more}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
