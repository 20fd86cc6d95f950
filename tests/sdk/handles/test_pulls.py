"""Pull requests through both doors, against a real server."""

from __future__ import annotations

import uuid
from typing import Any

import lakebed
import pytest
from lakebed import ConflictError, InvalidRequestError, MergeConflictError, NotFoundError, PermissionDeniedError

from tests.sdk.doors import Door
from tests.support.processes.server import RunningServer


@pytest.fixture
def run(door: Door, server: RunningServer) -> Any:
    """Run a body with the lake of the administrator, a repository, and a second user's repository handle."""
    name = f"p{uuid.uuid4().hex[:12]}"
    with lakebed.connect(server.endpoint, server.access_key_id, server.secret_access_key) as admin:
        repo = admin.repository(name).create(f"local://{name}")
        repo.branch("main").put("a", b"1")
        repo.branch("main").commit("first")
        repo.branch("dev").create("main").put("b", b"2")
        repo.branch("dev").commit("second")
        admin.users.create(name)
        admin.users.grant(name, name, "writer")
        key = admin.keys.create(name)

    def over(body: Any) -> None:
        async def both(lake: Any) -> None:
            await body(lake, lake.repository(name), name)

        door.run(both, endpoint=server.endpoint, key=server.access_key_id, secret=server.secret_access_key, quick=False)

    over.other = lambda: lakebed.connect(server.endpoint, key.id, key.secret)  # type: ignore[attr-defined]
    return over


def test_a_pull_request_from_its_opening_to_its_merge(run: Any) -> None:
    async def body(lake: Any, repo: Any, name: str) -> None:
        made = await repo.pulls.create("dev", "main", "Add b", f"see @{name}", draft=True, reviewers=[name])
        assert (made.status, made.title, made.draft, made.reviewers) == ("open", "Add b", True, (name,))
        assert await repo.pulls.get(made.id) == made
        assert [one.id async for one in repo.pulls.list()] == [made.id]
        assert (await repo.pulls.state(made.id)).mergeable == "draft"
        changed = await repo.pulls.update(made.id, title="Add b and c", draft=False)
        assert (changed.title, changed.draft) == ("Add b and c", False)
        with run.other() as other:
            (own,) = other.own_pulls().all()
            assert (own.repository, own.id, own.reasons) == (name, made.id, ("review_requested", "mentioned"))
            theirs = other.repository(name).pulls
            first = theirs.comment(made.id, "why?", path="b", column="x", row_key="7", side="right")
            asked = theirs.review(made.id, "request_changes", "no")
            assert (asked.verdict, asked.author, asked.stale) == ("request_changes", name, False)
        with pytest.raises(ConflictError) as refused:
            await repo.pulls.merge(made.id)
        assert refused.value.kind == "not_mergeable"
        await repo.pulls.comment(made.id, "because", reply_to=first.id)
        await repo.pulls.update_comment(made.id, first.id, resolved=True)
        found = await repo.pulls.comments(made.id, path="b")
        assert [(one.column, one.row_key, one.side, one.resolved_by) for one in found] == [("x", "7", "right", "admin")]
        await repo.pulls.dismiss_review(made.id, asked.id, "he is away")
        with run.other() as other:
            theirs = other.repository(name).pulls
            theirs.approve(made.id)
            assert theirs.approvals(made.id) == [name]
            theirs.withdraw_approval(made.id)
        with pytest.raises(PermissionDeniedError):
            await repo.pulls.approve(made.id)
        head = (await repo.pulls.state(made.id)).source_commit_id
        with pytest.raises(ConflictError, match="is at commit"):
            await repo.pulls.merge(made.id, source_commit_id="0" * 64)
        merged = await repo.pulls.merge(made.id, "all", source_commit_id=head, metadata={"k": "v"})
        assert (await repo.pulls.get(made.id)).merged_commit_id == merged.commit_id
        assert (await repo.ref(merged.commit_id).commit_info()).message == "all"
        types = [one.type async for one in repo.pulls.timeline(made.id)]
        assert types[0] == "opened"
        assert types[-1] == "merged"
        assert [one.verdict for one in await repo.pulls.reviews(made.id)] == ["request_changes", "approve"]
        with pytest.raises(ConflictError):
            await repo.pulls.merge(made.id)
        assert [one.id async for one in repo.pulls.list("closed")] == [made.id]

    run(body)


def test_rules_checks_conflicts_and_auto_merge(run: Any) -> None:
    async def body(lake: Any, repo: Any, name: str) -> None:
        rule = lakebed.ProtectionRule("main", required_checks=("tests",))
        await repo.set_protection([rule, "x*"])
        rules = await repo.protection()
        assert (rules.patterns, rules.rules) == (("main", "x*"), (rule, lakebed.ProtectionRule("x*")))
        with pytest.raises(PermissionDeniedError, match="pull request"):
            await repo.branch("dev").merge_into("main")
        made = await repo.pulls.create("dev", "main", "t")
        state = await repo.pulls.state(made.id)
        assert (state.mergeable, state.checks[0].state, state.checks[0].required) == ("checks", "missing", True)
        assert (await repo.pulls.update(made.id, auto_merge=True)).auto_merge
        assert not (await repo.pulls.update(made.id, auto_merge=False)).auto_merge
        reported = await repo.pulls.report_check("dev", "tests", "success", "all good", "https://ci.example.org")
        assert await repo.pulls.checks("dev") == [reported]
        await repo.set_protection([])
        await repo.branch("main").put("b", b"other")
        await repo.branch("main").commit("theirs")
        assert [one.path async for one in repo.pulls.conflicts(made.id)] == ["b"]
        with pytest.raises(MergeConflictError) as conflict:
            await repo.pulls.merge(made.id)
        assert conflict.value.paths == ("b",)
        await repo.pulls.merge(made.id, resolve={"b": "source"})
        assert await repo.branch("main").get("b") == b"2"

    run(body)


def test_errors_state_the_cause(run: Any) -> None:
    async def body(lake: Any, repo: Any, name: str) -> None:
        with pytest.raises(NotFoundError):
            await repo.pulls.create("none", "main", "t")
        with pytest.raises(InvalidRequestError):
            await repo.pulls.get("not-an-id")
        with pytest.raises(NotFoundError) as missing:
            await repo.pulls.get("0" * 20)
        assert missing.value.kind == "pull_not_found"
        made = await repo.pulls.create("dev", "main", "t")
        with pytest.raises(NotFoundError):
            await repo.pulls.set_reviewers(made.id, ["nobody-there"])
        with pytest.raises(NotFoundError):
            await repo.pulls.delete_comment(made.id, 7)
        closed = await repo.pulls.update(made.id, status="closed")
        assert closed.closed is not None
        with pytest.raises(ConflictError):
            await repo.pulls.review(made.id, "comment", "too late")

    run(body)
