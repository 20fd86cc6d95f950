"""The lake that is recorded: its settings, its names, and how it is made small.

Sizes are small, so that a few hundred events reach what takes thousands in a lake: a WAL that is written back every few
pages, trees of several ranges, layers of several parts, objects of several parts.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from unittest.mock import patch

import apsw
from lakebed_engine.engine import Engine
from lakebed_engine.stores.kv.sqlite import file, store
from lakebed_server.process import wiring
from lakebed_server.settings.load import load as load_settings
from lakebed_server.settings.schema import Settings

from tests.crash.scenarios import PATCH, REWRITE, small_files

REPO = "lake"
DATA = "var/lake"
"""The data directory, below the recorded one: two directories that the first start makes."""

GRACE = 0.2
"""Seconds that the cleaner waits."""


def environment_of(data: Path) -> dict[str, str]:
    """The settings of the recorded server, and of the checks of its disks, as environment variables."""
    return {
        "LAKEBED_DATA_DIR": str(data),
        "LAKEBED_CLEANUP_GRACE": f"{GRACE}s",
        "LAKEBED_REFS_SNAPSHOT": "always",
        "LAKEBED_REFS_KEEP": "3",
        "LAKEBED_INGEST_ALLOW": "local://outside/",
        "LAKEBED_OBJECTS_CLOUD": "false",
    }


def settings_of(data: Path) -> Settings:
    """The same settings, read."""
    return load_settings(env=environment_of(data), files=False).settings


@contextmanager
def small(pages: int, *, patches: bool) -> Iterator[None]:
    """Small trees and layers, and a WAL that is written back after `pages` pages."""

    def connect(path: Path, vfs: str | None = None, *, durable: bool = True) -> apsw.Connection:
        connection = true(path, vfs, durable=durable)
        connection.pragma("wal_autocheckpoint", pages)
        return connection

    true = file.connect
    with ExitStack() as stack:
        tuning = small_files(PATCH if patches else REWRITE)
        stack.enter_context(patch.object(wiring, "Engine", partial(Engine, tuning=tuning)))
        stack.enter_context(patch.object(file, "connect", connect))
        stack.enter_context(patch.object(store, "connect", connect))
        yield
