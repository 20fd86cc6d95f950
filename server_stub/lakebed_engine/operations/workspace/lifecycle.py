"""Workspaces: create, find, list, renew, revert, drop (`ARCHITECTURE.md` 8, `PROTOCOL.md` 1).

A workspace has the record of a branch, so staging, layers, views and diffs work on `<branch>+<id>` as on a branch. This
module has only what is special to workspaces.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from typing import get_args

import msgspec
from lakebed_format.keys import MARKS, WORKSPACES

from lakebed_engine.operations import validation
from lakebed_engine.operations.branch.compare_and_swap import (
    apply,
    emptied,
    everything_of,
    rotated,
    seal,
    staged_of,
    swap,
)
from lakebed_engine.operations.branch.resolve import candidate_refused, resolve
from lakebed_engine.operations.branch.view import is_unchanged
from lakebed_engine.operations.context import (
    Context,
    Repo,
    Seen,
    absent,
    decode_workspace,
    encode,
    find_workspace,
    open_repo,
    read_branch,
    refuse_closed,
)
from lakebed_engine.operations.expiry_clock import REMEMBERED
from lakebed_engine.operations.keys import (
    OPERATIONS,
    WORKSPACE_DUE,
    WORKSPACE_ROWS,
    due_key,
    end_of,
    record_key,
    workspace_id,
    workspace_key,
)
from lakebed_engine.operations.retry import retry_on_conflict
from lakebed_engine.operations.validation import bounded, check_amount, check_message, check_text
from lakebed_engine.operations.workspace.selection import Chosen, Globs
from lakebed_engine.stores.kv.base import Batch, Put
from lakebed_engine.tree.layers import write_layer
from lakebed_engine.vocabulary.errors import (
    BlobNotFound,
    InvalidRefError,
    InvalidRequestError,
    MissingFileError,
    NameTakenError,
    WorkspaceNotFoundError,
)
from lakebed_engine.vocabulary.records import Layer, Page, Workspace, WorkspaceState
from lakebed_engine.vocabulary.requests import WorkspaceRequest

STATES = (*get_args(WorkspaceState), "all")
"""The states that a listing accepts."""

SHORTEST, LONGEST = 60, 365 * 24 * 3600
"""Bounds of a lifetime in seconds."""

_ID = re.compile(r"[0-9a-f]{32}", re.ASCII)

MAX_PREFIXES = 100
"""The largest number of claimed or replaced prefixes."""


def check_prefixes(prefixes: Sequence[str]) -> None:
    """Check the number of claims, and each. Raises InvalidRequestError, InvalidPathError."""
    if len(prefixes) > MAX_PREFIXES:
        raise InvalidRequestError(f"{len(prefixes)} prefixes: at most {MAX_PREFIXES}")
    for prefix in prefixes:
        validation.check_path(prefix)


def check_lifetime(seconds: int) -> None:
    """Raises InvalidRequestError."""
    if not SHORTEST <= seconds <= LONGEST:
        raise InvalidRequestError(f"lifetime {seconds}: must be {SHORTEST} to {LONGEST} seconds")


def new_record(
    ctx: Context, branch: str, commit_id: str, request: WorkspaceRequest, layers: tuple[Layer, ...] = ()
) -> Workspace:
    """A new, open workspace on a commit."""
    found_id, now = request.id or ctx.ids.new(), ctx.now()
    return Workspace(
        name=f"{branch}+{found_id}",
        uid=found_id,
        gen=1,
        commit_id=commit_id,
        staging_token=ctx.ids.new(),
        layers=layers,
        branch=branch,
        prefix=f"{WORKSPACES}{found_id}/",
        creator=request.creator,
        creation_date=now,
        expires=ctx.expiry_clock.latest() + request.lifetime,
        message=request.message,
        claims=request.claims,
    )


def check_request(request: WorkspaceRequest) -> None:
    """Raises InvalidRequestError, InvalidPathError."""
    check_text("creator", request.creator)
    check_message(request.message)
    check_lifetime(request.lifetime)
    check_prefixes(request.claims)
    if request.id and not _ID.fullmatch(request.id):
        raise InvalidRequestError(f"workspace id {request.id[:40]!r}: must be 32 lower-case hexadecimal digits")


async def create(ctx: Context, repo_name: str, request: WorkspaceRequest) -> Workspace:
    """Create a workspace on the commit of a ref. Its base excludes uncommitted changes of a branch.

    Raises RefNotFoundError, BranchNotFoundError, InvalidRequestError, and NameTakenError for an id that is in use.
    """
    check_request(request)
    repo = await open_repo(ctx, repo_name, write=True, force=request.force)
    made = await _made_before(ctx, repo, request)
    if made is not None:
        return made
    found = await resolve(ctx, repo, request.ref)
    if found.is_candidate:
        raise candidate_refused(request.ref)
    if found.staged:
        raise InvalidRefError(f"ref {request.ref[:80]!r}: a workspace is made on a commit, not on uncommitted changes")
    here = found.branch.record.name if found.branch is not None else ""
    branch = request.branch or ("" if workspace_id(here) else here)
    if not branch:
        raise InvalidRequestError(
            f"ref {request.ref[:80]!r} is not a branch: name the branch to commit the workspace to"
        )
    await read_branch(ctx, repo, branch)
    new = new_record(ctx, branch, found.commit_id, request)
    operation = OPERATIONS + ctx.ids.new().encode()
    puts = [*rows_of(repo, new), Put(repo.partition, operation, str(ctx.now()).encode())]
    if not await apply(ctx, repo, Batch(checks=[absent(repo.partition, workspace_key(new.uid))], puts=puts), operation):
        return await _made_before(ctx, repo, request) or new  # the same request was sent twice at the same time
    return new


async def _made_before(ctx: Context, repo: Repo, request: WorkspaceRequest) -> Workspace | None:
    """The workspace of an earlier request with the same id. Raises NameTakenError when another request used the id."""
    if not request.id:
        return None
    seen = await find_workspace(ctx, repo, request.id)
    if seen is None:
        if not await _was_used(ctx, repo, request.id):
            return None
        seen = await find_workspace(ctx, repo, request.id)  # a concurrent repetition has just created it
    if seen is not None:
        old = record_of(seen)
        same = (old.creator, old.message, old.claims) == (request.creator, request.message, request.claims)
        if same and request.branch in ("", old.branch):
            return old
    raise NameTakenError(f"workspace id {request.id} of {repo.name!r} was used before: use 128 random bits")


async def _was_used(ctx: Context, repo: Repo, found_id: str) -> bool:
    """Whether a deleted workspace had this id. Commits may name its objects permanently.

    Listing `workspaces/<id>` would need fewer requests, but on a local disk it reads the names of all workspaces.
    """

    return any(
        await ctx.runtime.gather(
            [partial(has_objects, repo, f"{WORKSPACES}{found_id}/"), partial(is_marked, ctx, repo, found_id)]
        )
    )


async def has_objects(repo: Repo, prefix: str) -> bool:
    """Whether any key begins with a prefix."""
    return await anext(aiter(repo.store.list(prefix)), None) is not None


async def is_marked(ctx: Context, repo: Repo, found_id: str) -> bool:
    """Whether a note in the bucket records this id as used."""

    async def is_there(key: str) -> bool:
        try:
            await repo.store.head(key)
        except BlobNotFound:
            return False
        return True

    return any(await ctx.runtime.gather([partial(is_there, f"{WORKSPACES}{found_id}{mark}") for mark in MARKS]))


async def mark_used(repo: Repo, record: Workspace) -> None:
    """Write `workspaces/<id>.used`, durably.

    Needed for a workspace whose first prefix may stay empty, and for a deleted one with objects below its prefix.
    """
    await repo.store.put(f"{WORKSPACES}{record.uid}.used", encode({"workspace": record.uid}))


def rows_of(repo: Repo, record: Workspace) -> list[Put]:
    """The KV rows of a workspace: its record, and when the janitor must process it."""
    return [Put(repo.partition, record_key(record.name), encode(record)), due_row(repo, record)]


def due_row(repo: Repo, record: Workspace) -> Put:
    """The row that makes the janitor process a workspace when it expires, or when its record must be deleted."""
    at = record.expires if record.state == "open" else record.closed + REMEMBERED
    return Put(repo.partition, due_key(WORKSPACE_DUE, at, record.uid), b"")


async def find(ctx: Context, repo: Repo, found_id: str) -> Seen:
    """The record of a workspace, open or closed. `found_id` is its id or its name. Raises WorkspaceNotFoundError."""
    inner = workspace_id(found_id)
    seen = await find_workspace(ctx, repo, inner or found_id)
    if seen is None or (inner is not None and seen.record.name != found_id):
        raise WorkspaceNotFoundError(f"workspace {found_id[:300]!r} not found in repository {repo.name!r}")
    return seen


async def find_open(ctx: Context, repo: Repo, found_id: str) -> Seen:
    """As `find`. Raises WorkspaceClosedError as well."""
    seen = await find(ctx, repo, found_id)
    refuse_closed(seen.record)
    return seen


async def find_sealed(ctx: Context, repo: Repo, found_id: str) -> Seen | None:
    """As `find_open`, with all rows in layers. None when the record has changed. Raises WorkspaceClosedError."""
    seen = await seal(ctx, repo, await find_open(ctx, repo, found_id))
    if seen is not None:
        refuse_closed(seen.record)  # it may be closed since the seal: then its layers are gone, and it would seem empty
    return seen


def record_of(seen: Seen) -> Workspace:
    """The record, which must be a workspace's."""
    assert isinstance(seen.record, Workspace)
    return seen.record


