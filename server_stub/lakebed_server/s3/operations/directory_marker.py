"""The key `<ref>/`: a directory that exists while the ref exists. It is never stored."""

from __future__ import annotations

from lakebed_engine.vocabulary.records import Entry

from lakebed_server.s3.requests.call import S3Call
from lakebed_server.s3.vocabulary import invalid_argument

_EMPTY_MD5 = "d41d8cd98f00b204e9800998ecf8427e"


def is_root(call: S3Call) -> bool:
    """Whether the key is `<ref>/`."""
    return not call.address.bound and not call.path and call.key.endswith("/")


async def root(call: S3Call) -> Entry:
    """The directory of a ref, as an empty object. Raises the error of a missing ref."""
    await call.engine.objects.list(call.repo, call.ref, amount=1)
    return Entry("", _EMPTY_MD5, 0, 0, 0, "application/x-directory", {}, b"")


async def write(call: S3Call) -> Entry:
    """Handle a write to the key of a directory, or to a key without a path. Stores nothing."""
    if not is_root(call):
        raise invalid_argument("A key is <branch>/<path>: this one has no path.")
    async for _ in call.chunks():
        raise invalid_argument("A key is <branch>/<path>: this one has no path, so it cannot have content.")
    return await root(call)
