#!/usr/bin/env python3
"""Two hosts on one machine, joined by networks of a chosen rate and delay.

    rig.py run [--rail NAME:RATE:DELAY]... [-- COMMAND...]  on node1, for as long as it takes
    rig.py up [--rail NAME:RATE:DELAY]...                   prints the rig's folder
    rig.py exec FOLDER NODE COMMAND...                      on node1 or node2
    rig.py tell FOLDER rate B 10Mb/s                        also: down B, up B, report, reset
    rig.py down FOLDER

Without --rail there are A (1 Gb/s, 50 us one way), its twin D, and B (100 Mb/s, 200 us). Programs
in the rig find Open MPI set up: `rig.py run -- mpirun -n 2 PROGRAM` has a rank on either host.
Needs Linux, root, /dev/net/tun, iproute2, util-linux and heddle-shaper (cargo build --release -p
heddle-shaper); exits with 77 and the name of what is missing elsewhere. A signal ends `run` as
`down` does: processes in the rig, the shaper and the folder are gone."""

import argparse
import json
import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

RAILS = ["A:1Gb/s:50us", "D:1Gb/s:50us", "B:100Mb/s:200us"]
CANNOT = 77
ROOT = Path(__file__).resolve().parents[2]


class Missing(Exception):
    """What the machine lacks, by name."""


def need(command, package):
    path = shutil.which(command)
    if path is None:
        raise Missing(f"{command} ({package})")
    return path


def shaper_path():
    """The shaper that HEDDLE_SHAPER names, or the one that cargo made last."""
    if named := os.environ.get("HEDDLE_SHAPER"):
        return named
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    built = [target / kind / "heddle-shaper" for kind in ("release", "dist", "debug")]
    found = [path for path in built if path.exists()]
    if not found:
        raise Missing("heddle-shaper (cargo build --release -p heddle-shaper)")
    return max(found, key=lambda path: path.stat().st_mtime)


def entry(node):
    """The beginning of a command that runs in a node, on its processors."""
    space, processors = node["namespaces"], ",".join(map(str, node["processors"]))
    return ["nsenter", f"--net={space}/net", f"--uts={space}/uts", "taskset", "-c", processors]


