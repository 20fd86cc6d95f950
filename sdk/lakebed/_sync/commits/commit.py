# Generated from sdk/lakebed/_async/commits/commit.py by tools/unasync_sdk.py - do not edit.
# ruff: noqa: RUF100, UP028
"""Commits and merges as flows: one plain request, or, if its response is lost, a task with the same key.

Starting with a task would cost three times as much as a plain small commit.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from lakebed import _checks
from lakebed._gateway.operations import commits, tasks
from lakebed._sync.commits.recover import go_on, new_operation_id
from lakebed._sync.http.target import Target
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


def id_of(key: str) -> str:
    """The operation id of a commit with a key. A retry must send the same request, so it depends only on the key."""
    return hashlib.sha256(key.encode()).hexdigest()[:32]


def marked(metadata: Mapping[str, str] | None, operation_id: str) -> dict[str, str]:
    """Commit metadata with the operation id, which finds the commit if its response is lost."""
    checked = _checks.check_metadata(dict(metadata or {}), "commit")
    if OPERATION_KEY in checked:
        raise InvalidRequestError(f"the metadata key {OPERATION_KEY} is reserved for the SDK")
    return {**checked, OPERATION_KEY: operation_id}


def commit_asked(
    message: str,
    *,
    metadata: Mapping[str, str] | None,
    allow_empty: bool,
    date: int | None,
    key: str | None,
    author: str = "",
) -> dict[str, Any]:
    """The request for a commit, plain or as a task. Its operation id is derived from the key, or is the key."""
    mark = id_of(key) if key else new_operation_id()
    return {
        "message": _checks.check_commit_message(message),
        "metadata": marked(metadata, mark),
        "date": date,
        "allow_empty": allow_empty,
        "key": key or mark,
        "author": _checks.check_text(author, "author"),
    }


def merge_asked(
    *,
    message: str,
    strategy: str | None,
    squash: bool,
    allow_empty: bool,
    metadata: Mapping[str, str] | None,
    resolve: Mapping[str, str] | None,
    key: str | None,
    author: str,
) -> dict[str, Any]:
    """The request for a merge. Raises InvalidRequestError."""
    if strategy not in _STRATEGIES:
        known = ", ".join(repr(name) for name in _STRATEGIES if name)
        raise InvalidRequestError(f"unknown merge strategy {strategy!r}; use one of {known}")
    mark = id_of(key) if key else new_operation_id()
    return {
        "message": _checks.check_text(message, "merge message"),
        "metadata": marked(metadata, mark),
        "strategy": _STRATEGIES[strategy],
        "squash": squash,
        "allow_empty": allow_empty,
        "resolve": _rules(resolve or {}),
        "key": key or mark,
        "author": _checks.check_text(author, "author"),
    }


def commit(target: Target, asked: dict[str, Any]) -> Commit:
    """Commit a branch."""
    try:
        return target.transport.call(commits.commit(target.repository, target.ref, **asked))
    except OutcomeUnknownError as lost:
        begin = tasks.commit(target.repository, target.ref, **asked)
        mark = asked["metadata"][OPERATION_KEY]
        return go_on(target, begin, mark, lost, keyed=asked["key"] != mark)


def merge(source: Target, destination: str, asked: dict[str, Any]) -> MergeResult:
    """Merge a ref into a branch."""
    target = source.at(destination)
    try:
        return target.transport.call(commits.merge(source.repository, source.ref, destination, **asked))
    except OutcomeUnknownError as lost:
        begin = tasks.merge(source.repository, source.ref, destination, **asked)
        mark = asked["metadata"][OPERATION_KEY]
        made = go_on(target, begin, mark, lost, keyed=asked["key"] != mark)
        return MergeResult(made.id)


def _rules(resolve: Mapping[str, str]) -> list[tuple[str, str]]:
    """Globs and sides, in the order in which they were given."""
    for glob, side in resolve.items():
        _checks.check_text(glob, "glob")
        if side not in _SIDES:
            raise InvalidRequestError(f"resolve: {glob!r} cannot have {side!r} as the winner; use 'source' or 'dest'")
    return [(glob, _SIDES[side]) for glob, side in resolve.items()]
