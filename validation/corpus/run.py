#!/usr/bin/env python3
"""Runs a corpus of simulations of every kind and compares their results with those recorded.

validation/corpus/run.py HEDDLE [--record] [--only WORD] [--jobs N]

A row of results.txt is a run: its name, its makespan in picoseconds (or the exit code of a run that
has none) and a hash of all its tables and timelines. A change that is meant to leave results alone
leaves every row alone; a change that is meant to alter some records them again (--record, with
--only for a part of them) and says in its commit which rows those are and why. Live programs are
run without measured computation and are left out where HEDDLE has no libraries of MPI beside it.
"""

import argparse
import concurrent.futures
import hashlib
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parent.parent
RESULTS = HERE / "results.txt"
MACHINES = TOP / "examples" / "machines"
LIVE = TOP / "run" / "cli" / "tests" / "live"

PATTERNS = """dissemination binomial-bcast binomial-reduce binary-bcast nway-dissemination
linear-alltoall pairwise-alltoall alltoallv allreduce-recursive-doubling allreduce-rabenseifner
allreduce-ring gather scatter pipelined-ring double-ring linear-barrier random-bisection
bruck-alltoall random-ring halo1d halo2d halo3d random""".split()
NETWORKS = {
    "loggops": [],
    "infiniband": ["--network", "infiniband", "--topology", "fat-tree:levels=2,radix=8"],
    "packet": ["--network", "packet", "--topology", "torus:dims=4x6"],
    "flow": ["--machine", MACHINES / "graphene.toml", "--network", "flow"],
}
TOPOLOGIES = {
    "star:hosts=24": [],
    "ring:switches=6,hosts=4": ["up-down"],
    "mesh:dims=4x3,hosts=2": ["dimension-order", "minimal"],
    "torus:dims=4x3x2": ["dimension-order", "minimal", "valiant", "direction-order", "o1turn",
                         "romm"],
    "hypercube:dimensions=4,hosts=2": ["dimension-order", "minimal"],
    "hyperx:dims=4x3,hosts=2": ["dimension-order", "minimal", "valiant"],
    "complete:switches=6,hosts=4": ["minimal", "valiant"],
    "fat-tree:levels=3,radix=6": ["d-mod-k", "s-mod-k", "random-up", "up-down", "min-hop"],
    "k-ary-n-tree:k=3,n=3": ["d-mod-k"],
    "xgft:children=4x6,parents=1x2": ["d-mod-k"],
    "dragonfly:p=2": ["minimal", "valiant", "up-down"],
    "slim-fly:q=4": ["minimal", "valiant"],
    "rails:rails=4,hosts=4,units=3,spines=2": ["up-down"],
    "H128_S24": ["d-mod-k"],
}
# Where load, a draw for each message, or the lanes of `packet` matter.
ROUTERS = {
    "torus:dims=4x3x2": ["dimension-order", "direction-order", "adaptive", "dimension-order:bubble",
                         "adaptive:bubble", "dimension-order:bubble=global",
                         "direction-order:bubble=global", "adaptive:bubble=global", "valiant", "o1turn", "romm", "ugal-l", "par"],
    "hyperx:dims=4x3,hosts=2": ["minimal", "ugal-l", "par", "dal", "dimension-adaptive"],
    "complete:switches=6,hosts=4": ["ugal-l", "ugal-g"],
    "k-ary-n-tree:k=3,n=3": ["adaptive-up", "random-up"],
    "dragonfly:p=2": ["minimal", "valiant", "ugal-l", "ugal-g", "par"],
    "slim-fly:q=4": ["minimal", "ugal-l", "par"],
}
COLLECTIVES = {
    "allgather": "ring bruck rdb 2dmesh NTSLR".split(),
    "allgatherv": "ring pair".split(),
    "allreduce": "lr rdb rab1 redbcast ompi_ring_segmented rabenseifner".split(),
    "alltoall": "basic_linear bruck pair ring 3dmesh".split(),
    "alltoallv": "pair ompi_basic_linear".split(),
    "barrier": "ompi_tree ompi_bruck ompi_doublering".split(),
    "bcast": "binomial_tree NTSL ompi_pipeline scatter_LR_allgather ompi_split_bintree".split(),
    "gather": "ompi_binomial ompi_linear_sync".split(),
    "reduce": "binomial flat_tree ompi_chain scatter_gather".split(),
    "reduce_scatter": "ompi_ring ompi_butterfly mpich_pair".split(),
    "scatter": "ompi_binomial ompi_basic_linear".split(),
    "scan": ["default"],
}
LOGGOPS = {
    "loggopsim": ["--set", "loggops.compat=loggopsim"],
    "abstract": ["--set", "protocol.rendezvous=abstract", "--set", "loggops.S=1KiB"],
    "rts-cts": ["--set", "protocol.rendezvous=rts-cts", "--set", "loggops.S=1KiB"],
    "inject-start": ["--set", "loggops.inject=start"],
    "overheads": ["--set", "loggops.o-send=1us", "--set", "loggops.o-recv=3us",
                  "--set", "loggops.O=1ns/B"],
    "zero-lookahead": ["--set", "loggops.L=0ns", "--set", "loggops.o=0ns"],
    "noise": ["--set", "noise.interval=50us", "--set", "noise.duration=20us",
              "--set", "noise.distribution=exponential"],
    "two-a-host": ["--set", "placement.per-host=2"],
    "permuted": ["--permute", "3"],
    "three-threads": ["--threads", "3"],
}
TRAFFIC = "uniform hot-spot transpose bit-reversal shuffle bit-complement tornado neighbour " \
    "sphere incast ring".split()
