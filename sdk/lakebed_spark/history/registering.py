"""The data sources of a session: each bound to the way to the server and to the session's settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lakebed_spark._access import Access
from lakebed_spark._session import is_remote
from lakebed_spark.history.changes import ChangesSource
from lakebed_spark.history.diff import DiffSource
from lakebed_spark.history.entries import EntriesSource
from lakebed_spark.history.lists import BranchesSource, CommitsSource
from lakebed_spark.history.source import Binding, HistorySource, bind

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

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
