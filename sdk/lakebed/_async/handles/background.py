"""Work of a branch that the server continues in the background. One call starts it, and any process can follow it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from lakebed import _checks
from lakebed._async import commits
from lakebed._async.handles.ref import Ref, id_of
from lakebed._async.handles.task import Import, Task
from lakebed._async.handles.writable import Writable
from lakebed._gateway.operations import imports, tasks
from lakebed.errors import InvalidRequestError


class Background(Writable):
    """The methods of a branch that start a task on the server and return its handle."""

    __module__ = "lakebed.aio"

    async def start_commit(
        self,
        message: str,
        *,
        metadata: Mapping[str, str] | None = None,
        allow_empty: bool = False,
        date: datetime | int | None = None,
        key: str | None = None,
        author: str = "",
    ) -> Task:
        """Start what `commit` does, and return without waiting.

        `key` is any text. A second call with the same key within seven days returns the first task. `author` as in
        `commit`. The commit may include changes that are staged while the task waits for its turn.

        Raises ConflictError when the key was used for another call.

            task = main.start_commit("a large commit")
            commit = task.wait()
        """
        asked = commits.commit.commit_asked(
            message,
            metadata=metadata,
            allow_empty=allow_empty,
            date=None if date is None else _checks.unix_seconds(date),
            key=None if key is None else _checks.check_text(key, "key"),
            author=author,
        )
        state = await self._transport.call(tasks.commit(self.repository.id, self.id, **asked, wait=0))
        return Task(self.repository, state.id, self.id)

    async def start_merge(
        self,
        source: str | Ref,
        message: str = "",
        *,
        strategy: str | None = None,
        squash: bool = False,
        allow_empty: bool = False,
        metadata: Mapping[str, str] | None = None,
        resolve: Mapping[str, str] | None = None,
        key: str | None = None,
        author: str = "",
    ) -> Task:
        """Start to merge `source` into this branch, as `merge_into` does, and return.

        `key` as in `start_commit`, `author` as in `branch.commit`.

            commit = main.start_merge("dev").wait()
        """
        asked = commits.commit.merge_asked(
            message=message,
            strategy=strategy,
            squash=squash,
            allow_empty=allow_empty,
            metadata=metadata,
            resolve=resolve,
            key=None if key is None else _checks.check_text(key, "key"),
            author=author,
        )
        call = tasks.merge(self.repository.id, id_of(source), self.id, **asked, wait=0)
        return Task(self.repository, (await self._transport.call(call)).id, self.id)

    async def start_import(
        self, sources: Mapping[str, str], message: str, *, metadata: Mapping[str, str] | None = None
    ) -> Import:
        """Start an import: one commit adds objects of another store to this branch, without copying them.

        `sources` maps each source to a destination: `{"s3://b/orders/": "orders/"}`. A source that ends in a slash is a
        folder, and replaces everything below its destination on the branch. Any other source is a single object. The
        server must allow the sources (`ingest.allow`). For a source that changes repeatedly, use `ingest`.

        Raises PermissionDeniedError, InvalidRequestError, and OutcomeUnknownError when the answer was lost.

            commit = main.start_import({"s3://events/kafka/": "events/"}, "import").wait()
        """
        if not sources:
            raise InvalidRequestError("an import needs at least one source")
        for source, destination in sources.items():
            _checks.check_text(source + destination, "source or destination")
        text = _checks.check_text(message, "commit message")
        described = _checks.check_metadata(dict(metadata or {}), "commit")
        call = imports.start(self.repository.id, self.id, sources, text, described)
        return Import(self.repository, await self._transport.call(call), self.id)

    def import_task(self, id: str) -> Import:
        """Return the handle to an import that was started before, by its id."""
        return Import(self.repository, id, self.id)
