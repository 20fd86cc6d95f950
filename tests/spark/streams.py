"""Streams run to their end, on a machine that may be busy; used on both kinds of session."""

from __future__ import annotations

import sys

from pyspark.errors import PySparkException
from pyspark.sql.streaming.readwriter import DataStreamWriter

from tests.support.waiting import PATIENCE

_STARTS = 12
_TOO_SLOW = "Python worker failed to connect back"
"""Spark gives the process of a Python source, or over Connect that of a sink, ten seconds to import what it needs
(PythonWorkerFactory.createSimpleWorker), and has no setting for it. `workers.python` connects before it imports; but a
machine may pause for ten seconds."""


def run(writer: DataStreamWriter) -> None:
    """Run a stream until it has what there is; from its checkpoint again when Spark was too impatient with a process.

    Raises what else ends it, and RuntimeError when it does not end.
    """
    for left in reversed(range(_STARTS)):
        try:
            query = writer.trigger(availableNow=True).start()
            if not query.awaitTermination(int(PATIENCE)):
                raise RuntimeError(f"the stream is still at it after {PATIENCE:.0f} s: {query.status}")
            return
        except PySparkException as error:
            if _TOO_SLOW not in str(error) or not left:
                raise
            print(f"the stream is begun again: {_TOO_SLOW}", file=sys.stderr)
