"""ListObjects, both versions, and ListObjectVersions."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from typing import Final
from urllib.parse import quote

from lakebed_engine.vocabulary.checksums import CHECKSUM, checksum_of
from lakebed_engine.vocabulary.records import Entry, Listed

from lakebed_server.http.responses import Reply
from lakebed_server.s3.operations.key_listing import keys_of
from lakebed_server.s3.requests.call import S3Call
from lakebed_server.s3.responses import xml
from lakebed_server.s3.responses.xml import ILLEGAL, OWNER, iso_date, tag, text
from lakebed_server.s3.vocabulary import invalid_argument

MOST: Final = 1000
_NEEDS_NO_QUOTES = re.compile(r"[A-Za-z0-9/_.~-]*")

Encode = Callable[[str], str]


async def list_objects(call: S3Call) -> Reply:
    """ListObjects, the first version."""
    encode = encoding_of(call)
    marker, delimiter = call.query.get("marker", ""), call.query.get("delimiter", "")
    rows, more = await _rows(call, marker)
    inner = _common(call, encode, more=more) + tag("Marker", encode(marker))
    if more and delimiter:
        inner += tag("NextMarker", encode(rows[-1].path))
    return xml.xml("ListBucketResult", inner + _listed(rows, encode, OWNER))


async def list_objects_v2(call: S3Call) -> Reply:
    """ListObjectsV2."""
    encode = encoding_of(call)
    token, start = call.query.get("continuation-token"), call.query.get("start-after", "")
    rows, more = await _rows(call, start if token is None else _read_token(token))
    inner = _common(call, encode, more=more) + f"<KeyCount>{len(rows)}</KeyCount>"
    if token is not None:
        inner += tag("ContinuationToken", token)
    if more:
        inner += tag("NextContinuationToken", _token(rows[-1].path))
    if start:
        inner += tag("StartAfter", encode(start))
    owner = OWNER if call.query.get("fetch-owner") == "true" else ""
    return xml.xml("ListBucketResult", inner + _listed(rows, encode, owner))


async def list_object_versions(call: S3Call) -> Reply:
    """ListObjectVersions: the only version of each object, as in a bucket without versioning."""
    encode = encoding_of(call)
    marker = call.query.get("key-marker", "")
    rows, more = await _rows(call, marker)
    inner = _common(call, encode, more=more) + tag("KeyMarker", encode(marker)) + "<VersionIdMarker/>"
    if more:
        inner += tag("NextKeyMarker", encode(rows[-1].path)) + "<NextVersionIdMarker>null</NextVersionIdMarker>"
    rest = f"<VersionId>null</VersionId><IsLatest>true</IsLatest>{OWNER}"
    return xml.xml("ListVersionsResult", inner + _listed(rows, encode, rest, "Version"))


async def _rows(call: S3Call, after: str) -> tuple[list[Listed], bool]:
    amount = min(call.number("max-keys", MOST), MOST)
    if not amount:
        await call.engine.repositories.get(call.repo)
        return [], False
    return await keys_of(
        call, call.query.get("prefix", ""), after, amount=amount, delimiter=call.query.get("delimiter", "")
    )


def _common(call: S3Call, encode: Encode, *, more: bool) -> str:
    query = call.query
    parts = [
        tag("Name", call.bucket),
        tag("Prefix", encode(query.get("prefix", ""))),
        f"<MaxKeys>{call.number('max-keys', MOST)}</MaxKeys>",
        f"<IsTruncated>{'true' if more else 'false'}</IsTruncated>",
    ]
    if query.get("delimiter"):
        parts.append(tag("Delimiter", encode(query["delimiter"])))
    if encode is _quoted:
        parts.append("<EncodingType>url</EncodingType>")
    return "".join(parts)


def _listed(rows: list[Listed], encode: Encode, rest: str, name: str = "Contents") -> str:
    objects: list[str] = []
    prefixes: list[str] = []
    for row in rows:
        key, entry = text(encode(row.path)), row.entry
        if entry is None:
            prefixes.append(f"<CommonPrefixes><Prefix>{key}</Prefix></CommonPrefixes>")
        else:
            objects.append(f"<{name}><Key>{key}</Key>{_object(entry)}{rest}</{name}>")
    return "".join(objects) + "".join(prefixes)


def _object(entry: Entry) -> str:
    kind = ""
    if CHECKSUM in entry.metadata and (found := checksum_of(entry.metadata)) is not None:
        kind = (
            f"<ChecksumAlgorithm>{found.algorithm.upper()}</ChecksumAlgorithm><ChecksumType>{found.kind}</ChecksumType>"
        )
    return (
        f"<LastModified>{iso_date(entry.mtime)}</LastModified><ETag>&quot;{text(entry.etag)}&quot;</ETag>{kind}"
        f"<Size>{entry.size}</Size><StorageClass>STANDARD</StorageClass>"
    )


def encoding_of(call: S3Call) -> Encode:
    """The encoding of names, by `encoding-type`. Raises S3Error: InvalidArgument."""
    kind = call.query.get("encoding-type")
    if kind == "url":
        return _quoted
    if kind is not None:
        raise invalid_argument("Invalid Encoding Method specified in Request")
    return _plain


def _quoted(value: str) -> str:
    return value if _NEEDS_NO_QUOTES.fullmatch(value) is not None else quote(value, safe="/")


def _plain(value: str) -> str:
    """A name without encoding. Refuses a name that XML cannot hold, because the client would read another name."""
    if ILLEGAL.search(value) is not None:
        raise invalid_argument(
            "This listing has a key with characters that XML cannot represent: request it with encoding-type=url."
        )
    return value


def _token(key: str) -> str:
    return base64.urlsafe_b64encode(key.encode()).decode("ascii")


def _read_token(token: str) -> str:
    try:
        return base64.b64decode(token.encode(), altchars=b"-_", validate=True).decode()
    except (binascii.Error, ValueError):
        raise invalid_argument("The continuation token provided is incorrect") from None
