#!/usr/bin/env python3
"""Changes small inputs of every format and runs the command on each changed one.

    fuzz/mutate.py HEDDLE [--count N] [--seed N] [--format NAME] [--keep FOLDER]

No run may crash, take more than 10 s or use more than 1 GB. Where the change renames a word of the
format, adds a line, cuts the file or appends text, the command must fail or warn. What breaks these
rules is listed, and kept in FOLDER. Exit code 1 if anything does.
"""
import argparse
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SECONDS, MEGABYTES = 10, 1024
# The command prints these where it has something to say about an input that it takes.
WARNINGS = ("warning", "remark")

GOAL = """num_ranks 2
rank 0 {
l1: calc 100
l2: send 10b to 1 tag 3
l2 requires l1
}
rank 1 {
l1: recv 10b from 0 tag 3 cpu 0
}
"""
EXPERIMENT = """[workload]
source = "w.goal"

[loggops]
L = "2500 ns"
o = "1500 ns"

[run]
seed = 1
"""
MACHINE = """[network]
model = "infiniband"
topology = { kind = "fat-tree", levels = 2, radix = 4 }
routing = "d-mod-k"

[loggops]
o = "1500 ns"
"""
PLATFORM = """<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
<zone id="z" routing="Full">
<host id="a" speed="1Gf"/>
<host id="b" speed="1Gf" core="2"/>
<link id="l" bandwidth="125MBps" latency="50us" sharing_policy="SHARED"/>
<route src="a" dst="b"><link_ctn id="l"/></route>
</zone>
</platform>
"""
CLUSTER = """<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
<config><prop id="network/crosstraffic" value="no"/></config>
<cluster id="c" prefix="n" suffix="" radical="0-15" speed="1Gf" bw="125MBps" lat="50us"
 topology="TORUS" topo_parameters="4,4"/>
</platform>
"""
INDEPENDENT = """0 init
0 compute 1e6
0 isend 1 7 1000 6
0 wait 0 1 7
0 allreduce 10 100 0
0 finalize
1 init
1 irecv 0 7 1000 6
1 test 0 1 7
1 wait 0 1 7
1 allreduce 10 100 0
1 finalize
"""
ALLPROF = """# clockdiff: 0.0 s (relative to rank 0)
MPI_Init:-:1:2:10
MPI_Comm_rank:11:9,{rank},2:140:11
MPI_{call}:12:64:4:1,4,4:{peer}:3:9,{rank},2:{more}13
MPI_Barrier:14:9,{rank},2:15
MPI_Finalize:25:-
"""
EDGES = """host,a,1
host,b,1
switch,s,4
link,a,s
link,b,s:1
"""
DISCOVERED = """vendid=0x2c9
switchguid=0xa1(a1)
Switch\t4 "S-00000000000000a1"\t\t# "leaf" enhanced port 0 lid 1 lmc 0
[1]\t"H-00000000000000c1"[1](d1) \t\t# "node1 mlx5_0" lid 11 4xEDR
[2]\t"H-00000000000000c2"[1](d2) \t\t# "node2 mlx5_0" lid 12 4xEDR

caguid=0xc1
Ca\t1 "H-00000000000000c1"\t\t# "node1 mlx5_0"
[1](d1) \t"S-00000000000000a1"[1]\t\t# lid 11 lmc 0 "leaf" lid 1 4xEDR

caguid=0xc2
Ca\t1 "H-00000000000000c2"\t\t# "node2 mlx5_0"
[1](d2) \t"S-00000000000000a1"[2]\t\t# lid 12 lmc 0 "leaf" lid 1 4xEDR
"""
TABLES = """Unicast lids [0x1-0xc] of switch Lid 1 guid 0x00000000000000a1 (leaf):
  Lid  Out   Destination
       Port     Info
0x000b 001 : (Channel Adapter portguid 0xd1: 'node1 mlx5_0')
0x000c 002 : (Channel Adapter portguid 0xd2: 'node2 mlx5_0')
2 valid lids dumped
"""
NOISE = "0 100\n1000 50\n"
PLACEMENT = "0 h1\n1 h0\n"


def allprof(rank):
    call, more = (("Send", ""), ("Recv", "400:"))[rank]
    return ALLPROF.format(rank=rank, peer=1 - rank, call=call, more=more)


class Format:
    """Files of an input, the one that is changed, the arguments of the command, and the words of
    the format itself."""

    def __init__(self, name, files, arguments, words=None, ends=False, comment=None, prepare=None):
        self.name, self.files, self.arguments, self.words = name, files, arguments, words
        self.changed, self.ends = next(iter(files)), ends
        self.comment, self.prepare = comment, prepare


