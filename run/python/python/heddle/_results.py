"""Results: figures and tables, in memory or in a folder."""

from __future__ import annotations

import html
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from . import _native, _plots

PICOSECOND = 1e-12

# The forms of tables in folders, by the ends of their names.
FORMS = ("csv", "parquet")


class Table:
    """A table by columns.

    It speaks the PyCapsule interface of Arrow, so that ``pyarrow.table(t)``,
    ``polars.DataFrame(t)`` and others take its columns without copying them. Without any of these,
    ``t["column"]`` is a list.
    """

    def __init__(self, native: _native.Table) -> None:
        self._native = native

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return self._native.column_names

    @property
    def units(self) -> dict[str, str]:
        """The unit of each column; empty where there is none."""
        return dict(zip(self.columns, self._native.units))

    def __len__(self) -> int:
        return len(self._native)

    def __getitem__(self, name: str) -> list[Any]:
        return self._native[name]

    def rows(self) -> Iterator[dict[str, Any]]:
        """The rows, one after the other."""
        names = self.columns
        for values in zip(*(self[name] for name in names)):
            yield dict(zip(names, values))

    def __arrow_c_schema__(self) -> object:
        return self._native.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._native.__arrow_c_stream__(requested_schema)

    def to_arrow(self) -> Any:
        """The table as one of pyarrow."""
        import pyarrow

        return pyarrow.table(self)

    def to_pandas(self) -> Any:
        """The table as a data frame of pandas, by way of pyarrow."""
        return self.to_arrow().to_pandas()

    def to_polars(self) -> Any:
        """The table as a data frame of polars."""
        import polars

        return polars.DataFrame(self)

    def plot(self, x: str, y: str, by: str | None = None, ax: Any = None) -> Any:
        """Draws a column over another with matplotlib, a line for each value of ``by``."""
        return _plots.table(self, x, y, by, ax)

    def _repr_html_(self) -> str:
        shown = 10
        names = self.columns
        head = "".join(f"<th>{html.escape(name)}</th>" for name in names)
        body = []
        for number, row in enumerate(self.rows()):
            if number == shown:
                break
            cells = ("" if row[name] is None else html.escape(str(row[name])) for name in names)
            body.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
        rows = f"{len(self)} row" + ("" if len(self) == 1 else "s")
        return f"<table><tr>{head}</tr>{''.join(body)}</table><p>{rows}</p>"

    def __repr__(self) -> str:
        return f"<Table of {len(self)} rows: {', '.join(self.columns)}>"


