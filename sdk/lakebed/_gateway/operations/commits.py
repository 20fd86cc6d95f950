"""Calls about history: commits, logs, diffs and merges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from lakebed._gateway import calls, convert, table_pages
from lakebed._gateway._bodies import commit_body, merge_body
from lakebed._gateway.calls import call, clean, reads, reads_page
from lakebed._values.wire import Call, Subject
from lakebed.model import OPERATION_KEY, Change, Commit, CommitStatistics, MergeResult, Page, TableDiffPage

CONFLICTS_LISTED = 1000
"""Number of conflicts that a refused merge lists. It is the server's limit."""


def commit(
    repository: str,
    branch: str,
    message: str,
    metadata: Mapping[str, str],
    *,
    date: int | None,
    allow_empty: bool,
    key: str,
    author: str = "",
) -> Call[Commit]:
    """Commit. Never repeated after a lost response: the task with the same key continues it, see `commits.recover`."""
    from lakebed_api.api.commits import commit
    from lakebed_api.models import Commit as WireCommit

    body = commit_body(message, metadata, date, allow_empty=allow_empty, author=author)
    return call(
        "commit",
        commit._get_kwargs(repository, branch, body=body, idempotency_key=key),
        reads(WireCommit.from_dict, convert.commit),
        Subject(repository, branch),
        success=201,
        slow=True,
        races=True,
    )


def record(repository: str, commit: Commit) -> Call[None]:
    """Store a commit unchanged. Moves no branch. A repeat has no effect."""
    from lakebed_api.api.commits import create_commit_record
    from lakebed_api.models import CommitRecordCreation, CommitRecordCreationMetadata

    mark = {} if commit.operation_id is None else {OPERATION_KEY: commit.operation_id}
    body = CommitRecordCreation(
        commit_id=commit.id,
        version=1,
        committer=commit.committer,
        message=commit.message,
        metarange_id=commit.metarange_id,
        creation_date=int(commit.created.timestamp()),
        parents=list(commit.parents),
        generation=commit.generation,
        metadata=CommitRecordCreationMetadata.from_dict({**commit.metadata, **mark}),
    )
    kwargs = create_commit_record._get_kwargs(repository, body=body)
    subject = Subject(repository, commit.id)
    return call("createCommitRecord", kwargs, calls.nothing, subject, success=204, repeat="safe")


def get(repository: str, ref: str) -> Call[Commit]:
    """Return the commit of a ref expression."""
    from lakebed_api.api.commits import get_commit
    from lakebed_api.models import Commit as WireCommit

    kwargs = get_commit._get_kwargs(repository, ref)
    return call("getCommit", kwargs, reads(WireCommit.from_dict, convert.commit), Subject(repository, ref))


def statistics(repository: str, ref: str) -> Call[CommitStatistics]:
    """Return how much the commit of a ref expression changed."""
    from lakebed_api.api.commits import get_commit_statistics

    def read(body: Mapping[str, Any]) -> CommitStatistics:
        return CommitStatistics(
            commit_id=convert.text(body["commit_id"]),
            parent_id=convert.text(body["parent_id"]),
            added=convert.number(body["added"]),
            removed=convert.number(body["removed"]),
            changed=convert.number(body["changed"]),
            bytes_added=convert.number(body["bytes_added"]),
            bytes_removed=convert.number(body["bytes_removed"]),
            complete=bool(body["complete"]),
        )

    kwargs = get_commit_statistics._get_kwargs(repository, ref)
    return call("getCommitStatistics", kwargs, calls.parser(read), Subject(repository, ref))


def log(
    repository: str,
    ref: str,
    *,
    after: str,
    amount: int,
    paths: Sequence[str] = (),
    prefixes: Sequence[str] = (),
    first_parent: bool = False,
    since: datetime | None = None,
    stop_at: str = "",
    author: str = "",
    until: datetime | None = None,
) -> Call[Page[Commit]]:
    """One page of history."""
    from lakebed_api.api.commits import log_commits
    from lakebed_api.models import CommitList

    kwargs = log_commits._get_kwargs(
        repository,
        ref,
        **clean(
            after=after,
            amount=amount,
            objects=list(paths),
            prefixes=list(prefixes),
            first_parent=first_parent or None,
            since=since,
            stop_at=stop_at,
            author=author,
            until=until,
        ),
    )
    return call("logCommits", kwargs, reads_page(CommitList.from_dict, convert.commit, after), Subject(repository, ref))


