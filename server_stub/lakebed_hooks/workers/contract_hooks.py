"""Checks a contract, in the process of the hook."""

from __future__ import annotations

import gc

from lakebed_format.arrow import keep_pandas_out

from lakebed_hooks.contracts.evaluate import evaluate
from lakebed_hooks.contracts.model import parse_contract
from lakebed_hooks.vocabulary import Outcome
from lakebed_hooks.workers.connection import Connection
from lakebed_hooks.workers.pipe import PipeSnapshot
from lakebed_hooks.workers.wire import Job


def run(job: Job, connection: Connection) -> Outcome:
    """The outcome of the contract of a job. Raises ActionFileError."""
    keep_pandas_out()
    gc.freeze()
    gc.set_threshold(100_000)  # footers are many objects without cycles: collecting them costs only time
    contract = parse_contract(job.properties, job.file, job.line)
    report = evaluate(contract, PipeSnapshot(connection, may_open=True))
    for line in report.lines():
        print(line)  # noqa: T201 the log of the hook
    return report.outcome()
