"""Studies: one experiment with lists of values, a run for each combination."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from . import _native
from ._inputs import document, settings_of
from ._results import Table
from ._runs import progress_of


class StudyResult:
    """The results of a study: ``runs`` has a row for each run, or for each load of traffic."""

    def __init__(self, runs: Table, failed: int, folder: Path | None) -> None:
        #: What varied, every figure of the summary, and the error of runs that failed.
        self.runs = runs
        #: The number of runs that failed.
        self.failed = failed
        #: The folder of the study, unless it was a temporary one.
        self.folder = folder

    def to_pandas(self) -> Any:
        """The table of runs as a data frame of pandas."""
        return self.runs.to_pandas()

    def plot(self, x: str, y: str, by: str | None = None, ax: Any = None) -> Any:
        """Draws a figure over what varied, with matplotlib."""
        return self.runs.plot(x, y, by, ax)

    def _repr_html_(self) -> str:
        return self.runs._repr_html_()

    def __repr__(self) -> str:
        return f"<StudyResult of {len(self.runs)} rows, {self.failed} runs failed>"


def study(
    source: str | os.PathLike[str] | Mapping[str, Any],
    *,
    output: str | os.PathLike[str] | None = None,
    machine: str | os.PathLike[str] | None = None,
    settings: Mapping[str, Any] | None = None,
    jobs: int | None = None,
    resume: bool = False,
    retry_failed: bool = False,
    progress: bool | Callable[[float], object] = False,
    tables_format: str = "csv",
    client: Any = None,
    chunk: int | None = None,
) -> StudyResult:
    """Runs every combination of the values that a study lists.

    ``source`` is a study file, or the tables of one as mappings, in which ``"study"`` lists what
    varies::

        heddle.study({
            "workload": {"source": "collective:allreduce"},
            "study": {"ranks": [64, 128], "size": ["1KiB", "1MiB"]},
        })

    ``jobs`` runs take place at a time, one for each processor by default. With ``client``, a client
    of ``dask.distributed``, its workers run parts of ``chunk`` runs each; they must see the folder,
    so that ``output`` has to name one that they share. The table is the same in every case; with
    ``tables_format="parquet"`` it is stored as Parquet in the folder.
    """
    if tables_format not in ("csv", "parquet"):
        raise ValueError(f"tables_format is csv or parquet, not {tables_format!r}")
    for name, number in (("jobs", jobs), ("chunk", chunk)):
        if number is not None and number < 1:
            raise ValueError(f"{name} is at least 1, not {number}")
    parquet = tables_format == "parquet"
    if client is not None and output is None:
        raise ValueError("with a client, output must name a folder that its workers share")
    scratch = tempfile.mkdtemp(prefix="heddle-") if output is None else None
    folder = Path(scratch or output).absolute()
    try:
        if isinstance(source, Mapping):
            # Beside the folder, which belongs to the study alone.
            file = str(folder) + ".study.toml"
            folder.parent.mkdir(parents=True, exist_ok=True)
            Path(file).write_text(document(source), encoding="utf-8")
        else:
            file = os.path.abspath(source)
        place = None if machine is None else os.path.abspath(machine)
        sets = settings_of(settings)
        runs = _native.Study(file, place, sets)
        with progress_of(progress) as shown:
            if client is not None:
                parts = _parts(len(runs), chunk or -(-len(runs) // (4 * _workers(client))))
                tasks = [
                    client.submit(
                        _part, file, place, sets, str(folder), first, last, jobs or 1,
                        retry_failed, parquet, pure=False,
                    )
                    for first, last in parts
                ]
                for number, task in enumerate(tasks, 1):
                    task.result()
                    if shown is not None:
                        shown(number / len(tasks))
                resume = True
            _, failed = runs.carry_out(
                folder, 0, len(runs), jobs or os.cpu_count() or 1, resume, retry_failed, shown,
                parquet,
            )
        table = Table(_native.read_table(folder / f"runs.{tables_format}"))
    finally:
        if scratch is not None:
            shutil.rmtree(scratch, ignore_errors=True)
            Path(scratch + ".study.toml").unlink(missing_ok=True)
    return StudyResult(table, failed, None if scratch else folder)


def _workers(client: Any) -> int:
    return max(1, len(client.scheduler_info()["workers"]))


def _parts(runs: int, chunk: int) -> list[tuple[int, int]]:
    return [(first, min(first + chunk, runs)) for first in range(0, runs, chunk)]


def _part(
    file: str,
    machine: str | None,
    sets: list[str],
    folder: str,
    first: int,
    last: int,
    jobs: int,
    retry: bool,
    parquet: bool,
) -> None:
    """Carries out a part of a study, in a worker of Dask."""
    study = _native.Study(file, machine, sets)
    study.carry_out(folder, first, last, jobs, True, retry, None, parquet)
