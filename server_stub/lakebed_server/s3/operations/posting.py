"""PostObject: an upload by a form, whose answer a browser shows."""

from __future__ import annotations

from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

from lakebed_server.http.responses import Reply, empty
from lakebed_server.s3.operations.writing import put_object
from lakebed_server.s3.requests.call import S3Call
from lakebed_server.s3.responses import xml
from lakebed_server.s3.responses.xml import tag
from lakebed_server.vocabulary import Header


async def post_object(call: S3Call) -> Reply:
    """PostObject. The policy was checked with the signature (`signatures.form`)."""
    stored = await put_object(call)
    etag = dict(stored.headers)[b"etag"].decode()
    headers = (*stored.headers, (b"location", _address(call).encode()))
    redirect = _redirect(call, etag)
    if redirect:
        return Reply(303, headers=(*stored.headers, (b"location", redirect.encode())))
    status = call.form_fields.get("success_action_status", "")
    if status == "201":
        return _created(call, etag, headers)
    return empty(200 if status == "200" else 204, headers)


def _created(call: S3Call, etag: str, headers: tuple[Header, ...]) -> Reply:
    inner = "".join(
        (tag("Location", _address(call)), tag("Bucket", call.bucket), tag("Key", call.key), tag("ETag", etag))
    )
    return xml.xml("PostResponse", inner, status=201, headers=headers)


def _address(call: S3Call) -> str:
    """The object's address, as far as the client's own address of the server says it."""
    scheme = "https" if call.base.https else "http"
    host = call.base.headers.get(b"host", b"").decode("latin-1")
    return f"{scheme}://{host}/{'' if call.in_host else f'{call.bucket}/'}{quote(call.key)}"


def _redirect(call: S3Call, etag: str) -> str:
    """Where the form sends the browser, with the object in the query. Empty for none, or none that is an address."""
    wanted = call.form_fields.get("success_action_redirect") or call.form_fields.get("redirect", "")
    try:
        url = urlsplit(wanted)
    except ValueError:
        return ""
    if url.scheme not in ("http", "https") or not url.netloc or not wanted.isascii() or not wanted.isprintable():
        return ""
    query = [*parse_qsl(url.query, keep_blank_values=True), ("bucket", call.bucket), ("key", call.key), ("etag", etag)]
    return urlunsplit(url._replace(query=urlencode(query)))
