"""Repositories: delete, list, their metadata, and which namespaces they hold. `repository.create` makes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from lakebed_engine.operations import validation
from lakebed_engine.operations.context import Context, Repo, decode_repository, encode, open_repo
from lakebed_engine.operations.keys import (
    DROPS,
    METADATA,
    NAMESPACES,
    REPOSITORIES,
    dropped_repository,
    inside_namespace,
    text_key,
)
from lakebed_engine.operations.retry import retry_on_conflict
from lakebed_engine.stores.kv.base import Batch, Check, Delete, Put, Versioned
from lakebed_engine.vocabulary.errors import (
    InvalidRequestError,
    NamespaceInUseError,
    PredicateFailed,
    RepositoryNotFoundError,
)
from lakebed_engine.vocabulary.records import Page, Repository


async def refuse_overlap(ctx: Context, namespace: str) -> None:
    """No namespace may lie inside another: one repository's data would be the other's. Raises NamespaceInUseError."""
    inside = await ctx.kv.scan(NAMESPACES, *inside_namespace(namespace), 1)
    above = namespaces_above(namespace)
    taken = [key for key, row in zip(above, await _get_all(ctx, above), strict=True) if row is not None]
    if inside or taken:
        raise overlap(namespace, taken[0] if taken else inside[0].key.decode())


def namespaces_above(namespace: str) -> list[str]:
    """The namespaces that this one lies in, and itself. Example: `mem://a/b` gives `mem://a`, `mem://a/b`."""
    return ["/".join(namespace.split("/")[:depth]) for depth in range(3, namespace.count("/") + 2)]


def overlap(namespace: str, other: str) -> NamespaceInUseError:
    """The error for a namespace that lies inside, around or on another one."""
    return NamespaceInUseError(f"storage namespace {namespace!r} is in use: it overlaps {other!r}; choose another")


async def _get_all(ctx: Context, keys: Sequence[str]) -> list[Versioned | None]:
    return await ctx.kv.get_many(NAMESPACES, [key.encode() for key in keys])


async def delete_repository(ctx: Context, name: str, force: bool) -> None:
    """Forget a repository. Its data in the object store stays. Raises RepositoryNotFoundError."""
    repo = await open_repo(ctx, name, write=True, force=force)

    async def attempt() -> bool | None:
        return await forget(ctx, repo) or None

    await retry_on_conflict(f"repository {name!r}", attempt)


async def forget(
    ctx: Context, repo: Repo, checks: Sequence[Check] = (), puts: Sequence[Put] = (), deletes: Sequence[Delete] = ()
) -> bool:
    """Forget a repository, in one batch with these. False: something had changed, and nothing was done.

    Raises RepositoryNotFoundError.
    """
    key = repo.name.encode()
    found = await ctx.kv.get(REPOSITORIES, key)
    if found is None or decode_repository(found.value).uid != repo.record.uid:
        raise RepositoryNotFoundError(f"repository {repo.name!r} not found")
    try:
        await ctx.kv.apply(
            Batch(
                checks=[Check(REPOSITORIES, key, found.version), *checks],
                puts=[Put(DROPS, dropped_repository(repo.record.uid), str(ctx.now()).encode()), *puts],
                deletes=[
                    Delete(REPOSITORIES, key),
                    Delete(NAMESPACES, repo.record.storage_namespace.encode()),
                    *deletes,
                ],
            )
        )
    except PredicateFailed:
        return False
    return True


async def list_repositories(ctx: Context, prefix: str, after: str, amount: int, search: str) -> Page[Repository]:
    """Repositories in order of name; `search` is a part of the name."""
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
    """The repository's own metadata map."""
    repo = await open_repo(ctx, name)
    found = await ctx.kv.get(repo.partition, METADATA)
    return {} if found is None else msgspec.json.decode(found.value, type=dict[str, str])


async def change_metadata(ctx: Context, name: str, values: Mapping[str, str], removed: Sequence[str] = ()) -> None:
    """Set and remove keys of the map, the others stay. Raises ReadOnlyRepositoryError, InvalidRequestError."""
    if any(not key for key in values):
        raise InvalidRequestError("metadata: a key must not be empty")
    validation.check_metadata(values)
    repo = await open_repo(ctx, name, write=True)

    async def attempt() -> bool | None:
        found = await ctx.kv.get(repo.partition, METADATA)
        now = {} if found is None else msgspec.json.decode(found.value, type=dict[str, str])
        new = {key: value for key, value in {**now, **values}.items() if key not in removed}
        validation.check_metadata(new)
        check = Check(repo.partition, METADATA, 0 if found is None else found.version)
        try:
            await ctx.kv.apply(Batch(checks=[check], puts=[Put(repo.partition, METADATA, encode(new))]))
        except PredicateFailed:
            return None
        return True

    await retry_on_conflict(f"the metadata of repository {name!r}", attempt)
