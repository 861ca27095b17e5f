"""Heddle predicts how a parallel program behaves on an interconnect.

    >>> import heddle
    >>> result = heddle.run("pattern:dissemination", ranks=8, size="256B")
    >>> result.makespan
    1.5621e-05

A run returns a :class:`Result`, whose tables pandas, polars and pyarrow take without copying.
Errors are raised as :class:`Error`, with the text that the command prints.
"""

from ._inputs import Machine, Topology, Traffic
from ._native import Error, __version__
from ._results import Ladder, Result, Table, read
from ._runs import Calibration, fit, ladder, patterns, run
from ._schedule import Operation, Rank, Schedule
from ._studies import StudyResult, study

__all__ = [
    "Calibration",
    "Error",
    "Ladder",
    "Machine",
    "Operation",
    "Rank",
    "Result",
    "Schedule",
    "StudyResult",
    "Table",
    "Topology",
    "Traffic",
    "__version__",
    "fit",
    "ladder",
    "patterns",
    "read",
    "run",
    "study",
]
