"""One PostgreSQL for all tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.postgres import Postgres, running_postgres


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """A real PostgreSQL. Each test uses a SQL schema of its own, and leaves the server running."""
    with running_postgres("-c", "deadlock_timeout=100ms") as server:
        yield server
