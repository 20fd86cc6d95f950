"""Repositories: create, find, list, delete, and their metadata. Above `context`.

Creation is three durable steps, each of which can be repeated: a record in state `creating`, the marker and the
first commit in the bucket, then the record in state `active` together with the default branch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
from lakebed_format import CommitRecord, commit_id, encode_commit
from lakebed_format.decoding import FormatError
from lakebed_format.markers import decode_marker

from lakebed_engine.operations import names
from lakebed_engine.operations.context import (
    NAMESPACES,
    REPOSITORIES,
    Context,
    Repo,
    absent,
    branch_key,
    commit_key,
    decode_repository,
    encode,
    open_repo,
    text_key,
)
from lakebed_engine.stores.kv.base import Batch, Check, Delete, Put, Versioned
from lakebed_engine.stores.objects.base import ObjectStore
from lakebed_engine.tree.damage import damaged_file
from lakebed_engine.vocabulary.errors import (
    BlobExists,
    BlobNotFound,
    CorruptDataError,
    InvalidNamespaceError,
    InvalidRequestError,
    NamespaceInUseError,
    NoStoreError,
    OutcomeUnknownError,
    PredicateFailed,
    RepositoryExistsError,
    RepositoryNotFoundError,
    StoreDeniedError,
    TooManyAttemptsError,
)
from lakebed_engine.vocabulary.records import Branch, Commit, Page, Repository

MARKER = "_lakebed/repository.json"
COMMITS = "_lakebed/commits/"
DUMPS = "_lakebed/dumps/"
DRAFTS = f"{DUMPS}draft-"
"""Parts of dumps that are not whole yet."""
METADATA = b"metadata"
_ATTEMPTS = 10


async def create_repository(
    ctx: Context, name: str, storage_namespace: str, default_branch: str, read_only: bool, bare: bool = False
) -> Repository:
    """Make a repository with one empty commit on its default branch; a `bare` one without either.

    Raises RepositoryExistsError, NamespaceInUseError, InvalidNameError, InvalidNamespaceError.
    """
    names.check_repository(name)
    names.check_branch(default_branch)
    await _refuse_existing(ctx, name)
    names.check_namespace(storage_namespace)
    namespace = storage_namespace.rstrip("/")
    store = ctx.stores.open(namespace)
    seen = await _claim(
        ctx,
        Repository(
            uid=ctx.ids.new(),
            name=name,
            storage_namespace=namespace,
            default_branch=default_branch,
            creation_date=ctx.now(),
            read_only=read_only,
            state="creating",
        ),
    )
    record = decode_repository(seen.value)
    inside = await ctx.kv.scan(NAMESPACES, *namespaces_inside(namespace), 1)
    if inside:  # claimed meanwhile: the batch could check the namespaces above only
        await _unclaim(ctx, record, seen)
        raise _overlap(namespace, inside[0].key.decode())
    try:
        await store.put(MARKER, encode({"uid": record.uid, "name": name}), if_absent=True)
    except BlobExists:
        try:
            marker = await read_marker(store)
        except CorruptDataError:
            await _unclaim(ctx, record, seen)
            raise
        if marker.get("uid") != record.uid:
            await _unclaim(ctx, record, seen)
            raise NamespaceInUseError(
                f"storage namespace {namespace!r} is in use: it holds the data of repository "
                f"{marker.get('name')!r}; choose another, or remove that data first"
            ) from None
    except (NoStoreError, StoreDeniedError) as error:  # nothing was written, and the caller named the place
        await _unclaim(ctx, record, seen)
        raise InvalidNamespaceError(error.told or error.message) from error
    repo = Repo(record, store, f"repo/{record.uid}")
    return await _activate(ctx, repo, seen, [] if bare else await _beginning(ctx, repo))


async def _refuse_existing(ctx: Context, name: str) -> None:
    found = await ctx.kv.get(REPOSITORIES, name.encode())
    if found is not None and decode_repository(found.value).state != "creating":
        raise RepositoryExistsError(f"repository {name!r} exists already")


async def _claim(ctx: Context, record: Repository) -> Versioned:
    """Take the name and the namespace; or go on with a creation that was interrupted."""
    key, space = record.name.encode(), record.storage_namespace.encode()
    for _ in range(_ATTEMPTS):
        found = await ctx.kv.get(REPOSITORIES, key)
        if found is not None:
            old = decode_repository(found.value)
            if old.state != "creating":
                raise RepositoryExistsError(f"repository {record.name!r} exists already")
            if old.storage_namespace != record.storage_namespace:
                await _undo(ctx, old, found)
                continue
            # the uid stays: the marker in the bucket may hold it
            record = msgspec.structs.replace(record, uid=old.uid, creation_date=old.creation_date)
            if old == record:
                return found
            try:
                version = await ctx.kv.apply(
                    Batch(
                        checks=[Check(REPOSITORIES, key, found.version)], puts=[Put(REPOSITORIES, key, encode(record))]
                    )
                )
            except PredicateFailed:
                continue
            return Versioned(encode(record), version)
        await refuse_overlap(ctx, record.storage_namespace)
        above = [absent(NAMESPACES, other.encode()) for other in namespaces_above(record.storage_namespace)]
        try:
            version = await ctx.kv.apply(
                Batch(
                    checks=[absent(REPOSITORIES, key), *above],
                    puts=[Put(REPOSITORIES, key, encode(record)), Put(NAMESPACES, space, record.uid.encode())],
                )
            )
        except PredicateFailed:
            continue
        return Versioned(encode(record), version)
    raise TooManyAttemptsError(f"repository {record.name!r}: too many creations at once, try again later")


async def refuse_overlap(ctx: Context, namespace: str) -> None:
    """No namespace may lie inside another: one repository's data would be the other's. Raises NamespaceInUseError."""
    inside = await ctx.kv.scan(NAMESPACES, *namespaces_inside(namespace), 1)
    above = namespaces_above(namespace)
    taken = [key for key, row in zip(above, await _get_all(ctx, above), strict=True) if row is not None]
    if inside or taken:
        raise _overlap(namespace, taken[0] if taken else inside[0].key.decode())


def namespaces_inside(namespace: str) -> tuple[bytes, bytes]:
    """Between which keys the namespaces inside this one lie."""
    return namespace.encode() + b"/", namespace.encode() + b"0"


def namespaces_above(namespace: str) -> list[str]:
    """The namespaces that this one lies in, and itself. Example: `mem://a/b` gives `mem://a`, `mem://a/b`."""
    return ["/".join(namespace.split("/")[:depth]) for depth in range(3, namespace.count("/") + 2)]


def _overlap(namespace: str, other: str) -> NamespaceInUseError:
    return NamespaceInUseError(f"storage namespace {namespace!r} is in use: it overlaps {other!r}; choose another")


async def _get_all(ctx: Context, keys: Sequence[str]) -> list[Versioned | None]:
    return await ctx.kv.get_many(NAMESPACES, [key.encode() for key in keys])


async def _undo(ctx: Context, old: Repository, seen: Versioned) -> None:
    """Give up an interrupted creation in another namespace, its marker included."""
    if not await _unclaim(ctx, old, seen):
        return
    store = ctx.stores.open(old.storage_namespace)
    try:
        marker = await read_marker(store)
    except (BlobNotFound, NoStoreError):
        return
    if marker.get("uid") == old.uid:
        await store.delete([MARKER])


async def read_marker(store: ObjectStore) -> dict[str, str]:
    """What the marker of a namespace says. Raises BlobNotFound, CorruptDataError naming the file."""
    try:
        return decode_marker(await store.get(MARKER))
    except FormatError as error:
        raise damaged_file(f"{store.uri}/{MARKER}", error) from error


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


async def _beginning(ctx: Context, repo: Repo) -> list[Put]:
    """The first commit, its file written, and the default branch."""
    first = CommitRecord((), "", "Repository created", repo.record.creation_date, "")
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
    return [
        Put(repo.partition, commit_key(first_id), encode(commit)),
        Put(repo.partition, branch_key(branch.name), encode(branch)),
    ]


async def _activate(ctx: Context, repo: Repo, seen: Versioned, beginning: Sequence[Put]) -> Repository:
    active = msgspec.structs.replace(repo.record, state="active")
    key = repo.name.encode()
    try:
        await ctx.kv.apply(
            Batch(
                checks=[Check(REPOSITORIES, key, seen.version)],
                puts=[Put(REPOSITORIES, key, encode(active)), *beginning],
            )
        )
    except PredicateFailed:
        raise RepositoryExistsError(f"repository {repo.name!r} exists already") from None
    except OutcomeUnknownError:
        now = await ctx.kv.get(REPOSITORIES, key)
        if now is None or decode_repository(now.value) != active:
            raise
    return active


async def delete_repository(ctx: Context, name: str, force: bool) -> None:
    """Forget a repository. Its data in the object store stays. Raises RepositoryNotFoundError."""
    repo = await open_repo(ctx, name, write=True, force=force)
    for _ in range(_ATTEMPTS):
        if await forget(ctx, repo):
            return
    raise TooManyAttemptsError(f"repository {name!r}: changed too often to delete it, try again later")


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
                puts=[Put("drops", f"repo:{repo.record.uid}".encode(), str(ctx.now()).encode()), *puts],
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
    names.check_amount(amount)
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
    for key, value in values.items():
        names.check_text("metadata key", key)
        names.check_text(f"metadata {key!r}", value)
    repo = await open_repo(ctx, name, write=True)
    for _ in range(_ATTEMPTS):
        found = await ctx.kv.get(repo.partition, METADATA)
        now = {} if found is None else msgspec.json.decode(found.value, type=dict[str, str])
        new = {key: value for key, value in {**now, **values}.items() if key not in removed}
        check = Check(repo.partition, METADATA, 0 if found is None else found.version)
        try:
            await ctx.kv.apply(Batch(checks=[check], puts=[Put(repo.partition, METADATA, encode(new))]))
        except PredicateFailed:
            continue
        return
    raise TooManyAttemptsError(f"repository {name!r}: its metadata changed too often, try again later")
