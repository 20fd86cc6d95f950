# Generated from sdk/lakebed/_async/handles/ref.py by tools/unasync_sdk.py - do not edit.
# ruff: noqa: RUF100, UP028
"""The ref handle: reads the state at a branch, a tag, a commit or any other ref expression.

Only `merge_into` changes something: its destination.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from lakebed import _checks
from lakebed._bulk import progress_bar as render_progress
from lakebed._bulk.progress import JOBS
from lakebed._gateway.operations import commits, objects
from lakebed._render import html
from lakebed._sync import bulk, tables
from lakebed._sync import commits as flows
from lakebed._sync.handles.ref_objects import RefObjects
from lakebed._sync.http.pagination import Listing
from lakebed.model import Commit, CommonPrefix, MergeResult, ObjectInfo, TablePage, TransferProgress, TransferResult

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    import pyarrow.dataset as pads

    from lakebed._sync.tables.diff import Diff
    from lakebed._sync.tables.scan import Scan


class Ref(RefObjects):
    """A handle to one state of a repository, for reading. A branch shows its uncommitted changes, and `main@` does not.

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
        """Download every object below a prefix, taken as a folder, into a directory. Replaces files of the same names.

        Each file appears when it is complete. A journal, in `~/.cache/lakebed` or at `journal`, records the progress:
        after the process is killed, the same call continues where it stopped. `jobs` is the number of parallel
        downloads.

        Raises PartialFailureError, after trying all, when some objects failed or have paths that cannot be files.
        Raises InvalidRequestError for `jobs` below 1.

            main.download_tree("photos/2026", "album")
        """
        with render_progress.following(f"download {prefix}", progress) as report:
            return bulk.download.download_tree(self, prefix, target, progress=report, jobs=jobs, journal=journal)

    # history

    def commit_info(self) -> Commit:
        """Return the commit that this ref points at.

        Example:

            print(main.commit_info().message)
        """
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
        author: str = "",
        until: datetime | None = None,
    ) -> Listing[Commit]:
        """List the history, newest commit first. `paths` and `prefixes` keep the commits that changed one of them.

        `author` keeps the commits of one committer. `since` and `until` are times: the first is included, the last not.

            for commit in main.log(limit=10, prefixes=["orders/"]):
                print(commit.short_id, commit.message)
        """
        _checks.check_text(author, "author")
        first = None if since is None else _checks.aware(since)
        end = None if until is None else _checks.aware(until)
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
                since=first,
                stop_at=stop_at,
                author=author,
                until=end,
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
        """List what `other` has changed, seen from this ref: what a merge of `other` into this ref would bring.

        The comparison begins at the common ancestor. `two_dot` compares the two states directly. To see what this ref
        changed since an older one, use `changes_since`. `.table(path, key=...)` of the result compares rows of a table.

            for change in main.diff(dev):
                print(change.type, change.path)
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
        """List what this ref has changed since `other`: `main.changes_since("main~1")` is what the last commit did.

        Example:

            for change in main.changes_since("main~1"):
                print(change.type, change.path)
        """
        return _differences(self, id_of(other), self.id, two_dot, prefix, delimiter, limit)

    def merge_base(self, other: str | Ref) -> str:
        """Return the id of the nearest common ancestor. Raises InvalidRequestError when there is none.

        Example:

            base = repo.ref(main.merge_base(dev))
        """
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
        author: str = "",
    ) -> MergeResult:
        """Merge this ref into a branch, as one merge commit.

        `strategy` settles all conflicts: `source-wins` (or `theirs`) takes this side, `dest-wins` (or `ours`) the side
        of the branch. `resolve` settles single paths: it maps globs as in a .gitignore file to `source` or `dest`. The
        first glob that matches decides. Where no glob matches, `strategy` decides. `squash` records no second parent.
        `key` and `author` as in `branch.commit`.

            dev.merge_into(main, "Add June")

        Raises MergeConflictError (with `.paths`, and the branch is as it was), DirtyBranchError (the branch has
        uncommitted changes), NothingToCommitError and CommitStateUnknownError.
        """
        asked = flows.commit.merge_asked(
            message=message,
            strategy=strategy,
            squash=squash,
            allow_empty=allow_empty,
            metadata=metadata,
            resolve=resolve,
            key=None if key is None else _checks.check_text(key, "key"),
            author=author,
        )
        return flows.commit.merge(self._target, id_of(dest), asked)

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
        """Return a scan that reads a table piece by piece, in bounded memory. Iterate it for Arrow record batches.

        The arguments are those of `read_table`. By default `format` follows from the ending of the path, or is Parquet.
        `batch_size` is the largest number of rows in a batch.

        Sends no request before it is read. Then it raises what `read_table` raises.

            rows = main.scan_table("orders/", filters=[("day", "==", "mon")]).count_rows()
        """
        return tables.read.scan(self, path, columns, filters, schema=schema, format=format, batch_size=batch_size)

    def read_table(
        self,
        path: str,
        *,
        columns: Sequence[str] | None = None,
        filters: pads.Expression | Sequence[Any] | None = None,
        schema: Literal["same", "unify"] | pa.Schema = "same",
        progress: bool | Callable[[TransferProgress], None] | None = None,
    ) -> pa.Table:
        """Read a Parquet file, or all Parquet files below a directory, as an Arrow table. `""` is the whole ref.

        The result contains the columns of Hive-style directories (`day=2026-01-02/`). Only the chosen `columns` are
        fetched. `filters` (an Arrow expression, or pandas' list of tuples) skips row groups and directories.

        All files must have the same columns and types. `schema="unify"` takes the columns of all files, with null where
        a file has none. With an Arrow schema the result has its columns and types, and values are converted.

        `progress`: True shows a bar, False none, and a callback gets the progress. By default a bar appears after one
        second, on a terminal only.

        Raises ObjectNotFoundError when there is nothing to read, SchemaMismatchError, TableFormatError for a damaged
        file, and InvalidRequestError for an unknown column.

            table = main.read_table("orders/", columns=["id", "amount"])
        """
        reading = tables.read.scan(
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
        """Read a Parquet file, or all Parquet files below a directory, as a DataFrame.

            main.read_parquet("orders/", columns=["id", "total"])

        The arguments and errors are those of `read_table`.
        """
        reading = tables.read.scan(
            self, path, columns, filters, schema=schema, format="parquet", operation="read_parquet", progress=progress
        )
        return reading.to_pandas()

    def read_csv(self, path: str, **options: Any) -> pd.DataFrame:
        """Read a CSV file as a DataFrame. `options` go to `pandas.read_csv`.

        Raises ObjectNotFoundError, TableFormatError and InvalidRequestError.

            frame = main.read_csv("raw/a.csv", sep=";")
        """
        return tables.read.read_csv(self, path, options)

    def read_json(self, path: str, **options: Any) -> pd.DataFrame:
        """Read a JSON file as a DataFrame. `.jsonl` and `.ndjson` have one record in each line. `options` go to pandas.

        Raises ObjectNotFoundError, TableFormatError and InvalidRequestError.

            frame = main.read_json("raw/a.json", lines=True)
        """
        return tables.read.read_json(self, path, options)

    def read_feather(self, path: str, *, columns: Sequence[str] | None = None) -> pd.DataFrame:
        """Read a Feather file (Arrow IPC) as a DataFrame. Only the chosen `columns` are fetched.

        Raises ObjectNotFoundError, TableFormatError and InvalidRequestError.

            frame = main.read_feather("cache.feather", columns=["id"])
        """
        return tables.read.read_feather(self, path, columns)

    def table_page(
        self,
        path: str,
        *,
        offset: int = 0,
        limit: int = 100,
        columns: Sequence[str] = (),
        order: str = "",
        descending: bool = False,
        format: Literal["parquet", "csv", "json", "arrow"] | None = None,
        statistics: bool = False,
    ) -> TablePage:
        """Return some rows of a table that the server reads: a file, or all files of a folder, which ends with `/`.

        It needs no large library. `limit` is at most 200. `order` sorts by a column. Without
        `columns`, the rows have the first 200. `statistics` adds those of these columns.

            print(main.table_page("orders/", limit=5).rows)

        Raises ObjectNotFoundError, TableFormatError for a damaged file, and InvalidRequestError for an unknown column
        or when the server would have to read too much (`kind` is `table_too_large`).
        """
        _checks.check_path(path)
        asked = objects.table_page(
            self.repository.id,
            self.id,
            path,
            offset=offset,
            limit=limit,
            columns=list(columns),
            order=order,
            descending=descending or None,
            format=format,
            statistics=statistics or None,
        )
        return self._transport.call(asked)

    # what the verbs above share

    def _pending(self) -> Listing[Any] | None:
        """Return the uncommitted changes, for refs that can have some."""
        return None

    def _look(self) -> str:
        commit = self.commit_info()
        pairs: list[tuple[str, object]] = [("commit", commit.short_id), ("message", commit.message)]
        pairs += [("committer", commit.committer), ("date", commit.created)]
        if (pending := self._pending()) is not None:
            changes = pending.all()
            count = f"{html.ROWS}+ paths" if len(changes) > html.ROWS else html.counted(len(changes), "path")
            pairs.append(("uncommitted", count if changes else "nothing"))
        rows = self.list(delimiter="/", limit=html.ROWS + 1).all()
        shown = [_Shown(row) for row in rows[: html.ROWS]]
        top = html.rows("files", shown, _Shown.COLUMNS, more=len(rows) > html.ROWS)
        return html.facts(f"{self.repository.id}/{self.id}", pairs, top)


class _Shown:
    """A row of the folder that a notebook shows."""

    COLUMNS = (("path", "string"), ("size", "int64"), ("mtime", "time"))

    def __init__(self, row: ObjectInfo | CommonPrefix) -> None:
        self.path = row.path
        self.size = getattr(row, "size", None)
        self.mtime = getattr(row, "mtime", None)


def id_of(ref: str | Ref | Commit) -> str:
    """Return the ref expression of a text, a handle or a commit."""
    return _checks.check_name(ref.id if isinstance(ref, Ref | Commit) else ref, "ref")


def _differences(
    ref: Ref, left: str, right: str, two_dot: bool, prefix: str, delimiter: str, limit: int | None
) -> Diff:
    _checks.check_text(prefix + delimiter, "prefix or delimiter")
    repository = ref.repository.id
    return tables.diff.Diff(
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