class Result:
    """The results of a run: figures, and tables as attributes (``result.ranks``).

    Tables that were not kept in memory are read from the folder of the run, if it has one.
    """

    def __init__(
        self,
        summary: dict[str, Any],
        performance: dict[str, Any],
        warnings: list[str],
        tables: dict[str, Table],
        folder: Path | None = None,
    ) -> None:
        #: The figures that are the same every time, as `heddle run --format json` prints them.
        self.summary = summary
        #: The figures that differ from time to time.
        self.performance = performance
        #: Warnings about the inputs.
        self.warnings = warnings
        #: The folder of the run, if it wrote one.
        self.folder = folder
        self._tables = tables

    @property
    def makespan(self) -> float | None:
        """When the last rank finishes, in seconds; None in a deadlock."""
        picoseconds = self.summary.get("makespan_ps")
        return None if picoseconds is None else picoseconds * PICOSECOND

    @property
    def deadlock(self) -> dict[str, Any] | None:
        """Who waits for what, if the ranks can never finish."""
        return self.summary.get("deadlock")

    @property
    def saturation(self) -> dict[str, Any] | None:
        """Where traffic saturates the network, if that was asked for."""
        return self.summary.get("saturation")

    @property
    def critical_path(self) -> dict[str, float]:
        """Where the time of the longest chain of causes went, in seconds."""
        path = self.summary.get("critical_path") or {}
        return {
            name[: -len("_ps")]: value * PICOSECOND
            for name, value in path.items()
            if name.endswith("_ps")
        }

    @property
    def tables(self) -> list[str]:
        """The names of the tables that are there."""
        names = set(self._tables)
        if self.folder is not None:
            names |= {path.stem for end in FORMS for path in self.folder.glob(f"*.{end}")}
        return sorted(names)

    def table(self, name: str) -> Table:
        """The table of this name."""
        if name not in self._tables:
            files = [self.folder / f"{name}.{end}" for end in FORMS] if self.folder else []
            file = next((file for file in files if file.is_file()), None)
            if file is None:
                there = ", ".join(self.tables) or "none"
                raise KeyError(f"no table {name!r}: there are {there}")
            self._tables[name] = Table(_native.read_table(file))
        return self._tables[name]

    def __getattr__(self, name: str) -> Table:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self.table(name)
        except KeyError as error:
            raise AttributeError(error.args[0]) from None

    def plot_critical_path(self, ax: Any = None) -> Any:
        """Draws where the time of the critical path went, with matplotlib."""
        return _plots.critical_path(self, ax)

    def plot_timeline(self, ranks: int = 32, ax: Any = None) -> Any:
        """Draws what the first ranks do over time; the run needs ``tables=["timeline"]``."""
        return _plots.timeline(self, ranks, ax)

    def plot_latency(self, ax: Any = None) -> Any:
        """Draws the mean latency of traffic over the load, with its intervals."""
        return _plots.latency(self, ax)

    def _figures(self) -> list[tuple[str, str]]:
        figures = []
        if self.deadlock is not None:
            figures.append(("deadlock", f"{self.deadlock['ranks']} ranks can never finish"))
        elif self.makespan is not None:
            figures.append(("makespan", seconds(self.makespan)))
        names = ("ranks", "messages", "bytes", "events")
        figures += [(name, str(self.summary[name])) for name in names if name in self.summary]
        figures += [(name, seconds(value)) for name, value in self.critical_path.items()]
        return figures

    def _repr_html_(self) -> str:
        """The report of the run, if its folder has one, or else its figures."""
        report = None if self.folder is None else self.folder / "report.html"
        if report is not None and report.is_file():
            text = html.escape(report.read_text(encoding="utf-8"), quote=True)
            style = "width: 100%; height: 40em; border: 0"
            return f'<iframe sandbox="allow-scripts" style="{style}" srcdoc="{text}"></iframe>'
        rows = self._figures() + [("warning", text) for text in self.warnings]
        rows += [("remark", text) for text in self.summary.get("remarks") or []]
        cells = (
            f"<tr><th>{html.escape(name)}</th><td>{html.escape(value)}</td></tr>"
            for name, value in rows
        )
        points = self._tables.get("points")
        return f"<table>{''.join(cells)}</table>" + (points._repr_html_() if points else "")

    def __repr__(self) -> str:
        figures = ", ".join(f"{name} {value}" for name, value in self._figures()[:3])
        return f"<Result: {figures or 'points of traffic'}; tables {', '.join(self.tables)}>"


def seconds(value: float) -> str:
    """A time with a unit that suits it."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9)):
        if value >= size:
            return f"{value / size:.6g} {unit}"
    return f"{value / PICOSECOND:.6g} ps"


class Ladder:
    """A workload at every fidelity that its machine supports."""

    def __init__(self, found: dict[str, Any]) -> None:
        #: A mapping for each model, from the coarsest to the finest.
        self.rungs: list[dict[str, Any]] = found["rungs"]
        #: The models that the machine does not support, with what is missing.
        self.missing: dict[str, str] = dict(found["missing"])

    @property
    def makespans(self) -> dict[str, float | None]:
        """The makespan of each model in seconds; None in a deadlock."""

        def makespan(rung: dict[str, Any]) -> float | None:
            picoseconds = rung["makespan_ps"]
            return None if picoseconds is None else picoseconds * PICOSECOND

        return {rung["model"]: makespan(rung) for rung in self.rungs}

    def plot(self, ax: Any = None) -> Any:
        """Draws the makespans as bars, with matplotlib."""
        return _plots.ladder(self, ax)

    def _repr_html_(self) -> str:
        rows = (
            f"<tr><th>{html.escape(name)}</th>"
            f"<td>{'deadlock' if value is None else seconds(value)}</td></tr>"
            for name, value in self.makespans.items()
        )
        return f"<table>{''.join(rows)}</table>"

    def __repr__(self) -> str:
        rungs = ", ".join(
            f"{name} {'deadlock' if value is None else seconds(value)}"
            for name, value in self.makespans.items()
        )
        return f"<Ladder: {rungs}>"


def read(folder: str | os.PathLike[str]) -> Result:
    """Reads the folder of an earlier run, as ``heddle run -o FOLDER`` wrote it."""
    path = Path(folder)

    def figures(name: str) -> dict[str, Any]:
        file = path / name
        if not file.is_file():
            return {}
        return json.loads(file.read_text(encoding="utf-8"))

    if not (path / "manifest.json").is_file():
        raise _native.Error(f"error: {path} is not the folder of a run: it has no manifest.json")
    summary = figures("summary.json") or figures("points.json")
    if isinstance(summary, list):
        summary = {"points": summary}
    return Result(summary, figures("performance.json"), [], {}, path)
