"""Protection rules: how they are set, and which verbs they forbid."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from lakebed_engine.engine import Engine
from lakebed_engine.operations.branch.protection import MOST_RULES, etag_of
from lakebed_engine.operations.workspace import commit as workspace_commit
from lakebed_engine.stores.kv.memory import MemoryKV
from lakebed_engine.vocabulary import errors
from lakebed_engine.vocabulary.records import (
    AdvanceRequest,
    Deletion,
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
    made = await engine.create_workspace(REPO, WorkspaceRequest(ref="main", creator="ann"))
    await put(engine, "w", "1", made.name)
    return made.uid


def pick(ref: str) -> PickRequest:
    return PickRequest(ref=ref, committer="ann")


FORBIDDEN: dict[str, Callable[[Engine], Awaitable[object]]] = {
    "upload": lambda e: put(e, "p", "1"),
    "conditional upload": lambda e: put(e, "p", "1", if_none_match=True),
    "upload many": lambda e: e.upload_many(REPO, "main", chunked([(UploadRequest(path="p"), once(b"1"))])),
    "delete many": lambda e: e.upload_many(REPO, "main", chunked([Deletion("a")])),
    "delete": lambda e: e.delete_object(REPO, "main", "a"),
    "conditional delete": lambda e: e.delete_object(REPO, "main", "a", if_match="x"),
    "copy": lambda e: e.copy_object(REPO, "main", "p", "", "a"),
    "push": lambda e: e.push(REPO, "main", [("p", None)]),
    "reset": lambda e: e.reset_branch(REPO, "main"),
    "reset object": lambda e: e.reset_object(REPO, "main", "a"),
    "reset prefix": lambda e: e.reset_prefix(REPO, "main", "a"),
    "hard reset": lambda e: e.hard_reset(REPO, "main", "main~1"),
    "commit": lambda e: commit(e, allow_empty=True),
    "stash": lambda e: e.stash(REPO, "main", WorkspaceRequest(ref="main", creator="ann")),
}


@pytest.mark.parametrize("verb", FORBIDDEN)
async def test_what_a_rule_forbids(verb: str) -> None:
    engine = await make_engine()
    await put_commit(engine, {"a": "1"})
    await put(engine, "staged", "x")
    before = await content(engine), len(await history(engine))
    await engine.set_protection_rules(REPO, ["ma*"])
    error = await fails(FORBIDDEN[verb](engine), errors.ProtectedBranchError)
    assert "ma*" in str(error)
    assert (await content(engine), len(await history(engine))) == before
    await engine.set_protection_rules(REPO, ["main-*", "mai", "[!m]*"])
    try:
        await FORBIDDEN[verb](engine)
    except (errors.DirtyBranchError, errors.PreconditionFailedError):
        pass  # for another reason


async def test_a_workspace_of_a_protected_branch_takes_changes_and_is_not_committed() -> None:
    engine = await make_engine()
    await put_commit(engine, {"a": "1"})
    await engine.set_protection_rules(REPO, ["main"])
    found = await workspace(engine)
    request = AdvanceRequest(committer="ann")
    await fails(engine.commit_workspace(REPO, found, request), errors.ProtectedBranchError)
    await fails(engine.pop(REPO, found), errors.ProtectedBranchError)
    assert await content(engine) == {"a": "1"}
    await workspace_commit.advance(engine._ctx, REPO, found, request, direct=False)  # as an import does
    assert await content(engine) == {"a": "1", "w": "1"}


async def test_what_a_rule_does_not_forbid() -> None:
    engine = await make_engine()
    await put_commit(engine, {"a": "1"})
    await engine.create_branch(REPO, "dev", "main")
    await put_commit(engine, {"b": "1"}, "dev")
    await engine.set_protection_rules(REPO, ["*"])
    await merge(engine, "dev")
    await engine.revert(REPO, "main", PickRequest(ref="main", committer="ann", parent_number=1))
    await engine.cherry_pick(REPO, "main", pick("dev"))
    assert await content(engine) == {"a": "1", "b": "1"}
    await engine.create_tag(REPO, "t", "main")
    await engine.create_branch(REPO, "other", "main")
    await engine.delete_branch(REPO, "other")


async def test_a_bulk_delete_says_of_each_path_that_it_is_refused() -> None:
    engine = await make_engine()
    await put_commit(engine, {"a": "1", "b": "1"})
    await engine.set_protection_rules(REPO, ["main"])
    found = await engine.delete_objects(REPO, "main", ["a", "b"])
    assert [(one.path, one.kind) for one in found] == [("a", "protected_branch"), ("b", "protected_branch")]
    assert await content(engine) == {"a": "1", "b": "1"}


async def test_rules_are_set_only_over_those_that_were_read() -> None:
    engine = await make_engine()
    assert etag_of(await engine.protection_rules(REPO)) == ""
    await fails(engine.set_protection_rules(REPO, ["a"], if_match="0" * 64), errors.PreconditionFailedError)
    await engine.set_protection_rules(REPO, ["b", "a", "b"], if_match="")
    assert await engine.protection_rules(REPO) == ("b", "a")
    await fails(engine.set_protection_rules(REPO, [], if_match=""), errors.PreconditionFailedError)
    await engine.set_protection_rules(REPO, [], if_match=etag_of(("b", "a")))
    await engine.add_protection_rule(REPO, "x")
    await engine.add_protection_rule(REPO, "x")
    assert await engine.protection_rules(REPO) == ("x",)
    await fails(engine.delete_protection_rule(REPO, "y"), errors.RuleNotFoundError)
    await engine.delete_protection_rule(REPO, "x")
    assert await engine.protection_rules(REPO) == ()


@pytest.mark.parametrize("pattern", ["", "x" * 257, "{a,b}", "[^a]", "a\\*", "\ud800"])
async def test_patterns_that_would_protect_nothing_are_refused(pattern: str) -> None:
    engine = await make_engine()
    for verb in (engine.set_protection_rules(REPO, ["a", pattern]), engine.add_protection_rule(REPO, pattern)):
        await fails(verb, errors.InvalidRequestError)
    await fails(engine.set_protection_rules(REPO, ["a"] * (MOST_RULES + 1)), errors.InvalidRequestError)
    assert await engine.protection_rules(REPO) == ()


async def test_rules_added_at_once_are_all_there() -> None:
    engine = await make_engine(HookedKV(MemoryKV()))
    await asyncio.gather(*[engine.add_protection_rule(REPO, f"b{n}") for n in range(5)])
    assert sorted(await engine.protection_rules(REPO)) == [f"b{n}" for n in range(5)]


@pytest.mark.parametrize("how", ["before", "after"])
async def test_a_lost_answer_is_settled_by_reading_back(how: str) -> None:
    kv = LossyKV(MemoryKV(), lambda _: "")
    engine = await make_engine(kv)

    def lose(batch: Any) -> str:
        return how if not kv.lost else ""

    kv.lose = lose
    change = engine.set_protection_rules(REPO, ["a"])
    if how == "after":
        await change
        assert await engine.protection_rules(REPO) == ("a",)
    else:
        await fails(change, errors.OutcomeUnknownError)
