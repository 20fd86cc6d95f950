"""Two servers over one PostgreSQL and one directory of objects: they are one lake."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import lakebed
import pytest
from lakebed_format.installation import install_command
from lakebed_server.process import wiring
from lakebed_server.settings.schema import KvSettings, PostgresSettings, Settings
from lakebed_server.vocabulary import StartError

from tests.support.processes.server import RunningServer, running_server
from tests.support.services.postgres import PASSWORD, Postgres, running_postgres
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.slow

ROUNDS = 12
WRITERS = 4


@pytest.fixture(scope="module")
def postgres() -> Iterator[Postgres]:
    with running_postgres() as server:
        yield server


@pytest.fixture(scope="module")
def servers(postgres: Postgres, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[RunningServer, ...]]:
    place = tmp_path_factory.mktemp("servers")
    environment = {
        "LAKEBED_KV_TYPE": "postgres",
        "LAKEBED_KV_POSTGRES_DSN": postgres.dsn,
        "LAKEBED_OBJECTS_LOCAL_ROOT": str(place / "objects"),
        "LAKEBED_AUTH_SECRET_KEY": "the secret that both of the servers share",
    }
    with (
        running_server(place / "one", environment=environment) as one,
        running_server(place / "two", environment=environment) as two,
    ):
        yield one, two
        for server in (one, two):
            assert PASSWORD not in (place / f"{server.data_dir.name}.log").read_text()


@pytest.fixture
def lakes(servers: tuple[RunningServer, ...]) -> Iterator[list[lakebed.Lake]]:
    found = [
        lakebed.connect(one.endpoint, one.access_key_id, one.secret_access_key, timeout=PATIENCE) for one in servers
    ]
    yield found
    for one in found:
        one.close()


def test_each_server_reads_the_writes_of_the_other(lakes: list[lakebed.Lake]) -> None:
    here = lakes[0].repository("shared").create("local://shared").branch("main")
    there = lakes[1].repository("shared").branch("main")
    for number in range(10):
        writer, reader = (here, there) if number % 2 else (there, here)
        writer.put("k", b"%d" % number)
        assert reader.get("k") == b"%d" % number
    assert there.commit_info().id != here.commit("from one").id == there.commit_info().id


def test_commits_and_writes_that_race_through_two_servers_lose_nothing(lakes: list[lakebed.Lake]) -> None:
    lakes[0].repository("race").create("local://race")
    commits: list[str] = []

    def work(number: int) -> None:
        branch = lakes[number % 2].repository("race").branch("main")
        for turn in range(ROUNDS):
            branch.put(f"{number}/{turn}", b"%d" % turn)
            try:
                commits.append(branch.commit(f"{number}/{turn}").id)
            except lakebed.NothingToCommitError:
                pass  # another one's commit took it along

    with ThreadPoolExecutor(WRITERS) as threads:
        list(threads.map(work, range(WRITERS)))
    wanted = {f"{number}/{turn}": b"%d" % turn for number in range(WRITERS) for turn in range(ROUNDS)}
    for lake in lakes:
        main = lake.repository("race").branch("main")
        assert set(commits) <= {commit.id for commit in main.log()}
        assert not list(main.uncommitted())
        assert {path: main.get(path) for path in wanted} == wanted
        assert len(list(main.list())) == len(wanted)
    assert len(set(commits)) == len(commits) > WRITERS


def test_a_server_that_cannot_open_its_store_says_why_and_not_the_password(postgres: Postgres, tmp_path: Path) -> None:
    for dsn, said in [
        ("", "kv.type postgres needs kv.postgres.dsn"),
        (postgres.dsn_of("wrong-secret"), "cannot open the store: .*refused the user or password"),
    ]:
        environment = {"LAKEBED_KV_TYPE": "postgres", "LAKEBED_KV_POSTGRES_DSN": dsn}
        with (
            pytest.raises(AssertionError, match=said) as caught,
            running_server(tmp_path / "data", environment=environment),
        ):
            pass
        assert "wrong-secret" not in str(caught.value)
        assert "Traceback" not in str(caught.value)


def test_asyncpg_is_an_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings(kv=KvSettings(type="postgres", postgres=PostgresSettings(dsn="postgresql://db/lake")))
    for name in [name for name in sys.modules if name.startswith("lakebed_engine.stores.kv.postgres.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "asyncpg", None)
    with pytest.raises(StartError, match=re.escape(install_command("postgres"))):
        wiring._open_kv(settings)
