"""Creates a repository in three durable steps, each of which can be repeated.

1. A record in state `creating`.
2. The marker and the first commit in the bucket.
3. The record in state `active`, together with the default branch.

A namespace must be empty, unless the caller accepts other objects in it. The engine checks this before it takes the
name. So a refusal leaves nothing behind. An interrupted creation, whose marker exists already, can continue.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from lakebed_format import CommitRecord, commit_id, encode_commit
from lakebed_format.decoding import FormatError
from lakebed_format.keys import COMMITS, REPOSITORY_MARKER
from lakebed_format.refs import decode_marker

from lakebed_engine.operations import validation
from lakebed_engine.operations.context import Context, Repo, absent, decode_repository, encode
from lakebed_engine.operations.events.rows import event_rows, place_data
from lakebed_engine.operations.keys import NAMESPACES, REPOSITORIES, branch_key, commit_key, inside_namespace
from lakebed_engine.operations.namespaces import namespaces_above, overlap, refuse_overlap
from lakebed_engine.operations.repository import sample_files
from lakebed_engine.operations.retry import retry_on_conflict
from lakebed_engine.stores.kv.base import Batch, Check, Delete, Put, Versioned
from lakebed_engine.stores.objects.base import ObjectStore
from lakebed_engine.vocabulary.errors import (
    BlobExists,
    BlobNotFound,
    CorruptDataError,
    InvalidNamespaceError,
    NamespaceInUseError,
    NamespaceNotEmptyError,
    NoStoreError,
    OutcomeUnknownError,
    PredicateFailed,
    RepositoryExistsError,
    StoreDeniedError,
    TooManyAttemptsError,
)
from lakebed_engine.vocabulary.events import NewEvent
from lakebed_engine.vocabulary.records import Branch, Commit, Repository


async def create_repository(
    ctx: Context,
    name: str,
    storage_namespace: str,
    *,
    storage_id: str = "",
    default_branch: str = "main",
    read_only: bool = False,
    bare: bool = False,
    allow_non_empty: bool = False,
    samples_by: str = "",
    below: str = "",
) -> Repository:
    """Create a repository with one empty commit on its default branch.

    A `bare` repository has no commit and no branch. `allow_non_empty`: the namespace may contain other objects, which
    stay unchanged. `samples_by` is the committer of sample data. Empty: no sample data. `storage_id`: a named store.
    Without a `storage_namespace`, the repository gets one of its name below the prefix `below`.

    Raises RepositoryExistsError, NamespaceInUseError, NamespaceNotEmptyError, InvalidNameError, InvalidNamespaceError.
    """
    validation.check_repository(name)
    validation.check_branch(default_branch)
    await _refuse_existing(ctx, name)
    if not storage_namespace and not below:
        raise InvalidNamespaceError(
            f"repository {name!r} needs a storage namespace, such as s3://bucket/{name}: this server has no default "
            "prefix for namespaces (objects.default_namespace_prefix)"
        )
    new = Repository(
        uid=ctx.ids.new(),
        name=name,
        storage_namespace=storage_namespace.rstrip("/") or f"{below.rstrip('/')}/{name}",
        default_branch=default_branch,
        creation_date=ctx.now(),
        read_only=read_only,
        state="creating",
        storage_id=storage_id,
    )
    validation.check_namespace(storage_namespace or new.storage_namespace)
    try:
        made = await _create(ctx, new, bare=bare, allow_non_empty=allow_non_empty)
    except (NamespaceInUseError, NamespaceNotEmptyError):
        if storage_namespace:
            raise
        # the data of a deleted repository of this name, or another repository, is there
        free = msgspec.structs.replace(new, storage_namespace=f"{new.storage_namespace}-{new.uid[:8]}")
        made = await _create(ctx, free, bare=bare, allow_non_empty=allow_non_empty)
    if samples_by and not bare:
        await sample_files.fill(ctx, name, default_branch, samples_by)
    return made


async def _create(ctx: Context, new: Repository, *, bare: bool, allow_non_empty: bool) -> Repository:
    ctx.stores.check_new(new.storage_namespace, new.storage_id)
    store = ctx.stores.open(new.storage_namespace, new.storage_id)
    if not allow_non_empty:
        await _refuse_content(ctx, store)
    seen = await _claim(ctx, new)
    record = decode_repository(seen.value)
    namespace = record.storage_namespace
    inside = await ctx.kv.scan(NAMESPACES, *inside_namespace(namespace), 1)
    if inside:  # claimed in the time between: the batch can check only the namespaces above
        await _unclaim(ctx, record, seen)
        raise overlap(namespace, inside[0].key.decode())
    try:
        await _mark(store, record)
    except (NamespaceInUseError, InvalidNamespaceError):  # nothing was written
        await _unclaim(ctx, record, seen)
        raise
    repo = Repo(record, store, f"repo/{record.uid}")
    head, beginning = ("", []) if bare else await _beginning(ctx, repo)
    return await _activate(ctx, repo, seen, beginning, head)


async def _refuse_existing(ctx: Context, name: str) -> None:
    found = await ctx.kv.get(REPOSITORIES, name.encode())
    if found is not None and decode_repository(found.value).state != "creating":
        raise _exists(decode_repository(found.value))


def _exists(record: Repository) -> RepositoryExistsError:
    if record.state == "deleting":
        return RepositoryExistsError(
            f"error creating repository: not unique: {record.name!r} is being deleted with its data: try again "
            "in a moment"
        )
    return RepositoryExistsError(f"error creating repository: not unique: there is a repository {record.name!r}")


async def _refuse_content(ctx: Context, store: ObjectStore) -> None:
    """Refuse a namespace that contains objects, unless it has a marker. `_mark` checks the marker."""
    try:
        found = await store.any_key()
        if found is None or await _read_marker(store) is not None:
            return
    except (NoStoreError, StoreDeniedError) as error:  # the caller chose the namespace
        raise InvalidNamespaceError(error.public_message or error.message) from error
    await refuse_overlap(ctx, store.uri)
    raise NamespaceNotEmptyError(f"storage namespace {store.uri!r} is not empty: it holds {found[:200]!r}")


async def _mark(store: ObjectStore, record: Repository) -> None:
    """Write the marker. It may exist already, from an earlier attempt of the same creation."""
    try:
        await store.put(REPOSITORY_MARKER, encode({"uid": record.uid, "name": record.name}), if_absent=True)
        return
    except BlobExists:
        marker = await _read_marker(store)
    except (NoStoreError, StoreDeniedError) as error:
        raise InvalidNamespaceError(error.public_message or error.message) from error
    if marker is None:
        raise TooManyAttemptsError(
            f"{store.uri}/{REPOSITORY_MARKER} was removed during the creation, nothing was created: try again"
        )
    if marker.get("uid") == record.uid:
        return
    if not marker:
        raise NamespaceInUseError(
            f"storage namespace {store.uri!r} is in use: {REPOSITORY_MARKER} exists, but this server cannot read "
            "it; choose another namespace, or find the owner of that file"
        )
    raise NamespaceInUseError(
        f"storage namespace {store.uri!r} is in use: it holds the data of repository {marker.get('name', '')[:80]!r}, "
        "which may have been deleted; choose another, or restore it with `lakebed rebuild --namespace "
        f"{store.uri}`: then `lakebed repo delete --purge` removes its data as well"
    )


async def _read_marker(store: ObjectStore) -> dict[str, str] | None:
    """The content of the marker. None when it does not exist, empty when it is not a marker of Lakebed."""
    try:
        return decode_marker(await store.get(REPOSITORY_MARKER))
    except BlobNotFound:
        return None
    except (CorruptDataError, FormatError):
        return {}


async def _claim(ctx: Context, record: Repository) -> Versioned:
    """Take the name and the namespace, or continue an interrupted creation."""

    async def attempt() -> Versioned | None:
        found = await ctx.kv.get(REPOSITORIES, record.name.encode())
        if found is not None:
            return await _resume(ctx, record, found)
        await refuse_overlap(ctx, record.storage_namespace)
        above = [absent(NAMESPACES, other.encode()) for other in namespaces_above(record.storage_namespace)]
        owner = Put(NAMESPACES, record.storage_namespace.encode(), record.uid.encode())
        return await _put_record(ctx, record, [absent(REPOSITORIES, record.name.encode()), *above], [owner])

    return await retry_on_conflict(f"repository {record.name!r}", attempt)


async def _resume(ctx: Context, record: Repository, found: Versioned) -> Versioned | None:
    """Continue an interrupted creation. None: read the record again. Raises RepositoryExistsError."""
    old = decode_repository(found.value)
    if old.state != "creating":
        raise _exists(old)
    if (old.storage_namespace, old.storage_id) != (record.storage_namespace, record.storage_id):
        await _undo(ctx, old, found)
        return None
    # keep the uid: the marker in the bucket may contain it
    record = msgspec.structs.replace(record, uid=old.uid, creation_date=old.creation_date)
    if old == record:
        return found
    return await _put_record(ctx, record, [Check(REPOSITORIES, record.name.encode(), found.version)])


async def _put_record(
    ctx: Context, record: Repository, checks: Sequence[Check], puts: Sequence[Put] = ()
) -> Versioned | None:
    value = encode(record)
    try:
        version = await ctx.kv.apply(Batch(checks=checks, puts=[Put(REPOSITORIES, record.name.encode(), value), *puts]))
    except PredicateFailed:
        return None
    return Versioned(value, version)


async def _undo(ctx: Context, old: Repository, seen: Versioned) -> None:
    """Abort an interrupted creation in another namespace, and remove what it wrote there."""
    if not await _unclaim(ctx, old, seen):
        return
    store = ctx.stores.open(old.storage_namespace, old.storage_id)
    try:
        marker = await _read_marker(store)
    except NoStoreError:
        return
    if marker is not None and marker.get("uid") == old.uid:
        first_id = commit_id(_first_commit(old))
        await store.delete([f"{COMMITS}{first_id}.json", REPOSITORY_MARKER])


async def _unclaim(ctx: Context, record: Repository, seen: Versioned) -> bool:
    key = record.name.encode()
    try:
        await ctx.kv.apply(
            Batch(
                checks=[Check(REPOSITORIES, key, seen.version)],
                deletes=[Delete(REPOSITORIES, key), Delete(NAMESPACES, record.storage_namespace.encode())],
            )
        )
    except PredicateFailed:
        return False
    return True


def _first_commit(record: Repository) -> CommitRecord:
    return CommitRecord((), "", "Repository created", record.creation_date, "")


async def _beginning(ctx: Context, repo: Repo) -> tuple[str, list[Put]]:
    """Write the file of the first commit. Returns its id, and the rows of the commit and of the default branch."""
    first = _first_commit(repo.record)
    first_id = commit_id(first)
    await repo.store.put(f"{COMMITS}{first_id}.json", encode_commit(first))
    commit = Commit(
        id=first_id,
        parents=(),
        committer="",
        message=first.message,
        creation_date=first.creation_date,
        metarange_id="",
        metadata={},
        generation=1,
    )
    branch = Branch(
        name=repo.record.default_branch, uid=ctx.ids.new(), gen=1, commit_id=first_id, staging_token=ctx.ids.new()
    )
    return first_id, [
        Put(repo.partition, commit_key(first_id), encode(commit)),
        Put(repo.partition, branch_key(branch.name), encode(branch)),
    ]


async def _activate(ctx: Context, repo: Repo, seen: Versioned, beginning: Sequence[Put], head: str) -> Repository:
    active = msgspec.structs.replace(repo.record, state="active")
    event = NewEvent(
        type="repository.created",
        branch=active.default_branch if head else "",
        gen=1 if head else 0,
        commit_id=head,
        after=head,
        data=place_data(active),
    )
    key = repo.name.encode()
    try:
        await ctx.kv.apply(
            Batch(
                checks=[Check(REPOSITORIES, key, seen.version)],
                puts=[Put(REPOSITORIES, key, encode(active)), *beginning, *event_rows(ctx, repo, event)],
            )
        )
    except PredicateFailed:
        raise RepositoryExistsError(
            f"error creating repository: not unique: there is a repository {repo.name!r}"
        ) from None
    except OutcomeUnknownError:
        now = await ctx.kv.get(REPOSITORIES, key)
        if now is None or decode_repository(now.value) != active:
            raise
    return active
