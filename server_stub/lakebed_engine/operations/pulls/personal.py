"""The open pull requests that concern one user, in all repositories."""

from __future__ import annotations

from collections.abc import Callable, Collection

from lakebed_engine.operations.context import Context, Repo, active_records, opened
from lakebed_engine.operations.keys import OPEN_PULLS, open_pull_id, pull_key, under
from lakebed_engine.operations.pulls.records import decode_pull
from lakebed_engine.operations.validation import check_amount
from lakebed_engine.stores.kv.base import scan_rows
from lakebed_engine.vocabulary.pulls import OwnPull, Pull, Reason
from lakebed_engine.vocabulary.records import Page

_BATCH = 500


async def list_own(
    ctx: Context,
    user: str,
    groups: Collection[str],
    visible: Callable[[str], bool],
    *,
    after: str = "",
    amount: int = 100,
) -> Page[OwnPull]:
    """The open pull requests that a user has opened or should review, or that mention the user.

    In the order of repositories, then newest first. `visible`: whether the user may list those of a repository.
    `after`: `<repository>/<id>` of the last one before.
    """
    check_amount(amount)
    last_repo, _, last_id = after.partition("/")
    items: list[OwnPull] = []
    async for record in active_records(ctx):
        if record.name < last_repo or not visible(record.name):
            continue
        for pull in await _open(ctx, opened(ctx, record)):
            if record.name == last_repo and pull.id >= last_id:
                continue
            reasons = _reasons(pull, user, groups)
            if reasons and len(items) == amount:
                return Page(items, has_more=True)
            if reasons:
                items.append(OwnPull(repository=record.name, pull=pull, reasons=reasons))
    return Page(items, has_more=False)


async def _open(ctx: Context, repo: Repo) -> list[Pull]:
    """The open pull requests of a repository, newest first."""
    marks = scan_rows(ctx.kv, repo.partition, *under(OPEN_PULLS))
    ids = sorted({open_pull_id(mark.key) async for mark in marks}, reverse=True)
    found = []
    for start in range(0, len(ids), _BATCH):
        found += await ctx.kv.get_many(repo.partition, [pull_key(one) for one in ids[start : start + _BATCH]])
    pulls = [decode_pull(row.value) for row in found if row is not None]
    return [pull for pull in pulls if pull.status == "open"]


def _reasons(pull: Pull, user: str, groups: Collection[str]) -> tuple[Reason, ...]:
    reasons: list[Reason] = []
    if pull.author_id == user:
        reasons.append("author")
    names = {user, *(f"@{group}" for group in groups)}
    if not names.isdisjoint(pull.reviewers):
        reasons.append("review_requested")
    if user in pull.mentions:
        reasons.append("mentioned")
    return tuple(reasons)
