"""Writes symlink manifests for Hive: for each directory of a branch a file that lists the addresses of its objects.

They are in the namespace, at `symlinks/<repository>/<branch>/<directory>/symlink.txt`. Each export writes all of them
again and removes those of directories that are empty now.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

from lakebed_format.keys import SYMLINKS

from lakebed_engine.operations.context import Context, Repo, open_repo, read_record
from lakebed_engine.operations.objects.read import list_objects, physical_uri
from lakebed_engine.operations.validation import check_text

_NAME = "symlink.txt"
_PAGE = 1000


async def write_symlinks(ctx: Context, repo_name: str, branch: str, location: str = "") -> str:
    """Write the manifests of all directories below `location`. Returns the address of the folder that contains them.

    Raises BranchNotFoundError.
    """
    check_text("location", location)
    repo = await open_repo(ctx, repo_name, write=True)
    await read_record(ctx, repo, branch)
    root = f"{SYMLINKS}{repo_name}/{branch}/"
    start = location if not location or location.endswith("/") else location + "/"
    written: set[str] = set()
    waiting = [start]
    while waiting:
        directory = waiting.pop()
        key = f"{root}{directory}{_NAME}"
        lines = _Lines(ctx, repo, branch, directory)
        chunks = lines.text()
        first = await anext(chunks, None)
        if first is not None:
            await repo.store.put_stream(key, _from(first, chunks))
            written.add(key)
        waiting += reversed(lines.below)
    await _remove_others(repo, root + start, written)
    return f"{repo.store.uri}/{SYMLINKS.rstrip('/')}"


class _Lines:
    """The addresses of the objects of one directory. `below` are its subdirectories, complete after `text`."""

    def __init__(self, ctx: Context, repo: Repo, branch: str, directory: str) -> None:
        self._ctx = ctx
        self._repo = repo
        self._branch = branch
        self._directory = directory
        self.below: list[str] = []

    async def text(self) -> AsyncIterator[bytes]:
        after = ""
        more = True
        while more:
            page = await list_objects(
                self._ctx,
                self._repo.name,
                self._branch,
                prefix=self._directory,
                after=after,
                amount=_PAGE,
                delimiter="/",
            )
            found = [physical_uri(self._repo, row.entry) for row in page.items if row.entry is not None]
            self.below += [row.path for row in page.items if row.entry is None]
            if found:
                yield "".join(f"{uri}\n" for uri in found).encode()
            more = page.has_more
            after = page.items[-1].path if page.items else ""


async def _from(first: bytes, rest: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield first
    async for one in rest:
        yield one


async def _remove_others(repo: Repo, folder: str, written: set[str]) -> None:
    gone: list[str] = []
    async for blob in repo.store.list(folder):
        if blob.key.rpartition("/")[2] == _NAME and blob.key not in written:
            gone.append(blob.key)
        if len(gone) == _PAGE:
            await repo.store.delete(gone)
            gone = []
    if gone:
        await repo.store.delete(gone)
