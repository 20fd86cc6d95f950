"""Answers one job, in the process of the hook."""

from __future__ import annotations

import json
import socket
import traceback
from typing import Any

from lakebed_hooks.vocabulary import HookError, Outcome
from lakebed_hooks.workers import system, wire
from lakebed_hooks.workers.connection import Connection, Progress
from lakebed_hooks.workers.wire import Job, Limits


def answer(lake: socket.socket, progress: Progress) -> None:
    """Receive the job, run it, and send its outcome."""
    connection = Connection(lake, progress)
    job, limits = wire.job_of(connection.first())
    system.limit(
        memory=limits.memory,
        seconds=limits.seconds,
        file_size=limits.file if job.type == "python" else 0,
        open_files=limits.open_files,
    )
    outcome = _outcome(job, limits, connection)
    connection.answer(_text(outcome, limits))


def _outcome(job: Job, limits: Limits, connection: Connection) -> Outcome:
    """The outcome of the hook, which may raise anything. The traceback goes to the output, not to the user."""
    try:
        return _run(job, connection)
    except HookError as error:
        return Outcome("error", error.message)
    except MemoryError:
        return Outcome("error", f"the hook needed more than {limits.memory >> 20:,} MiB of memory")
    except SystemExit as exit_:
        traceback.print_exc()
        return Outcome("error", f"the hook ended its process with exit code {exit_.code!r}, before it answered"[:300])
    except BaseException as error:
        traceback.print_exc()
        return Outcome("error", f"the hook raised {type(error).__name__}; its log has the trace")


def _run(job: Job, connection: Connection) -> Outcome:
    if job.type == "contract":
        from lakebed_hooks.workers import contract_hooks

        return contract_hooks.run(job, connection)
    from lakebed_hooks.workers import python_hooks

    return python_hooks.run(job, connection)


def _text(outcome: Outcome, limits: Limits) -> bytes:
    """The answer as a message."""
    try:
        text = _encoded(outcome)
    except (TypeError, ValueError, RecursionError, MemoryError) as error:
        traceback.print_exc()
        return _encoded(Outcome("error", f"the answer of the hook cannot be sent: {type(error).__name__}"))
    if len(text) > limits.result:
        return _encoded(Outcome("error", f"the answer of the hook has {len(text):,} bytes, at most {limits.result:,}"))
    return text


def _encoded(outcome: Outcome) -> bytes:
    said: dict[str, Any] = {"op": "answer", "state": outcome.state, "message": outcome.message}
    return json.dumps({**said, "details": [dict(one) for one in outcome.details]}, default=str).encode()