class Rig:
    """A rig that is up. Its folder has the state, so that other processes can use it."""

    def __init__(self, folder, shaper=None):
        self.folder, self.shaper = Path(folder), shaper
        try:
            self.state = json.loads((self.folder / "state.json").read_text())
        except OSError:
            raise SystemExit(f"rig.py: {folder} is not the folder of a rig that is up") from None
        self.nodes = {node["name"]: node for node in self.state["nodes"]}

    @classmethod
    def up(cls, rails=None, options=(), with_parent=True):
        """Makes a rig, which ends with this process if `with_parent` is true."""
        rails = rails or RAILS
        need("ip", "Debian: iproute2")
        need("nsenter", "Debian: util-linux")
        need("taskset", "Debian: util-linux")
        command = [shaper_path(), *options]
        folder = Path(tempfile.mkdtemp(prefix=f"heddle-rig-{os.getpid()}-"))
        try:
            command += ["--control", folder / "control"]
            command += [part for rail in rails for part in ("--rail", rail)]
            command += ["--with-parent"] if with_parent else []
            with open(folder / "shaper.log", "w") as log:
                shaper = subprocess.Popen(
                    command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log,
                    text=True, start_new_session=True)
            line = shaper.stdout.readline()
            if not line:
                why = (folder / "shaper.log").read_text().strip()
                if shaper.wait() == CANNOT:
                    raise Missing(why.split("missing: ", 1)[-1])
                raise SystemExit(f"rig.py: {why}")
            names = [rail.split(":")[0] for rail in rails]
            state = {**json.loads(line), "pid": shaper.pid, "rails": names}
            (folder / "state.json").write_text(json.dumps(state))
            rig = cls(folder, shaper)
            rig.write_files()
            return rig
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise

    def write_files(self):
        """The remote shell, the hosts of mpirun, and a place for temporary files."""
        cases = "".join(f"{name}) set -- {shlex.join(entry(node))} sh -c \"$*\" ;;\n"
                        for name, node in self.nodes.items())
        agent = self.folder / "rig-shell"
        agent.write_text(
            "#!/bin/sh\n# Runs a command on a node of the rig, as ssh does.\n"
            f"node=$1\nshift\ncase $node in\n{cases}"
            "*) echo \"rig-shell: there is no node $node\" >&2; exit 255 ;;\nesac\nexec \"$@\"\n")
        agent.chmod(0o755)
        hosts = "".join(f"{name} slots={len(node['processors'])}\n"
                        for name, node in self.nodes.items())
        (self.folder / "hosts").write_text(hosts)
        (self.folder / "tmp").mkdir()

    def environment(self):
        """What makes Open MPI see two hosts: its remote shell, and which network is for what. Both
        believe that they have all processors, so that binding would put all first ranks on one."""
        own = {
            "HEDDLE_RIG": self.folder,
            "TMPDIR": self.folder / "tmp",
            "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "OMPI_MCA_plm": "rsh",
            "OMPI_MCA_plm_rsh_agent": self.folder / "rig-shell",
            "OMPI_MCA_orte_leave_session_attached": "1",
            "OMPI_MCA_orte_default_hostfile": self.folder / "hosts",
            "OMPI_MCA_oob_tcp_if_include": "ctl",
            "OMPI_MCA_hwloc_base_binding_policy": "none",
            "OMPI_MCA_rmaps_base_mapping_policy": "node",
            "OMPI_MCA_rmaps_base_oversubscribe": "1",
            "OMPI_MCA_pml": "ob1",
            "OMPI_MCA_btl": "tcp,self",
            "OMPI_MCA_btl_tcp_if_include": ",".join(self.state["rails"]),
            # Rails of another rig have the same addresses.
            "OMPI_MCA_bml_heddle_cache": self.folder / "cache",
        }
        return {**os.environ, **{name: str(value) for name, value in own.items()}}

    def command(self, node, command):
        """The command that runs another on a node."""
        return [*entry(self.nodes[node]), *map(str, command)]

    def start(self, command, nice=0, variables=(), node="node1", **options):
        """Starts a command on a node, as `subprocess.Popen`, with further variables. With
        `nice`, it and all that it starts, on either node, get that much less of the processors
        than others, or more if it is below zero."""
        def favour():
            # Linux shares processors among sessions, and within each by niceness.
            os.setsid()
            os.nice(nice)
            if os.path.exists("/proc/self/autogroup"):
                Path("/proc/self/autogroup").write_text(str(nice))
        return subprocess.Popen(
            self.command(node, command), env={**self.environment(), **dict(variables)},
            preexec_fn=favour if nice else None, **options)

    def tell(self, *words):
        """Sends the shaper a command and returns its answer."""
        with socket.socket(socket.AF_UNIX) as link:
            link.connect(str(self.folder / "control"))
            link.sendall(" ".join(words).encode() + b"\n")
            link.shutdown(socket.SHUT_WR)
            answer = b"".join(iter(lambda: link.recv(1 << 16), b"")).decode()
        if answer.startswith("error: "):
            raise ValueError(answer.removeprefix("error: ").strip())
        return answer

    def lateness(self):
        """What each rail carried in each direction since the last call, as dictionaries."""
        found = [json.loads(line) for line in self.tell("report").splitlines()]
        self.tell("reset")
        return found

    def processes(self):
        """The processes in the nodes, by their network namespace. The shaper itself is in none."""
        spaces = {os.stat(f"{node['namespaces']}/net").st_ino for node in self.nodes.values()}
        for place in Path("/proc").glob("[0-9]*"):
            try:
                if os.stat(place / "ns/net").st_ino in spaces:
                    yield int(place.name)
            except OSError:
                continue

    def end_processes(self):
        """Ends all processes in the nodes, at once if they do not end by themselves."""
        try:
            for last in (signal.SIGTERM, signal.SIGKILL):
                for pid in self.processes():
                    kill(pid, last)
                until = time.monotonic() + 2
                while any(self.processes()):
                    if time.monotonic() > until:
                        break
                    time.sleep(0.02)
        except OSError:
            pass  # The shaper is gone, and its namespaces with it.

    def down(self):
        """Ends all processes in the nodes, and the shaper, with which the namespaces go."""
        self.end_processes()
        if self.shaper:
            self.shaper.terminate()
            self.shaper.wait()
        elif name_of(self.state["pid"]) == "heddle-shaper":
            kill(self.state["pid"], signal.SIGTERM)
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.down()


def kill(pid, number):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def name_of(pid):
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return None


def interrupt(number, _frame):
    raise SystemExit(128 + number)


def run(arguments):
    """Runs a command in the first node and returns its exit code."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, interrupt)
    with Rig.up(arguments.rails, arguments.shaper) as rig:
        command = arguments.command or [os.environ.get("SHELL", "sh")]
        try:
            code = rig.start(command, arguments.nice).wait()
        finally:
            print(rig.tell("report"), end="", file=sys.stderr)
    return code if code >= 0 else 128 - code


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    for verb in ("run", "up"):
        made = verbs.add_parser(verb)
        made.add_argument("--rail", dest="rails", action="append", metavar="NAME:RATE:DELAY")
        made.add_argument("--shaper", action="append", default=[], metavar="OPTION",
                          help="an option of heddle-shaper, as --shaper=--queue=64KiB")
    verbs.choices["run"].add_argument("--nice", type=int, default=0, choices=range(-20, 20),
                                      metavar="N", help="-20 to 19; -20 where others are busy")
    verbs.choices["run"].add_argument("command", nargs="*", metavar="COMMAND")
    for verb in ("exec", "tell", "down"):
        verbs.add_parser(verb).add_argument("folder", type=Path)
    verbs.choices["exec"].add_argument("node", choices=["node1", "node2"])
    for verb in ("exec", "tell"):
        verbs.choices[verb].add_argument("words", nargs=argparse.REMAINDER)
    arguments = parser.parse_args()
    try:
        if arguments.verb == "run":
            return run(arguments)
        if arguments.verb == "up":
            print(Rig.up(arguments.rails, arguments.shaper, with_parent=False).folder)
            return 0
        rig = Rig(arguments.folder)
        if arguments.verb == "down":
            rig.down()
        elif arguments.verb == "tell":
            print(rig.tell(*arguments.words), end="")
        else:
            command = rig.command(arguments.node, arguments.words)
            os.execvpe(command[0], command, rig.environment())
    except Missing as missing:
        print(f"rig.py: missing: {missing}", file=sys.stderr)
        return CANNOT
    except ValueError as why:
        print(f"rig.py: {why}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
