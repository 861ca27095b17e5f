"""GOAL schedules, built in Python."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Union


@dataclass(frozen=True)
class Operation:
    """An operation of a rank, to be named by those that wait for it."""

    rank: int
    index: int


#: Operations that another waits for.
Before = Union[Operation, Iterable[Operation], None]


class Rank:
    """A rank of a :class:`Schedule`, to which operations are added.

    Operations of a rank are independent unless one names others in ``after``.
    """

    def __init__(self, schedule: Schedule, number: int) -> None:
        self._schedule = schedule
        self.number = number
        self._lines: list[str] = []
        self._orders: list[str] = []

    def send(
        self,
        to: int | Rank,
        size: int,
        *,
        tag: int = 0,
        cpu: int = 0,
        nic: int = 0,
        after: Before = None,
    ) -> Operation:
        """Sends ``size`` bytes to a rank."""
        where = self._place(tag, cpu, nic)
        return self._add(f"send {_count(size)}b to {self._peer(to)}{where}", after)

    def recv(
        self,
        source: int | Rank | None,
        size: int,
        *,
        tag: int | None = 0,
        cpu: int = 0,
        nic: int = 0,
        after: Before = None,
    ) -> Operation:
        """Receives ``size`` bytes from a rank; None is any rank, and a tag of None any tag."""
        peer = -1 if source is None else self._peer(source)
        where = self._place(tag, cpu, nic)
        return self._add(f"recv {_count(size)}b from {peer}{where}", after)

    def calc(self, time: int, *, cpu: int = 0, after: Before = None) -> Operation:
        """Computes for so many units of time of the schedule, nanoseconds by default."""
        where = f" cpu {_count(cpu)}" if cpu else ""
        return self._add(f"calc {_count(time)}{where}", after)

    def _place(self, tag: int | None, cpu: int, nic: int) -> str:
        words = " tag -1" if tag is None else f" tag {_count(tag)}" if tag else ""
        words += f" cpu {_count(cpu)}" if cpu else ""
        return words + (f" nic {_count(nic)}" if nic else "")

    def _peer(self, rank: int | Rank) -> int:
        number = rank.number if isinstance(rank, Rank) else rank
        if not 0 <= number < len(self._schedule):
            raise ValueError(f"rank {number} of a schedule with {len(self._schedule)} ranks")
        return number

    def _add(self, statement: str, after: Before) -> Operation:
        operation = Operation(self.number, len(self._lines))
        self._lines.append(statement)
        before = [after] if isinstance(after, Operation) else list(after or [])
        for other in before:
            if other.rank != self.number:
                message = f"rank {self.number} cannot wait for an operation of rank {other.rank}"
                raise ValueError(message)
            if not 0 <= other.index < operation.index:
                raise ValueError(f"there is no operation {other.index} before {operation.index}")
            self._orders.append(f"l{operation.index + 1} requires l{other.index + 1}")
        return operation


def _count(number: int) -> int:
    if not 0 <= number < 1 << 64:
        raise ValueError(f"{number} is not between 0 and 2^64")
    return int(number)


class Schedule:
    """A GOAL schedule of so many ranks::

        schedule = Schedule(2)
        work = schedule[0].calc(20_000)
        schedule[0].send(1, 1024, after=work)
        schedule[1].recv(0, 1024)
        heddle.run(schedule)
    """

    def __init__(self, ranks: int) -> None:
        if ranks < 1:
            raise ValueError("a schedule has one rank at least")
        self._ranks = [Rank(self, number) for number in range(ranks)]

    def __len__(self) -> int:
        return len(self._ranks)

    def __getitem__(self, number: int) -> Rank:
        return self._ranks[number]

    def text(self) -> str:
        """The schedule as the text of a GOAL file."""
        parts = [f"num_ranks {len(self)}"]
        for rank in self._ranks:
            parts.append(f"rank {rank.number} {{")
            parts += [f"l{index}: {line}" for index, line in enumerate(rank._lines, 1)]
            parts += rank._orders
            parts.append("}")
        return "\n".join(parts) + "\n"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the schedule as a GOAL file."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.text())

    def __repr__(self) -> str:
        operations = sum(len(rank._lines) for rank in self._ranks)
        return f"<Schedule of {len(self)} ranks, {operations} operations>"
