"""Server information, tokens, background dumps, and plain requests."""

from __future__ import annotations

import json
import shutil
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import httpx
import lakebed
import pytest
import respx
from lakebed import (
    AuthenticationError,
    InvalidRequestError,
    NotFoundError,
    ObjectNotFoundError,
    OutcomeUnknownError,
    ProtocolError,
    ServerInfo,
    ServerUnavailableError,
)

from tests.sdk.doors import API, REPO, Door
from tests.support.processes.server import RunningServer


def test_info_returns_level_storage_and_features(door: Door, server: RunningServer) -> None:
    async def body(lake: Any) -> None:
        reported = await lake.info()
        assert reported.api_level == await lake.version()
        assert reported.namespace_prefix.startswith("local://")
        assert (reported.storage, reported.import_pattern, reported.signs) == ("local", "", False)
        assert reported.workspaces
        assert await lake.is_set_up()

    door.run(body, endpoint=server.endpoint, key=server.access_key_id, secret=server.secret_access_key)


DUMP = lakebed.RefsDump("c", "t", "b")
CONFIG = {
    "version_config": {"version": "1.2.3"},
    "storage_config": {
        "blockstore_type": "s3",
        "blockstore_namespace_example": "s3://example",
        "blockstore_namespace_ValidityRegex": "^s3://",
        "default_namespace_prefix": "s3://lake",
        "pre_sign_support": True,
        "pre_sign_support_ui": False,
        "import_support": True,
        "import_validity_regex": "^s3://feed/",
    },
    "capabilities_config": {"workspaces": False, "presigned_uploads": True},
}


def test_info_maps_each_setting_of_the_server(door: Door, wire: respx.MockRouter) -> None:
    wire.get(API + "/config").mock(httpx.Response(200, json=CONFIG))
    wire.get(API + "/setup_lakefs").mock(httpx.Response(200, json={"state": "not_initialized"}))

    async def body(lake: Any) -> None:
        assert await lake.info() == ServerInfo("1.2.3", "s3", "s3://lake", "^s3://", "^s3://feed/", True, True, False)
        assert not await lake.is_set_up()
        wire.get(API + "/config").mock(httpx.Response(200, json={"version_config": {}}))
        with pytest.raises(ProtocolError, match="store"):
            await lake.info()

    door.run(body)


def test_session_token_authenticates_as_the_key(lake: lakebed.Lake, server: RunningServer) -> None:
    given = lake.session_token()
    url = f"{server.endpoint}/api/v1/user"
    reported = httpx.get(url, headers={"Authorization": f"Bearer {given.token}"}, trust_env=False)
    assert reported.json()["user"]["id"] == lake.user().id
    assert given.expires > datetime.now(UTC)
    assert given.token not in repr(given)
    with lakebed.connect(server.endpoint, server.access_key_id, "wrong") as other, pytest.raises(AuthenticationError):
        other.session_token()
    lake.end_session_tokens()
    reported = httpx.get(url, headers={"Authorization": f"Bearer {given.token}"}, trust_env=False)
    assert reported.status_code == 401
    assert lake.user().id == "admin"


def test_dump_and_restore_continue_without_their_client(
    repo: lakebed.Repository, lake: lakebed.Lake, server: RunningServer
) -> None:
    main = repo.branch("main")
    main.put("a", b"1")
    main.commit("one")
    begun = repo.start_dump()
    dump = begun.wait()
    assert repo.dump_task(begun.id).wait() == dump
    state = begun.status()
    assert (state.operation, state.completed, state.error) == ("dump", True, None)
    assert repr(begun) == f"<Dump {repo.id}/{begun.id}>"
    copy = lake.repository(f"{repo.id}-b").create(f"local://{repo.id}-b", bare=True)
    with pytest.raises(InvalidRequestError, match="there is no dump"):
        copy.start_restore(dump)  # its namespace is not a copy
    objects = server.data_dir / "objects"
    shutil.copytree(objects / repo.id, objects / copy.id, dirs_exist_ok=True)
    begun_restore = copy.start_restore(dump)
    begun_restore.wait()
    copy.restore_task(begun_restore.id).wait()
    assert copy.branch("main").info() == main.info()
    for handle in (repo.dump_task("none"), repo.restore_task("none")):
        with pytest.raises(NotFoundError):
            handle.wait()


