"""Lists a page of a bucket's keys: of one ref, or of a whole bucket, where the refs are directories.

At its top, a bucket shows its branches and tags as `<name>/`. Without a delimiter, it shows the objects of all
branches. It omits the objects of tags, because they would appear twice.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

from lakebed_engine.vocabulary.errors import InvalidRefError, NotFoundError, RepositoryNotFoundError
from lakebed_engine.vocabulary.records import Listed

from lakebed_server.s3.requests.call import S3Call
from lakebed_server.s3.requests.ref_names import branches, merged, tags

_PAGE = 1000


async def keys_of(call: S3Call, prefix: str, after: str, *, amount: int, delimiter: str) -> tuple[list[Listed], bool]:
    """Keys and common prefixes after `after`, in byte order, and whether more follow.

    Raises RepositoryNotFoundError.
    """
    if call.address.bound:
        return await _of_ref(call, call.ref, "", prefix, after, amount, delimiter)
    ref, slash, rest = prefix.partition("/")
    if not slash:
        return await _of_bucket(call, prefix, after, amount, delimiter)
    start = f"{ref}/"
    if after > start and not after.startswith(start):
        await call.engine.repositories.get(call.repo)
        return [], False
    behind = after.removeprefix(start) if after > start else ""
    try:
        return await _of_ref(call, ref, start, rest, behind, amount, delimiter)
    except RepositoryNotFoundError:
        raise
    except (NotFoundError, InvalidRefError):
        return [], False  # no key has this prefix


async def _of_ref(
    call: S3Call, ref: str, start: str, prefix: str, after: str, amount: int, delimiter: str
) -> tuple[list[Listed], bool]:
    page = await call.engine.objects.list(
        call.repo, ref, prefix=prefix, after=after, amount=amount, delimiter=delimiter
    )
    if not start:
        return list(page.items), page.has_more
    return [Listed(start + row.path, row.entry) for row in page.items], page.has_more


async def _of_bucket(call: S3Call, prefix: str, after: str, amount: int, delimiter: str) -> tuple[list[Listed], bool]:
    await call.engine.repositories.get(call.repo)
    rows: list[Listed] = []
    async for row in _walk(call, prefix, after, amount, delimiter):
        if len(rows) == amount:
            return rows, True
        rows.append(row)
    return rows, False


async def _walk(call: S3Call, prefix: str, after: str, amount: int, delimiter: str) -> AsyncIterator[Listed]:
    """The bucket's keys after `after`, one by one. `amount` is the number that the caller will read."""
    group = ""
    names = branches(call.engine, call.repo, prefix, after)
    if delimiter == "/":
        names = merged(names, tags(call.engine, call.repo, prefix, after))
    async for name in names:
        start = f"{name}/"
        if delimiter and (found := start.find(delimiter, len(prefix))) >= 0:
            common = start[: found + len(delimiter)]
            if common not in (group, after):
                yield Listed(common, None)
            group = common
            continue
        # the engine cannot find a delimiter that begins in the name of the ref and ends in the path
        own = "" if _begins_in(start[len(prefix) :], delimiter) else delimiter
        behind = after.removeprefix(start) if after.startswith(start) else ""
        more = True
        while more:
            rows, more = await _of_ref(call, name, start, "", behind, min(amount + 1, _PAGE), own)
            for row in rows:
                found = row.path.find(delimiter, len(prefix)) if own != delimiter else -1
                if found < 0:
                    yield row
                    continue
                common = row.path[: found + len(delimiter)]
                if common not in (group, after):
                    yield Listed(common, None)
                group = common
            if more:
                behind = rows[-1].path.removeprefix(start)


def _begins_in(start: str, delimiter: str) -> bool:
    """Whether `start` ends with the beginning of the delimiter."""
    return any(start.endswith(delimiter[:size]) for size in range(1, len(delimiter)))
