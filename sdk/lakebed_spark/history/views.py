"""SQL views over the history of a repository, all of the same commit, and the data sources of a session.

A data source is bound to the way to the server and to the session's settings.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import lakebed
from lakebed.errors import InvalidRequestError

from lakebed_spark._access import Access

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
from typing import TYPE_CHECKING

from lakebed_spark._session import is_remote
from lakebed_spark.history.changes import ChangesSource
from lakebed_spark.history.diff import DiffSource
from lakebed_spark.history.entries import EntriesSource
from lakebed_spark.history.lists import BranchesSource, CommitsSource
from lakebed_spark.history.source import Binding, HistorySource, bind

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


_SOURCES: Final = {"entries": "lakebed.entries", "commits": "lakebed.commits", "changes": "lakebed.changes"}

_MADE: Final[Mapping[str, str]] = {
    # the newest commit that gave a path the content that it has: merges bring what others made
    "blame": """
        SELECT e.path, e.size, found.commit_id, found.committer, found.created, found.message
        FROM {entries} e LEFT JOIN (
            SELECT path, right_checksum, right_size,
                   max_by(struct(commit_id, committer, created, message),
                          struct(generation, created, commit_id)) AS found
            FROM {changes} WHERE NOT merge AND type IN ('added', 'changed')
            GROUP BY path, right_checksum, right_size
        ) b ON e.path = b.path AND e.checksum = b.right_checksum AND e.size = b.right_size""",
    # what a prefix holds after each commit of the branch's own line that changed it
    "prefix_sizes": """
        SELECT prefix, commit_id, created, generation,
               sum(files) OVER line AS files, sum(bytes) OVER line AS bytes, files AS files_added, bytes AS bytes_added
        FROM (
            SELECT CASE WHEN instr(path, '/') > 0 THEN substring_index(path, '/', 1) || '/' ELSE '' END AS prefix,
                   commit_id, created, generation,
                   sum(CASE type WHEN 'added' THEN 1 WHEN 'removed' THEN -1 ELSE 0 END) AS files,
                   sum(coalesce(right_size, 0) - coalesce(left_size, 0)) AS bytes
            FROM {changes} WHERE first_parent GROUP BY ALL
        )
        WINDOW line AS (PARTITION BY prefix ORDER BY generation ROWS UNBOUNDED PRECEDING)""",
    # content that the store has more than once
    "duplicates": """
        SELECT checksum, size, count(*) AS paths, count(DISTINCT physical_address) AS copies,
               (count(DISTINCT physical_address) - 1) * size AS wasted_bytes, min(path) AS example
        FROM {entries} WHERE size > 0
        GROUP BY checksum, size HAVING count(DISTINCT physical_address) > 1""",
}


def views(
    spark: SparkSession,
    target: str | lakebed.Repository | lakebed.Ref,
    *,
    prefix: str = "lake_",
    lake: lakebed.Lake | None = None,
) -> dict[str, str]:
    """Create temporary views of a ref, or of the default branch of a repository. Returns their names.

    `entries`, `commits`, `changes`, `blame` (the commit that wrote the content at each path), `prefix_sizes` (files and
    bytes of each top folder after each commit) and `duplicates` all show the commit that the ref points at now, so they
    are consistent. Call it again for later commits. `branches` shows the branches at the time of the query. `prefix`
    goes before each name.

    Raises NotFoundError, and InvalidRequestError for a prefix that cannot be a part of a name.
    """
    if not (prefix + "a").isidentifier():
        raise InvalidRequestError(f"the prefix of the views may contain only letters, digits and '_': {prefix!r}")
    access, repository, ref = _found(target, lake)
    commit = repository.commit(ref or repository.info().default_branch).id
    register(spark, access)
    names = {name: f"{prefix}{name}" for name in (*_SOURCES, "branches", *_MADE)}
    for name, source in _SOURCES.items():
        frame = spark.read.format(source).load(f"lakebed://{repository.id}/{commit}")
        frame.createOrReplaceTempView(names[name])
    branches = spark.read.format("lakebed.branches").load(f"lakebed://{repository.id}")
    branches.createOrReplaceTempView(names["branches"])
    for name, query in _MADE.items():
        spark.sql(query.format(**names)).createOrReplaceTempView(names[name])
    return names


def _found(
    target: str | lakebed.Repository | lakebed.Ref, lake: lakebed.Lake | None
) -> tuple[Access, lakebed.Repository, str]:
    """How to come to what is meant, the repository, and the ref where one is named."""
    if isinstance(target, lakebed.Ref):
        access = Access.of(lake or target)
        return access, access.connect().repository(target.repository.id), target.id
    if isinstance(target, lakebed.Repository):
        return Access.of(lake or target), target, ""
    where = lakebed.parse_uri(target)
    access = Access.of(lake)
    return access, access.connect().repository(where.repository), where.ref


SOURCES: tuple[type[HistorySource], ...] = (BranchesSource, ChangesSource, CommitsSource, DiffSource, EntriesSource)
"""All tables over the history."""

_PUSHDOWN = "spark.sql.python.filterPushdown.enabled"
_TASKS_PER_CORE = 2


def binding_of(spark: SparkSession, access: Access) -> Binding:
    """What sources must know of a session. Filters are pushed when it says so now: changed later, register again."""
    pushdown = str(spark.conf.get(_PUSHDOWN, "false")).lower() == "true"
    cores = 0 if is_remote(spark) else spark.sparkContext.defaultParallelism
    return Binding(access, pushdown, _TASKS_PER_CORE * cores)


def register(spark: SparkSession, access: Access) -> None:
    """Let a session know `lakebed.entries`, `.commits`, `.branches`, `.diff` and `.changes`."""
    binding = binding_of(spark, access)
    for source in SOURCES:
        spark.dataSource.register(bind(source, binding))
