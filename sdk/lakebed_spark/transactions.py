"""Several writes and deletes of one job as one commit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import lakebed
from lakebed.errors import InvalidRequestError, NothingToCommitError, OutcomeUnknownError
from lakebed.model import Commit, ObjectInfo

from lakebed_spark._access import Access, Holder, Place, Target, access_to, locate
from lakebed_spark._session import check_session
from lakebed_spark._staging import MOST_PREFIXES, WriteRequest, check_commit, others, stage
from lakebed_spark.reading import read
from lakebed_spark.writing import Mode, Policy, give_up, marked

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class Transaction:
    """Changes of one branch that become one commit. It reads its own writes, and no other reader sees them before the
    end.

    `commit` is the new commit. It is None before, and when there was nothing to commit.
    """

    def __init__(self, spark: SparkSession, access: Access, place: Place, workspace: lakebed.Workspace) -> None:
        self.commit: Commit | None = None
        self._spark = spark
        self._access = access
        self._place = place
        self._workspace = workspace
        self._replaced: set[str] = set()
        self._over = False

    def __repr__(self) -> str:
        return f"<Transaction {self._place.repository}/{self._workspace.id}>"

    @property
    def ref(self) -> str:
        """The ref that shows the changes, `main+<id>`, for SQL or another tool."""
        return self._workspace.id

    def read(self, path: str, *, format: str = "parquet", schema: Any = None, **options: Any) -> DataFrame:
        """Read a path of the branch with the changes of this transaction. As `lakebed_spark.read`."""
        self._check()
        below = self._place.to(self._below(path))
        return read(
            self._spark, self._workspace, below.path, format=format, schema=schema, lake=self._access, **options
        )

    def write(
        self,
        df: DataFrame,
        path: str,
        *,
        mode: Mode = "append",
        partition_by: Sequence[str] | str = (),
        format: str = "parquet",
        **options: Any,
    ) -> None:
        """Write a frame. The arguments, and what is raised, are those of `lakebed_spark.write`.

        A frame that was read before still reads what it read. After an exception nothing of this write is there, and
        the transaction can go on.
        """
        self._check()
        place = self._place.to(self._below(path))
        columns = (partition_by,) if isinstance(partition_by, str) else tuple(partition_by)
        request = WriteRequest(place, mode, columns, format.lower(), options)
        self._show(request, self._stage(df, request))

    def _stage(self, df: DataFrame, request: WriteRequest) -> list[ObjectInfo]:
        """The first half of `write`: the files are in the store, and no ref shows them."""
        request.check(df)
        request.check_rights(self._workspace)
        request.check_target(self._workspace)
        return stage(self._spark, df, self._workspace, request)

    def _show(self, request: WriteRequest, rows: Sequence[ObjectInfo], also: Sequence[ObjectInfo] = ()) -> None:
        """The second half: one registration, together with `also`, other objects that are in the store."""
        replaced = request.replaced(rows)
        gone = others(self._workspace, replaced, rows)
        if request.mode == "overwrite" and request.place.path and self._workspace.exists(request.place.path):
            gone.append(request.place.path)
        self._workspace.register([*rows, *also], gone)
        self._replaced.update(replaced)

    def delete(self, path: str) -> None:
        """Delete an object, or everything below a folder (a path ending in a slash). Missing objects are no error."""
        self._check()
        full = self._below(path)
        if not path.strip("/"):
            raise InvalidRequestError(f"delete {self._place}: pass a path, or a folder that ends with a slash")
        if path.endswith("/"):
            gone = [row.path for row in self._workspace.list(full)]
        else:
            gone = [full] if self._workspace.exists(full) else []
        self._workspace.register((), gone)

    def _below(self, path: str) -> str:
        return self._place.folder + path

    def _check(self) -> None:
        if self._over:
            raise InvalidRequestError(f"{self!r} has ended: begin another transaction")

    def _finish(self, metadata: Mapping[str, str] | None) -> None:
        self._over = True
        replaced = sorted(self._replaced)
        few = len(replaced) <= MOST_PREFIXES and all(replaced)
        try:
            self.commit = self._workspace.commit(
                metadata=marked(self._spark, metadata), replace_prefix=replaced if few else (), scan=False
            )
        except NothingToCommitError:
            give_up(self._workspace)


@contextmanager
def transaction(
    spark: SparkSession,
    target: Target,
    *,
    message: str | None = None,
    metadata: Mapping[str, str] | None = None,
    on_conflict: Policy = "rebase",
    lake: Holder | None = None,
) -> Iterator[Transaction]:
    """Write, read and delete in a `with` block, and commit everything at its end. After an exception it commits
    nothing.

    `target` is a branch, or `lakebed://repository/branch`. With a path after it, all paths are below that path. Or it
    is a workspace, which is then committed. `on_conflict` is the policy of the workspace.

    Raises PermissionDeniedError at the start for a user who may not commit to the branch, and at the end what
    `lakebed_spark.write` raises.
    """
    check_session(spark)
    place, access = locate(target), access_to(target, lake)
    found = target if isinstance(target, lakebed.Workspace) else place.writer(access.connect())
    text = message or "Write with Spark"
    workspace = found if isinstance(found, lakebed.Workspace) else found.workspace(text, on_conflict).create()
    made = Transaction(spark, access, place, workspace)
    try:
        if workspace is not found:
            check_commit(workspace)
        yield made
        made._finish(metadata)
    except OutcomeUnknownError:
        made._over = True
        raise  # it may have been committed
    except BaseException as error:
        made._over = True
        give_up(workspace, error)
        raise
