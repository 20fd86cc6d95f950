"""A real server over a real Azurite: the whole way, parts that are copied, a busy store, a missing container."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple
from uuid import uuid4

import pytest

from tests.server.copying import parts_are_copied
from tests.server.support import refused
from tests.server.workspacing import Api
from tests.support.faults.faulty_s3 import BUSY, FaultyS3
from tests.support.faults.scene import Scene
from tests.support.processes.server import RunningServer, running_server
from tests.support.services.azurite import CONTAINER, Azurite, shared_azurite

pytestmark = pytest.mark.slow


class Lake(NamedTuple):
    """A server, its settings and the proxy between it and Azurite."""

    server: RunningServer
    environment: dict[str, str]
    proxy: FaultyS3

    def scene(self) -> Scene:
        return Scene(self.server, f"az://{CONTAINER}/f-{uuid4().hex[:12]}", self.environment)


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    with FaultyS3(shared_azurite().endpoint) as proxy:
        environment = {**Azurite(proxy.endpoint).variables, "LAKEBED_OBJECTS_RETRY": "2"}
        with running_server(tmp_path_factory, environment=environment) as server:
            yield Lake(server, environment, proxy)


def test_the_whole_way(lake: Lake) -> None:
    with lake.scene() as scene:
        scene.is_unhurt()
        scene.goes_on()
        answer = scene.attempt("large upload")["large upload"]
        assert answer.status_code == 201
        assert scene.read("main", "large").content == b"." * (9 << 20)


def test_parts_that_are_copied(lake: Lake) -> None:
    def namespace() -> str:
        return f"az://{CONTAINER}/p-{uuid4().hex[:12]}"

    with Api(lake.server, f"r-{uuid4().hex[:16]}") as api:
        body = {"name": api.repo.rpartition("/")[2], "storage_namespace": namespace()}
        api.http.post("/repositories", json=body).raise_for_status()
        parts_are_copied(api, lake.server, namespace)


def test_a_busy_store(lake: Lake) -> None:
    with lake.scene() as scene:
        with lake.proxy.failing(BUSY, times=2):
            assert scene.attempt("read")["read"].content == b"first"
        assert lake.proxy.hits == 2
        with lake.proxy.failing(BUSY):
            answers = scene.attempt("upload", "large upload", "commit", "merge", "read")
        for answer in answers.values():
            refused(answer, "store_unavailable", "the store answered 503 SlowDown; try again later", retry=True)
        scene.is_unhurt()
        scene.goes_on()


def test_a_container_that_is_not_there(lake: Lake) -> None:
    name = f"faults-{uuid4().hex[:12]}"
    said = f"the bucket '{name}' does not exist; create it, or correct the namespace"
    with lake.scene() as scene:
        refused(scene.create(name, f"az://{name}/x"), "invalid_namespace", said, retry=False)
        shared_azurite().make_container(name)
        assert scene.create(name, f"az://{name}/x").status_code == 201
