"""Reads which files the records of a repository name: commits, layers and uncommitted rows.

The order matters, because the repository changes during the sweep. Uncommitted rows are read before commits, because a
commit may move them there. A record is read before the cleaner's notes, because a swap may move its layers there.
An unreadable or unknown row ends the sweep before it deletes anything.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import pyarrow.compute as pc
from lakebed_format.decoding import FormatError
from lakebed_format.keys import REFS, REPOSITORY_MARKER, commit_file, metarange_file, pull_file
from lakebed_format.refs import decode_marker, decode_refs, parse_key
from lakebed_format.tree.reading import decode_layer

from lakebed_engine.operations import keys
from lakebed_engine.operations.branch.compare_and_swap import Note
from lakebed_engine.operations.branch.resolve import decode_tag
from lakebed_engine.operations.context import (
    BAD_ROW,
    Context,
    Repo,
    decode_branch,
    decode_candidate,
    decode_workspace,
    encode,
)
from lakebed_engine.operations.gc.scratch_db import ScratchDb
from lakebed_engine.operations.keys import (
    BRANCH_ROWS,
    CANDIDATES,
    COMMIT_ROWS,
    DROPPED_REPOSITORIES,
    DROPS,
    ENDED,
    FIRST_ROW,
    TAG_ROWS,
    UPLOADS,
    WORKSPACE_ROWS,
    commit_key,
    staging,
    under,
)
from lakebed_engine.operations.multipart.records import decode_ended, decode_upload
from lakebed_engine.stores.kv.base import scan_pages, scan_rows
from lakebed_engine.stores.objects.multipart_objects import folder_of
from lakebed_engine.tree.layers import layer_tree
from lakebed_engine.tree.rows import decode_row
from lakebed_engine.vocabulary.errors import BlobNotFound, CorruptDataError
from lakebed_engine.vocabulary.records import Branch, Commit

_PAGE = 500
_commit = msgspec.json.Decoder(Commit)


def refuse(repo: Repo, why: str) -> CorruptDataError:
    """The error that ends a sweep before it deletes anything."""
    return CorruptDataError(f"repository {repo.name!r}: {why}; nothing was swept: run `lakebed fsck`")


async def read_roots(ctx: Context, repo: Repo, scratch: ScratchDb, *, data: bool) -> None:
    """Record everything that the records name directly, and the trees to read next. Raises CorruptDataError."""
    try:
        await _check_marker(repo)
        await _check_kinds(ctx, repo)
        await _read_snapshots(repo, scratch)
        await _read_uploads(ctx, repo, scratch)
        async for row in scan_rows(ctx.kv, repo.partition, *under(BRANCH_ROWS)):
            await _read_record(ctx, repo, scratch, decode_branch(row.value), data=data)
        await _read_workspaces(ctx, repo, scratch, data=data)
        await _read_notes(ctx, repo, scratch)
        async for row in scan_rows(ctx.kv, repo.partition, *under(TAG_ROWS)):
            scratch.want([decode_tag(row.value).commit_id], f"tag {row.key.removeprefix(TAG_ROWS).decode()!r}")
        await _read_commits(ctx, repo, scratch)
    except (*BAD_ROW, ValueError) as error:
        raise refuse(repo, f"a record cannot be read ({error})") from error


async def _check_marker(repo: Repo) -> None:
    """Check the marker. In another repository's bucket, or on an empty disk, every file would seem unnamed."""
    try:
        marker = decode_marker(await repo.store.get(REPOSITORY_MARKER))
    except BlobNotFound:
        raise refuse(repo, f"{repo.store.uri} has no marker: is this the right disk or bucket?") from None
    except (CorruptDataError, FormatError) as error:
        raise refuse(repo, f"{REPOSITORY_MARKER} cannot be read ({error})") from error
    if marker.get("uid") != repo.record.uid:
        raise refuse(repo, f"{repo.store.uri} belongs to repository {marker.get('uid')!r}")


async def _check_kinds(ctx: Context, repo: Repo) -> None:
    """Refuse rows of an unknown kind: they may name files."""
    start: bytes = keys.FIRST
    while rows := await ctx.kv.scan(repo.partition, start, None, 1):
        kind = keys.kind_of(rows[0].key)
        if kind is None:
            raise refuse(repo, f"its row {rows[0].key!r} is of an unknown kind: was it written by a newer Lakebed?")
        start = keys.behind(kind)


async def _read_snapshots(repo: Repo, scratch: ScratchDb) -> None:
    """Read the ref snapshots. If a commit of them has no row, the KV store is older than the bucket: refuse.

    Snapshots are read first, so that their commits are older than the rows that are read afterwards.
    """
    async for blob in repo.store.list(REFS):
        if parse_key(blob.key) is None:
            continue
        try:
            _, _, record = decode_refs(await repo.store.get(blob.key))
        except BlobNotFound:
            continue  # deleted since the listing
        except (CorruptDataError, FormatError) as error:
            raise refuse(repo, f"{blob.key} cannot be read ({error})") from error
        named = [branch.commit_id for branch in record.branches] + [tag.commit_id for tag in record.tags]
        scratch.want(named, f"ref snapshot {blob.key}")
        scratch.name(pull_file(*one) for one in record.pulls)


