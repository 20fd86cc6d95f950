"""Publishes the objects of a request: writes them, then commits them.

After a refusal, the written data is removed; after an unknown outcome, it is kept. The commit may refer to other data
than this call wrote: to that of an earlier call with the same idempotency key, or to the same content that the path had
before.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, Awaitable, Callable, Sequence

from lakebed_engine.operations.branch.view import tree_of
from lakebed_engine.operations.commit.publish import Row, check_request
from lakebed_engine.operations.context import Context, Repo, open_repo, read_branch
from lakebed_engine.operations.objects.read import located
from lakebed_engine.operations.objects.stage import discard, discarding, write_objects
from lakebed_engine.vocabulary.errors import EngineError
from lakebed_engine.vocabulary.records import Commit, Entry
from lakebed_engine.vocabulary.requests import Deletion, Published, PublishRequest, UploadRequest


async def publish_uploads(
    ctx: Context,
    repo_name: str,
    branch: str,
    changes: AsyncIterable[tuple[UploadRequest, AsyncIterable[bytes]] | Deletion],
    request: PublishRequest,
    publish: Callable[[str, str, Sequence[Row], PublishRequest], Awaitable[tuple[Commit, bool]]],
) -> Published:
    """Write several objects, then commit them and the deletions together with `publish`. Raises the same errors.

    Repository, branch and request are checked before a chunk is read.
    """
    check_request(request)
    repo = await open_repo(ctx, repo_name, write=True, force=request.force, branch=branch)
    await read_branch(ctx, repo, branch)
    rows, written = await write_objects(ctx, repo, changes)
    async with discarding(repo, [entry for _, entry in written]):
        made, again = await publish(repo_name, branch, rows, request)
    if not again and len(rows) == 1 and not request.allow_empty:
        return _published(repo, made, written)  # the commit was made for this one row
    try:
        return _published(repo, made, await _settled(ctx, repo, made, written))
    except EngineError:
        if again:
            raise
        return _published(repo, made, written)  # it is committed, even if it cannot be read now


def _published(repo: Repo, made: Commit, objects: Sequence[tuple[str, Entry]]) -> Published:
    return Published(made, [(path, located(repo, entry)) for path, entry in objects])


async def _settled(ctx: Context, repo: Repo, made: Commit, written: list[tuple[str, Entry]]) -> list[tuple[str, Entry]]:
    """The objects as the commit contains them. Removes written data that the commit does not refer to."""
    tree = await tree_of(ctx, repo, made.id)
    held: list[tuple[str, Entry]] = []
    unnamed: list[Entry] = []
    for path, entry in written:
        found = await ctx.trees.find(repo.store, tree, path) or entry
        held.append((path, found))
        if found.physical_address != entry.physical_address:
            unnamed.append(entry)
    await discard(repo, unnamed)
    return held