PROGRAMS = {  # name: ranks
    "two_way_ring": 6, "stencil": 16, "allreduce": 7, "barrier": 5, "basics": 4, "collectives": 5,
    "communicators": 6, "first_of_several": 4, "kernels/is": 4, "large": 3, "locks": 4,
    "looks": 3, "order": 4, "reductions": 4, "requests": 4, "send_modes": 4, "epochs": 4,
}


def runs(heddle):
    """Yields (name, arguments of heddle, kind).

    The kind is False where standard output is the result, True for a run that fills a folder, and
    the words of the program, which come last, for one that fills a folder and has a program.
    """
    for network, machine in NETWORKS.items():
        for pattern in PATTERNS:
            for size in ("8B", "3000B", "100KiB"):
                sizes = [] if pattern == "linear-barrier" else ["--size", size]
                if sizes or size == "8B":
                    command = ["run", f"pattern:{pattern}", "--ranks", "24", *sizes, *machine]
                    yield f"{network} {pattern} {size}", command, True
        for collective, algorithms in COLLECTIVES.items():
            for algorithm in algorithms:
                size = [] if collective == "barrier" else ["--size", "20000B"]
                command = ["run", f"collective:{collective}", "--algorithm", algorithm,
                           "--ranks", "12", *size, *machine]
                yield f"{network} {collective} {algorithm}", command, True
    for name, settings in LOGGOPS.items():
        for pattern in ("linear-alltoall", "allreduce-ring", "halo2d", "alltoallv"):
            command = ["run", f"pattern:{pattern}", "--ranks", "16", "--size", "6000B", *settings]
            yield f"loggops {name} {pattern}", command, True
    for topology, routings in TOPOLOGIES.items():
        yield f"topology {topology}", ["topology", topology, "--format", "json"], False
        for routing in routings:
            network = ["--network", "infiniband", "--topology", topology, "--routing", routing]
            yield (f"infiniband {topology} {routing}",
                   ["run", "pattern:linear-alltoall", "--ranks", "24", "--size", "9000B", *network],
                   True)
    for topology, routings in ROUTERS.items():
        for routing in routings:
            yield (f"packet {topology} {routing}",
                   ["run", "traffic:uniform", "--network", "packet", "--topology", topology,
                    "--routing", routing, "--load", "0.3"], True)
    for routing in ["dimension-order:bubble", "dimension-order:bubble=global"]:
        yield (f"packet torus:dims=5x5 {routing}, two packets",
               ["run", "traffic:uniform", "--network", "packet", "--preset", "packet-booksim",
                "--topology", "torus:dims=5x5", "--routing", routing, "--load", "0.9", "--length",
                "32B", "--set", "network.switching=cut-through", "--set", "network.channels=1",
                "--set", "network.mtu=32B", "--set", "network.buffer=8"], True)
    for pattern in TRAFFIC:
        command = ["run", f"traffic:{pattern}", "--network", "infiniband", "--topology",
                   "torus:dims=4x4", "--load", "0.1:0.5:0.2"]
        yield f"traffic {pattern}", command, True
    for replay in sorted((TOP / "validation/simgrid/replays").iterdir()):
        yield from replay_of_smpi(replay)
    yield from recorded()
    for case in sorted((TOP / "examples/corner-cases").iterdir()):
        yield f"corner case {case.stem}", ["run", case], True
    for example in sorted((TOP / "examples").glob("*.toml")):
        yield f"example {example.stem}", ["run", example], True
    if heddle.with_name("mpi").is_dir():
        yield from live(heddle)


