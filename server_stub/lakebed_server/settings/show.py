"""Settings as they may be shown, secrets masked."""

from __future__ import annotations

from typing import NamedTuple

from lakebed_server.settings.kinds import Value
from lakebed_server.settings.load import Loaded
from lakebed_server.settings.schema import KEYS

MASK = "********"


class Row(NamedTuple):
    """One setting as it may be shown; `shown` is the value as a person would write it."""

    key: str
    value: Value
    source: str
    shown: str


def rows(loaded: Loaded) -> list[Row]:
    """Every setting in the order of the schema; a secret that is set is a mask."""
    shown = []
    for name, key in KEYS.items():
        value = loaded.values[name]
        masked = bool(key.secret and value)
        written = MASK if masked else key.kind.written(value)
        shown.append(Row(name, MASK if masked else value, loaded.sources[name], written))
    return shown
