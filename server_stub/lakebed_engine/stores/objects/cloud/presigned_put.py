"""One PUT of a stream to a signed address, with bounded memory.

By the standard library, in threads: one lane sends while another hashes. The last batch is held back until the stream
has ended well: a store that has got every byte it was told of takes the part.
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
from lakebed_engine.stores.objects.local.threads import Threads
from lakebed_engine.stores.objects.local.worker import Lane
from lakebed_engine.stores.objects.multipart_objects import exactly
from lakebed_engine.stores.objects.presign import SignedRequest

_WAITING = 2
"""Batches of a MiB that may wait to be sent, and as many for the hash."""

_CODE = re.compile(rb"<Code>(\w+)</Code>")
_ERROR_BYTES = 2000
"""Of an answer's body: where the store's code stands."""


@dataclass(frozen=True, slots=True)
class Sent:
    """What came of it: the failure, or none; the answer's headers in lower case; the hex MD5 of what was sent."""

    fault: Fault | None
    headers: Mapping[str, str]
    md5: str


async def send(
    request: SignedRequest, size: int, chunks: AsyncIterable[bytes], threads: Threads, silence: float
) -> Sent:
    """Send it once. Raises what `chunks` raises, and InvalidRequestError when they have not `size` bytes.

    `silence`: seconds for which the store may say nothing.
    """
    put = _Put(request, size, silence)
    lanes = [Lane(threads, put.send, _WAITING), Lane(threads, put.digest, _WAITING)]
    batches = Batches(exactly(size, chunks))
    try:
        held = await batches.next()
        while held:
            following = await batches.next()
            for lane in lanes:
                await lane.put(held)
            held = following
        for lane in lanes:
            await lane.drain()
        fault, headers = await threads.run(put.answer)
    except BaseException:
        for lane in lanes:
            await lane.stop()
        put.close()
        raise
    return Sent(fault, headers, put.hash.hexdigest())


class _Put:
    """The connection. The methods block; one thread at a time sends or waits for the answer, another one hashes."""

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
        """Hash."""
        for chunk in batch:
            self.hash.update(chunk)

    def send(self, batch: list[bytes]) -> None:
        """Send a batch. What breaks is kept for `answer`: a store that refuses says why, and then hangs up."""
        try:
            self._begin()
            if self._broken is None:
                for chunk in batch:
                    self._connection.send(chunk)
        except (OSError, http.client.HTTPException):
            self._broken = self._broken or Fault(0, "", False)

    def answer(self) -> tuple[Fault | None, Mapping[str, str]]:
        """What the store says."""
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
            return self._broken, headers  # an answer to half of a request is none
        return Fault(answer.status, found[1].decode() if found else "", False), headers

    def close(self) -> None:
        """Hang up: a store that has not got all of a part keeps nothing of it."""
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
