"""Tasks as flows: begin, and ask until it is over. Whatever is lost on the way is asked for again: the key sees to it
that nothing happens twice. Under `merging`.
"""

from __future__ import annotations

from lakebed._async.transport import Transport
from lakebed._gateway import tasks
from lakebed._wire import Call
from lakebed.errors import ProtocolError
from lakebed.model import Commit


async def finished(transport: Transport, repository: str, ref: str, begin: Call[tasks.TaskState]) -> Commit:
    """The commit of a task. Raises the error that it ended with."""
    state = await transport.call(begin)
    while not state.completed:
        state = await transport.call(tasks.get(repository, ref, state.id))
    if state.commit is not None:
        return state.commit
    raise state.error or ProtocolError(
        f"task {state.id} of {repository} is over without a commit and without an error", repository=repository, ref=ref
    )
