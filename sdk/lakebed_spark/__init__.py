"""PySpark on Lakebed: versioned data read and written by Spark's own readers and writers, one atomic commit per job.

    import lakebed_spark

    orders = lakebed_spark.read(spark, "lakebed://sales/main/orders")
    lakebed_spark.write(orders, "lakebed://sales/main/copy", mode="overwrite", partition_by=["day"], message="copy")

Needs the extra `spark`; names are loaded when first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lakebed_spark._access import Access, Place, locate
    from lakebed_spark._session import session
    from lakebed_spark.history.views import views
    from lakebed_spark.reading import read
    from lakebed_spark.source import register
    from lakebed_spark.streaming.sink import foreach_batch
    from lakebed_spark.transactions import Transaction, transaction
    from lakebed_spark.writing import write

_HOMES = {
    "Access": "lakebed_spark._access",
    "Place": "lakebed_spark._access",
    "Transaction": "lakebed_spark.transactions",
    "foreach_batch": "lakebed_spark.streaming.sink",
    "locate": "lakebed_spark._access",
    "read": "lakebed_spark.reading",
    "register": "lakebed_spark.source",
    "session": "lakebed_spark._session",
    "transaction": "lakebed_spark.transactions",
    "views": "lakebed_spark.history.views",
    "write": "lakebed_spark.writing",
}

__all__ = [
    "Access",
    "Place",
    "Transaction",
    "foreach_batch",
    "locate",
    "read",
    "register",
    "session",
    "transaction",
    "views",
    "write",
]


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
