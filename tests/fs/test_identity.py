"""Which server `lakebed://` means, and that no instance is taken for another one's."""

from __future__ import annotations

import asyncio
import json
import pickle
import threading
from typing import Any

import fsspec
import lakebed
import lakebed.aio
import lakebed.fsspec
import pytest
from fsspec.registry import _registry

from tests.support.processes.server import RunningServer

HERE = {"endpoint": "https://here", "access_key_id": "k", "secret_access_key": "very-secret"}


def endpoint_of(fs: Any) -> str:
    return str(fs.connection.settings.endpoint)


def test_an_instance_is_for_one_server_and_one_key(monkeypatch: pytest.MonkeyPatch) -> None:
    first = fsspec.filesystem("lakebed", **HERE)
    assert fsspec.filesystem("lakebed", **HERE) is first
    for name in HERE:
        assert fsspec.filesystem("lakebed", **{**HERE, name: "https://other"}) is not first
    assert fsspec.filesystem("lakebed", **HERE, retries=1) != first
    assert fsspec.filesystem("lakebed", **HERE, data_path="proxied") is not first
    by_environment = fsspec.filesystem("lakebed")
    monkeypatch.setenv("LAKEBED_ENDPOINT", "https://elsewhere")
    assert endpoint_of(fsspec.filesystem("lakebed")) == "https://elsewhere"
    assert fsspec.filesystem("lakebed") is not by_environment
    monkeypatch.setenv("LAKEBED_DATA_PATH", "nonsense")
    with pytest.raises(lakebed.ConfigurationError, match="LAKEBED_DATA_PATH"):
        fsspec.filesystem("lakebed")


def test_secret_is_pickled_but_not_shown() -> None:
    fs = fsspec.filesystem("lakebed", **HERE)
    again = pickle.loads(pickle.dumps(fs))
    assert again == fs
    assert hash(again) == hash(fs)
    assert again.connection.settings.secret_access_key == "very-secret"
    shown = (repr(fs), str(fs), repr(fs.connection), fs._fs_token, str(fs.__dask_tokenize__()), fs.fsid)
    assert not any("very-secret" in one for one in shown)
    assert "very-secret" not in json.dumps(fs.to_dict(include_password=False))
    fsspec_own = fsspec.AbstractFileSystem.from_json(fs.to_json())
    assert fsspec_own is fs


def test_wrong_options_are_errors() -> None:
    with pytest.raises(lakebed.ConfigurationError, match="unknown storage option 'endpont'"):
        fsspec.filesystem("lakebed", endpont="https://x")
    with pytest.raises(lakebed.ConfigurationError, match="data_path must be"):
        fsspec.filesystem("lakebed", **HERE, data_path="fast")
    with pytest.raises(lakebed.ConfigurationError, match="secret_access_key= is missing"):
        fsspec.filesystem("lakebed", endpoint="https://x", access_key_id="k")
    with pytest.raises(TypeError, match="by name"):
        lakebed.fsspec.LakebedFileSystem("https://x")  # type: ignore[call-arg]


def test_a_lake_as_default(lake: lakebed.Lake, top: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ENDPOINT", "ACCESS_KEY_ID", "SECRET_ACCESS_KEY"):
        monkeypatch.delenv(f"LAKEBED_{name}")
    with pytest.raises(lakebed.ConfigurationError):
        fsspec.filesystem("lakebed")
    with lake.as_default() as same:
        assert same is lake
        with fsspec.open(f"lakebed://{top}/x", "wb") as file:
            file.write(b"1")
        assert fsspec.open(f"lakebed://{top}/x").open().read() == b"1"
        assert endpoint_of(fsspec.filesystem("lakebed", **HERE)) == "https://here"
        assert fsspec.filesystem("lakebed", retries=1).connection.settings.endpoint == lake.settings.endpoint
        with lakebed.connect("https://here", "k", "s").as_default():
            assert endpoint_of(fsspec.filesystem("lakebed")) == "https://here"
        assert endpoint_of(fsspec.filesystem("lakebed")) == lake.settings.endpoint
    with pytest.raises(lakebed.ConfigurationError):
        fsspec.filesystem("lakebed")


async def test_threads_and_tasks_have_their_own_default(server: RunningServer) -> None:
    seen: dict[str, str] = {}
    gate = threading.Barrier(2)

    def bind(name: str) -> None:
        with lakebed.connect(f"https://{name}", "k", "s").as_default():
            gate.wait()
            seen[name] = endpoint_of(fsspec.filesystem("lakebed"))
            gate.wait()

    threads = [threading.Thread(target=bind, args=(name,)) for name in ("one", "two")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    async def task(name: str) -> None:
        with lakebed.aio.connect(f"https://{name}", "k", "s").as_default():
            await asyncio.sleep(0)
            seen[name] = endpoint_of(fsspec.filesystem("lakebed"))

    await asyncio.gather(task("three"), task("four"))
    assert seen == {name: f"https://{name}" for name in ("one", "two", "three", "four")}
    assert endpoint_of(fsspec.filesystem("lakebed")) == server.endpoint


def test_lakefs_on_request(fs: Any, top: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fs.pipe(f"{top}/x", b"1")
    monkeypatch.delitem(_registry, "lakefs", raising=False)
    lakebed.fsspec.register_lakefs()
    try:
        assert fsspec.open(f"lakefs://{top}/x").open().read() == b"1"
        assert fsspec.filesystem("lakefs") is fs
    finally:
        _registry.pop("lakefs")
