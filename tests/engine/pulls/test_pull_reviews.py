"""Reviews, comments, checks and the state of pull requests, and what rules with requirements refuse."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from lakebed_engine.engine import Engine
from lakebed_engine.operations.keys import branch_key
from lakebed_engine.operations.merge import merge as merge_module
from lakebed_engine.operations.pulls import checks
from lakebed_engine.stores.kv.memory import MemoryKV
from lakebed_engine.stores.objects.external import Foreign
from lakebed_engine.stores.objects.registry import Stores
from lakebed_engine.vocabulary import errors
from lakebed_engine.vocabulary.hooks import Proposal
from lakebed_engine.vocabulary.pulls import AutoMerge, Check, CommentEdit, CommentPlace, Pull
from lakebed_engine.vocabulary.records import Requirements, Rule, etag_of_rules
from lakebed_engine.vocabulary.requests import AdvanceRequest, CommitRequest, PickRequest, WorkspaceRequest
from lakebed_engine.vocabulary.tasks import ImportPath, ImportRequest

from tests.engine.hooking import Hooks
from tests.engine.pulling import (
    check,
    comment,
    edit,
    merge_pull,
    mergeable,
    open_lake,
    open_pull,
    require,
    review,
    rows,
)
from tests.engine.support import REPO, HookedKV, content, fails, merge, put, put_commit


async def test_an_approval_counts_until_the_source_moves() -> None:
    engine = await open_lake()
    await require(engine)
    pull = await open_pull(engine)
    assert await mergeable(engine, pull) == "approvals"
    refused = await fails(merge_pull(engine, pull), errors.NotMergeableError)
    assert "0 of 1 approvals" in str(refused)
    await review(engine, pull, "bob")
    assert await mergeable(engine, pull) == "clean"
    assert [one.actor for one in await engine.pulls.approvals(REPO, pull.id)] == ["bob"]
    newer = await put_commit(engine, {"c": "3"}, "dev")
    assert await mergeable(engine, pull) == "approvals"
    assert await engine.pulls.approvals(REPO, pull.id) == []
    await fails(merge_pull(engine, pull), errors.NotMergeableError)
    await fails(review(engine, pull, "bob", source_commit_id="0" * 64), errors.SourceMovedError)
    await review(engine, pull, "bob", source_commit_id=newer.id)
    await merge_pull(engine, pull)
    assert await content(engine) == {"a": "1", "b": "2", "c": "3"}


async def test_the_author_and_one_user_twice_do_not_approve() -> None:
    engine = await open_lake()
    await require(engine, "ma*", 2)
    pull = await open_pull(engine)
    for verdict in ("approve", "request_changes"):
        await fails(review(engine, pull, "ann", verdict), errors.OwnPullError)
    await review(engine, pull, "ann", "comment", text="I looked once more")
    await review(engine, pull, "bob")
    await review(engine, pull, "bob")
    assert (await engine.pulls.state(REPO, pull.id)).approvals == 1
    await fails(merge_pull(engine, pull), errors.NotMergeableError)
    await review(engine, pull, "eve")
    await merge_pull(engine, pull)


async def test_a_request_for_changes_blocks_until_its_author_approves_or_it_is_dismissed() -> None:
    engine = await open_lake()
    pull = await open_pull(engine)
    asked = await review(engine, pull, "bob", "request_changes", text="no @eve")
    state = await engine.pulls.state(REPO, pull.id)
    assert (state.mergeable, state.changes_requested_by) == ("approvals", ("bob",))
    await put_commit(engine, {"c": "3"}, "dev")
    assert await mergeable(engine, pull) == "approvals"  # a push does not answer it
    await review(engine, pull, "eve")
    await fails(merge_pull(engine, pull), errors.NotMergeableError)
    await fails(engine.pulls.dismiss_review(REPO, pull.id, asked.id, actor="eve"), errors.OwnPullError)
    await engine.pulls.dismiss_review(REPO, pull.id, asked.id, actor="root", text="he is away", may_dismiss=True)
    assert await mergeable(engine, pull) == "clean"
    await review(engine, pull, "bob", "request_changes")
    assert await mergeable(engine, pull) == "approvals"
    await review(engine, pull, "bob")
    assert await mergeable(engine, pull) == "clean"
    _, reviews = await engine.pulls.reviews(REPO, pull.id)
    found = [(one.actor, one.review.verdict, one.review.dismissed_by) for one in reviews if one.review]
    assert found[0] == ("bob", "request_changes", "root")
    assert len(found) == 4
    await fails(engine.pulls.dismiss_review(REPO, pull.id, 1, actor="bob"), errors.ReviewNotFoundError)


async def test_an_approval_is_withdrawn() -> None:
    engine = await open_lake()
    await require(engine)
    pull = await open_pull(engine)
    await fails(engine.pulls.withdraw_approval(REPO, pull.id, "bob"), errors.ReviewNotFoundError)
    await review(engine, pull, "bob")
    await engine.pulls.withdraw_approval(REPO, pull.id, "bob")
    await fails(merge_pull(engine, pull), errors.NotMergeableError)
    await edit(engine, pull, status="closed")
    await fails(review(engine, pull, "bob"), errors.PullClosedError)


async def test_required_checks_must_have_succeeded_for_the_head() -> None:
    engine = await open_lake()
    await require(engine, "main", 0, "tests", "fresh")
    pull = await open_pull(engine)
    await check(engine, "dev", "other", "failure")
    await check(engine, "dev", "tests")
    state = await engine.pulls.state(REPO, pull.id)
    found = [(one.name, one.required, one.check and one.check.state) for one in state.checks]
    assert found == [("tests", True, "success"), ("fresh", True, None), ("other", False, "failure")]
    assert state.mergeable == "checks"
    refused = await fails(merge_pull(engine, pull), errors.NotMergeableError)
    assert "fresh" in str(refused)
    for state_of in ("pending", "failure"):
        await check(engine, "dev", "fresh", state_of)
        await fails(merge_pull(engine, pull), errors.NotMergeableError)
    await check(engine, "dev", "fresh")
    assert await mergeable(engine, pull) == "clean"
    await put_commit(engine, {"c": "3"}, "dev")
    assert await mergeable(engine, pull) == "checks"
    for name in ("tests", "fresh"):
        await check(engine, "dev", name)
    await merge_pull(engine, pull)


async def test_a_check_that_fails_during_the_merge_stops_it() -> None:
    kv = HookedKV(MemoryKV())
    engine = await open_lake(kv=kv)
    await require(engine, "main", 0, "tests")
    pull = await open_pull(engine)
    await check(engine, "dev")

    async def fail_it(name: str, what: Any) -> None:
        if name == "apply" and any(one.key.startswith(b"commit/") for one in what.puts):
            kv.before = None
            await check(engine, "dev", "tests", "failure")

    kv.before = fail_it
    await fails(merge_pull(engine, pull), errors.NotMergeableError)
    assert (await engine.pulls.get(REPO, pull.id)).status == "open"


async def test_an_approval_that_is_withdrawn_during_the_merge_stops_it() -> None:
    kv = HookedKV(MemoryKV())
    engine = await open_lake(kv=kv)
    await require(engine)
    pull = await open_pull(engine)
    await review(engine, pull, "bob")

    async def withdraw(name: str, what: Any) -> None:
        if name == "apply" and any(one.key.startswith(b"commit/") for one in what.puts):
            kv.before = None
            await engine.pulls.withdraw_approval(REPO, pull.id, "bob")

    kv.before = withdraw
    await fails(merge_pull(engine, pull), errors.NotMergeableError)
    assert await content(engine) == {"a": "1"}


async def test_checks_are_listed_by_name_and_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = await open_lake()
    monkeypatch.setattr(checks, "MOST_CHECKS", 2)
    await check(engine, "dev", "b", "pending")
    await check(engine, "dev", "a", "failure")
    await check(engine, "dev", "b")
    assert [(one.name, one.state) for one in await engine.pulls.checks(REPO, "dev")] == [
        ("a", "failure"),
        ("b", "success"),
    ]
    await fails(check(engine, "dev", "c"), errors.InvalidRequestError)
    await fails(check(engine, "dev", ""), errors.InvalidRequestError)
    await fails(check(engine, "nothing"), errors.RefNotFoundError)
    wrong = Check(name="a", state="success", user="ci", date=0, url="javascript:alert(1)")
    await fails(engine.pulls.report_check(REPO, "dev", wrong), errors.InvalidRequestError)
    assert await engine.pulls.checks(REPO, "main") == []


async def test_concurrent_reports_of_one_check_both_count() -> None:
    engine = await open_lake()
    await asyncio.gather(*(check(engine, "dev", f"n{n % 2}") for n in range(6)))
    assert len(await engine.pulls.checks(REPO, "dev")) == 2


async def test_the_state_names_what_blocks() -> None:
    engine = await open_lake()
    pull = await open_pull(engine)
    state = await engine.pulls.state(REPO, pull.id)
    heads = [(await engine.branches.get(REPO, one)).commit_id for one in ("dev", "main")]
    assert (state.mergeable, state.approvals_needed) == ("clean", 0)
    assert [state.source_commit_id, state.destination_commit_id, state.base_commit_id] == [*heads, heads[1]]
    await edit(engine, pull, draft=True)
    assert await mergeable(engine, pull) == "draft"
    await fails(merge_pull(engine, pull), errors.NotMergeableError)
    await edit(engine, pull, draft=False)
    await put_commit(engine, {"b": "other"})
    assert await mergeable(engine, pull) == "conflicts"
    page = await engine.pulls.conflicts(REPO, pull.id)
    assert ([one.path for one in page.items], page.has_more) == (["b"], False)
    await merge(engine, "main", "dev", strategy="dest-wins")
    assert await mergeable(engine, pull) == "clean"
    await merge_pull(engine, pull)
    assert await mergeable(engine, pull) == "unknown"
    await fails(engine.pulls.conflicts(REPO, pull.id), errors.PullClosedError)
    await engine.branches.create(REPO, "same", "main")
    assert await mergeable(engine, await open_pull(engine, "same")) == "behind"


async def test_a_merge_is_tried_once_for_two_heads(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = await open_lake()
    pull = await open_pull(engine)
    assert await mergeable(engine, pull) == "clean"
    monkeypatch.setattr(merge_module, "Join", None)
    assert await mergeable(engine, pull) == "clean"


async def test_comments_have_places_replies_and_a_bound() -> None:
    engine = await open_lake()
    pull = await open_pull(engine)
    place = CommentPlace(path="orders/", column="price", row_key='{"id":7}', side="right")
    first = await comment(engine, pull, "bob", "why 7? @ann", place=place)
    reply = await comment(engine, pull, "ann", "typo, sorry @bob.", reply_to=first.id)
    assert await engine.pulls.comments(REPO, pull.id) == [first, reply]
    assert await engine.pulls.comments(REPO, pull.id, path="orders/") == [first]
    assert (await engine.pulls.get(REPO, pull.id)).mentions == ("ann", "bob")
    assert first.commit_id == (await engine.branches.get(REPO, "dev")).commit_id
    for bad in (
        {"text": ""},
        {"text": "x" * 65_537},
        {"place": CommentPlace(column="price")},
        {"place": CommentPlace(path="a", row_key="x" * 5000)},
        {"commit_id": "main"},
    ):
        await fails(comment(engine, pull, "bob", **bad), errors.InvalidRequestError)
    for number in (1, 99):
        await fails(comment(engine, pull, "bob", reply_to=number), errors.CommentNotFoundError)
    await edit(engine, pull, status="closed")
    await comment(engine, pull, "bob", "never mind")


async def test_only_the_author_changes_a_comment_and_writers_resolve_it() -> None:
    engine = await open_lake()
    pull = await open_pull(engine)
    made = await comment(engine, pull, "bob")

    async def change(actor: str, number: int = made.id, **options: Any) -> Any:
        return await engine.pulls.edit_comment(REPO, pull.id, number, CommentEdit(actor=actor, **options))

    changed = await change("bob", text="better @eve")
    assert (changed.text, changed.comment.edited > 0) == ("better @eve", True)
    await fails(change("eve", text="worse", may_resolve=True), errors.OwnPullError)
    await fails(change("eve", resolved=True), errors.OwnPullError)
    assert (await change("eve", resolved=True, may_resolve=True)).comment.resolved_by == "eve"
    assert (await change("bob", resolved=False)).comment.resolved_by == ""
    await fails(change("bob", 1, text="x"), errors.CommentNotFoundError)
    await fails(engine.pulls.delete_comment(REPO, pull.id, made.id, actor="eve"), errors.OwnPullError)
    await engine.pulls.delete_comment(REPO, pull.id, made.id, actor="bob")
    (left,) = await engine.pulls.comments(REPO, pull.id)
    assert (left.text, left.comment and left.comment.deleted) == ("", True)
    await fails(change("bob", text="again"), errors.CommentNotFoundError)
    assert "eve" in (await engine.pulls.get(REPO, pull.id)).mentions


async def test_the_timeline_has_everything_in_order() -> None:
    engine = await open_lake()
    pull = await open_pull(engine)
    await comment(engine, pull, "bob")
    pushed = await put_commit(engine, {"c": "3"}, "dev")
    await check(engine, "dev")
    _, page = await engine.pulls.events(REPO, pull.id)
    reported = [(one.id, one.type, one.actor) for one in page.items]
    assert reported == [(1, "opened", "ann"), (2, "commented", "bob"), (0, "pushed", ""), (0, "check", "ci")]
    assert page.items[2].commit_id == pushed.id
    await review(engine, pull, "bob")
    await edit(engine, pull, reviewers=("bob", "@team", "bob"))
    made = await merge_pull(engine, pull)
    after, page = await engine.pulls.events(REPO, pull.id, after=1, amount=3)
    assert [one.type for one in page.items] == ["commented", "pushed", "reviewed"]
    assert (page.has_more, after.reviewers) == (True, ("bob", "@team"))
    _, rest = await engine.pulls.events(REPO, pull.id, after=4)
    assert [(one.type, one.text, one.commit_id) for one in rest.items] == [
        ("edited", "reviewers", ""),
        ("merged", "", made.id),
        ("check", "tests: success", pushed.id),
    ]


async def test_own_pull_requests_of_all_repositories() -> None:
    engine = await open_lake()
    mine = await open_pull(engine)
    asked = await open_pull(engine, author_id="bob")
    await edit(engine, asked, reviewers=("@team",))
    reported = await open_pull(engine, author_id="bob", description="see @ann")
    over = await open_pull(engine)
    await edit(engine, over, status="closed")
    await open_pull(engine, author_id="bob")
    page = await engine.pulls.own("ann", ["team"], lambda name: True)
    found = {one.pull.id: one.reasons for one in page.items}
    assert found == {mine.id: ("author",), asked.id: ("review_requested",), reported.id: ("mentioned",)}
    first = await engine.pulls.own("ann", ["team"], lambda name: True, amount=2)
    rest = await engine.pulls.own(
        "ann", ["team"], lambda name: True, after=f"{REPO}/{first.items[-1].pull.id}", amount=2
    )
    assert [one.pull.id for one in (*first.items, *rest.items)] == list(found)
    assert (first.has_more, rest.has_more) == (True, False)
    assert (await engine.pulls.own("ann", [], lambda name: False)).items == []


async def _import(engine: Engine) -> object:
    await engine.context.stores.open("mem://feed").put("x/a", b"1")
    request = ImportRequest(
        paths=(ImportPath(type="common_prefix", path="mem://feed/x/", destination="in/"),),
        committer="ann",
        message="import",
    )
    task = await engine.imports.start(REPO, "main", request)
    while task.state == "running":
        await asyncio.sleep(0.01)
        task = (await engine.imports.status(REPO, "main", task.id)).task
    raise task.error


async def _workspace(engine: Engine) -> object:
    made = await engine.workspaces.create(REPO, WorkspaceRequest(ref="main", creator="ann"))
    await put(engine, "w", "1", made.name)
    return await engine.workspaces.commit(REPO, made.uid, AdvanceRequest(committer="ann"))


async def _metarange(engine: Engine) -> object:
    tree = (await engine.commits.get(REPO, "dev")).metarange_id
    return await engine.commits.create_from_metarange(REPO, "main", tree, CommitRequest(message="m", committer="ann"))


WAYS: dict[str, Callable[[Engine], Awaitable[object]]] = {
    "merge": lambda engine: merge(engine, "dev"),
    "upload": lambda engine: put(engine, "p", "1"),
    "commit": lambda engine: put_commit(engine, {}, allow_empty=True),
    "revert": lambda engine: engine.commits.revert(REPO, "main", PickRequest(ref="main", committer="ann")),
    "cherry-pick": lambda engine: engine.commits.cherry_pick(REPO, "main", PickRequest(ref="dev", committer="ann")),
    "hard reset": lambda engine: engine.branches.hard_reset(REPO, "main", "dev"),
    "workspace": _workspace,
    "metarange": _metarange,
    "import": _import,
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("requirements", [Requirements(1), Requirements(0, ("tests",))])
async def test_only_a_pull_request_moves_a_branch_that_requires_reviews(way: str, requirements: Requirements) -> None:
    stores = Stores(None, memory=True)
    engine = await open_lake(stores=stores, foreign=Foreign(stores.open, ["mem://feed/"]))
    await engine.protection.add(REPO, Rule("m*n", requirements))
    head = (await engine.branches.get(REPO, "main")).commit_id
    await fails(WAYS[way](engine), errors.ProtectedBranchError)
    assert (await engine.branches.get(REPO, "main")).commit_id == head


async def test_a_branch_that_requires_reviews_is_not_deleted() -> None:
    engine = await open_lake()
    await require(engine, "dev")
    await fails(engine.branches.delete(REPO, "dev"), errors.ProtectedBranchError)
    await engine.protection.add(REPO, Rule("dev"))  # protected, without a requirement: as before
    await engine.branches.delete(REPO, "dev")


async def test_rules_keep_their_requirements() -> None:
    engine = await open_lake()
    await engine.protection.replace(REPO, [Rule("a"), Rule("b", Requirements(2, ("x", "y")))])
    assert await engine.protection.rules(REPO) == (Rule("a"), Rule("b", Requirements(2, ("x", "y"))))
    assert etag_of_rules(await engine.protection.rules(REPO)) != etag_of_rules((Rule("a"), Rule("b")))
    await engine.protection.add(REPO, Rule("b", Requirements(1)))
    await engine.protection.add(REPO, Rule("b*", Requirements(0, ("z",))))
    await engine.protection.delete(REPO, "a")
    assert await engine.protection.rules(REPO) == (Rule("b", Requirements(1)), Rule("b*", Requirements(0, ("z",))))
    for bad in (Requirements(21), Requirements(-1), Requirements(0, ("",)), Requirements(0, ("x",) * 51)):
        await fails(engine.protection.add(REPO, Rule("c", bad)), errors.InvalidRequestError)


async def test_auto_merge_waits_until_nothing_blocks() -> None:
    engine = await open_lake()
    await require(engine, "main", 1, "tests")
    pull = await open_pull(engine)
    wanted = AutoMerge(user="ann", committer="ann@example.org", message="by itself")
    asked: list[Pull] = []

    async def may(repo: str, one: Pull) -> bool:
        asked.append(one)
        return allowed

    allowed = True
    wrong = AutoMerge(user="ann", committer="ann", strategy="mine")
    await fails(edit(engine, pull, auto_merge=wrong), errors.InvalidRequestError)
    await edit(engine, pull, auto_merge=wanted)
    assert await engine.maintenance.merge_ready(may) == 0
    await review(engine, pull, "bob")
    assert await engine.maintenance.merge_ready(may) == 0
    await check(engine, "dev")
    allowed = False
    assert await engine.maintenance.merge_ready(may) == 0
    assert (await engine.pulls.get(REPO, pull.id)).status == "open"
    allowed = True
    assert await engine.maintenance.merge_ready(may) == 1
    done = await engine.pulls.get(REPO, pull.id)
    assert (done.status, done.auto_merge, len(asked)) == ("merged", None, 2)
    made = await engine.commits.get(REPO, "main")
    assert (made.message, made.committer) == ("by itself", "ann@example.org")
    assert await engine.context.kv.scan("auto-merges") == []
    await fails(edit(engine, pull, auto_merge=wanted), errors.PullClosedError)


async def test_auto_merge_that_is_refused_for_good_stops_and_says_so() -> None:
    async def may(repo: str, one: Pull) -> bool:
        return True

    async def refuse(name: str, what: Any) -> None:
        if name == "apply" and any(one.key == branch_key("main") for one in what.puts):
            raise errors.InvalidRequestError("the rule 'no-b' refused it")

    kv = HookedKV(MemoryKV())
    engine = await open_lake(kv=kv)
    pull, other = await open_pull(engine), await open_pull(engine, "main", "dev")
    await put_commit(engine, {"c": "3"}, "main")
    for one in (pull, other):
        await edit(engine, one, auto_merge=AutoMerge(user="ann", committer="ann"))
    kv.before = refuse
    assert await engine.maintenance.merge_ready(may) == 1, "the refusal of one does not stop another"
    stopped = await engine.pulls.get(REPO, pull.id)
    assert (stopped.status, stopped.auto_merge) == ("open", None)
    events = (await engine.pulls.events(REPO, pull.id))[1].items
    last = [one for one in events if one.id][-1]
    assert (last.type, last.actor, last.id) == ("auto_merge_stopped", "", stopped.events)
    assert last.text == "the rule 'no-b' refused it"
    assert await engine.maintenance.merge_ready(may) == 0
    assert await engine.context.kv.scan("auto-merges") == []
    assert (await engine.pulls.get(REPO, pull.id)).events == stopped.events, "it is not tried again"
    kv.before = None
    await edit(engine, pull, auto_merge=AutoMerge(user="ann", committer="ann"))
    assert await engine.maintenance.merge_ready(may) == 1


async def test_auto_merge_waits_for_what_passes() -> None:
    """A dirty destination, a conflict, a read-only repository, and a store that fails."""

    async def may(repo: str, one: Pull) -> bool:
        return True

    kv = HookedKV(MemoryKV())
    engine = await open_lake(kv=kv)
    pull = await open_pull(engine)
    await edit(engine, pull, auto_merge=AutoMerge(user="ann", committer="ann", strategy="source-wins"))
    await put(engine, "dirty", "staged")
    assert await engine.maintenance.merge_ready(may) == 0
    await engine.branches.reset(REPO, "main")

    async def fail(name: str, what: Any) -> None:
        if name == "apply":
            raise errors.StoreUnavailableError("no answer")

    kv.before = fail
    await fails(engine.maintenance.merge_ready(may), errors.StoreUnavailableError)
    kv.before = None
    waiting = await engine.pulls.get(REPO, pull.id)
    assert waiting.auto_merge is not None
    assert waiting.events == 2
    assert await engine.maintenance.merge_ready(may) == 1


async def test_auto_merge_is_ended_and_forgotten() -> None:
    async def may(repo: str, one: Pull) -> bool:
        raise AssertionError("nothing waits")

    engine = await open_lake()
    pull, other = await open_pull(engine), await open_pull(engine)
    wanted = AutoMerge(user="ann", committer="ann")
    await edit(engine, pull, auto_merge=wanted)
    await edit(engine, pull, auto_merge=False)
    assert await engine.maintenance.merge_ready(may) == 0
    await edit(engine, other, auto_merge=wanted)
    await engine.repositories.delete(REPO)
    assert await engine.maintenance.merge_ready(may) == 0
    assert await engine.context.kv.scan("auto-merges") == []


async def test_marks_of_open_pull_requests_stay_right_through_all_of_this() -> None:
    engine = await open_lake()
    pull = await open_pull(engine)
    await review(engine, pull, "bob")
    await comment(engine, pull, "bob")
    await edit(engine, pull, draft=True)
    assert len(await rows(engine, b"pull-open/")) == 2
    await edit(engine, pull, status="closed")
    assert await rows(engine, b"pull-open/") == []


async def test_auto_merge_waits_for_a_pending_hook_and_stops_when_one_refuses() -> None:
    async def may(repo: str, one: Pull) -> bool:
        return True

    async def answer(_: Proposal) -> None:
        raise errors.HookRefusedError("the checks run", "r", pending)

    engine = await open_lake()
    pull = await open_pull(engine)
    await edit(engine, pull, auto_merge=AutoMerge(user="ann", committer="ann"))
    engine.hooks.use(Hooks(operations=["merge"], answer=answer))
    pending = True
    assert await engine.maintenance.merge_ready(may) == 0
    assert (await engine.pulls.get(REPO, pull.id)).auto_merge is not None
    pending = False
    assert await engine.maintenance.merge_ready(may) == 0
    assert (await engine.pulls.get(REPO, pull.id)).auto_merge is None
