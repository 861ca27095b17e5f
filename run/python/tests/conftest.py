"""Tests use the module as cargo built it, and matplotlib without a display."""

import os

os.environ.setdefault("MPLBACKEND", "Agg")
