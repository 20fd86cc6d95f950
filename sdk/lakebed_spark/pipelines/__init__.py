"""Pipelines over a whole repository, on Spark or in plain Python with the same result. Imports no PySpark by itself.

from lakebed_spark import pipelines

pipelines.ingest("lakebed://lake/main/events", "s3://events/kafka/", spark=spark)
"""

from lakebed_spark.pipelines._results import (
    Compacted,
    CompactReport,
    DedupeReport,
    Duplicates,
    ExportReport,
    FolderSize,
    Profile,
    TypeSize,
)
from lakebed_spark.pipelines.compact import compact
from lakebed_spark.pipelines.dedupe import dedupe
from lakebed_spark.pipelines.export import export
from lakebed_spark.pipelines.ingest import ingest
from lakebed_spark.pipelines.profile import profile

__all__ = [
    "CompactReport",
    "Compacted",
    "DedupeReport",
    "Duplicates",
    "ExportReport",
    "FolderSize",
    "Profile",
    "TypeSize",
    "compact",
    "dedupe",
    "export",
    "ingest",
    "profile",
]