KEYS = r"(?m)^\s*([A-Za-z][\w-]*)\s*="
FORMATS = [
    Format("goal", {"w.goal": GOAL}, "run w.goal",
           r"\b(num_ranks|rank|calc|send|recv|requires|to|from|tag|cpu)\b", True, "//"),
    Format("goal-binary", {"w.bin": b""}, "run w.bin", None, True,
           prepare="convert seed.goal w.bin"),
    Format("experiment", {"x.toml": EXPERIMENT, "w.goal": GOAL}, "run x.toml", KEYS, False, "#"),
    Format("machine", {"m.toml": MACHINE, "w.goal": GOAL}, "run w.goal --machine m.toml", KEYS,
           False, "#"),
    Format("platform", {"p.xml": PLATFORM, "t.ti": INDEPENDENT, "t.index": "t.ti\n"},
           "run t.index --machine p.xml --network flow", r"(?:<|\s)([a-z_]+)(?==|[\s>/])", True),
    Format("cluster", {"p.xml": CLUSTER, "t.ti": INDEPENDENT, "t.index": "t.ti\n"},
           "run t.index --machine p.xml --network flow", r"(?:<|\s)([a-z_]+)(?==|[\s>/])", True),
    Format("independent", {"t.ti": INDEPENDENT, "t.index": "t.ti\n"}, "run t.index",
           r"(?m)^\d ([a-z]+)", True, "#"),
    Format("index",
           {"t.index": "t0.ti\nt1.ti\n", "t0.ti": INDEPENDENT[:INDEPENDENT.index("1 init")],
            "t1.ti": INDEPENDENT[INDEPENDENT.index("1 init"):]},
           "run t.index", r"(t\d\.ti)", False, "#"),
    Format("allprof", {"t-0.txt": allprof(0), "t-1.txt": allprof(1)}, "run t-", r"(MPI_\w+)", True,
           "#"),
    Format("heddle-trace", {"r/rank-0.hdl": b"", "r/rank-1.hdl": b""}, "run r", None, True,
           prepare="seed/rank-0.hdl seed/rank-1.hdl"),
    Format("edges", {"e.csv": EDGES}, "topology e.csv", r"\b(host|switch|link)\b", False, "#"),
    Format("discovered", {"d.txt": DISCOVERED}, "topology d.txt", r"\b(Switch|Ca)\b", False, "#"),
    Format("tables", {"s.lfts": TABLES, "d.txt": DISCOVERED}, "topology d.txt --tables s.lfts",
           r"\b(Unicast|lids|switch)\b", False, "#"),
    Format("noise", {"n.txt": NOISE, "w.goal": GOAL}, "run w.goal --set noise.trace=n.txt", None,
           False, "#"),
    Format("placement", {"h.txt": PLACEMENT, "w.goal": GOAL},
           "run w.goal --network infiniband --topology star:hosts=2 "
           "--set placement.kind=file --set placement.file=h.txt",
           None, False, "#"),
    Format("calls",
           {"a/calls.csv": b"", "a/manifest.json": b"", "b/calls.csv": b"", "b/manifest.json": b""},
           "compare a b", None, False, prepare="run"),
    Format("manifest", {"a/manifest.json": b"", "w.goal": GOAL}, "run a/manifest.json",
           r'"([a-z_.-]+)":', True, prepare="run"),
]


def rename(draw, text, form):
    found = list(re.finditer(form.words, text)) if form.words else []
    if not found:
        return None
    match = draw.choice(found)
    start, end = match.span(1)
    wrong = draw.choice([match[1] + "x", match[1][:-1] + "q", "x" + match[1]])
    return text[:start] + wrong + text[end:]


def add_line(draw, text, form):
    lines = text.split("\n")
    lines.insert(draw.randrange(len(lines)),
                 draw.choice(["unknown = 1", "garbage", "<garbage/>", "9 garbage 1"]))
    return "\n".join(lines)


def append(draw, text, form):
    return text + draw.choice(["garbage\n", "\n<more/>\n", "\0\0\0\0", text[:40]])


def cut(draw, text, form):
    return text[:draw.randrange(len(text))] if form.ends and len(text) > 1 else None


def flip_number(draw, text, form):
    found = list(re.finditer(r"\d+", text))
    if not found:
        return None
    start, end = draw.choice(found).span()
    numbers = ["0", "-1", "1e300", "4294967295", "4294967296", "18446744073709551615", "999999999",
               "", str(draw.randrange(10**6))]
    return text[:start] + draw.choice(numbers) + text[end:]


