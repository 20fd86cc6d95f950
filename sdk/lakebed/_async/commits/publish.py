"""Publish: objects and deletions in one request that is a commit.

A retry sends the same key and the same content, so the server commits once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from lakebed import _checks
from lakebed._async.commits import commit
from lakebed._async.commits.recover import new_operation_id
from lakebed._async.commits.retry import Advance
from lakebed._async.http.target import Target
from lakebed._async.objects.batch import BatchBody, compare_all, new_batch
from lakebed._gateway.operations import objects
from lakebed._http.retry import about
from lakebed._values.wire import Call
from lakebed._values.workspaces import RETRY_FOR
from lakebed.errors import InvalidRequestError
from lakebed.model import Commit, ObjectInfo

_ADVICE = "use a workspace, which commits any number as one commit: `with branch.workspace(message) as ws`"
_TOO_LARGE = 413


async def publish(
    target: Target,
    items: Iterable[tuple[str, Any, str | None]],
    deletions: Iterable[str],
    *,
    message: str,
    metadata: Mapping[str, str] | None,
    date: int | None,
    allow_empty: bool,
    progress: Callable[[int], None] | None,
) -> Commit:
    """Commit changes in one request, and compare the checksums of what was stored."""
    key = new_operation_id()
    part = objects.publish_part(
        message=_checks.check_text(message, "commit message"),
        metadata=commit.marked(metadata, key),
        date=date,
        allow_empty=allow_empty,
        idempotency_key=key,
    )
    batch = new_batch(items, deletions, advice=_ADVICE, commit=part)
    body = BatchBody(batch, progress)

    def compare(stored: Sequence[ObjectInfo]) -> None:
        compare_all(call, stored, body)

    call: Call[Commit] = objects.publish(target.repository, target.ref, batch.boundary, compare)
    flow = Advance(target, call, key, policy="rebase", retry_for=RETRY_FOR, on_attempt=None, body=body)
    try:
        return await flow.run()
    except InvalidRequestError as error:
        if error.status == _TOO_LARGE:
            raise InvalidRequestError(
                f"{error.message}: too large for one request; {_ADVICE}", status=error.status, **about(call)
            ) from error
        raise
