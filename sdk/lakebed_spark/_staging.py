"""Writes one frame into a workspace: Spark's own writer writes to a separate prefix, then the files are registered.

A failed task or job leaves files only below a prefix that no entry names. The workspace shows nothing before everything
is registered.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import attrs
import lakebed
from lakebed._integration.sync import check_write, is_cloud, may_commit, place_of, sees
from lakebed._integration.values import DIRECT, wanted_path
from lakebed.errors import InvalidRequestError, NothingToCommitError, ObjectExistsError, UnsupportedOperationError
from lakebed.model import ObjectInfo

from lakebed_spark._access import Place
from lakebed_spark._session import has_filesystem, is_remote, lowered
from lakebed_spark._tables.formats import ENDINGS, is_hidden
from lakebed_spark._tables.partitions import folders_of
from lakebed_spark._written_files import OutputFolder

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

MODES = ("append", "overwrite", "overwrite_partitions", "error")
MOST_PREFIXES = 100
"""Number of prefixes that a commit can replace. It is the server's limit."""

_FEW = 20
_MARKS = "mapreduce.fileoutputcommitter.marksuccessfuljobs"
_ALGORITHM = "mapreduce.fileoutputcommitter.algorithm.version"


@attrs.frozen
class WriteRequest:
    """What to write where, and how. Checked."""

    place: Place
    mode: str = "append"
    partition_by: tuple[str, ...] = ()
    kind: str = "parquet"
    options: Mapping[str, Any] = attrs.field(factory=dict)

    def check(self, frame: DataFrame) -> None:
        """Raise InvalidRequestError, before any work."""
        if self.mode not in MODES:
            raise self.invalid(f"unknown mode {self.mode!r}: use one of {', '.join(map(repr, MODES))}")
        if self.kind not in ENDINGS:
            raise self.invalid(f"cannot write the format {self.kind!r}: use one of {', '.join(ENDINGS)}")
        if frame.isStreaming:
            raise self.invalid("the frame is a stream: use foreach_batch with frame.writeStream.foreachBatch(...)")
        columns = list(frame.columns)
        exact = str(frame.sparkSession.conf.get("spark.sql.caseSensitive", "false")).lower() == "true"
        known = columns if exact else [name.lower() for name in columns]
        for name in self.partition_by:
            if (name if exact else name.lower()) not in known:
                raise self.invalid(f"partition_by={name!r}: the frame has no such column; it has {', '.join(columns)}")
        if self.partition_by and len(set(self.partition_by)) >= len(columns):
            raise self.invalid("partition_by contains all columns: at least one column must remain for the files")
        if self.mode == "overwrite_partitions" and not self.partition_by:
            raise self.invalid("mode='overwrite_partitions' needs partition_by=[...], which selects what it replaces")
        if refused := {"path", "basepath", "partitionoverwritemode"} & set(lowered(self.options)):
            raise self.invalid(
                f"cannot use the option {min(refused)!r}: mode= and the path determine where Spark writes"
            )

    def check_target(self, ref: lakebed.Ref) -> None:
        """Check that the existing content allows the write. Raises ObjectExistsError, InvalidRequestError,
        NotFoundError.
        """
        place = self.place
        if place.path and ref.exists(place.path) and self.mode != "overwrite":
            raise self._taken(f"an object already exists at {place.path!r}: choose another path, or mode='overwrite'")
        shown = [row.path for row in ref.list(place.folder, limit=_FEW)]
        if self.mode == "error" and shown:
            raise self._taken(f"{shown[0]!r} already exists: choose another path, or mode='append' or 'overwrite'")
        names = [path[len(place.folder) :] for path in shown]
        first = next((name for name in names if not is_hidden(name)), None)
        if first is None or self.mode == "overwrite":
            return
        there = tuple(name for name, _ in folders_of(first)[1])
        if there != self.partition_by:
            raise self.invalid(
                f"the existing files are partitioned by {_list(there)} (such as {shown[0]!r}), not by "
                f"{_list(self.partition_by)}: pass the same partition_by=, or mode='overwrite'"
            )

    def check_rights(self, workspace: lakebed.Workspace) -> None:
        """Check that the caller may write such files, before Spark runs a job. Raises PermissionDeniedError.

        Does nothing with partitions: only the job knows their folders, and rights may depend on them.
        """
        if not self.partition_by:
            check_write(workspace, f"{self.place.folder}part-00000{ENDINGS[self.kind][0]}")

    def replaced(self, rows: Sequence[ObjectInfo]) -> list[str]:
        """Prefixes below which only the written files remain."""
        if self.mode in ("overwrite", "error"):
            return [self.place.folder]
        if self.mode == "overwrite_partitions":
            return sorted({row.path.rpartition("/")[0] + "/" for row in rows})
        return []

    def invalid(self, problem: str) -> InvalidRequestError:
        """Return the error for an invalid request."""
        return InvalidRequestError(f"write {self.place}: {problem}", **self._about())

    def unsupported(self, problem: str) -> UnsupportedOperationError:
        """Return the error for a request that is impossible here."""
        return UnsupportedOperationError(f"write {self.place}: {problem}", **self._about())

    def _taken(self, problem: str) -> ObjectExistsError:
        return ObjectExistsError(f"write {self.place}: {problem}", **self._about())

    def _about(self) -> dict[str, Any]:
        place = self.place
        return {"operation": "write", "repository": place.repository, "ref": place.ref, "path": place.path}


