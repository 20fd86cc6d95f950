"""The timeline of a pull request."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from lakebed_engine.operations.context import Context, Repo, open_repo
from lakebed_engine.operations.keys import pull_event_key, pull_events, under
from lakebed_engine.operations.pulls.checks import read_checks
from lakebed_engine.operations.pulls.records import decode_event, read_pull, with_head
from lakebed_engine.operations.validation import check_amount
from lakebed_engine.vocabulary.pulls import Pull, PullEvent
from lakebed_engine.vocabulary.records import Page


async def list_events(
    ctx: Context, repo_name: str, pull_id: str, *, after: int = 0, amount: int = 100
) -> tuple[Pull, Page[PullEvent]]:
    """A pull request at the present head of its source, and a page of the timeline, oldest first.

    The last page ends with what is not stored yet: a push since the last event, and the checks of the head of the
    source. These entries have the number 0. Raises PullNotFoundError.
    """
    check_amount(amount)
    repo = await open_repo(ctx, repo_name)
    pull, pushed = await with_head(ctx, repo, (await read_pull(ctx, repo, pull_id)).pull)
    start = pull_event_key(pull_id, after + 1)
    rows = await ctx.kv.scan(repo.partition, start, under(pull_events(pull_id))[1], amount + 1)
    events = [decode_event(row.value) for row in rows]
    if len(events) > amount:
        return pull, Page(events[:amount], has_more=True)
    return pull, Page([*events, *await _unstored(ctx, repo, pull, pushed)], has_more=False)


async def _unstored(ctx: Context, repo: Repo, pull: Pull, pushed: Sequence[PullEvent]) -> list[PullEvent]:
    entries = [msgspec.structs.replace(event, id=0) for event in pushed]
    head = pull.source_commit_id or pull.head_commit_id
    for one in (await read_checks(ctx, repo, head)).values():
        text = f"{one.check.name}: {one.check.state}"
        entry = PullEvent(id=0, type="check", actor=one.check.user, date=one.check.date, text=text, commit_id=head)
        entries.append(entry)
    return entries
