"""Histories of three real servers on one PostgreSQL and one S3 server, under faults: linearizable, every one of them.

LAKEBED_HISTORY_SECONDS asks for a longer load than the usual one. `python -m tests.histories.run` is the full form.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.histories.broken_server import MUTANTS
from tests.histories.run import fresh_seed, hunt, run, stores, summary
from tests.support.sampling import sampled
from tests.support.services.postgres import Postgres
from tests.support.services.s3 import S3Server
from tests.support.waiting import PATIENCE, wait_until

pytestmark = pytest.mark.slow

SECONDS = float(os.environ.get("LAKEBED_HISTORY_SECONDS", "20"))
TRIES = 20
"""An operation that was tried less often may have met only refusals, on a busy machine in a short history."""


@pytest.fixture(scope="module")
def started() -> Iterator[tuple[Postgres, S3Server]]:
    with stores() as found:
        yield found


def test_the_history_of_three_servers_is_linearizable(started: tuple[Postgres, S3Server]) -> None:
    result = run(*started, fresh_seed(), SECONDS)
    print(summary(result))
    assert result.wrong == [], summary(result)
    tried = {act: counts for act, counts in result.operations.items() if sum(counts.values()) >= TRIES}
    assert len(tried) >= 3, summary(result)
    silent = [act for act, counts in tried.items() if not counts.get("ok")]
    assert not silent, f"never acknowledged: {silent}"
    assert len(result.operations) == 16
    assert sum(result.faults.values()) >= SECONDS / 4
    assert result.commits >= SECONDS / 4


@pytest.mark.parametrize("mutant", sampled(MUTANTS, 1))
def test_a_mutant_is_caught(started: tuple[Postgres, S3Server], mutant: str) -> None:
    caught = hunt(*started, mutant)
    print(caught)
    assert caught.runs, f"{mutant}: its histories were linearizable"


@pytest.mark.soak  # of the program that runs long histories, which `make test` does not start
def test_ctrl_c_ends_all_processes(tmp_path: Path) -> None:
    """Also no server that is paused, and none that is being started."""
    log = tmp_path / "log"
    command = [sys.executable, "-m", "tests.histories.run", "--seconds", "200"]
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, start_new_session=True)
    try:
        wait_until(lambda: b"at work" in log.read_bytes() or process.poll() is not None, "the load begins")
        started = psutil.Process(process.pid).children(recursive=True)
        assert len(started) > 8, log.read_text()  # servers, PostgreSQL and its own, SeaweedFS
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait(PATIENCE) != 0
    finally:
        process.kill()
        process.wait()
    wait_until(lambda: not any(one.is_running() for one in started), "everything has ended")
