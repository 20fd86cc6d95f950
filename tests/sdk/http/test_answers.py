"""Any answer becomes a value or an error of ours, whatever its body is."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest
import respx
from lakebed import errors

from tests.sdk.doors import REPO, Door

STAT = REPO + "/refs/main/objects/stat"
MERGE = REPO + "/refs/dev/merge/main"

BODIES: list[tuple[str, dict[str, Any]]] = [
    ("json", {"json": {"message": "because", "kind": "future_kind"}}),
    ("no message", {"json": {"error": "other"}}),
    ("a list", {"json": ["because"]}),
    ("broken json", {"content": b'{"message": "be', "headers": {"content-type": "application/json"}}),
    ("deep json", {"content": b"[" * 100_000, "headers": {"content-type": "application/json"}}),
    ("odd types", {"json": {"message": 7, "kind": ["x"], "request_id": {}, "conflicts": [1, {"path": 2}]}}),
    ("html", {"html": "<html>gateway</html>"}),
    ("empty", {}),
    ("binary", {"content": b"\xff\xfe\x00", "headers": {"content-type": "image/png"}}),
]
STATUSES = {
    302: errors.ProtocolError,
    400: errors.InvalidRequestError,
    401: errors.AuthenticationError,
    403: errors.PermissionDeniedError,
    404: errors.ObjectNotFoundError,
    405: errors.UnsupportedOperationError,
    409: errors.ConflictError,
    410: errors.ObjectGoneError,
    412: errors.PreconditionFailedError,
    418: errors.InvalidRequestError,
    420: errors.ThrottledError,
    429: errors.ThrottledError,
    499: errors.InvalidRequestError,
    500: errors.ServerError,
    501: errors.UnsupportedOperationError,
    502: errors.ServerUnavailableError,
    503: errors.ServerUnavailableError,
    507: errors.ServerError,
    599: errors.ServerError,
    600: errors.ServerError,
    204: errors.ProtocolError,
}


@pytest.mark.parametrize("body", [body for _, body in BODIES], ids=[name for name, _ in BODIES])
def test_error_status_is_checked_before_the_body(door: Door, wire: respx.MockRouter, body: dict[str, Any]) -> None:
    async def scenario(lake: Any) -> None:
        main = lake.repository("repo").branch("main")
        for status, cls in STATUSES.items():
            wire.get(STAT).mock(httpx.Response(status, **body))
            with pytest.raises(cls) as caught:
                await main.stat("a/b")
            error = caught.value
            assert type(error) is cls
            assert (error.status, error.operation, error.path) == (status, "statObject", "a/b")
            sent = body["json"].get("message") if isinstance(body.get("json"), dict) else None
            assert (str(status) in str(error)) is not (isinstance(sent, str) and status >= 400)
            assert "lakebed://repo/main/a/b" in str(error)

    door.run(scenario)


@pytest.mark.parametrize(
    "content", [b"", b"<html>", b"[]", b"{}", b'{"path": "a"}', b'{"path": 1, "path_type": "object"}']
)
def test_unreadable_success_response_raises(door: Door, wire: respx.MockRouter, content: bytes) -> None:
    async def scenario(lake: Any) -> None:
        wire.get(STAT).mock(httpx.Response(200, content=content, headers={"x-request-id": "r7"}))
        with pytest.raises(errors.ProtocolError) as caught:
            await lake.repository("repo").branch("main").stat("a")
        assert caught.value.request_id == "r7"

    door.run(scenario)


def test_null_in_a_required_field_raises(door: Door, wire: respx.MockRouter) -> None:
    row = {"path": "a", "path_type": "object", "physical_address": "x", "checksum": None, "mtime": 1, "size_bytes": 1}

    async def scenario(lake: Any) -> None:
        wire.get(STAT).mock(httpx.Response(200, json=row))
        with pytest.raises(errors.ProtocolError):
            await lake.repository("repo").branch("main").stat("a")

    door.run(scenario)


def test_kind_decides_over_status(door: Door, wire: respx.MockRouter) -> None:
    async def scenario(lake: Any) -> None:
        main = lake.repository("repo").branch("main")
        for kind, cls in {
            "branch_not_found": errors.NotFoundError,
            "dirty_branch": errors.DirtyBranchError,
            "object_gone": errors.ObjectGoneError,
        }.items():
            wire.get(REPO + "/branches").mock(httpx.Response(403))  # no similar names
            wire.get(STAT).mock(httpx.Response(404, json={"message": "m", "kind": kind, "request_id": "r"}))
            with pytest.raises(cls) as caught:
                await main.stat("a/b")
            assert (type(caught.value), caught.value.kind, caught.value.request_id) == (cls, kind, "r")

    door.run(scenario)


def test_merge_conflicts(door: Door, wire: respx.MockRouter) -> None:
    conflicts = [{"path": "a", "base": "1", "ours": "2", "theirs": "3"}, {"path": "b", "theirs": "4"}]
    body = {
        "message": "m",
        "kind": "merge_conflict",
        "reference": "",
        "conflicts": conflicts,
        "conflicts_has_more": True,
    }

    async def scenario(lake: Any) -> None:
        dev = lake.repository("repo").branch("dev")
        wire.post(MERGE).mock(httpx.Response(409, json=body))
        with pytest.raises(errors.MergeConflictError) as caught:
            await dev.merge_into("main")
        assert caught.value.paths == ("a", "b")
        assert caught.value.has_more
        assert caught.value.conflicts[1] == errors.Conflict("b", None, None, "4")
        wire.post(MERGE).mock(httpx.Response(409, json={"reference": ""}))  # an older server
        with pytest.raises(errors.MergeConflictError):
            await dev.merge_into("main")

    door.run(scenario)


def test_merge_sends_the_expected_request(door: Door, wire: respx.MockRouter) -> None:
    async def scenario(lake: Any) -> None:
        route = wire.post(MERGE).mock(httpx.Response(200, json={"reference": "c1"}))
        dev = lake.repository("repo").branch("dev")
        for word, sent in {"ours": "dest-wins", "theirs": "source-wins", "dest-wins": "dest-wins"}.items():
            result = await dev.merge_into(lake.repository("repo").branch("main"), strategy=word)
            assert result.commit_id == "c1"
            assert json.loads(route.calls.last.request.content)["strategy"] == sent
        with pytest.raises(errors.InvalidRequestError):
            await dev.merge_into("main", strategy="mine")
        await dev.merge_into("main", resolve={"a/**": "theirs", "*": "dest"})
        rules = json.loads(route.calls.last.request.content)["resolve"]
        assert rules == [{"pattern": "a/**", "side": "source"}, {"pattern": "*", "side": "dest"}]

    door.run(scenario)
