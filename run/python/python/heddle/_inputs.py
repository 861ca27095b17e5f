"""What a run is made of: machines, topologies, traffic, and how they become text."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from . import _native


class Topology:
    """A topology, as the command names it: ``Topology("torus", dims=(8, 8))``.

    ``spec`` is a kind (``heddle topology list`` lists them), a kind with its keys, such as
    ``"torus:dims=8x8"``, or the name of a file. Keys may be given as keyword arguments; a tuple
    becomes numbers with ``x`` between them.
    """

    def __init__(self, spec: str | os.PathLike[str], **keys: Any) -> None:
        text = os.fspath(spec)
        if keys:
            text += ":" + ",".join(f"{name}={_value(value)}" for name, value in keys.items())
        self.spec = text
        self._figures: dict[str, Any] | None = None

    @property
    def figures(self) -> dict[str, Any]:
        """Counts, distances and bisection, of a topology that is not a file."""
        if self._figures is None:
            self._figures = json.loads(_native.topology(self.spec))
        return self._figures

    @property
    def hosts(self) -> int:
        """The number of hosts."""
        return self.figures["hosts"]

    @property
    def switches(self) -> int:
        """The number of switches."""
        return self.figures["switches"]

    def svg(self) -> str:
        """A drawing as SVG."""
        return _native.draw_topology(self.spec)

    def _repr_svg_(self) -> str:
        return self.svg()

    def __str__(self) -> str:
        return self.spec

    def __repr__(self) -> str:
        return f"Topology({self.spec!r})"


def _value(value: Any) -> str:
    if isinstance(value, (tuple, list)):
        return "x".join(map(str, value))
    return str(value)


class Machine:
    """A machine: an experiment file without a workload, or what stands in one.

    ``Machine("cluster.toml")`` is a file; so is a platform of SimGrid. Tables of the
    experiment file are keyword arguments, and go before what the file says::

        Machine("cluster.toml", network={"routing": "adaptive"})
        Machine(loggops={"L": "1.2 us", "o": "300 ns", "G": "100 Gb/s"})
    """

    def __init__(
        self, file: str | os.PathLike[str] | None = None, **tables: Mapping[str, Any]
    ) -> None:
        self.file = None if file is None else os.fspath(file)
        for name, table in tables.items():
            if not isinstance(table, Mapping):
                raise TypeError(f"{name} is a table of settings, not {table!r}")
        self.tables = {name: dict(table) for name, table in tables.items()}

    def __repr__(self) -> str:
        parts = [repr(self.file)] if self.file is not None else []
        parts += [f"{name}={table!r}" for name, table in self.tables.items()]
        return f"Machine({', '.join(parts)})"


class Traffic:
    """Synthetic traffic: ``Traffic("uniform", load="0.1:0.9:0.1", length="1KiB")``.

    ``pattern`` is the name behind ``traffic:`` on the command line; keyword arguments are keys of
    ``[traffic]``.
    """

    def __init__(self, pattern: str = "uniform", **keys: Any) -> None:
        self.pattern = pattern
        self.keys = keys

    def __repr__(self) -> str:
        keys = "".join(f", {name}={value!r}" for name, value in self.keys.items())
        return f"Traffic({self.pattern!r}{keys})"


def text_of(value: Any) -> str:
    """A value as the command line writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (tuple, list)):
        return ",".join(map(text_of, value))
    return str(value)


def toml_of(value: Any) -> str:
    """A value as TOML."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, (tuple, list)):
        return "[" + ", ".join(map(toml_of, value)) + "]"
    if isinstance(value, Mapping):
        pairs = (f"{_key(name)} = {toml_of(inner)}" for name, inner in value.items())
        return "{ " + ", ".join(pairs) + " }"
    # The strings of JSON are strings of TOML, but for characters beyond the basic plane, which
    # TOML takes as they are.
    return json.dumps(str(value), ensure_ascii=False)


def _key(name: Any) -> str:
    return ".".join(json.dumps(part) for part in str(name).split("."))


def document(tables: Mapping[str, Mapping[str, Any]]) -> str:
    """Tables of settings as an experiment file."""
    lines = []
    for name, table in tables.items():
        lines.append(f"[{_key(name)}]")
        lines += [f"{_key(key)} = {toml_of(value)}" for key, value in table.items()]
    return "\n".join(lines) + "\n"


def settings_of(settings: Mapping[str, Any] | None, before: str = "") -> list[str]:
    """Settings as ``table.key=value``: of a flat mapping, or of one with tables in it."""
    found = []
    for name, value in (settings or {}).items():
        if isinstance(value, Mapping):
            found += settings_of(value, f"{before}{name}.")
        else:
            found.append(f"{before}{name}={text_of(value)}")
    return found


@contextmanager
def machine_file(
    machine: Machine | str | os.PathLike[str] | Mapping[str, Any] | None,
) -> Iterator[tuple[str | None, list[str]]]:
    """The name of a machine's file, which exists as long as the context does, and settings."""
    if isinstance(machine, Mapping):
        machine = Machine(None, **machine)
    if not isinstance(machine, Machine):
        yield (None if machine is None else os.fspath(machine)), []
    elif machine.file is not None:
        yield machine.file, settings_of(machine.tables)
    else:
        with tempfile.TemporaryDirectory(prefix="heddle-") as folder:
            path = os.path.join(folder, "machine.toml")
            with open(path, "w", encoding="utf-8") as file:
                file.write(document(machine.tables))
            yield path, []
