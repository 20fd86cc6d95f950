"""How a row type is shown as a table: the type of its class attribute `COLUMNS`."""

from __future__ import annotations

Columns = tuple[tuple[str, str], ...]
"""Pairs of a column's name and its type. Types have Arrow's names; `_render.rows` has the list."""
