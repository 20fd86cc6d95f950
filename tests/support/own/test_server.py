"""The error of the server fixture when the server does not start."""

from __future__ import annotations

from pathlib import Path

import httpx
import lakebed
import pytest

from tests.support.processes.server import RunningServer, running_server

pytestmark = pytest.mark.slow


def test_started_server_is_healthy_and_knows_the_admin(server: RunningServer, lake: lakebed.Lake) -> None:
    assert httpx.get(f"{server.endpoint}/_health").is_success
    assert lake.user().id == "admin"
    assert server.data_dir.is_dir()
    assert server.process.poll() is None


def test_a_server_that_does_not_start_is_quoted(tmp_path: Path) -> None:
    with (
        pytest.raises(AssertionError, match="KV_TYPE"),
        running_server(tmp_path / "data", environment={"LAKEBED_KV_TYPE": "nonsense"}),
    ):
        pass