async def get(ctx: Context, repo_name: str, found_id: str) -> Workspace:
    """A workspace, open or closed. Raises WorkspaceNotFoundError."""
    return record_of(await find(ctx, await open_repo(ctx, repo_name), found_id))


async def list_page(
    ctx: Context, repo_name: str, *, branch: str = "", after: str = "", amount: int = 100, state: str = "open"
) -> Page[Workspace]:
    """Workspaces in order of id: of one branch or of all, in one state or (`all`) in any state."""
    check_amount(amount)
    if state not in STATES:
        raise InvalidRequestError(f"state {state[:40]!r}: must be one of {', '.join(STATES)}")
    repo = await open_repo(ctx, repo_name)
    items: list[Workspace] = []
    start = workspace_key(after) + b"\0" if after else workspace_key("")
    while rows := await ctx.kv.scan(repo.partition, start, end_of(WORKSPACE_ROWS), 1000):
        for row in rows:
            record = decode_workspace(row.value)
            if (branch and record.branch != branch) or state not in ("all", record.state):
                continue
            if len(items) == amount:
                return bounded(Page(items, has_more=True), _size)
            items.append(record)
        start = rows[-1].key + b"\0"
    return bounded(Page(items, has_more=False), _size)


def _size(record: Workspace) -> int:
    return len(record.message) + sum(map(len, record.claims))


