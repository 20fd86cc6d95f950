"""A directory that the server names is used only where the server is on this machine, or where the user says so."""

from __future__ import annotations

import socket
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import lakebed
import pytest
from lakebed._http import exchange
from lakebed._integration.sync import shared_directory
from lakebed.errors import UnsupportedOperationError

from tests.support.processes.server import ADMIN_ID, ADMIN_SECRET, RunningServer, running_server

HERE = ["127.0.0.1", "127.0.0.2", "localhost"]
ELSEWHERE = "0.0.0.0"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server that names its directories to everybody."""
    variables = {"LAKEBED_OBJECTS_LOCAL_SHARE": "always", "LAKEBED_LISTEN_HOST": ELSEWHERE}
    with running_server(tmp_path_factory, environment=variables) as server, connected(server, HERE[0]) as lake:
        main = lake.repository("sales").create("local://sales").branch("main")
        main.put("a", b"1")
        main.commit("load")
        yield server


def found(branch: lakebed.Branch, path: str) -> str | None:
    """The file of an object, if the SDK reads it from the shared directory."""
    info = branch.stat(path)
    return shared_directory(branch).find(info.physical_address, info.size)


def connected(server: RunningServer, host: str) -> lakebed.Lake:
    port = server.endpoint.rpartition(":")[2]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # plain HTTP to another machine
        return lakebed.connect(f"http://{host}:{port}", ADMIN_ID, ADMIN_SECRET)


@pytest.mark.parametrize("host", HERE)
def test_the_directory_of_a_server_on_this_machine_is_used(server: RunningServer, host: str) -> None:
    with connected(server, host) as lake:
        repo = lake.repository("sales")
        file = found(repo.branch("main"), "a")
        assert file is not None
        assert Path(file).read_bytes() == b"1"
        with repo.branch("main").workspace("by hand") as ws:
            Path(ws.path("b")).write_bytes(b"2")
        assert repo.branch("main").get("b") == b"2"


def test_the_directory_of_a_server_elsewhere_is_not(server: RunningServer) -> None:
    with connected(server, ELSEWHERE) as lake:
        repo = lake.repository("sales")
        assert repo.info().local_path == ""
        assert found(repo.branch("main"), "a") is None
        assert repo.branch("main").get("a") == b"1"
        with repo.branch("main").workspace("through the server") as ws:
            ws.put("c", b"3")
            assert ws.info().local_path == ""
            with pytest.raises(UnsupportedOperationError, match="cannot be written to from this machine"):
                ws.path("d")
            with pytest.raises(UnsupportedOperationError):
                repo.workspace(ws.id).path("d")
        assert repo.branch("main").get("c") == b"3"


def test_directory_elsewhere_is_used_on_request(server: RunningServer, monkeypatch: pytest.MonkeyPatch) -> None:
    with connected(server, ELSEWHERE) as lake:
        repo = lake.repository("sales")
        with repo.branch("main").workspace("direct", data_path="direct") as ws:
            assert Path(ws.path("e")).parent.is_dir()
            ws.put("e", b"5")
        assert repo.branch("main").get("e") == b"5"
        monkeypatch.setenv("LAKEBED_DATA_PATH", "direct")
        assert Path(repo.info().local_path).is_dir()
        assert found(repo.branch("main"), "e") is not None


@pytest.mark.parametrize(
    ("addresses", "here"),
    [
        (["127.0.0.1"], True), (["127.0.0.1", "::1"], True), (["192.0.2.1"], False),
        (["127.0.0.1", "192.0.2.1"], False),
        (["fe80::1%1"], False), (["0.0.0.0"], False), ([], False),
    ],
)  # fmt: skip
def test_server_name_counts_as_its_resolved_address(
    addresses: list[str], here: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def resolved(host: str, port: int, **_: Any) -> list[Any]:
        assert (host, port) == ("lake.example", 8000)
        return [(socket.AF_UNSPEC, socket.SOCK_STREAM, 6, "", (one, port)) for one in addresses]

    monkeypatch.setattr(socket, "getaddrinfo", resolved)
    assert exchange.is_here("http://lake.example:8000/api/v1") is here


def test_server_behind_a_proxy_counts_as_remote(monkeypatch: pytest.MonkeyPatch) -> None:
    assert exchange.is_here("http://127.0.0.1:8000")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("no_proxy", "")
    assert not exchange.is_here("http://127.0.0.1:8000")
    assert not exchange.is_here("http://no.such.name.invalid:8000")
