"""Protection rules: how they are set, and which verbs they forbid."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from lakebed_engine.engine import Engine
from lakebed_engine.operations.branch.protection import MOST_RULES
from lakebed_engine.operations.workspace import commit as workspace_commit
from lakebed_engine.stores.kv.memory import MemoryKV
from lakebed_engine.vocabulary import errors
from lakebed_engine.vocabulary.records import Rule, etag_of_rules
from lakebed_engine.vocabulary.requests import (
    AdvanceRequest,
    Deletion,
    Held,
    PickRequest,
    UploadRequest,
    WorkspaceRequest,
)

from tests.engine.support import (
    REPO,
    HookedKV,
    LossyKV,
    chunked,
    commit,
    content,
    fails,
    history,
    make_engine,
    merge,
    once,
    put,
    put_commit,
)


async def workspace(engine: Engine) -> str:
    made = await engine.workspaces.create(REPO, WorkspaceRequest(ref="main", creator="ann"))
    await put(engine, "w", "1", made.name)
    return made.uid


def pick(ref: str) -> PickRequest:
    return PickRequest(ref=ref, committer="ann")


FORBIDDEN: dict[str, Callable[[Engine], Awaitable[object]]] = {
    "upload": lambda e: put(e, "p", "1"),
    "conditional upload": lambda e: put(e, "p", "1", if_none_match=True),
    "upload many": lambda e: e.objects.upload_many(REPO, "main", chunked([(UploadRequest(path="p"), once(b"1"))])),
    "delete many": lambda e: e.objects.upload_many(REPO, "main", chunked([Deletion("a")])),
    "delete": lambda e: e.objects.delete(REPO, "main", "a"),
    "conditional delete": lambda e: e.objects.delete(REPO, "main", "a", expected=Held(etag="x")),
    "copy": lambda e: e.objects.copy(REPO, "main", "p", "", "a"),
    "push": lambda e: e.branches.push(REPO, "main", [("p", None)]),
    "reset": lambda e: e.branches.reset(REPO, "main"),
    "reset object": lambda e: e.branches.reset_object(REPO, "main", "a"),
    "reset prefix": lambda e: e.branches.reset_prefix(REPO, "main", "a"),
    "hard reset": lambda e: e.branches.hard_reset(REPO, "main", "main~1"),
    "commit": lambda e: commit(e, allow_empty=True),
    "stash": lambda e: e.workspaces.stash(REPO, "main", WorkspaceRequest(ref="main", creator="ann")),
}


@pytest.mark.parametrize("verb", FORBIDDEN)
async def test_protected_branch_refuses_direct_changes(verb: str) -> None:
    engine = await make_engine()
    await put_commit(engine, {"a": "1"})
    await put(engine, "staged", "x")
    before = await content(engine), len(await history(engine))
    await engine.protection.replace(REPO, [Rule("ma*")])
    error = await fails(FORBIDDEN[verb](engine), errors.ProtectedBranchError)
    assert "ma*" in str(error)
    assert (await content(engine), len(await history(engine))) == before
    await engine.protection.replace(REPO, [Rule("main-*"), Rule("mai"), Rule("[!m]*")])
    try:
        await FORBIDDEN[verb](engine)
    except (errors.DirtyBranchError, errors.PreconditionFailedError):
        pass  # for another reason


async def test_a_workspace_of_a_protected_branch_takes_changes_and_is_not_committed() -> None:
    engine = await make_engine()
    await put_commit(engine, {"a": "1"})
    await engine.protection.replace(REPO, [Rule("main")])
    found = await workspace(engine)
    request = AdvanceRequest(committer="ann")
    await fails(engine.workspaces.commit(REPO, found, request), errors.ProtectedBranchError)
    await fails(engine.workspaces.pop(REPO, found), errors.ProtectedBranchError)
    assert await content(engine) == {"a": "1"}
    await workspace_commit.advance(engine.context, REPO, found, request, direct=False)  # as an import does
    assert await content(engine) == {"a": "1", "w": "1"}


async def test_protected_branch_accepts_merge_revert_and_cherry_pick() -> None:
    engine = await make_engine()
    await put_commit(engine, {"a": "1"})
    await engine.branches.create(REPO, "dev", "main")
    await put_commit(engine, {"b": "1"}, "dev")
    await engine.protection.replace(REPO, [Rule("*")])
    await merge(engine, "dev")
    await engine.commits.revert(REPO, "main", PickRequest(ref="main", committer="ann", parent_number=1))
    await engine.commits.cherry_pick(REPO, "main", pick("dev"))
    assert await content(engine) == {"a": "1", "b": "1"}
    await engine.tags.create(REPO, "t", "main")
    await engine.branches.create(REPO, "other", "main")
    await engine.branches.delete(REPO, "other")


async def test_a_bulk_delete_says_of_each_path_that_it_is_refused() -> None:
    engine = await make_engine()
    await put_commit(engine, {"a": "1", "b": "1"})
    await engine.protection.replace(REPO, [Rule("main")])
    found = await engine.objects.delete_many(REPO, "main", ["a", "b"])
    assert [(one.path, one.kind) for one in found] == [("a", "protected_branch"), ("b", "protected_branch")]
    assert await content(engine) == {"a": "1", "b": "1"}


async def test_replace_rules_requires_the_etag_of_the_current_rules() -> None:
    engine = await make_engine()
    assert etag_of_rules(await engine.protection.rules(REPO)) == ""
    await fails(engine.protection.replace(REPO, [Rule("a")], if_match="0" * 64), errors.PreconditionFailedError)
    await engine.protection.replace(REPO, [Rule("b"), Rule("a"), Rule("b")], if_match="")
    assert await engine.protection.rules(REPO) == (Rule("b"), Rule("a"))
    await fails(engine.protection.replace(REPO, [], if_match=""), errors.PreconditionFailedError)
    await engine.protection.replace(REPO, [], if_match=etag_of_rules((Rule("b"), Rule("a"))))
    await engine.protection.add(REPO, Rule("x"))
    await engine.protection.add(REPO, Rule("x"))
    assert await engine.protection.rules(REPO) == (Rule("x"),)
    await fails(engine.protection.delete(REPO, "y"), errors.RuleNotFoundError)
    await engine.protection.delete(REPO, "x")
    assert await engine.protection.rules(REPO) == ()


@pytest.mark.parametrize("pattern", ["", "x" * 257, "{a,b}", "[^a]", "a\\*", "\ud800"])
async def test_patterns_that_would_protect_nothing_are_refused(pattern: str) -> None:
    engine = await make_engine()
    for verb in (
        engine.protection.replace(REPO, [Rule("a"), Rule(pattern)]),
        engine.protection.add(REPO, Rule(pattern)),
    ):
        await fails(verb, errors.InvalidRequestError)
    await fails(engine.protection.replace(REPO, [Rule("a")] * (MOST_RULES + 1)), errors.InvalidRequestError)
    assert await engine.protection.rules(REPO) == ()


async def test_concurrently_added_rules_are_all_kept() -> None:
    engine = await make_engine(HookedKV(MemoryKV()))
    await asyncio.gather(*[engine.protection.add(REPO, Rule(f"b{n}")) for n in range(5)])
    assert {one.pattern for one in await engine.protection.rules(REPO)} == {f"b{n}" for n in range(5)}


@pytest.mark.parametrize("how", ["before", "after"])
async def test_a_lost_answer_is_settled_by_reading_back(how: str) -> None:
    kv = LossyKV(MemoryKV(), lambda _: "")
    engine = await make_engine(kv)

    def lose(batch: Any) -> str:
        return how if not kv.lost else ""

    kv.lose = lose
    change = engine.protection.replace(REPO, [Rule("a")])
    if how == "after":
        await change
        assert await engine.protection.rules(REPO) == (Rule("a"),)
    else:
        await fails(change, errors.OutcomeUnknownError)