def test_plain_requests(door: Door, server: RunningServer) -> None:
    async def body(lake: Any) -> None:
        name = f"r-{uuid4().hex[:12]}"
        made = await lake.request("POST", "/repositories", body={"name": name, "storage_namespace": f"local://{name}"})
        assert (made.status, made.json()["id"]) == (201, name)
        with pytest.raises(lakebed.InvalidRequestError, match="'amount' must be a string, not int"):
            await lake.request("GET", "/repositories", {"amount": 5})
        main = lake.repository(name).branch("main")
        await main.put("ü b", b"12")
        head = await lake.request("HEAD", f"/repositories/{name}/refs/main/objects", {"path": "ü b"})
        assert (head.status, head.headers["content-length"], head.json()) == (200, "2", None)
        got = await lake.request("GET", f"/repositories/{name}/refs/main/objects", {"path": "ü b"})
        assert got.content == b"12"
        await main.put("c", b"3")
        gone = await lake.request("DELETE", f"/repositories/{name}/branches/main/objects", {"path": "c"})
        assert (gone.status, gone.content) == (204, b"")
        listed = await lake.request("GET", f"/repositories/{name}/refs/main/objects/ls", {"prefix": "c"})
        assert listed.json()["results"] == []
        with pytest.raises(NotFoundError) as caught:
            await lake.request("GET", "/repositories/none/branches")
        assert (caught.value.kind, caught.value.status) == ("repository_not_found", 404)
        with pytest.raises(ObjectNotFoundError):
            await lake.request("GET", f"/repositories/{name}/refs/main/objects", {"path": "c"})
        with pytest.raises(ObjectNotFoundError, match="'é %'") as caught:
            await lake.request("HEAD", f"/repositories/{name}/refs/main/objects", {"path": "é %"})
        assert (caught.value.kind, caught.value.status) == ("object_not_found", 404)

    door.run(body, endpoint=server.endpoint, key=server.access_key_id, secret=server.secret_access_key)


def test_only_plain_requests_that_read_are_retried(door: Door, wire: respx.MockRouter) -> None:
    answers: list[httpx.Response | Exception] = [
        httpx.ReadError("reset"),
        httpx.Response(503),
        httpx.Response(200, json={"a": [1]}),
    ]
    read = wire.get(API + "/x", params={"p": ["1", "2"]}).mock(side_effect=answers)
    write = wire.post(API + "/x").mock(side_effect=[httpx.ReadError("reset"), httpx.Response(204)])

    async def body(lake: Any) -> None:
        assert (await lake.request("GET", "/x", {"p": ["1", "2"]})).json() == {"a": [1]}
        with pytest.raises(OutcomeUnknownError, match="POST /x"):
            await lake.request("POST", "/x", body={"secret": "s3cret"})

    door.run(body)
    assert (read.call_count, write.call_count) == (3, 1)
    assert json.loads(write.calls[0].request.content) == {"secret": "s3cret"}


@pytest.mark.parametrize(
    ("method", "path", "params", "body"),
    [
        ("get", "/user", {}, None),
        ("TRACE", "/user", {}, None),
        ("GET", "user", {}, None),
        ("GET", "", {}, None),
        ("GET", "//elsewhere.test/user", {}, None),
        ("GET", "https://elsewhere.test/user", {}, None),
        ("GET", "/repositories/../user", {}, None),
        ("GET", "/./user", {}, None),
        ("GET", "/user?a=b", {}, None),
        ("GET", "/user#a", {}, None),
        ("GET", "/\ud800", {}, None),
        ("GET", "/user", {"a": ["b", "\ud800"]}, None),
        ("POST", "/user", {}, {"a": {1}}),
        ("POST", "/user", {}, float("nan")),
        ("POST", "/user", {}, "\ud800"),
    ],
)
def test_requests_that_leave_the_api_or_cannot_be_sent(
    door: Door, wire: respx.MockRouter, method: str, path: str, params: dict[str, Any], body: Any
) -> None:
    async def scenario(lake: Any) -> None:
        with pytest.raises(InvalidRequestError):
            await lake.request(method, path, params, body)

    door.run(scenario)
    assert not wire.calls


def test_restore_request_is_not_retried(door: Door, wire: respx.MockRouter) -> None:
    sent = wire.post(REPO + "/restore").mock(side_effect=[httpx.ReadError("reset"), httpx.Response(202)])

    async def body(lake: Any) -> None:
        with pytest.raises(OutcomeUnknownError):
            await lake.repository("repo").start_restore(DUMP)

    door.run(body)
    assert sent.call_count == 1


def test_failed_dump_and_restore_report_the_error(door: Door, wire: respx.MockRouter) -> None:
    """They fail after their start: the call must not return success."""
    failed = {
        "id": "t",
        "operation": "restore",
        "completed": True,
        "update_time": "2026-11-22T00:00:00Z",
        "error": {"message": "the bucket is gone", "kind": "store_unavailable"},
    }
    wire.post(REPO + "/restore").mock(httpx.Response(202, json={"id": "t"}))
    wire.post(REPO + "/dump").mock(httpx.Response(202, json={"id": "t"}))
    wire.get(REPO + "/tasks/t").mock(httpx.Response(200, json=failed))

    async def body(lake: Any) -> None:
        repo = lake.repository("repo")
        for wait in ((await repo.start_dump()).wait, (await repo.start_restore(DUMP)).wait, repo.dump_refs):
            with pytest.raises(ServerUnavailableError, match="the bucket is gone"):
                await wait()
        with pytest.raises(ServerUnavailableError):
            await repo.restore_refs(DUMP)

    door.run(body)
