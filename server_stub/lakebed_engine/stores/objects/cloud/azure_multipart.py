"""Multipart uploads to `az://`: each block is put to the presigned URL of the blob, then a block list makes the blob.

obstore signs the URL but has no call for block lists, so this module puts the list with the standard library. Azure
keeps no uploads, only blocks. So this module makes the upload's id, which also contains the content type of the blob.
Azure deletes unlisted blocks after a week, or when the blob is written.
"""

from __future__ import annotations

import base64
import http.client
import re
import urllib.error
import urllib.request
from collections.abc import Awaitable, Callable, Sequence
from urllib.parse import quote

from lakebed_engine.stores.objects.cloud.errors import Fault, error_of
from lakebed_engine.stores.objects.cloud.keys import Place
from lakebed_engine.stores.objects.presign import Part, SignedRequest, ToWrite
from lakebed_engine.stores.objects.threads import Threads
from lakebed_engine.vocabulary.errors import BlobNotFound, InvalidRequestError, OutcomeUnknownError
from lakebed_engine.vocabulary.ports import Ids

Sign = Callable[[str, int], Awaitable[str]]
"""Signs a PUT URL of a blob. Arguments: key and seconds."""

_UPLOAD = re.compile(r"([0-9a-f]{32})\.([A-Za-z0-9_-]*)")
_CODE = re.compile(rb"<Code>(\w+)</Code>")
_SECONDS = 300
_OCTETS = "application/octet-stream"


class AzureParts:
    """The uploads of one namespace."""

    def __init__(self, place: Place, sign: Sign, threads: Threads, ids: Ids, silence: float) -> None:
        """`silence`: the largest number of seconds without data from the store."""
        self._place = place
        self._sign = sign
        self._threads = threads
        self._ids = ids
        self._silence = silence

    async def create(self, target: ToWrite) -> str:
        """Make a new id. Sends no request."""
        kind = base64.urlsafe_b64encode(target.content_type.encode()).decode().rstrip("=")
        return f"{self._ids.new()}.{kind}"

    async def sign(self, key: str, upload: str, numbers: Sequence[int], seconds: int) -> Sequence[SignedRequest]:
        """One PUT for each block. All share the signature of the blob."""
        name, _ = self._opened(key, upload)
        url = await self._sign(key, seconds)
        return [
            SignedRequest(f"{url}&comp=block&blockid={quote(_block(name, number), safe='')}", {}) for number in numbers
        ]

    async def complete(self, key: str, upload: str, parts: Sequence[Part]) -> None:
        """Put the block list if the blob does not exist. One attempt. Raises BlobNotFound, InvalidRequestError."""
        name, kind = self._opened(key, upload)
        url = await self._sign(key, _SECONDS)
        blocks = "".join(f"<Latest>{_block(name, part.number)}</Latest>" for part in parts)
        body = f'<?xml version="1.0" encoding="utf-8"?><BlockList>{blocks}</BlockList>'.encode()
        headers = {"If-None-Match": "*", "Content-Type": "application/xml", "x-ms-blob-content-type": kind or _OCTETS}
        request = urllib.request.Request(f"{url}&comp=blocklist", body, headers, method="PUT")  # noqa: S310 - our own URL
        await self._threads.run(self._put, key, request)

    async def abort(self, key: str, upload: str) -> None:
        """Only checks the id: Azure deletes the blocks itself."""
        self._opened(key, upload)

    def _put(self, key: str, request: urllib.request.Request) -> None:
        try:
            with urllib.request.urlopen(request, timeout=self._silence):  # noqa: S310
                return
        except urllib.error.HTTPError as error:
            with error:
                found = _CODE.search(error.read(2000))
            fault = Fault(error.code, found[1].decode() if found else "", False)
        except (OSError, http.client.HTTPException):
            fault = Fault(0, "", False)
        if fault.status in (409, 412):
            return  # completed before: the caller reads the key
        if not fault.certain:
            raise OutcomeUnknownError(
                f"the answer to the completion of the upload to {self._place.uri}/{key} was lost; check whether the "
                "object exists"
            )
        if fault.status == 400:
            raise InvalidRequestError(
                f"cannot complete the upload to {self._place.uri}/{key}: the store refused its parts ({fault.code}): "
                "write them again"
            )
        raise error_of(fault, "complete the upload to", self._place, key)

    def _opened(self, key: str, upload: str) -> tuple[str, str]:
        """The name of an upload's blocks, and the content type of the blob."""
        found = _UPLOAD.fullmatch(upload)
        try:
            kind = base64.urlsafe_b64decode(found[2] + "=" * (-len(found[2]) % 4)).decode("ascii") if found else None
        except ValueError:
            kind = None
        if found is None or kind is None or not (kind.isprintable() or not kind):
            raise BlobNotFound(f"there is no such upload to {self._place.uri}/{key}")
        return found[1], kind


def _block(name: str, number: int) -> str:
    """The id of a block. All ids of a blob have the same length."""
    return base64.b64encode(f"{name}{number:05}".encode()).decode()
