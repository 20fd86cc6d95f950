"""The action files of a commit: all files directly in the two folders for them.

A commit that changes no path in these folders has the files of its parent. So a commit in a repository without action
files needs no additional read.
"""

from __future__ import annotations

import hashlib
from typing import Final

from lakebed_engine.operations.context import Context, Repo, load_commit, open_repo
from lakebed_engine.tree.changed_paths import ChangedPaths, PathQuery
from lakebed_engine.tree.cursor import tree_cursor
from lakebed_engine.tree.trees import EMPTY_TREE, Tree
from lakebed_engine.vocabulary.errors import BlobNotFound
from lakebed_engine.vocabulary.hooks import ACTION_FOLDERS, MAX_ACTION_FILE, MOST_ACTION_FILES, StoredFile
from lakebed_engine.vocabulary.records import Commit, Entry

ActionFiles = tuple[StoredFile, ...]

_FOLDERS: Final = PathQuery((), ACTION_FOLDERS)
_SUFFIXES: Final = (".yaml", ".yml")


def inherit(ctx: Context, repo: Repo, parent_id: str, commit_id: str, changed: ChangedPaths | None) -> None:
    """Note that a commit has the action files of the commit below it, if it changes no path in their folders."""
    files = ctx.action_files.get((repo.partition, parent_id))
    if files is not None and changed is not None and not _FOLDERS.may_match(changed):
        _keep(ctx, repo, commit_id, files)


async def action_files(ctx: Context, repo: Repo, commit: Commit) -> ActionFiles:
    """The action files of a commit, in order of their paths. A file that cannot be used has a `problem`."""
    found: ActionFiles | None = ctx.action_files.get((repo.partition, commit.id))
    if found is None:
        tree = await ctx.trees.load(repo.store, commit.metarange_id) if commit.metarange_id else EMPTY_TREE
        found = tuple([await _read(ctx, repo, path, entry) for path, entry in await _entries(ctx, repo, tree)])
        _keep(ctx, repo, commit.id, found)
    return found


async def files_of(ctx: Context, repo_name: str, commit_id: str) -> ActionFiles:
    """The action files of a commit, by its full id. Raises CommitNotFoundError."""
    repo = await open_repo(ctx, repo_name)
    return await action_files(ctx, repo, await load_commit(ctx, repo, commit_id))


def _keep(ctx: Context, repo: Repo, commit_id: str, files: ActionFiles) -> None:
    ctx.action_files.put((repo.partition, commit_id), files, 200)


async def _entries(ctx: Context, repo: Repo, tree: Tree) -> list[tuple[str, Entry]]:
    """One more than `MOST_ACTION_FILES` at most."""
    found: list[tuple[str, Entry]] = []
    cursor = tree_cursor(ctx.trees, repo.store, tree)
    for folder in ACTION_FOLDERS:
        await cursor.seek(folder)
        while cursor.path is not None and cursor.path.startswith(folder) and len(found) <= MOST_ACTION_FILES:
            entry, below = cursor.entry(), cursor.path[len(folder) :]
            if "/" in below:
                await cursor.seek(folder + below.partition("/")[0] + "0")  # the first path behind this folder
                continue
            if entry is not None and below.endswith(_SUFFIXES):
                found.append((cursor.path, entry))
            await cursor.next()
    return found


async def _read(ctx: Context, repo: Repo, path: str, entry: Entry) -> StoredFile:
    key = ("content", repo.partition, path, entry.identity)
    found: StoredFile | None = ctx.action_files.get(key)
    if found is not None:
        return found
    if entry.size > MAX_ACTION_FILE:
        why = f"it has {entry.size:,} bytes, an action file at most {MAX_ACTION_FILE:,}"
        return StoredFile(path, entry.identity.hex(), b"", why)
    address = entry.physical_address.removeprefix(f"{repo.store.uri}/")
    if "://" in address:
        return StoredFile(path, entry.identity.hex(), b"", "its data is outside of the repository: upload it instead")
    try:
        content = await repo.store.get_range(address, 0, entry.size) if entry.size else b""
    except BlobNotFound:
        return StoredFile(path, entry.identity.hex(), b"", "its data is not in the object store")
    if len(content) < entry.size:
        return StoredFile(path, entry.identity.hex(), b"", "its data ends early")
    found = StoredFile(path, hashlib.sha256(content).hexdigest(), content)
    ctx.action_files.put(key, found, len(content) + 500)
    return found
