"""fsspec's own suite for file systems: copy, get, put, open and pipe, every case of it.

On a server that keeps everything in memory: some thousands of files are written, and their way to a disk is no matter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import fsspec
import lakebed
import pytest
from fsspec.tests.abstract import (
    AbstractCopyTests,
    AbstractFixtures,
    AbstractGetTests,
    AbstractOpenTests,
    AbstractPipeTests,
    AbstractPutTests,
)

from tests.support.processes.server import RunningServer, running_server

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def in_memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    config: Path = tmp_path_factory.mktemp("memory") / "server.yaml"
    config.write_text('{kv: {type: memory}, objects: {local: {root: ""}}}')
    with running_server(tmp_path_factory, flags=("--config", str(config))) as started:
        yield started


class Fixtures(AbstractFixtures):  # type: ignore[misc]
    @pytest.fixture
    def fs(self, in_memory: RunningServer) -> Any:
        endpoint, key, secret = in_memory[:3]
        return fsspec.filesystem("lakebed", endpoint=endpoint, access_key_id=key, secret_access_key=secret)

    @pytest.fixture
    def fs_path(self, in_memory: RunningServer) -> str:
        name = f"test-{uuid4().hex[:16]}"
        with lakebed.connect(*in_memory[:3]) as lake:
            lake.repository(name).create(f"mem://{name}")
        return f"{name}/main"

    @pytest.fixture
    def fs_join(self) -> Callable[..., str]:
        return lambda *parts: "/".join(parts)

    @pytest.fixture
    def supports_empty_directories(self) -> bool:
        return False


class TestCopy(AbstractCopyTests, Fixtures):  # type: ignore[misc]
    pass


class TestGet(AbstractGetTests, Fixtures):  # type: ignore[misc]
    pass


class TestPut(AbstractPutTests, Fixtures):  # type: ignore[misc]
    pass


class TestOpen(AbstractOpenTests, Fixtures):  # type: ignore[misc]
    pass


class TestPipe(AbstractPipeTests, Fixtures):  # type: ignore[misc]
    pass
