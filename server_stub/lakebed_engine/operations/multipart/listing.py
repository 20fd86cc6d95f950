"""The open uploads of a repository, in the order of S3's keys."""

from __future__ import annotations

from lakebed_engine.operations import validation
from lakebed_engine.operations.context import Context, open_repo
from lakebed_engine.operations.keys import UPLOADS, end_of
from lakebed_engine.operations.multipart.records import decode_upload
from lakebed_engine.operations.objects.read import group_of
from lakebed_engine.tree.rows import prefix_end
from lakebed_engine.vocabulary.multipart import ListedUpload
from lakebed_engine.vocabulary.records import Page

_PAGE = 1000


async def list_uploads(
    ctx: Context,
    repo_name: str,
    *,
    prefix: str = "",
    delimiter: str = "",
    after: tuple[str, str] = ("", ""),
    amount: int = 1000,
) -> Page[ListedUpload]:
    """A page of open uploads and common prefixes, by key `<branch>/<path>`. `after`: a key, and an upload id or "".

    Without an id it skips all uploads of that key.
    """
    validation.check_amount(amount)
    validation.check_texts(prefix=prefix, delimiter=delimiter, **{"key marker": after[0], "upload id marker": after[1]})
    repo = await open_repo(ctx, repo_name)
    found: list[ListedUpload] = []
    at = _first(prefix, delimiter, *after)
    last = prefix_end(prefix)
    end = end_of(UPLOADS) if not prefix or last is None else UPLOADS + last.encode()
    while at is not None and at < end:
        rows = await ctx.kv.scan(repo.partition, at, end, _PAGE)
        at = None
        for row in rows:
            upload = decode_upload(row.value)
            key = f"{upload.branch}/{upload.path}"
            group = group_of(key, prefix, delimiter)
            found.append(ListedUpload(group or key, None if group else upload))
            if len(found) > amount:
                return Page(found[:amount], has_more=True)
            at = row.key + b"\0"
            if group:
                behind = prefix_end(group)
                at = None if behind is None else UPLOADS + behind.encode()
                break
    return Page(found, has_more=False)


def _first(prefix: str, delimiter: str, key: str, upload_id: str) -> bytes | None:
    """The key where a page begins, or None when nothing follows."""
    if not key or key < prefix:
        return UPLOADS + prefix.encode()
    if upload_id:
        return UPLOADS + f"{key}\0{upload_id}\0".encode()
    if group_of(key, prefix, delimiter) == key:
        behind = prefix_end(key)
        return None if behind is None else UPLOADS + behind.encode()
    return UPLOADS + f"{key}\0~".encode()
