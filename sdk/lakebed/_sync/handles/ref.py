# Generated from sdk/lakebed/_async/handles/ref.py by tools/unasync_sdk.py - do not edit.
# ruff: noqa: RUF100, UP028
"""The ref handle: reading, at a branch, a tag, a commit or any expression that leads to one.

Nothing here changes anything but `merge_into`, which changes its destination.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from lakebed import _checks
from lakebed._bulk import progress_bar as render_progress
from lakebed._bulk.batches import JOBS
from lakebed._gateway.operations import commits
from lakebed._render import html
from lakebed._sync.bulk import download as bulk_download
from lakebed._sync.commits import commit as commits_commit
from lakebed._sync.handles.ref_objects import RefObjects
from lakebed._sync.http.pagination import Listing
from lakebed._sync.tables import read
from lakebed._sync.tables.diff import Diff
from lakebed._sync.tables.scan import Scan
from lakebed.model import Commit, CommonPrefix, MergeResult, ObjectInfo, TransferProgress, TransferResult

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    import pyarrow.dataset as pads


class Ref(RefObjects):
    """A handle to one state of a repository, readable. A branch is read with its uncommitted changes, `main@` without.

    Any method raises NotFoundError when the repository or the ref does not exist.
    """

    __module__ = "lakebed"

    def download_tree(
        self,
        prefix: str,
        target: str | os.PathLike[str],
        *,
        progress: bool | Callable[[TransferProgress], None] | None = None,
        jobs: int = JOBS,
        journal: str | os.PathLike[str] | None = None,
    ) -> TransferResult:
        """Download everything under a prefix, taken as a folder, to a directory. Files of the same names are replaced.

        Each file appears when it is complete. When the process is killed, the same call goes on where it stopped, by a
        journal in `~/.cache/lakebed` or where `journal` says. Raises PartialFailureError, after trying all, when some
        could not be downloaded, or have paths that cannot be files; InvalidRequestError for `jobs` below 1.
        """
        with render_progress.following(f"download {prefix}", progress) as report:
            return bulk_download.download_tree(self, prefix, target, progress=report, jobs=jobs, journal=journal)

    # history

    def commit_info(self) -> Commit:
        """The commit that this ref stands at."""
        return self.repository.commit(self.id)

    def log(
        self,
        *,
        limit: int | None = None,
        after: str = "",
        paths: Sequence[str] = (),
        prefixes: Sequence[str] = (),
        first_parent: bool = False,
        since: datetime | None = None,
        stop_at: str = "",
    ) -> Listing[Commit]:
        """History, newest first. `paths` and `prefixes` keep the commits that changed one of them."""
        moment = None if since is None else _checks.aware(since)
        return Listing(
            self._transport,
            lambda after, amount: commits.log(
                self.repository.id,
                self.id,
                after=after,
                amount=amount,
                paths=paths,
                prefixes=prefixes,
                first_parent=first_parent,
                since=moment,
                stop_at=stop_at,
            ),
            Commit.COLUMNS,
            f"log of {self.repository.id}/{self.id}",
            after=after,
            limit=limit,
        )

    def diff(
        self,
        other: str | Ref,
        *,
        two_dot: bool = False,
        prefix: str = "",
        delimiter: str = "",
        limit: int | None = None,
    ) -> Diff:
        """What `other` has changed, seen from here: what merging `other` into this ref would bring.

        Counted from the common ancestor; with `two_dot`, the plain difference from this state to that one. To see
        what this ref changed since an older one, use `changes_since`. `.table(path, key=...)` compares rows of a table.
        """
        return _differences(self, self.id, id_of(other), two_dot, prefix, delimiter, limit)

    def changes_since(
        self,
        other: str | Ref,
        *,
        two_dot: bool = False,
        prefix: str = "",
        delimiter: str = "",
        limit: int | None = None,
    ) -> Diff:
        """What this ref has changed since `other`: `main.changes_since("main~1")` is what the last commit did."""
        return _differences(self, id_of(other), self.id, two_dot, prefix, delimiter, limit)

    def merge_base(self, other: str | Ref) -> str:
        """The id of the nearest common ancestor. Raises InvalidRequestError when there is none."""
        return self._transport.call(commits.merge_base(self.repository.id, self.id, id_of(other)))

    def merge_into(
        self,
        dest: str | Ref,
        message: str = "",
        *,
        strategy: str | None = None,
        squash: bool = False,
        allow_empty: bool = False,
        metadata: Mapping[str, str] | None = None,
        resolve: Mapping[str, str] | None = None,
        key: str | None = None,
    ) -> MergeResult:
        """Merge this ref into a branch, as one merge commit.

        `strategy` settles all conflicts: `source-wins` (or `theirs`) takes this side, `dest-wins` (or `ours`) the
        branch's. `resolve` settles them path by path: globs as in a .gitignore file, each with `source` or `dest`; the
        first that matches counts, and the strategy where none does. `squash` records no second parent. `key` as of
        `branch.commit`.

        Raises MergeConflictError (with `.paths`; the branch is as it was), DirtyBranchError (the branch has
        uncommitted changes), NothingToCommitError, CommitStateUnknownError.
        """
        asked = commits_commit.merge_asked(
            message=message,
            strategy=strategy,
            squash=squash,
            allow_empty=allow_empty,
            metadata=metadata,
            resolve=resolve,
            key=None if key is None else _checks.check_text(key, "key"),
        )
        return commits_commit.merge(self._target, id_of(dest), asked)

    # tables

    def scan_table(
        self,
        path: str,
        *,
        columns: Sequence[str] | None = None,
        filters: pads.Expression | Sequence[Any] | None = None,
        schema: Literal["same", "unify"] | pa.Schema = "same",
        format: Literal["parquet", "csv", "json", "feather"] | None = None,
        batch_size: int | None = None,
    ) -> Scan:
        """A table to be read piece by piece, in bounded memory: iterate it for Arrow record batches.

        The arguments are those of `read_table`. `format` is by default what the path's ending says, or Parquet;
        `batch_size` is the most rows of a batch. The scan asks nothing before it is read; then it raises what
        `read_table` raises.
        """
        return read.scan(self, path, columns, filters, schema=schema, format=format, batch_size=batch_size)

    def read_table(
        self,
        path: str,
        *,
        columns: Sequence[str] | None = None,
        filters: pads.Expression | Sequence[Any] | None = None,
        schema: Literal["same", "unify"] | pa.Schema = "same",
        progress: bool | Callable[[TransferProgress], None] | None = None,
    ) -> pa.Table:
        """A Parquet file, or all of those under a directory, as an Arrow table. `""` is the whole ref.

        Columns of Hive-style directories (`day=2026-01-02/`) are restored. Only the columns asked for are fetched,
        and `filters` (an Arrow expression, or pandas' list of tuples) skips row groups and directories.

        All files must have the same columns and types. `schema="unify"` takes the columns of all of them, null where a
        file has none; an Arrow schema says which columns of which types are wanted, and values are converted to it.

        `progress`: a bar (True), none (False), a callback; by default a bar after one second, on a terminal only.

        Raises ObjectNotFoundError when there is nothing to read, SchemaMismatchError, TableFormatError for a file that
        is damaged, and InvalidRequestError for an unknown column.
        """
        reading = read.scan(
            self, path, columns, filters, schema=schema, format="parquet", operation="read_table", progress=progress
        )
        return reading.to_table()

    def read_parquet(
        self,
        path: str,
        *,
        columns: Sequence[str] | None = None,
        filters: pads.Expression | Sequence[Any] | None = None,
        schema: Literal["same", "unify"] | pa.Schema = "same",
        progress: bool | Callable[[TransferProgress], None] | None = None,
    ) -> pd.DataFrame:
        """A Parquet file, or all of those under a directory, as a DataFrame; see `read_table`."""
        reading = read.scan(
            self, path, columns, filters, schema=schema, format="parquet", operation="read_parquet", progress=progress
        )
        return reading.to_pandas()

    def read_csv(self, path: str, **options: Any) -> pd.DataFrame:
        """A CSV file as a DataFrame; `options` go to `pandas.read_csv`.

        Raises ObjectNotFoundError, TableFormatError and InvalidRequestError.
        """
        return read.read_csv(self, path, options)

    def read_json(self, path: str, **options: Any) -> pd.DataFrame:
        """A JSON file as a DataFrame; `.jsonl` and `.ndjson` have a record in each line. `options` as of pandas.

        Raises ObjectNotFoundError, TableFormatError and InvalidRequestError.
        """
        return read.read_json(self, path, options)

    def read_feather(self, path: str, *, columns: Sequence[str] | None = None) -> pd.DataFrame:
        """A Feather file (Arrow IPC) as a DataFrame; only the columns asked for are fetched.

        Raises ObjectNotFoundError, TableFormatError and InvalidRequestError.
        """
        return read.read_feather(self, path, columns)

    # what the verbs above share

    def _pending(self) -> Listing[Any] | None:
        """What is not committed yet, where there can be something."""
        return None

    def _look(self) -> str:
        commit = self.commit_info()
        pairs: list[tuple[str, object]] = [("commit", commit.short_id), ("message", commit.message)]
        pairs += [("committer", commit.committer), ("date", commit.created)]
        if (pending := self._pending()) is not None:
            changes = pending.all()
            pairs.append(("uncommitted", f"{len(changes)}{'+' if len(changes) > html.ROWS else ''} paths"))
        rows = self.list(delimiter="/", limit=html.ROWS + 1).all()
        shown = [_Shown(row) for row in rows[: html.ROWS]]
        top = html.rows("/", shown, _Shown.COLUMNS, more=len(rows) > html.ROWS)
        return html.facts(f"{self.repository.id}/{self.id}", pairs, top)


class _Shown:
    """A row of the folder that a notebook shows."""

    COLUMNS = (("path", "string"), ("size", "int64"), ("mtime", "time"))

    def __init__(self, row: ObjectInfo | CommonPrefix) -> None:
        self.path = row.path
        self.size = getattr(row, "size", None)
        self.mtime = getattr(row, "mtime", None)


def id_of(ref: str | Ref | Commit) -> str:
    """The expression of a ref that is given by itself, by its handle or as a commit."""
    return _checks.check_name(ref.id if isinstance(ref, Ref | Commit) else ref, "ref")


def _differences(
    ref: Ref, left: str, right: str, two_dot: bool, prefix: str, delimiter: str, limit: int | None
) -> Diff:
    _checks.check_text(prefix + delimiter, "prefix or delimiter")
    repository = ref.repository.id
    return Diff(
        ref._target,
        lambda after, amount: commits.diff_refs(
            repository, left, right, two_dot=two_dot, prefix=prefix, delimiter=delimiter, after=after, amount=amount
        ),
        f"changes {left}...{right} of {repository}",
        (left, right),
        ref.repository.ref,
        three_dot=not two_dot,
        limit=limit,
    )
