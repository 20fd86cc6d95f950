"""Runs of hooks, deliveries and hook settings through both doors, against a real server."""

from __future__ import annotations

import uuid
from typing import Any

import httpx
import lakebed
import pytest
import respx
from lakebed import InvalidRequestError, PreconditionFailedError, RunNotFoundError

from tests.sdk.doors import REPO, Door
from tests.support.processes.server import RunningServer
from tests.support.stored_runs import DETAILS, PASSED, REFUSED, store_runs

GOOD = "name: a1\non: {pre-merge: }\nhooks: [{id: h1, type: webhook, properties: {url: 'https://example.org'}}]\n"


@pytest.fixture
def run(door: Door, server: RunningServer) -> Any:
    """Run a body with a lake and a repository that has runs."""
    name = f"h{uuid.uuid4().hex[:12]}"
    with lakebed.connect(server.endpoint, server.access_key_id, server.secret_access_key) as admin:
        repo = admin.repository(name).create(f"local://{name}")
        repo.branch("main").put("a", b"1")
        repo.branch("main").commit("first")
    store_runs(server, name)

    def over(body: Any) -> None:
        async def both(lake: Any) -> None:
            await body(lake, lake.repository(name))

        door.run(both, endpoint=server.endpoint, key=server.access_key_id, secret=server.secret_access_key, quick=False)

    return over


def test_runs_and_their_hooks(run: Any) -> None:
    async def body(lake: Any, repo: Any) -> None:
        newest, oldest = [one async for one in repo.runs.list()]
        assert (newest.id, newest.event, newest.state, newest.branch) == (REFUSED, "pre-merge", "refused", "main")
        assert (newest.user, newest.message) == ("ana", "orders/contract: the contract is broken")
        assert (newest.ended - newest.started).seconds == 2
        assert (oldest.id, oldest.state, oldest.commit_id) == (PASSED, "passed", "")
        assert await repo.runs.get(REFUSED) == newest
        assert [one.id async for one in repo.runs.list(limit=1)] == [REFUSED]
        assert [one.id async for one in repo.runs.list("dev")] == [PASSED]
        assert [one.id async for one in repo.runs.list(commit="c" * 64)] == [REFUSED]
        hooks = [one async for one in repo.runs.hooks(REFUSED)]
        assert [(one.id, one.state, one.type) for one in hooks] == [
            ("0000_0000", "refused", "contract"),
            ("0001_0000", "passed", "python"),
        ]
        assert list(hooks[0].details) == DETAILS
        every = [one async for one in repo.runs.hooks(REFUSED, skipped=True)]
        assert [one.state for one in every] == ["refused", "skipped", "passed"]
        assert (await repo.runs.log(REFUSED, "0000_0000")).startswith("row 3: -1\n\N{REPLACEMENT CHARACTER}")
        with pytest.raises(InvalidRequestError, match="not by both"):
            repo.runs.list("dev", "c" * 64)
        assert [one async for one in repo.runs.hooks("none")] == []
        for missing in (repo.runs.get("none"), repo.runs.log(REFUSED, "0009_0000"), repo.deliveries.redeliver("none")):
            with pytest.raises(RunNotFoundError, match=r"see repo\.runs\.list\(\)"):
                await missing

    run(body)


def test_action_files_are_checked_and_kept_in_the_settings(run: Any) -> None:
    async def body(lake: Any, repo: Any) -> None:
        await lake.validate_action("a.yaml", GOOD)
        with pytest.raises(InvalidRequestError, match=r"b\.yaml line 1: "):
            await lake.validate_action("b.yaml", "nothing")
        none = await repo.hook_settings()
        assert (dict(none.actions), none.etag) == ({}, "")
        await repo.set_hook_settings({"a.yaml": GOOD}, replaces=none)
        kept = await repo.hook_settings()
        assert dict(kept.actions) == {"a.yaml": GOOD}
        with pytest.raises(PreconditionFailedError, match="read them again"):
            await repo.set_hook_settings({}, replaces=none)
        with pytest.raises(InvalidRequestError, match=r"c\.yaml line 1: "):
            await repo.set_hook_settings({"c.yaml": "nothing"})
        assert await repo.hook_settings() == kept
        await repo.set_hook_settings({}, replaces=kept)
        assert await repo.hook_settings() == none
        assert [one async for one in repo.deliveries.list()] == []

    run(body)


def test_a_refusal_names_the_run_and_is_never_sent_again(door: Door, wire: respx.MockRouter) -> None:
    said = {"message": "pre-commit hook aborted, run id 'r1': no", "kind": "hook_refused", "run_id": "r1"}
    commit = wire.post(f"{REPO}/branches/main/commits").mock(httpx.Response(412, json=said))
    merge = wire.post(f"{REPO}/refs/dev/merge/main").mock(httpx.Response(412, json=said))

    async def scenario(lake: Any) -> None:
        main = lake.repository("repo").branch("main")
        for change in (main.commit("m"), lake.repository("repo").ref("dev").merge_into(main)):
            with pytest.raises(lakebed.HookRefusedError, match=r"see repo\.runs\.hooks\('r1'\)\.all\(\)$") as caught:
                await change
            assert isinstance(caught.value, PreconditionFailedError)
            assert (caught.value.run_id, caught.value.kind, caught.value.status) == ("r1", "hook_refused", 412)
            assert caught.value.reason == said["message"]

    door.run(scenario)
    assert (commit.call_count, merge.call_count) == (1, 1)


def test_a_page_without_results_does_not_end_a_list(door: Door, wire: respx.MockRouter) -> None:
    """A page of a search is empty when the server has read many rows of other branches or repositories."""
    row = {"id": "d1", "state": "failed", "action": "notify", "event_type": "post-merge", "attempts": []}
    ran = {"run_id": "r1", "branch": "b", "event_type": "pre-merge", "status": "failed", "commit_id": ""}
    rows = {"deliveries": row, "runs": {**ran, "start_time": "2026-01-01T00:00:00Z"}}
    for name, found in rows.items():
        url = f"{REPO}/actions/{name}"
        last = {"results": [found], "pagination": {"has_more": False, "next_offset": ""}}
        wire.get(url, params={"after": "waiting/1"}).mock(httpx.Response(200, json=last))
        empty = {"results": [], "pagination": {"has_more": True, "next_offset": "waiting/1"}}
        wire.get(url).mock(httpx.Response(200, json=empty))

    async def scenario(lake: Any) -> None:
        repo = lake.repository("repo")
        assert [one.id async for one in repo.deliveries.list()] == ["d1"]
        assert (await repo.deliveries.list().first()).id == "d1"
        assert [one.id async for one in repo.runs.list("b")] == ["r1"]

    door.run(scenario)


def test_a_refused_task_names_the_run(door: Door, wire: respx.MockRouter) -> None:
    said = {"message": "pre-merge hook aborted, run id 'r1': no", "kind": "hook_refused", "run_id": "r1"}
    task = {"id": "t1", "operation": "merge", "completed": True, "update_time": "2026-01-01T00:00:00Z", "error": said}
    wire.post(url__startswith=f"{REPO}/refs/dev/merge/main/async").mock(httpx.Response(202, json=task))
    wire.get(url__startswith=f"{REPO}/tasks/t1").mock(httpx.Response(200, json=task))

    async def scenario(lake: Any) -> None:
        started = await lake.repository("repo").branch("main").start_merge("dev")
        with pytest.raises(lakebed.HookRefusedError) as caught:
            await started.wait()
        assert (caught.value.run_id, caught.value.reason) == ("r1", said["message"])

    door.run(scenario)
