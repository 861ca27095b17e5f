"""Runs, ladders and measurements."""

from __future__ import annotations

import datetime
import html
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Union

from . import _native
from ._inputs import Machine, Topology, Traffic, machine_file, settings_of, text_of
from ._results import Ladder, Result, Table, read
from ._schedule import Schedule

#: A workload.
Source = Union[str, "os.PathLike[str]", Schedule, Traffic]


@contextmanager
def _subject(source: Source) -> Iterator[tuple[str, list[str]]]:
    """What the command would be given, and settings that come with it."""
    if isinstance(source, Schedule):
        with tempfile.TemporaryDirectory(prefix="heddle-") as folder:
            path = os.path.join(folder, "schedule.goal")
            source.save(path)
            yield path, []
    elif isinstance(source, Traffic):
        keys = [f"traffic.{key}={text_of(value)}" for key, value in _dashed(source.keys)]
        yield f"traffic:{source.pattern}", keys
    else:
        yield os.fspath(source), []


def _dashed(keys: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    return ((name.replace("_", "-"), value) for name, value in keys.items())


def _flags(flags: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [(name, text_of(value)) for name, value in flags.items() if value is not None]


class _Bar:
    """A progress bar: tqdm's if it is there, or a line on standard error."""

    def __init__(self) -> None:
        self._bar: Any = None
        self._begun = time.monotonic()

    def __call__(self, share: float) -> None:
        # Nothing is shown of what is over at once.
        if time.monotonic() - self._begun < 0.5:
            return
        if self._bar is None:
            try:
                from tqdm.auto import tqdm

                self._bar = tqdm(total=100, unit="%")
            except ImportError:
                self._bar = False
        if self._bar is False:
            sys.stderr.write(f"\r{share:6.1%}")
            sys.stderr.flush()
        else:
            self._bar.update(round(share * 100, 1) - self._bar.n)

    def close(self) -> None:
        if self._bar is False:
            sys.stderr.write("\r      \r")
        elif self._bar is not None:
            self._bar.close()


@contextmanager
def progress_of(
    progress: bool | Callable[[float], object],
) -> Iterator[Callable[[float], object] | None]:
    """The function that is told the share of the work that is done, if there is one."""
    if callable(progress):
        yield progress
    elif progress:
        bar = _Bar()
        try:
            yield bar
        finally:
            bar.close()
    else:
        yield None


def run(
    source: Source,
    *,
    machine: Machine | str | os.PathLike[str] | Mapping[str, Any] | None = None,
    settings: Mapping[str, Any] | None = None,
    tables: Sequence[str] = (),
    output: str | os.PathLike[str] | None = None,
    progress: bool | Callable[[float], object] = False,
    **flags: Any,
) -> Result:
    """Simulates a workload and returns its results.

    ``source`` is what ``heddle run`` takes: the name of a GOAL file, ``pattern:NAME``,
    ``collective:NAME``, ``traffic:NAME``, traces, an experiment file, a manifest; or a
    :class:`Schedule` or :class:`Traffic`. ``machine`` is a file, a :class:`Machine`, or tables of
    settings. ``settings`` are keys of the experiment, as ``{"loggops.L": "1 us"}``; further keyword
    arguments are flags of the command, such as ``ranks=64`` or ``topology="torus:dims=4x4"``.

    ``tables`` names what is kept besides the table of ranks: ``messages``, ``calls``,
    ``computation``, ``timeline``. With ``output``, the run also writes a folder, whose
    ``output.tables`` are those of ``tables`` that a folder can hold.

    The interpreter's lock is free while the simulation runs, so that other threads go on; Ctrl-C
    stops it. ``progress`` shows a bar, or is called with the share that is done. A live program
    runs in a process of its own, by the command ``heddle``, which must be installed then.
    """
    names = [tables] if isinstance(tables, str) else list(tables)
    with _subject(source) as (subject, keys), machine_file(machine) as (file, described):
        sets = described + keys + settings_of(settings)
        if output is not None:
            kept = [name for name in names if name != "timeline"]
            sets.append(f"output.directory={os.fspath(output)}")
            if kept or names:
                sets.append(f"output.tables={','.join(kept or ['ranks'])}")
        with progress_of(progress) as shown:
            pairs = _flags({**flags, "topology": _text(flags.get("topology"))})
            found = _native.run(subject, file, sets, pairs, _in_memory(names, output), shown)
        if found is None:
            return _run_live(subject, file, sets, pairs, output)
    own = {name: Table(found.table(name)) for name in found.table_names}
    folder = None if output is None else Path(output)
    return Result(
        json.loads(found.summary), json.loads(found.performance), found.warnings, own, folder
    )


def _text(topology: Any) -> Any:
    return topology.spec if isinstance(topology, Topology) else topology


def _in_memory(names: list[str], output: object) -> list[str]:
    """The tables that are kept in memory: with a folder, only what that cannot hold."""
    return names if output is None else [name for name in names if name == "timeline"]


def _run_live(
    subject: str,
    machine: str | None,
    sets: list[str],
    flags: list[tuple[str, str]],
    output: str | os.PathLike[str] | None,
) -> Result:
    """Runs a live program by the command, whose process its ranks belong to."""
    command = os.environ.get("HEDDLE") or shutil.which("heddle")
    if command is None:
        raise _native.Error(
            "error: a live program needs the command `heddle` with its libraries of MPI, which is "
            "not in the PATH\n  help: `make install` installs it; the variable HEDDLE may name it"
        )
    with tempfile.TemporaryDirectory(prefix="heddle-") as scratch:
        folder = Path(scratch) / "result" if output is None else Path(output)
        line = [command, "run", subject, "--quiet"]
        line += [] if machine is None else ["--machine", machine]
        for name, value in flags:
            line.append(f"--{name.replace('_', '-')}={value}")
        if output is None:
            sets = [*sets, f"output.directory={folder}"]
        line += [word for each in sets for word in ("--set", each)]
        ended = subprocess.run(line, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if not (folder / "summary.json").is_file():
            raise _native.Error(ended.stderr.strip() or f"{command} ended with {ended.returncode}")
        result = read(folder)
        result.warnings.extend(ended.stderr.splitlines())
        if output is None:
            for name in result.tables:
                result.table(name)
            result.folder = None
    return result


def ladder(
    source: Source,
    *,
    machine: Machine | str | os.PathLike[str] | Mapping[str, Any] | None = None,
    settings: Mapping[str, Any] | None = None,
    progress: bool | Callable[[float], object] = False,
    **flags: Any,
) -> Ladder:
    """Runs a workload at every fidelity that its machine supports."""
    with _subject(source) as (subject, keys), machine_file(machine) as (file, described):
        sets = described + keys + settings_of(settings)
        pairs = _flags({**flags, "topology": _text(flags.get("topology"))})
        with progress_of(progress) as shown:
            return Ladder(json.loads(_native.ladder(subject, file, sets, pairs, shown)))


class Calibration:
    """Parameters of an interconnect, estimated from measured times."""

    def __init__(self, figures: dict[str, Any], machine: str, notes: list[str]) -> None:
        #: The estimates with their intervals, as `heddle fit --format json` prints them.
        self.figures = figures
        #: The text of a machine file.
        self.machine_text = machine
        #: Notes on the samples.
        self.notes = notes

    def save(self, path: str | os.PathLike[str]) -> Machine:
        """Writes a machine file and returns the machine that it describes."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.machine_text)
        return Machine(path)

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.machine_text)}</pre>"

    def __repr__(self) -> str:
        return f"<Calibration of {len(self.figures)} figures>"


def fit(samples: str | os.PathLike[str], *, replicates: int = 1000) -> Calibration:
    """Estimates the parameters of an interconnect from a file of measured times."""
    name = os.fspath(samples)
    with open(name, encoding="utf-8") as file:
        text = file.read()
    today = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
    figures, machine, notes = _native.fit(text, name, today, replicates)
    return Calibration(json.loads(figures), machine, notes)


def patterns() -> str:
    """The patterns, with their descriptions."""
    return _native.patterns()
