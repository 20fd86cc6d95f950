"""Settings for people and for programs, secrets masked.

Above `load`, under `cli`.
"""

from __future__ import annotations

from typing import NamedTuple

from lakebed_server.settings.kinds import Value
from lakebed_server.settings.load import Loaded
from lakebed_server.settings.schema import KEYS

MASK = "********"


class Row(NamedTuple):
    """One setting as it may be shown."""

    key: str
    value: Value
    source: str


def rows(loaded: Loaded) -> list[Row]:
    """Every setting in the order of the schema; a secret that is set is a mask."""
    shown = []
    for name, key in KEYS.items():
        value = loaded.values[name]
        shown.append(Row(name, MASK if key.secret and value else value, loaded.sources[name]))
    return shown


def table(loaded: Loaded) -> str:
    """The rows in three columns."""
    lines = [(row.key, str(row.value), row.source) for row in rows(loaded)]
    first, second = (max(len(line[column]) for line in lines) for column in (0, 1))
    return "\n".join(f"{key:{first}}  {value:{second}}  {source}" for key, value, source in lines)
