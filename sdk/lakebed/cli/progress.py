"""How far a transfer is, for the command line: the meter that the SDK has."""

from __future__ import annotations

from lakebed._bulk.progress_bar import PATIENCE, Meter

__all__ = ["PATIENCE", "Meter"]
