"""Uploads in parts to `az://`: blocks, each put to the signed address of the blob, then a list of them that makes it.

obstore signs the address and has no call for block lists, so the list is put with the standard library. Azure keeps no
uploads, only blocks: an upload's id is ours, and says what type the blob is to have. Blocks that no list names are gone
after a week, or when the blob is written.
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
from lakebed_engine.stores.objects.local.threads import Threads
from lakebed_engine.stores.objects.presign import Part, SignedRequest, ToWrite
from lakebed_engine.vocabulary.errors import BlobNotFound, InvalidRequestError, OutcomeUnknownError
from lakebed_engine.vocabulary.ports import Ids

Sign = Callable[[str, int], Awaitable[str]]
"""A key and seconds: an address of the blob that takes PUTs."""

_UPLOAD = re.compile(r"([0-9a-f]{32})\.([A-Za-z0-9_-]*)")
_CODE = re.compile(rb"<Code>(\w+)</Code>")
_SECONDS = 300
_OCTETS = "application/octet-stream"


class AzureParts:
    """For one namespace."""

    def __init__(self, place: Place, sign: Sign, threads: Threads, ids: Ids, silence: float) -> None:
        """`silence`: seconds for which the store may say nothing."""
        self._place = place
        self._sign = sign
        self._threads = threads
        self._ids = ids
        self._silence = silence

    async def create(self, target: ToWrite) -> str:
        """An id that nobody has had. Asks the store nothing."""
        kind = base64.urlsafe_b64encode(target.content_type.encode()).decode().rstrip("=")
        return f"{self._ids.new()}.{kind}"

    async def sign(self, key: str, upload: str, numbers: Sequence[int], seconds: int) -> Sequence[SignedRequest]:
        """One PUT for each block; all share the signature of the blob."""
        name, _ = self._opened(key, upload)
        url = await self._sign(key, seconds)
        return [
            SignedRequest(f"{url}&comp=block&blockid={quote(_block(name, number), safe='')}", {}) for number in numbers
        ]

    async def complete(self, key: str, upload: str, parts: Sequence[Part]) -> None:
        """Put the list, where no blob is yet. One attempt. Raises BlobNotFound, InvalidRequestError."""
        name, kind = self._opened(key, upload)
        url = await self._sign(key, _SECONDS)
        blocks = "".join(f"<Latest>{_block(name, part.number)}</Latest>" for part in parts)
        body = f'<?xml version="1.0" encoding="utf-8"?><BlockList>{blocks}</BlockList>'.encode()
        headers = {"If-None-Match": "*", "Content-Type": "application/xml", "x-ms-blob-content-type": kind or _OCTETS}
        request = urllib.request.Request(f"{url}&comp=blocklist", body, headers, method="PUT")  # noqa: S310 - our own URL
        await self._threads.run(self._put, key, request)

    async def abort(self, key: str, upload: str) -> None:
        """Nothing to do: the blocks go by themselves."""
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
            return  # it was completed before: the caller looks at what is there
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
        """The name that an upload's blocks have, and the type of the blob."""
        found = _UPLOAD.fullmatch(upload)
        try:
            kind = base64.urlsafe_b64decode(found[2] + "=" * (-len(found[2]) % 4)).decode("ascii") if found else None
        except ValueError:
            kind = None
        if found is None or kind is None or not (kind.isprintable() or not kind):
            raise BlobNotFound(f"there is no such upload to {self._place.uri}/{key}")
        return found[1], kind


def _block(name: str, number: int) -> str:
    """The id of a block; all of a blob have the same length."""
    return base64.b64encode(f"{name}{number:05}".encode()).decode()
