"""SIGKILL of a real server under load: nothing that it acknowledged is lost (`PROTOCOL.md` 7.5).

`load.py` has the load and the check; here are many kills, on SQLite and on PostgreSQL. LAKEBED_KILLS asks
for more than the usual number.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.crash.load import COMMITTERS, WRITERS, killed_and_checked
from tests.support.services.postgres import Postgres, running_postgres

KILLS = int(os.environ.get("LAKEBED_KILLS", "50"))


@pytest.fixture(scope="module")
def postgres() -> Iterator[Postgres]:
    with running_postgres() as started:
        yield started


@pytest.fixture(params=["sqlite", "postgres"])
def environment(request: pytest.FixtureRequest) -> dict[str, str]:
    """The settings of the KV store that is tried."""
    if request.param == "sqlite":
        return {}
    started: Postgres = request.getfixturevalue("postgres")
    return {"LAKEBED_KV_TYPE": "postgres", "LAKEBED_KV_POSTGRES_DSN": started.dsn}


@pytest.mark.slow
def test_killed_under_load(
    tmp_path: Path, environment: dict[str, str], record_property: Callable[[str, object], None]
) -> None:
    load = killed_and_checked(tmp_path / "data", KILLS, environment)
    record_property("kills", len(load.cut_off))
    record_property("operations_checked", load.operations)
    record_property("commits_checked", len(load.commits))
    record_property("requests_cut_off", sum(load.cut_off))
    record_property("fewest_requests_cut_off", min(load.cut_off))
    load.assert_met(KILLS)
    assert len(load.commits) >= KILLS
    assert sum(load.cut_off) >= (WRITERS + COMMITTERS) * KILLS / 2, "the server was hardly busy"
