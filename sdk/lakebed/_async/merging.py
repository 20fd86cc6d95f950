"""Commits and merges as flows: send once, and settle when the answer is lost. Under the handles."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from lakebed import _checks
from lakebed._async.settle import new_operation_id, settle
from lakebed._async.tasks import finished
from lakebed._async.transport import Transport
from lakebed._gateway import commits, tasks
from lakebed.errors import InvalidRequestError, OutcomeUnknownError
from lakebed.model import OPERATION_KEY, Commit, MergeResult

_STRATEGIES = {
    None: "",
    "": "",
    "source-wins": "source-wins",
    "theirs": "source-wins",
    "dest-wins": "dest-wins",
    "ours": "dest-wins",
}
_SIDES = {"source": "source", "theirs": "source", "dest": "dest", "ours": "dest"}


def _id_of(key: str) -> str:
    """The mark of a commit that is made with a key: asking again must be the same request."""
    return hashlib.sha256(key.encode()).hexdigest()[:32]


def marked(metadata: Mapping[str, str] | None, operation_id: str) -> dict[str, str]:
    """Commit metadata with the mark by which a commit whose answer was lost is found."""
    checked = _checks.check_metadata(dict(metadata or {}), "commit")
    if OPERATION_KEY in checked:
        raise InvalidRequestError(f"the metadata key {OPERATION_KEY} is the SDK's own")
    return {**checked, OPERATION_KEY: operation_id}


async def commit(
    transport: Transport,
    repository: str,
    branch: str,
    message: str,
    *,
    metadata: Mapping[str, str] | None,
    allow_empty: bool,
    date: int | None,
    key: str | None,
) -> Commit:
    """Commit a branch; with a `key` as a task."""
    if key:
        text, marks = _checks.check_text(message, "commit message"), marked(metadata, _id_of(key))
        begin = tasks.commit(repository, branch, text, marks, date=date, allow_empty=allow_empty, key=key)
        return await finished(transport, repository, branch, begin)
    operation_id = new_operation_id()
    call = commits.commit(
        repository,
        branch,
        _checks.check_text(message, "commit message"),
        marked(metadata, operation_id),
        date=date,
        allow_empty=allow_empty,
    )
    try:
        return await transport.call(call)
    except OutcomeUnknownError as lost:
        return await settle(transport, repository, branch, operation_id, lost)


async def merge(
    transport: Transport,
    repository: str,
    source: str,
    destination: str,
    *,
    message: str,
    strategy: str | None,
    squash: bool,
    allow_empty: bool,
    metadata: Mapping[str, str] | None,
    resolve: Mapping[str, str] | None,
    key: str | None,
) -> MergeResult:
    """Merge a ref into a branch."""
    if strategy not in _STRATEGIES:
        known = ", ".join(repr(name) for name in _STRATEGIES if name)
        raise InvalidRequestError(f"unknown merge strategy {strategy!r}; known are {known}")
    if key:
        begin = tasks.merge(
            repository,
            source,
            destination,
            message=_checks.check_text(message, "merge message"),
            metadata=marked(metadata, _id_of(key)),
            strategy=_STRATEGIES[strategy],
            squash=squash,
            allow_empty=allow_empty,
            resolve=_rules(resolve or {}),
            key=key,
        )
        return MergeResult((await finished(transport, repository, destination, begin)).id)
    operation_id = new_operation_id()
    call = commits.merge(
        repository,
        source,
        destination,
        message=_checks.check_text(message, "merge message"),
        metadata=marked(metadata, operation_id),
        strategy=_STRATEGIES[strategy],
        squash=squash,
        allow_empty=allow_empty,
        resolve=_rules(resolve or {}),
    )
    try:
        return await transport.call(call)
    except OutcomeUnknownError as lost:
        return MergeResult((await settle(transport, repository, destination, operation_id, lost)).id)


def _rules(resolve: Mapping[str, str]) -> list[tuple[str, str]]:
    """Globs and sides, in the order that they were given."""
    for glob, side in resolve.items():
        _checks.check_text(glob, "glob")
        if side not in _SIDES:
            raise InvalidRequestError(f"resolve: {glob!r} is to be won by {side!r}; known are 'source' and 'dest'")
    return [(glob, _SIDES[side]) for glob, side in resolve.items()]