def diff_refs(
    repository: str, left: str, right: str, *, two_dot: bool, prefix: str, delimiter: str, after: str, amount: int
) -> Call[Page[Change]]:
    """One page of the differences between two refs."""
    from lakebed_api.api.diffs import diff_refs
    from lakebed_api.models import DiffList, DiffRefsType

    kwargs = diff_refs._get_kwargs(
        repository,
        left,
        right,
        type_=DiffRefsType.TWO_DOT if two_dot else DiffRefsType.THREE_DOT,
        **clean(prefix=prefix, delimiter=delimiter, after=after, amount=amount),
    )
    subject = Subject(repository, f"{left}...{right}", also=(left, right))
    return call("diffRefs", kwargs, reads_page(DiffList.from_dict, convert.change, after), subject)


def diff_branch(
    repository: str, branch: str, *, prefix: str, delimiter: str, after: str, amount: int
) -> Call[Page[Change]]:
    """One page of uncommitted changes."""
    from lakebed_api.api.diffs import diff_branch
    from lakebed_api.models import DiffList

    kwargs = diff_branch._get_kwargs(
        repository, branch, **clean(prefix=prefix, delimiter=delimiter, after=after, amount=amount)
    )
    subject = Subject(repository, branch)
    return call("diffBranch", kwargs, reads_page(DiffList.from_dict, convert.change, after), subject)


def table_diff_page(
    repository: str,
    left: str,
    right: str,
    path: str,
    key: Sequence[str],
    words: Mapping[str, str | None],
    **asked: object,
) -> Call[TableDiffPage]:
    """The rows of a table that differ. `words`: the parameters with few values, which the server checks.

    `asked`: the other parameters. Empty ones are left out.
    """
    from lakebed_api.api.diffs import diff_table

    kwargs = diff_table._get_kwargs(repository, left, right, path=path, key=list(key), **clean(**asked))
    kwargs["params"] |= clean(**words)
    return call(
        "diffTable", kwargs, calls.parser(table_pages.diff_page), Subject(repository, right, path, (left, right))
    )


def merge(
    repository: str,
    source: str,
    destination: str,
    *,
    message: str,
    metadata: Mapping[str, str],
    strategy: str,
    squash: bool,
    allow_empty: bool,
    resolve: Sequence[tuple[str, str]],
    author: str,
    key: str,
) -> Call[MergeResult]:
    """Merge. Never repeated after a lost response: the task with the same key continues it, see `commits.recover`."""
    from lakebed_api.api.merges import merge_into_branch
    from lakebed_api.models import MergeResult as WireResult

    body = merge_body(message, metadata, strategy, resolve, squash=squash, allow_empty=allow_empty, author=author)
    return call(
        "mergeIntoBranch",
        merge_into_branch._get_kwargs(
            repository, source, destination, body=body, conflicts_amount=CONFLICTS_LISTED, idempotency_key=key
        ),
        reads(WireResult.from_dict, lambda result: MergeResult(convert.text(result.reference))),
        Subject(repository, destination, also=(source,)),
        slow=True,
        races=True,
    )


def merge_base(repository: str, source: str, destination: str) -> Call[str]:
    """The nearest common ancestor."""
    from lakebed_api.api.merges import find_merge_base
    from lakebed_api.models import FindMergeBaseResult

    return call(
        "findMergeBase",
        find_merge_base._get_kwargs(repository, source, destination),
        reads(FindMergeBaseResult.from_dict, lambda found: convert.text(found.base_commit_id)),
        Subject(repository, f"{source}...{destination}", also=(source, destination)),
    )
