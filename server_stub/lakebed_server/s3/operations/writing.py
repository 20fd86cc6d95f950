"""PutObject, DeleteObject and DeleteObjects.

The engine tests the conditions of a write, together with the write itself.
"""

from __future__ import annotations

from typing import Final, NamedTuple
from xml.etree.ElementTree import Element

from lakebed_auth import Need, arn
from lakebed_auth.actions import Fs
from lakebed_engine.vocabulary.checksums import WHOLE, ObjectChecksum
from lakebed_engine.vocabulary.errors import EngineError
from lakebed_engine.vocabulary.records import Entry
from lakebed_engine.vocabulary.requests import Held, UploadRequest

from lakebed_server.http.authorization import note, plain_branch
from lakebed_server.http.responses import Reply, empty
from lakebed_server.s3.operations import reading
from lakebed_server.s3.operations.reading import refuse_versions
from lakebed_server.s3.requests import addressing, conditions, headers, xml_parse
from lakebed_server.s3.requests.call import S3Call
from lakebed_server.s3.requests.checksums import as_headers
from lakebed_server.s3.responses import xml
from lakebed_server.s3.responses.errors import CODES, as_s3
from lakebed_server.s3.responses.xml import tag
from lakebed_server.s3.vocabulary import S3Error, not_implemented
from lakebed_server.vocabulary import RequestError

MOST_KEYS: Final = 1000
_CONDITIONS: Final = ("ETag", "Size", "LastModifiedTime")
_KNOWN: Final = frozenset(("Key", "VersionId", *_CONDITIONS))


class Deletion(NamedTuple):
    """A key to delete, and what it must hold."""

    key: str
    path: str
    expected: Held | None


async def put_object(call: S3Call) -> Reply:
    """PutObject."""
    if not call.path:
        return _written(call, await reading.write_root(call))
    content_type, metadata = headers.stored(call)
    wanted = conditions.of_write(call.headers)
    request = UploadRequest(path=call.path, content_type=content_type, metadata=metadata, **wanted._asdict())
    made = await call.engine.objects.upload(call.repo, call.ref, request, call.chunks(), lambda: _verified(call))
    return _written(call, made.entry)


def _verified(call: S3Call) -> ObjectChecksum | None:
    """The checksum that the client sent, after the content was read."""
    return next((ObjectChecksum(name, WHOLE, value) for name, value in call.payload.checksums.items()), None)


def _written(call: S3Call, entry: Entry) -> Reply:
    verified = _verified(call)
    sums = () if verified is None else as_headers(verified)
    return Reply(200, headers=((b"etag", f'"{entry.etag}"'.encode()), *sums))


async def delete_object(call: S3Call) -> Reply:
    """DeleteObject. Deleting an absent object is not an error. The directory of a ref cannot be deleted."""
    refuse_versions(call)
    if call.path:
        expected = conditions.of_deletion(
            call.header(b"if-match"),
            call.header(b"x-amz-if-match-size"),
            call.header(b"x-amz-if-match-last-modified-time"),
        )
        await call.engine.objects.delete(call.repo, call.ref, call.path, expected=expected)
    return empty(204)


async def delete_objects(call: S3Call) -> Reply:
    """DeleteObjects: the keys of each ref in one batch."""
    asked, quiet = await xml_parse.read(await call.whole(xml_parse.LIMIT), "Delete", _asked)
    by_ref: dict[str, list[Deletion]] = {}
    failed: dict[str, S3Error] = {}
    for key, version, expected in asked:
        if version not in (None, "", "null"):
            failed[key] = S3Error("NoSuchVersion", "Versions of objects are commits here: they are not deleted.")
            continue
        place = addressing.locate(call.bucket, key, call.config)
        if place.path:
            by_ref.setdefault(place.ref, []).append(Deletion(key, place.path, expected))
    call.base.accessed.ref = next(iter(by_ref)) if len(by_ref) == 1 else ""
    for ref, rows in by_ref.items():
        note(call.base, [row.path for row in rows])
        allowed = [row for row in rows if _may_delete(call, ref, row, failed)]
        if allowed:
            failed.update(await _delete(call, ref, allowed))
    return _deleted(call, [key for key, _, _ in asked], failed, quiet=quiet)


def _may_delete(call: S3Call, ref: str, row: Deletion, failed: dict[str, S3Error]) -> bool:
    """Whether the user may delete this key. If not, it is among the failed ones."""
    rights = call.base.rights
    try:
        if rights is not None:
            rights.at(plain_branch(ref)).require(Need(Fs.DELETE_OBJECT, arn.object_(call.repo, row.path)))
    except RequestError as error:
        failed[row.key] = S3Error("AccessDenied", error.message)
        call.base.accessed.refused.add(row.path)
        return False
    return True


def _asked(document: Element) -> tuple[list[tuple[str, str | None, Held | None]], bool]:
    """The key, the version and the conditions of each object, and whether to answer only failures."""
    found = xml_parse.children(document, "Object")
    if not 1 <= len(found) <= MOST_KEYS:
        raise xml_parse.malformed(f"from 1 to {MOST_KEYS} keys, got {len(found)}")
    asked = []
    for element in found:
        key = xml_parse.text_of(element, "Key")
        if not key:
            raise xml_parse.malformed("an Object without a Key")
        unknown = {xml_parse.name_of(child) for child in element} - _KNOWN
        if unknown:
            raise not_implemented(f"{min(unknown)[:40]} of an Object to delete is not supported: leave it out.")
        etag, size, time = (xml_parse.text_of(element, name) or "" for name in _CONDITIONS)
        asked.append((key, xml_parse.text_of(element, "VersionId"), conditions.of_deletion(etag, size, time)))
    return asked, xml_parse.text_of(document, "Quiet") == "true"


async def _delete(call: S3Call, ref: str, rows: list[Deletion]) -> dict[str, S3Error]:
    """Delete keys of one ref. Returns the failures by key. A failure without a key fails the whole request."""
    failed: dict[str, S3Error] = {}
    at_once = [row for row in rows if row.expected is None]
    by_path = {row.path: row.key for row in rows}
    try:
        if at_once:
            for one in await call.engine.objects.delete_many(call.repo, ref, [row.path for row in at_once]):
                failed[by_path[one.path]] = S3Error(CODES[one.kind], one.message)
    except EngineError as error:
        failed.update(dict.fromkeys((row.key for row in at_once), as_s3(error, call.base)))
    for row in rows:
        if row.expected is not None:
            try:
                await call.engine.objects.delete(call.repo, ref, row.path, expected=row.expected)
            except EngineError as error:
                failed[row.key] = as_s3(error, call.base)
    return failed


def _deleted(call: S3Call, keys: list[str], failed: dict[str, S3Error], *, quiet: bool) -> Reply:
    rows = []
    for key in keys:
        error = failed.get(key)
        if error is not None:
            rows.append(f"<Error>{tag('Key', key)}{tag('Code', error.code)}{tag('Message', error.message)}</Error>")
        elif not quiet:
            rows.append(f"<Deleted>{tag('Key', key)}</Deleted>")
    return xml.xml("DeleteResult", "".join(rows))
