"""Found by Spark by its name: with it `spark.read.format("lakebed")` needs no `register`, and credentials come from the
environment or the configuration file of the machine. Nothing else is here.
"""

from __future__ import annotations

from lakebed_spark.source import LakebedSource as DefaultSource

__all__ = ["DefaultSource"]