async def renew(ctx: Context, repo_name: str, found_id: str, lifetime: int) -> Workspace:
    """Set the end of a workspace to `lifetime` seconds from now. Raises WorkspaceClosedError."""
    check_lifetime(lifetime)
    repo = await open_repo(ctx, repo_name, write=True)

    async def attempt() -> Workspace | None:
        seen = await find_open(ctx, repo, found_id)
        new = msgspec.structs.replace(
            record_of(seen), gen=seen.record.gen + 1, expires=ctx.expiry_clock.latest() + lifetime
        )
        return new if await swap(ctx, repo, seen, new, puts=[due_row(repo, new)]) else None

    return await retry_on_conflict(f"workspace {found_id!r} of {repo.name!r}", attempt)


def closing(ctx: Context, record: Workspace, state: WorkspaceState, result: str = "") -> Workspace:
    """The record in a closed state: nothing is staged, and no token for staging is named."""
    return msgspec.structs.replace(
        record,
        gen=record.gen + 1,
        state=state,
        layers=(),
        staging_token="",
        closed=ctx.expiry_clock.latest(),
        result=result,
    )


async def close(ctx: Context, repo: Repo, seen: Seen, state: WorkspaceState) -> bool:
    """Close a workspace and drop its changes. Keeps the objects below its prefix. False when the record has changed."""
    record = record_of(seen)
    after = closing(ctx, record, state)
    return await swap(ctx, repo, seen, after, puts=[due_row(repo, after)], dropped=everything_of(record))


async def drop(ctx: Context, repo_name: str, found_id: str, *, force: bool = False) -> None:
    """Close a workspace without committing it. Does nothing when it was dropped before.

    Raises WorkspaceClosedError when it was committed, popped, or expired.
    """
    repo = await open_repo(ctx, repo_name, write=True, force=force)

    async def attempt() -> bool | None:
        seen = await find(ctx, repo, found_id)
        if record_of(seen).state == "reverted":
            return True
        refuse_closed(seen.record)
        return await close(ctx, repo, seen, "reverted") or None

    await retry_on_conflict(f"workspace {found_id!r} of {repo.name!r}", attempt)


async def revert(
    ctx: Context, repo_name: str, found_id: str, globs: Sequence[str] = (), *, force: bool = False
) -> None:
    """Undo all changes of a workspace, or the changes that the globs select. The workspace stays open.

    Objects that tools wrote below its prefix stay there. A scan does not register them again unless they change.
    """
    Globs(globs)  # refuse a bad glob before anything is read
    repo = await open_repo(ctx, repo_name, write=True, force=force)

    async def attempt() -> bool | None:
        if not globs:
            seen = await find_open(ctx, repo, found_id)
            new = emptied(seen.record, ctx.ids.new())
            return await swap(ctx, repo, seen, new, dropped=staged_of(seen.record)) or None
        sealed = await find_sealed(ctx, repo, found_id)
        # new globs for each attempt: they remember what they matched, and a failed attempt may have matched lost rows
        return (sealed is not None and await _revert_part(ctx, repo, sealed, Globs(globs))) or None

    await retry_on_conflict(f"workspace {found_id!r} of {repo.name!r}", attempt)


async def _revert_part(ctx: Context, repo: Repo, seen: Seen, globs: Globs) -> bool:
    layers = seen.record.layers
    chosen = Chosen(ctx, repo, layers, globs)
    try:
        await chosen.load()
        chosen.refuse_idle()
        rest = await write_layer(repo.store, ctx.runtime, ctx.ids.new(), chosen.rest(), ctx.tuning.layer_bytes)
    except MissingFileError:
        if await is_unchanged(ctx, repo, seen):
            raise
        return False
    turned = await rotated(ctx, seen.record, seen.record.commit_id)
    # the old token, if rows were staged after the seal
    kept = turned.record.layers[: len(turned.record.layers) - len(layers)]
    new = msgspec.structs.replace(turned.record, layers=(*kept, rest) if rest.parts else kept)
    return await swap(ctx, repo, seen, new, checks=turned.checks, dropped=[*layers, *turned.dropped])
