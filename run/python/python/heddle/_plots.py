"""Drawings with matplotlib, which is loaded when the first is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._results import Ladder, Result, Table

# Okabe and Ito's colours, which the colour-blind can tell apart.
COLOURS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#000000"]


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots()[1]


def _scale(most: float) -> tuple[float, str]:
    """The factor from picoseconds to a unit that suits the longest time, and the unit."""
    for factor, unit in ((1e-12, "s"), (1e-9, "ms"), (1e-6, "us"), (1e-3, "ns")):
        if most * factor >= 1:
            return factor, unit
    return 1.0, "ps"


def critical_path(result: Result, ax: Any) -> Any:
    """A bar for each part of the critical path."""
    path = result.critical_path
    if not path:
        raise ValueError("the run has no critical path: its ranks never finish")
    factor, unit = _scale(max(path.values()) * 1e12)
    ax = _axes(ax)
    ax.barh(list(path), [value * 1e12 * factor for value in path.values()], color=COLOURS[0])
    ax.invert_yaxis()
    ax.set_xlabel(f"time on the critical path, {unit}")
    return ax


def timeline(result: Result, ranks: int, ax: Any) -> Any:
    """A row for each CPU of a rank, with a bar for each busy period."""
    table = result.table("timeline")
    slices = list(zip(*(table[name] for name in table.columns)))
    slices = [part for part in slices if part[0] < ranks]
    if not slices:
        raise ValueError("nothing happens on these ranks")
    factor, unit = _scale(max(end for _, _, _, end, _ in slices))
    rows = sorted({(rank, cpu) for rank, cpu, *_ in slices})
    place = {row: number for number, row in enumerate(rows)}
    kinds = sorted({kind for *_, kind in slices})
    ax = _axes(ax)
    for number, kind in enumerate(kinds):
        parts = [part for part in slices if part[4] == kind]
        ax.barh(
            [place[rank, cpu] for rank, cpu, *_ in parts],
            [(end - start) * factor for _, _, start, end, _ in parts],
            left=[start * factor for _, _, start, _, _ in parts],
            color=COLOURS[number % len(COLOURS)],
            label=kind,
        )
    several = any(cpu > 0 for _, cpu in rows)
    names = [f"{rank}.{cpu}" if several else str(rank) for rank, cpu in rows]
    ax.set_yticks(range(len(rows)), names)
    ax.invert_yaxis()
    ax.set_xlabel(f"time, {unit}")
    ax.set_ylabel("rank")
    ax.legend()
    return ax


def latency(result: Result, ax: Any) -> Any:
    """The mean latency over the offered load, where the network sustains it."""
    points = [point for point in result.table("points").rows() if not point["saturated"]]
    points = [point for point in points if point["latency_mean_ps"] is not None]
    if not points:
        raise ValueError("the network sustains none of the loads")
    factor, unit = _scale(max(point["latency_mean_ps"] for point in points))
    ax = _axes(ax)
    ax.errorbar(
        [point["offered"] for point in points],
        [point["latency_mean_ps"] * factor for point in points],
        yerr=[(point["latency_half_width_ps"] or 0) * factor for point in points],
        color=COLOURS[0],
        marker="o",
        capsize=3,
    )
    ax.set_xlabel("offered load, part of the bandwidth of a host's link")
    ax.set_ylabel(f"mean latency, {unit}")
    return ax


def ladder(found: Ladder, ax: Any) -> Any:
    """A bar for the makespan of each model."""
    known = {name: value for name, value in found.makespans.items() if value is not None}
    factor, unit = _scale(max(known.values(), default=0.0) * 1e12)
    ax = _axes(ax)
    ax.barh(list(known), [value * 1e12 * factor for value in known.values()], color=COLOURS[0])
    ax.invert_yaxis()
    ax.set_xlabel(f"makespan, {unit}")
    return ax


def table(found: Table, x: str, y: str, by: str | None, ax: Any) -> Any:
    """A line through the rows for each value of a column, in the order of the rows."""
    ax = _axes(ax)
    groups: dict[Any, tuple[list[Any], list[Any]]] = {}
    names = found[by] if by is not None else [None] * len(found)
    for name, across, up in zip(names, found[x], found[y]):
        if across is not None and up is not None:
            line = groups.setdefault(name, ([], []))
            line[0].append(across)
            line[1].append(up)
    for number, (name, (across, up)) in enumerate(groups.items()):
        label = None if by is None else str(name)
        ax.plot(across, up, marker="o", color=COLOURS[number % len(COLOURS)], label=label)
    unit = found.units
    ax.set_xlabel(x if not unit[x] else f"{x}, {unit[x]}")
    ax.set_ylabel(y if not unit[y] else f"{y}, {unit[y]}")
    if by is not None:
        ax.legend(title=by)
    return ax
