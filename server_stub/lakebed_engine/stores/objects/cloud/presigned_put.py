"""One PUT of a stream to a presigned URL, with bounded memory.

It uses the standard library in threads: one thread sends while another one hashes. The last batch is sent only after
the stream has ended without an error, because a store that has received all announced bytes keeps the part.
"""

from __future__ import annotations

import hashlib
import http.client
import re
from collections.abc import AsyncIterable, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from lakebed_engine.stores.objects.cloud.errors import Fault
from lakebed_engine.stores.objects.local.stream import Batches
from lakebed_engine.stores.objects.multipart_objects import exactly
from lakebed_engine.stores.objects.presign import SignedRequest
from lakebed_engine.stores.objects.threads import SerialWorker, Threads

_WAITING = 2
"""Batches of a MiB that may wait for the sender, and the same number for the hash."""

_CODE = re.compile(rb"<Code>(\w+)</Code>")
_ERROR_BYTES = 2000
"""How many bytes of a response's body to read for the store's error code."""


@dataclass(frozen=True, slots=True)
class Sent:
    """The result of a PUT: the failure or None, the response's headers in lower case, and the hex MD5 of the data."""

    fault: Fault | None
    headers: Mapping[str, str]
    md5: str


async def send(
    request: SignedRequest, size: int, chunks: AsyncIterable[bytes], threads: Threads, silence: float
) -> Sent:
    """Send the stream once. Raises the errors of `chunks`, and InvalidRequestError when it does not have `size` bytes.

    `silence`: the largest number of seconds without data from the store.
    """
    put = _Put(request, size, silence)
    workers = [SerialWorker(threads, put.send, _WAITING), SerialWorker(threads, put.digest, _WAITING)]
    batches = Batches(exactly(size, chunks))
    try:
        held = await batches.next()
        while held:
            following = await batches.next()
            for worker in workers:
                await worker.put(held)
            held = following
        for worker in workers:
            await worker.drain()
        fault, headers = await threads.run(put.answer)
    except BaseException:
        for worker in workers:
            await worker.stop()
        put.close()
        raise
    return Sent(fault, headers, put.hash.hexdigest())


class _Put:
    """The connection. The methods block. One thread at a time sends or waits for the response, another one hashes."""

    def __init__(self, request: SignedRequest, size: int, silence: float) -> None:
        self.hash = hashlib.md5(usedforsecurity=False)
        where = urlsplit(request.url)
        kind = http.client.HTTPSConnection if where.scheme == "https" else http.client.HTTPConnection
        self._connection = kind(where.netloc, timeout=silence)
        self._target = f"{where.path}?{where.query}"
        self._headers = {**request.headers, "Content-Length": str(size)}
        self._begun = False
        self._broken: Fault | None = None

    def digest(self, batch: list[bytes]) -> None:
        """Hash a batch."""
        for chunk in batch:
            self.hash.update(chunk)

    def send(self, batch: list[bytes]) -> None:
        """Send a batch. Keeps an error for `answer`: a store that refuses sends its reason, then closes."""
        try:
            self._begin()
            if self._broken is None:
                for chunk in batch:
                    self._connection.send(chunk)
        except (OSError, http.client.HTTPException):
            self._broken = self._broken or Fault(0, "", False)

    def answer(self) -> tuple[Fault | None, Mapping[str, str]]:
        """Read the response of the store."""
        try:
            self._begin()
            if self._broken is not None and self._broken.unreached:
                return self._broken, {}
            answer = self._connection.getresponse()
            found = _CODE.search(answer.read(_ERROR_BYTES))
        except (OSError, http.client.HTTPException):
            return self._broken or Fault(0, "", False), {}
        finally:
            self._connection.close()
        headers = {name.lower(): value for name, value in answer.getheaders()}
        if answer.status // 100 == 2:
            return self._broken, headers  # after a failed send, the response is for a part of the request
        return Fault(answer.status, found[1].decode() if found else "", False), headers

    def close(self) -> None:
        """Close the connection. The store keeps nothing of an incomplete part."""
        self._connection.close()

    def _begin(self) -> None:
        if self._begun:
            return
        self._begun = True
        try:
            self._connection.connect()
        except OSError:
            self._broken = Fault(0, "", True)
            return
        self._connection.putrequest("PUT", self._target, skip_accept_encoding=True)
        for name, value in self._headers.items():
            self._connection.putheader(name, value)
        self._connection.endheaders()