def flip_byte(draw, text, form):
    place = draw.randrange(max(len(text), 1))
    return text[:place] + chr(draw.randrange(256)) + text[place + 1:]


# What must not be taken without a word, and what only must not break anything.
TOLD = [rename, add_line, append, cut]
FREE = [flip_number, flip_byte]


def run(command, folder):
    """Exit code (None after the time limit), standard error, and peak memory in MB."""
    with tempfile.TemporaryFile() as errors:
        limit = lambda: resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
        child = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=errors,
                                 stderr=errors, preexec_fn=limit)
        try:
            child.wait(timeout=6 * SECONDS)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
        errors.seek(0)
        text = errors.read().decode("utf-8", "replace")
    return child.returncode, text


def limited(binary, arguments):
    # GNU time is not everywhere: the shell's own limit stands for the measurement.
    return ["sh", "-c", f'ulimit -v {6 * MEGABYTES * 1024}; exec "$@"', "sh", binary, *arguments]


def peak():
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024


def prepare(binary, form, folder):
    """Makes the seeds that the command itself writes."""
    if not form.prepare:
        return
    (folder / "seed.goal").write_text(GOAL)
    if form.prepare.startswith("convert"):
        subprocess.run([binary, *form.prepare.split()], cwd=folder, check=True, capture_output=True)
    elif form.prepare == "run":
        (folder / "seed-0.txt").write_text(allprof(0))
        (folder / "seed-1.txt").write_text(allprof(1))
        subject = "w.goal" if form.name == "manifest" else "seed-"
        (folder / "w.goal").write_text(GOAL)
        tables = [] if form.name == "manifest" else ["--tables", "ranks,calls"]
        for name in "ab":
            subprocess.run([binary, "run", subject, "-o", name, "--force", *tables], cwd=folder,
                           check=True, capture_output=True)
    else:
        for seed in form.prepare.split():
            source = ROOT / "fuzz" / "seeds" / "trace_binary" / Path(seed).name
            shutil.copy(source, folder / "r" / source.name)


def wrong(code, text, told, changed):
    """Why a run breaks the rules, if it does."""
    if code is None or code in (-9, -24):
        return "takes too long"
    if code < 0 or code in (101, 134, 137, 139) or "panicked" in text:
        return f"crashes ({code})"
    if told and code == 0 and not any(word in text for word in WARNINGS):
        return f"is taken without a word after {changed}"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("heddle")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--format")
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    binary, draw = os.path.abspath(options.heddle), random.Random(options.seed)
    forms = [form for form in FORMATS if options.format in (None, form.name)]
    broken, memory = 0, 0.0
    with tempfile.TemporaryDirectory() as name:
        for form in forms:
            folder = Path(name) / form.name
            for file, contents in form.files.items():
                path = folder / file
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(contents if isinstance(contents, bytes) else contents.encode())
            prepare(binary, form, folder)
            seed = (folder / form.changed).read_bytes()
            code, text = run(limited(binary, form.arguments.split()), folder)
            if code != 0:
                print(f"{form.name}: the seed itself fails ({code}):\n{text}")
                broken += 1
                continue
            for number in range(options.count // len(forms)):
                change = draw.choice(TOLD + FREE)
                # Bytes that are no text pass through unchanged.
                changed = change(draw, seed.decode("latin-1"), form)
                # Blanks at the end mean nothing in any text.
                if changed is None or changed.encode("latin-1").rstrip() == seed.rstrip():
                    continue
                (folder / form.changed).write_bytes(changed.encode("latin-1"))
                code, text = run(limited(binary, form.arguments.split()), folder)
                why = wrong(code, text, change in TOLD, change.__name__)
                if why is None and peak() > max(memory, MEGABYTES):
                    why = f"uses {peak():.0f} MB"
                memory = max(memory, peak())
                if why:
                    broken += 1
                    print(f"{form.name} {number}: {why}", flush=True)
                    if options.keep:
                        options.keep.mkdir(parents=True, exist_ok=True)
                        stem = f"{form.name}-{options.seed}-{number}-{change.__name__}"
                        kept = options.keep / f"{stem}{Path(form.changed).suffix}"
                        kept.write_bytes(changed.encode("latin-1"))
            (folder / form.changed).write_bytes(seed)
    print(f"{broken} runs break the rules; the largest took {memory:.0f} MB")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
