"""A frame as one commit: Spark writes to a workspace's prefix, then one registration, one commit.

A failure before the commit leaves the branch as it was. The workspace is dropped, or expires. When the answer to the
commit is lost, the SDK finds out the result and never guesses.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal

import lakebed
from lakebed.errors import (
    InvalidRequestError,
    LakebedError,
    NothingToCommitError,
    OutcomeUnknownError,
)
from lakebed.model import Commit, ObjectInfo

from lakebed_spark._access import Holder, Place, Target, access_to, locate
from lakebed_spark._session import session_of
from lakebed_spark._staging import MOST_PREFIXES, WriteRequest, check_commit, others, stage

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

log = logging.getLogger("lakebed.spark")

Mode = Literal["append", "overwrite", "overwrite_partitions", "error"]
Policy = Literal["rebase", "abort", "overwrite"]

_ATTEMPTS = 100
"""Dropped or expired workspaces of one key that are skipped."""


def write(
    df: DataFrame,
    target: Target,
    path: str = "",
    *,
    mode: Mode = "append",
    partition_by: Sequence[str] | str = (),
    message: str | None = None,
    format: str = "parquet",
    metadata: Mapping[str, str] | None = None,
    key: str | None = None,
    on_conflict: Policy = "rebase",
    lake: Holder | None = None,
    **options: Any,
) -> Commit:
    """Write a frame to a path of a branch as one commit, and return the commit. Before it, readers see nothing of it.

    `mode`: `append` adds files, `overwrite` replaces everything below the path, `overwrite_partitions` replaces the
    partitions that the frame has, and `error` refuses when there is something. A commit of another writer to what this
    write replaces or depends on is a conflict. `on_conflict` is the policy of the workspace. `format` and `options` are
    those of Spark's writer. `key` makes the write exactly-once: a second write with the same key to the same branch
    within a week returns the first commit, and writes nothing. A frame without a file to write changes nothing, and
    returns the present commit of the branch. `lake` is as in `read`.

        lakebed_spark.write(orders, "lakebed://sales/main/orders", mode="overwrite", message="Reload")

    Raises what Spark raises when the job fails. Raises PermissionDeniedError, before the job except for a right that
    depends on the partition, ConcurrentCommitError and DirtyBranchError (with the paths),
    ObjectExistsError (`error`), InvalidRequestError, ReadOnlyRefError, NotFoundError, UnsupportedOperationError, and
    CommitStateUnknownError, whose note says how to find out.
    """
    spark = session_of(df)
    place = locate(target, path)
    columns = (partition_by,) if isinstance(partition_by, str) else tuple(partition_by)
    request = WriteRequest(place, mode, columns, format.lower(), options)
    request.check(df)
    branch = place.writer(access_to(target, lake).connect())
    if isinstance(branch, lakebed.Workspace):
        raise InvalidRequestError(
            f"write {place}: a workspace is committed as a whole: use lakebed_spark.transaction(spark, workspace)"
        )
    text = message or f"Write {place.path or 'the whole branch'}"
    policy: Policy = "rebase" if mode == "error" and on_conflict == "overwrite" else on_conflict
    workspace, done = open_workspace(branch, text, policy, key)
    if done is not None:
        return done
    try:
        request.check_rights(workspace)
        check_commit(workspace)
        request.check_target(branch)
        rows = stage(spark, df, workspace, request)
        return _commit(workspace, branch, request, rows, marked(spark, metadata))
    except OutcomeUnknownError:
        raise  # the workspace may have been committed
    except BaseException as error:
        give_up(workspace, error)
        raise


def _commit(
    workspace: lakebed.Workspace,
    branch: lakebed.Branch,
    request: WriteRequest,
    rows: Sequence[ObjectInfo],
    metadata: Mapping[str, str],
) -> Commit:
    replaced = request.replaced(rows)
    by_server = len(replaced) <= MOST_PREFIXES and all(replaced)
    gone = [] if by_server else others(workspace, replaced, rows)
    if request.mode == "overwrite" and request.place.path and workspace.exists(request.place.path):
        gone.append(request.place.path)
    workspace.register(rows, gone)
    try:
        return workspace.commit(metadata=metadata, replace_prefix=replaced if by_server else (), scan=False)
    except NothingToCommitError:
        give_up(workspace)
        return branch.commit_info()


def open_workspace(
    branch: lakebed.Branch, message: str, policy: Policy, key: str | None
) -> tuple[lakebed.Workspace, Commit | None]:
    """Return a workspace to write in, or the commit that the same key has made. A workspace that was left open starts
    empty.

    The id of the workspace comes from the key. So the server itself prevents that two of them are committed, also when
    both run at the same time.
    """
    if key is None:
        return branch.workspace(message, policy).create(), None
    for attempt in range(_ATTEMPTS):
        source = "\0".join((branch.repository.id, branch.id, key, str(attempt)))
        name = f"{branch.id}+{hashlib.sha256(source.encode()).hexdigest()[:32]}"
        workspace = _named(branch, name, message, policy)
        info = workspace.info()
        if info.state == "committed" and info.commit_id:
            log.info("key %r: already committed as %s, so nothing is written", key, info.commit_id[:12])
            return workspace, branch.repository.commit(info.commit_id)
        if info.is_open:
            workspace.revert()
            return workspace, None
    raise InvalidRequestError(
        f"key {key!r} of {branch.repository.id}/{branch.id} failed {_ATTEMPTS} times: use another key"
    )


def _named(branch: lakebed.Branch, name: str, message: str, policy: Policy) -> lakebed.Workspace:
    made = branch.workspace(message, policy)
    return lakebed.Workspace(branch.repository, name, made.options).create()


def marked(spark: SparkSession, metadata: Mapping[str, str] | None) -> dict[str, str]:
    """Return the commit's metadata, with the application that made it."""
    application = spark.conf.get("spark.app.id", None)
    return {**({"spark.app.id": application} if application else {}), **(metadata or {})}


def give_up(workspace: lakebed.Workspace, error: BaseException | None = None) -> None:
    """Drop a workspace that was not committed, if the server can be reached, and add this to the error."""
    try:
        workspace.drop()
    except LakebedError as reason:
        log.warning("could not drop workspace %s, which expires later: %s", workspace.id, reason.kind)
    if error is not None:
        with suppress(TypeError):
            error.add_note(f"nothing was committed: {workspace.repository.id}/{workspace.branch} is unchanged")


__all__ = ["Mode", "Place", "Policy", "write"]