def check_commit(workspace: lakebed.Workspace) -> None:
    """Check that the caller may commit a new workspace, before any job. Raises PermissionDeniedError.

    The server itself refuses, so that the access history shows it: there is nothing to commit yet.
    """
    if not may_commit(workspace):
        with suppress(NothingToCommitError):
            workspace.commit(scan=False)


def stage(
    spark: SparkSession, frame: DataFrame, workspace: lakebed.Workspace, request: WriteRequest
) -> list[ObjectInfo]:
    """Let Spark write the frame. Returns the durable, still unregistered files. Raises what Spark raises."""
    output = _output_folder(spark, workspace, request)
    writer = frame.write.mode("append").format(request.kind).options(**_options(output, request.options))
    if request.partition_by:
        writer = writer.partitionBy(*request.partition_by)
    try:
        writer.save(output.uri)
        return output.written(spark, request.options)
    except BaseException:
        output.discard()
        raise


def others(ref: lakebed.Ref, replaced: Sequence[str], written: Sequence[ObjectInfo]) -> list[str]:
    """Return what is below these prefixes, except the written files."""
    new = {row.path for row in written}
    return [row.path for prefix in replaced for row in ref.list(prefix) if row.path not in new]


def _output_folder(spark: SparkSession, workspace: lakebed.Workspace, request: WriteRequest) -> OutputFolder:
    info = place_of(workspace)
    key = f"~/{secrets.token_hex(16)}/"  # a scan never registers files below this folder
    folder = request.place.folder
    below = f"{key}{folder}".rstrip("/")
    if wanted_path(workspace.options.data_path) in (None, DIRECT):
        if is_cloud(info):
            if is_remote(spark):
                raise request.unsupported(
                    "Spark Connect does not report which files Spark wrote to a bucket. Run the job where "
                    "Spark runs (spark-submit, or a session without remote), or use the SDK: "
                    "branch.write_parquet(path, frame.toArrow())"
                )
            scheme, _, rest = info.storage_prefix.partition("://")
            scheme = {"s3": "s3a"}.get(scheme, scheme)
            if has_filesystem(spark, scheme):
                return OutputFolder(f"{scheme}://{rest}{below}", info.storage_prefix, key, folder)
        elif sees(info):
            return OutputFolder(f"file://{info.local_path}{below}", info.storage_prefix, key, folder, info.local_path)
    raise request.unsupported(
        f"Spark cannot write to {info.storage_prefix} from here. For s3://, add the file system s3a to the session "
        "(spark.jars.packages=org.apache.hadoop:hadoop-aws:<Spark's Hadoop version>). For local://, run Spark on the "
        "machine of the directory. Or use the SDK: branch.write_parquet(path, frame.toArrow())"
    )


def _options(output: OutputFolder, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of the writer.

    Where renames are cheap, the files of a task appear together when the task is done (algorithm 1), so a failed
    attempt leaves nothing. In a bucket a rename is a copy. There files may appear earlier, which does no harm before
    the registration.
    """
    ours = {_MARKS: "false", _ALGORITHM: "1" if output.directory else "2"}
    if output.directory:  # write no `.crc` for each file
        ours |= {"fs.file.impl": "org.apache.hadoop.fs.RawLocalFileSystem", "fs.file.impl.disable.cache": "true"}
    return {**ours, **{name: value for name, value in given.items() if value is not None}}


def _list(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names)) or "nothing"