async def _read_uploads(ctx: Context, repo: Repo, scratch: ScratchDb) -> None:
    """Read uploads before branches: the completion of an upload deletes its row and stages its object in one batch."""
    async for row in scan_rows(ctx.kv, repo.partition, *under(UPLOADS)):
        upload = decode_upload(row.value)
        scratch.name([upload.address])
        scratch.open_prefixes.add(folder_of(upload.address))
    async for row in scan_rows(ctx.kv, repo.partition, *under(ENDED)):  # the cleaner removes the rest of their parts
        scratch.open_prefixes.add(folder_of(decode_ended(row.value).upload.address))


async def _read_workspaces(ctx: Context, repo: Repo, scratch: ScratchDb, *, data: bool) -> None:
    async for row in scan_rows(ctx.kv, repo.partition, *under(WORKSPACE_ROWS)):
        workspace = decode_workspace(row.value)
        scratch.add_workspace(workspace.uid)
        await _read_record(ctx, repo, scratch, workspace, data=data)
        if workspace.state == "open":
            scratch.open_prefixes.update((workspace.prefix, *workspace.old_prefixes))


async def _read_record(ctx: Context, repo: Repo, scratch: ScratchDb, record: Branch, *, data: bool) -> None:
    scratch.want([record.commit_id], f"branch {record.name!r}")
    for layer in record.layers:
        scratch.name(info.file for info in layer_tree(layer).ranges)
    if not data:
        return
    await _read_token(ctx, repo, scratch, record.staging_token)
    for layer in record.layers:
        if layer.kind == "kv":
            await _read_token(ctx, repo, scratch, layer.id)
        for info in layer_tree(layer).ranges:
            await _read_part(ctx, repo, scratch, info.file, info.id)


async def _read_token(ctx: Context, repo: Repo, scratch: ScratchDb, token: str) -> None:
    async for rows in scan_pages(ctx.kv, staging(token), FIRST_ROW, size=_PAGE):
        entries = [decode_row(row.value) for row in rows]
        name_objects(repo, scratch, [entry.physical_address for entry in entries if entry is not None])


async def _read_part(ctx: Context, repo: Repo, scratch: ScratchDb, key: str, part_id: str) -> None:
    try:
        data = await repo.store.get(key)
    except BlobNotFound:  # committed and removed since, or lost: the next sweep will know
        raise refuse(repo, f"layer {key} is missing") from None
    except CorruptDataError as error:
        raise refuse(repo, f"layer {key} cannot be read ({error})") from error
    name_objects(repo, scratch, await ctx.runtime.cpu(_addresses, data, part_id))


def _addresses(data: bytes, part_id: str) -> list[str]:
    rows = decode_layer(data, part_id)
    found: list[str] = rows.filter(pc.invert(rows.column("deleted"))).column("physical_address").to_pylist()
    return found


def name_objects(repo: Repo, scratch: ScratchDb, addresses: Sequence[str]) -> None:
    """Record the objects of these addresses (keys or full URIs) as named."""
    inside = f"{repo.store.uri}/"
    scratch.name(address.removeprefix(inside) for address in addresses)


async def _read_notes(ctx: Context, repo: Repo, scratch: ScratchDb) -> None:
    """Record the files that the cleaner will remove: they are not the sweep's."""
    async for row in scan_rows(ctx.kv, DROPS):
        if not row.key.startswith(DROPPED_REPOSITORIES):
            note = msgspec.json.decode(row.value, type=Note)
            if note.namespace == repo.store.uri:
                scratch.name(note.files)


async def _read_commits(ctx: Context, repo: Repo, scratch: ScratchDb) -> None:
    # candidates first: the batch that makes one a commit removes its row
    async for row in scan_rows(ctx.kv, repo.partition, *under(CANDIDATES)):
        candidate = decode_candidate(row.value).commit
        _learn(scratch, row.key.removeprefix(CANDIDATES).decode(), encode(candidate))
    async for row in scan_rows(ctx.kv, repo.partition, *under(COMMIT_ROWS)):
        _learn(scratch, row.key.removeprefix(COMMIT_ROWS).decode(), row.value)
    while strangers := scratch.strangers():
        for commit_id, who in strangers:
            found = await ctx.kv.get(repo.partition, commit_key(commit_id))
            if found is None:
                why = (
                    f"{who} refers to commit {commit_id}, which is not in the KV store: was an older KV store restored?"
                )
                raise refuse(repo, why)
            _learn(scratch, commit_id, found.value)


def _learn(scratch: ScratchDb, commit_id: str, value: bytes) -> None:
    commit = _commit.decode(value)
    if commit.id != commit_id:
        raise ValueError(f"the row of commit {commit_id} holds commit {commit.id}")
    scratch.add_commit(commit_id, commit.parents)
    scratch.name([commit_file(commit_id)])
    if commit.metarange_id:
        scratch.name([metarange_file(commit.metarange_id)])
        scratch.to_read([commit.metarange_id], "metarange")
