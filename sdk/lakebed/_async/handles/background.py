"""Work of a branch that continues in the background: one call begins it, another follows it, from any process."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from lakebed import _checks
from lakebed._async.commits import commit
from lakebed._async.handles.ref import Ref, id_of
from lakebed._async.handles.task import Import, Task
from lakebed._async.handles.writable import Writable
from lakebed._gateway.operations import imports, tasks
from lakebed.errors import InvalidRequestError


class Background(Writable):
    """A branch that others work on."""

    __module__ = "lakebed.aio"

    async def start_commit(
        self,
        message: str,
        *,
        metadata: Mapping[str, str] | None = None,
        allow_empty: bool = False,
        date: datetime | int | None = None,
        key: str | None = None,
    ) -> Task:
        """Begin what `commit` does, and return. With a `key`, beginning it again finds the first one, for seven days.

        What is staged while it waits for its turn may be in it. Raises ConflictError (the key was another call's).
        """
        asked = commit.commit_asked(
            message,
            metadata=metadata,
            allow_empty=allow_empty,
            date=None if date is None else _checks.unix_seconds(date),
            key=None if key is None else _checks.check_text(key, "key"),
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
    ) -> Task:
        """Begin to merge `source` into this branch, as its `merge_into` does; `key` as of `start_commit`."""
        asked = commit.merge_asked(
            message=message,
            strategy=strategy,
            squash=squash,
            allow_empty=allow_empty,
            metadata=metadata,
            resolve=resolve,
            key=None if key is None else _checks.check_text(key, "key"),
        )
        call = tasks.merge(self.repository.id, id_of(source), self.id, **asked, wait=0)
        return Task(self.repository, (await self._transport.call(call)).id, self.id)

    async def start_import(
        self, sources: Mapping[str, str], message: str, *, metadata: Mapping[str, str] | None = None
    ) -> Import:
        """Begin to show objects that lie elsewhere, without a copy, as one commit: `{"s3://b/orders/": "orders/"}`.

        Each source that ends in a slash is a folder, and replaces what the branch has below its destination; others are
        single objects. The server must allow them (`ingest.allow`). For what changes again and again use `ingest`.

        Raises PermissionDeniedError, InvalidRequestError, and OutcomeUnknownError on a lost answer.
        """
        if not sources:
            raise InvalidRequestError("an import needs a source at least")
        for source, destination in sources.items():
            _checks.check_text(source + destination, "source or destination")
        text = _checks.check_text(message, "commit message")
        described = _checks.check_metadata(dict(metadata or {}), "commit")
        call = imports.start(self.repository.id, self.id, sources, text, described)
        return Import(self.repository, await self._transport.call(call), self.id)

    def import_task(self, id: str) -> Import:
        """A handle to an import that was begun, by its id."""
        return Import(self.repository, id, self.id)