def replay_of_smpi(folder):
    """The runs of a folder of validation/simgrid/replays."""
    lines = (folder / "expected.txt").read_text().splitlines()
    items = [word for line in lines if line.startswith("cfg ") for word in ("--cfg", line[4:])]
    yield (f"replay {folder.name}", ["run", folder / "trace.index", "--machine",
                                     folder / "platform.xml", "--network", "flow", *items], True)


def recorded():
    """Runs of recorded traces and of a recorded schedule."""
    machine = ["--machine", MACHINES / "fat-tree-648.toml"]
    traces = TOP / "validation/traces"
    for folder in sorted(path for path in traces.iterdir() if path.is_dir()):
        if folder.name == "collectives":  # One trace of four.
            continue
        for network, flags in {"loggops": [], "infiniband": machine}.items():
            yield f"{network} traces {folder.name}", ["run", folder, *flags], True
    for network in ("loggops", "infiniband", "flow"):
        command = ["run", TOP / "examples/ltest.goal", "--set", "workload.time-unit=ps",
                   "--machine", MACHINES / "edr-cluster.toml", "--network", network]
        yield f"{network} ltest", command, True


def live(heddle):
    """Runs of MPI programs, compiled by the wrapper beside the command."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="heddle-corpus-"))
    compiler = heddle.with_name("mpi") / "bin" / "mpicc"
    for name, ranks in PROGRAMS.items():
        source = LIVE / f"{name}.c"
        if not source.is_file():
            source = TOP / "examples/programs" / f"{name}.c"
        program = folder / name.replace("/", "-")
        built = subprocess.run([compiler, "-O1", "-I", LIVE, "-o", program, source, "-lm"],
                               capture_output=True, check=False)
        if built.returncode != 0:
            print(f"{name}: not compiled: {built.stderr.decode().splitlines()[:1]}")
            continue
        for network, machine in NETWORKS.items():
            words = ["3", "4096"] if name == "two_way_ring" else []
            yield (f"{network} live {name}",
                   ["mpirun", "-n", str(ranks), "--compute-time", "off", *machine],
                   [program, *words])


def result(heddle, name, arguments, kind):
    """The row of a run, without its name."""
    with tempfile.TemporaryDirectory(prefix="heddle-corpus-") as scratch:
        out = pathlib.Path(scratch) / "out"
        command = [heddle, *arguments]
        if kind:
            command += ["-o", out]
            if "--load" not in arguments:  # Traffic writes all of its tables.
                command += ["--timeline", "perfetto", "--tables", "ranks,messages"]
        if isinstance(kind, list):
            command += kind
        done = subprocess.run([str(word) for word in command], capture_output=True, cwd=scratch,
                              stdin=subprocess.DEVNULL, timeout=600, check=False)
        if not kind:
            return f"{done.returncode} {hashlib.sha256(done.stdout).hexdigest()[:16]}"
        digest = hashlib.sha256()
        for path in sorted(out.rglob("*")):
            if path.suffix in (".csv", ".pftrace", ".svg"):
                digest.update(path.name.encode() + b"\0" + path.read_bytes())
        summary = out / "summary.json"
        end = f"exit-{done.returncode}"
        if summary.is_file():
            end = json.loads(summary.read_text())["makespan_ps"]
        elif done.returncode not in (0, 3):
            print(f"{name}: {done.stderr.decode()[:300]}", file=sys.stderr)
        return f"{end} {digest.hexdigest()[:16]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("heddle", type=pathlib.Path)
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--only", default="", help="runs whose name contains this word")
    parser.add_argument("--jobs", type=int, default=2)
    flags = parser.parse_args()
    heddle = flags.heddle.resolve()
    before = {}
    if RESULTS.is_file():
        for line in RESULTS.read_text().splitlines():
            name, row = line.split(": ", 1)
            before[name] = row
    chosen = [run for run in runs(heddle) if flags.only in run[0]]
    with concurrent.futures.ThreadPoolExecutor(flags.jobs) as pool:
        rows = list(pool.map(lambda run: result(heddle, *run), chosen))
    now = dict(zip((name for name, _, _ in chosen), rows))
    if flags.record:
        merged = {**before, **now} if flags.only else now
        RESULTS.write_text("".join(f"{name}: {row}\n" for name, row in merged.items()))
        print(f"{len(now)} runs recorded")
        return 0
    wrong = [name for name, row in now.items() if before.get(name) != row]
    for name in wrong:
        print(f"{name}: {before.get(name, 'not recorded')} -> {now[name]}")
    print(f"{len(now) - len(wrong)} passed, {len(wrong)} failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
