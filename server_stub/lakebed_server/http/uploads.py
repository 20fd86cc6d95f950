"""Reads upload requests: what they say about objects, and the stream of their bytes for the engine.

A body that ends early raises in the engine's stream, so nothing is staged.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterable, AsyncIterator, Mapping

import msgspec
from lakebed_auth.actions import Fs
from lakebed_engine.vocabulary.requests import Deletion, UploadRequest
from lakebed_wire import models
from lakebed_wire.operations import UploadObjectParams
from msgspec import UNSET, UnsetType

from lakebed_server.http.authorization import require_paths
from lakebed_server.http.body import decoded, unescape
from lakebed_server.http.forms import Form, Part
from lakebed_server.http.request import Call
from lakebed_server.vocabulary import bad_request, not_implemented

FORM = b"multipart/form-data"
COMMIT = "commit"
OCTETS = "application/octet-stream"

_TYPE = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?")
_PATH_LIMIT = 4096  # bytes of a percent-encoded path in a form: the engine has the true limit
_MOST_PARTS = 100  # of a form with one object: all parts but the content are skipped
_COMMIT_LIMIT = 1 << 20  # bytes of the description of a commit in a form
_META = (b"x-lakefs-meta-", b"x-lakebed-meta-")
_INTERNAL = b"x-lakefs-internal-"


async def single(call: Call, p: UploadObjectParams) -> tuple[UploadRequest, AsyncIterator[bytes]]:
    """The request of uploadObject, and the bytes. Reads a form up to the content."""
    sent_type = call.headers.get(b"content-type")
    if sent_type is not None and _is_form(sent_type):
        form = Form(call.body, sent_type)
        parts = form.parts(_MOST_PARTS)
        async for part in parts:
            if part.name == "content":
                request = _request(call, p, part.headers.get(b"content-type"))
                return request, _content(part, parts)
        raise bad_request("form: it has no part named content")
    return _request(call, p, sent_type), call.body.pieces()


Change = tuple[UploadRequest, AsyncIterable[bytes]] | Deletion


async def batch(call: Call, repository: str) -> tuple[models.PublishCreation | None, AsyncIterator[Change]]:
    """The commit of uploadObjects, if any, and its changes in the order of the form's parts."""
    sent_type = call.headers.get(b"content-type", b"")
    if not _is_form(sent_type):
        raise bad_request("body: expected Content-Type multipart/form-data")
    parts = Form(call.body, sent_type).parts()
    first = await anext(parts, None)
    if first is None or first.name != COMMIT:
        return None, _allowed(call, repository, _changes(first, parts))
    creation = _creation(await first.whole(_COMMIT_LIMIT))
    return creation, _allowed(call, repository, _changes(None, parts))


def _creation(raw: bytes) -> models.PublishCreation:
    try:
        sent = msgspec.json.decode(raw, type=dict[str, msgspec.Raw])
        unknown = sorted(sent.keys() - set(models.PublishCreation.__struct_encode_fields__))
        if unknown:
            raise bad_request(f"form: part commit has unknown members: {', '.join(map(repr, unknown[:3]))}"[:200])
        return msgspec.json.decode(raw, type=models.PublishCreation)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise bad_request(f"form: part commit: {error}") from None


async def _allowed(call: Call, repository: str, changes: AsyncIterator[Change]) -> AsyncIterator[Change]:
    """The changes, each after a check that the caller may make it. Raises RequestError (403)."""
    async for change in changes:
        if isinstance(change, Deletion):
            require_paths(call, Fs.DELETE_OBJECT, repository, (change.path,))
        else:
            require_paths(call, Fs.WRITE_OBJECT, repository, (change[0].path,))
        yield change


async def _changes(first: Part | None, parts: AsyncIterator[Part]) -> AsyncIterator[Change]:
    part = first or await anext(parts, None)
    while part is not None:
        if part.name == "delete":
            yield Deletion(_path(await part.whole(_PATH_LIMIT), "form: part delete"))
        elif part.name == "content":
            if not part.filename:
                raise bad_request("form: each part content needs its object's path as filename")
            request = UploadRequest(
                path=_path(part.filename, "form: filename"),
                content_type=_content_type(part.headers.get(b"content-type")),
                metadata=user_metadata(part.headers),
            )
            yield request, part.pieces()
        elif part.name == COMMIT:
            raise bad_request("form: one part commit at most, before all other parts")
        else:
            raise bad_request(f"form: unknown part {part.name[:80]!r}; parts are named content or delete")
        part = await anext(parts, None)


def user_metadata(headers: Mapping[bytes, bytes]) -> dict[str, str]:
    """User metadata from `X-Lakefs-Meta-KEY` and `X-Lakebed-Meta-KEY`. `X-Lakefs-Internal-KEY` is `::lakefs::KEY`."""
    found: dict[str, str] = {}
    for name, value in headers.items():
        if not name.startswith(b"x-lake"):
            continue
        for prefix in _META:
            if name.startswith(prefix) and name != prefix:
                found[decoded(name[len(prefix) :], "metadata header")] = decoded(value, "metadata header")
        if name.startswith(_INTERNAL):
            key = decoded(name[len(_INTERNAL) :], "metadata header")
            found[f"::lakefs::{key}"] = decoded(value, "metadata header")
    return found


def _request(call: Call, p: UploadObjectParams, content_type: bytes | None) -> UploadRequest:
    return UploadRequest(
        path=p.path,
        content_type=_content_type(content_type),
        metadata=user_metadata(call.headers),
        if_none_match=etag_of(p.if_none_match) == "*",
        if_match=etag_of(p.if_match),
        unlike=etag_of(p.if_none_match),
        force=bool(p.force),
    )


def etag_of(value: str | UnsetType) -> str | None:
    """The ETag that a condition names, without its quotes, or `*`. Raises RequestError for several."""
    if value is UNSET:
        return None
    if "," in value:
        raise not_implemented("a condition of a write takes one ETag or *, not a list")
    return value.removeprefix('"').removesuffix('"')


async def _content(part: Part, parts: AsyncIterator[Part]) -> AsyncIterator[bytes]:
    async for piece in part.pieces():
        yield piece
    async for _ in parts:  # read to the end: a form that is malformed later must not have staged anything
        pass


def _path(raw: bytes, what: str) -> str:
    try:
        return unescape(raw.decode(), what)
    except UnicodeDecodeError:
        raise bad_request(f"{what}: not UTF-8") from None


def _is_form(content_type: bytes) -> bool:
    return content_type.partition(b";")[0].strip().lower() == FORM


def _content_type(sent: bytes | None) -> str:
    if not sent:
        return OCTETS
    text = sent.decode("latin-1").strip()
    if _TYPE.fullmatch(text) is None:
        raise bad_request("Content-Type: expected at most 255 printable ASCII characters")
    return text
