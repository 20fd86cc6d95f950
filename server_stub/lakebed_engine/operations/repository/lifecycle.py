"""Repositories: find, list and delete them, and change their metadata. `repository.create` makes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress

import msgspec

from lakebed_engine.operations import validation
from lakebed_engine.operations.context import Context, Repo, decode_repository, encode, open_repo
from lakebed_engine.operations.events.drain import drain
from lakebed_engine.operations.events.rows import DELETED, event_rows, place_data
from lakebed_engine.operations.keys import (
    DROPS,
    METADATA,
    NAMESPACES,
    REPOSITORIES,
    dropped_repository,
    text_key,
)
from lakebed_engine.operations.retry import retry_on_conflict
from lakebed_engine.stores.kv.base import Batch, Check, Delete, Put
from lakebed_engine.vocabulary.errors import (
    EngineError,
    InvalidRequestError,
    PredicateFailed,
    RepositoryNotFoundError,
)
from lakebed_engine.vocabulary.events import NewEvent
from lakebed_engine.vocabulary.records import Page, Repository


async def get_repository(ctx: Context, name: str) -> Repository:
    """Raises RepositoryNotFoundError."""
    return (await open_repo(ctx, name)).record


async def delete_repository(ctx: Context, name: str, *, force: bool = False) -> None:
    """Delete a repository. Its data in the object store stays. Raises RepositoryNotFoundError."""
    repo = await open_repo(ctx, name, write=True, force=force)

    async def attempt() -> bool | None:
        return await forget(ctx, repo) or None

    await retry_on_conflict(f"repository {name!r}", attempt)


async def forget(
    ctx: Context,
    repo: Repo,
    checks: Sequence[Check] = (),
    puts: Sequence[Put] = (),
    deletes: Sequence[Delete] = (),
    *,
    drained: bool = True,
) -> bool:
    """Delete a repository, in one batch with these rows. Returns False, and does nothing, when something has changed.

    `drained`: its last events go to its bucket.

    Raises RepositoryNotFoundError.
    """
    key = repo.name.encode()
    found = await ctx.kv.get(REPOSITORIES, key)
    if found is None or decode_repository(found.value).uid != repo.record.uid:
        raise RepositoryNotFoundError(f"repository not found: {repo.name!r}")
    # if the drain below is interrupted, the cleaner uses it to find the bucket of the remaining events
    event = NewEvent(type=DELETED, data=place_data(repo.record))
    try:
        await ctx.kv.apply(
            Batch(
                checks=[Check(REPOSITORIES, key, found.version), *checks],
                puts=[
                    Put(DROPS, dropped_repository(repo.record.uid), str(ctx.now()).encode()),
                    *event_rows(ctx, repo, event),
                    *puts,
                ],
                deletes=[
                    Delete(REPOSITORIES, key),
                    Delete(NAMESPACES, repo.record.storage_namespace.encode()),
                    *deletes,
                ],
            )
        )
    except PredicateFailed:
        return False
    if drained:
        with suppress(EngineError):
            await drain(ctx, repo)
    return True


async def list_repositories(
    ctx: Context, *, prefix: str = "", after: str = "", amount: int = 100, search: str = ""
) -> Page[Repository]:
    """Repositories in order of name. `search`: a part of the name."""
    validation.check_amount(amount)
    items: list[Repository] = []
    start = max(text_key(prefix), text_key(after) + b"\0" if after else b"")
    while True:
        rows = await ctx.kv.scan(REPOSITORIES, start, None, 1000)
        for row in rows:
            name = row.key.decode()
            if not name.startswith(prefix):
                return Page(items, has_more=False)
            record = decode_repository(row.value)
            if record.state != "active" or search not in name:
                continue
            if len(items) == amount:
                return Page(items, has_more=True)
            items.append(record)
        if len(rows) < 1000:
            return Page(items, has_more=False)
        start = rows[-1].key + b"\0"


async def get_metadata(ctx: Context, name: str) -> dict[str, str]:
    """The metadata of the repository."""
    repo = await open_repo(ctx, name)
    found = await ctx.kv.get(repo.partition, METADATA)
    return {} if found is None else msgspec.json.decode(found.value, type=dict[str, str])


async def set_metadata(ctx: Context, name: str, values: Mapping[str, str], *, force: bool = False) -> None:
    """Set these keys of the metadata and keep the others. Raises ReadOnlyRepositoryError, InvalidRequestError."""
    await _change_metadata(ctx, name, values, (), force=force)


async def delete_metadata(ctx: Context, name: str, keys: Sequence[str]) -> None:
    """Remove keys of the metadata. Ignores unknown keys. Raises ReadOnlyRepositoryError."""
    await _change_metadata(ctx, name, {}, keys)


async def _change_metadata(
    ctx: Context, name: str, values: Mapping[str, str], removed: Sequence[str], *, force: bool = False
) -> None:
    if any(not key for key in values):
        raise InvalidRequestError("metadata: a key must not be empty")
    validation.check_metadata(values)
    repo = await open_repo(ctx, name, write=True, force=force)
    event = NewEvent(type="repository.changed", data={"metadata_set": list(values), "metadata_removed": list(removed)})

    async def attempt() -> bool | None:
        found = await ctx.kv.get(repo.partition, METADATA)
        now = {} if found is None else msgspec.json.decode(found.value, type=dict[str, str])
        new = {key: value for key, value in {**now, **values}.items() if key not in removed}
        validation.check_metadata(new)
        check = Check(repo.partition, METADATA, 0 if found is None else found.version)
        try:
            puts = [Put(repo.partition, METADATA, encode(new)), *event_rows(ctx, repo, event)]
            await ctx.kv.apply(Batch(checks=[check], puts=puts))
        except PredicateFailed:
            return None
        return True

    await retry_on_conflict(f"the metadata of repository {name!r}", attempt)
