"""Conditional puts: exactly one writer of a key wins, even when responses are lost.

Each put has a unique mark in the object's metadata. So a read shows which put won, whatever the content. The client
sends each request once, and this module repeats it. A repeated conditional put may find its own first attempt, and only
the mark distinguishes that from a loss.

Before the first put, this module tests the store: exactly one of two concurrent puts must win, and later puts must
fail. It refuses a store that ignores the condition.
"""

from __future__ import annotations

import asyncio
from typing import Literal

from lakebed_engine.stores.objects.cloud.client import Client
from lakebed_engine.stores.objects.cloud.errors import Fault, fault_of, store_error
from lakebed_engine.stores.objects.cloud.keys import PROBE
from lakebed_engine.vocabulary.errors import BlobExists, OutcomeUnknownError, StoreError, StoreUnavailableError
from lakebed_engine.vocabulary.ports import Clock, Ids
from lakebed_engine.vocabulary.streams import finished

MARK = "lakebedput"
"""The metadata key of the mark of a put. Azure allows only letters."""

_ROUNDS = 4
"""Pairs of racing puts in the test. Each pair has its own name: more puts of one name take seconds on SeaweedFS."""

_FIRST_PAUSE = 0.05
_LONGEST_PAUSE = 2.0

_PHANTOMS = 4
"""How often a store may report an absent key as taken. A delete in the time between can cause this once or twice."""

_TAKEN = Fault(409, "", False)
"""The fault for `taken`: nothing was done, and a retry may succeed."""

Outcome = Literal["won", "taken"]
Holder = Literal["mine", "another", "nobody", "unread"]


class Creator:
    """Put-if-absent for one namespace."""

    def __init__(self, client: Client, clock: Clock, ids: Ids) -> None:
        self._client = client
        self._clock = clock
        self._ids = ids
        self._tested = False
        self._refusal = ""

    async def create(self, key: str, name: str, data: bytes) -> None:
        """Put `data` under an object name. Raises BlobExists, or OutcomeUnknownError when the outcome is unknown."""
        await self.test()
        mark = self._ids.new()
        unsure, phantoms = False, 0
        deadline, pause = self._clock.monotonic() + self._client.options.retry_seconds, _FIRST_PAUSE
        while (outcome := await self._attempt(name, data, mark)) != "won":
            fault = fault_of(outcome) if isinstance(outcome, Exception) else _TAKEN
            unsure = unsure or not fault.certain
            holder = await self._holder(name, mark, data) if unsure or fault.status == _TAKEN.status else "nobody"
            if holder == "mine":
                return
            if holder == "another" or (holder == "unread" and outcome == "taken" and not unsure):
                raise BlobExists(f"{self._client.place.uri}/{key} exists already; nothing was written")
            phantoms += outcome == "taken"
            late = self._clock.monotonic() + pause > deadline or phantoms == _PHANTOMS
            if late or not fault.passing:
                raise self._failure(outcome, key, unsure)
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)

    async def test(self) -> None:
        """Test once that the store obeys the condition. Raises StoreUnavailableError when it does not."""
        if self._tested:
            return
        if not self._refusal:
            self._refusal = await self._race()
            self._tested = not self._refusal
        if self._refusal:
            raise StoreUnavailableError(self._refusal, public_message=self._refusal, lasting=True)

    async def _race(self) -> str:
        """Empty when at most one of the racing puts won, otherwise the reason to refuse the store."""
        place = self._client.place
        deadline, pause = self._clock.monotonic() + self._client.options.retry_seconds, _FIRST_PAUSE
        while True:
            rounds = await asyncio.gather(*(self._round() for _ in range(_ROUNDS)))
            if any(outcomes.count("won") > 1 for outcomes in rounds):
                return (
                    f"cannot write to {place.uri}: the store ignores `If-None-Match: *`, so two writers of one key "
                    "would both succeed; use a store with atomic conditional puts"
                )
            errors = [one for outcomes in rounds for one in outcomes if isinstance(one, BaseException)]
            errors = [one for one in errors if not fault_of(one).conflict]
            if not errors:
                return ""
            if not fault_of(errors[0]).passing or self._clock.monotonic() + pause > deadline:
                raise store_error(errors[0], "write", place, PROBE)
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)

    async def _round(self) -> list[Outcome | Exception]:
        name = f"{self._client.place.prefix}{PROBE}{self._ids.new()}"
        first, second = self._attempt(name, b"1", "1"), self._attempt(name, b"2", "2")
        outcomes = [*await asyncio.gather(first, second), await self._attempt(name, b"3", "3")]
        if "won" in outcomes:
            await self._forget(name)
        return outcomes

    async def _attempt(self, name: str, data: bytes, mark: str) -> Outcome | Exception:
        from obstore import put_async
        from obstore.exceptions import AlreadyExistsError, BaseError, PreconditionError

        put = put_async(self._client.once, name, data, mode="create", attributes={MARK: mark}, use_multipart=False)
        try:
            await finished(asyncio.ensure_future(put))
        except (AlreadyExistsError, PreconditionError) as error:
            return error if fault_of(error).conflict else "taken"
        except (BaseError, FileNotFoundError) as error:
            return error
        return "won"

    async def _holder(self, name: str, mark: str, data: bytes) -> Holder:
        """Which put owns the name. `unread` when that is unknown: no response, or our content without a mark."""
        from obstore import get_async
        from obstore.exceptions import BaseError

        try:
            found = await get_async(self._client.store, name)
            theirs = found.attributes.get(MARK)
            content = bytes(await found.bytes_async()) if theirs is None else b""
        except FileNotFoundError:
            return "nobody"
        except BaseError:
            return "unread"
        if theirs is None:  # written without a condition, or to a store that drops metadata
            return "unread" if content == data else "another"
        return "mine" if theirs == mark else "another"

    async def _forget(self, name: str) -> None:
        from obstore import delete_async
        from obstore.exceptions import BaseError

        try:
            await delete_async(self._client.store, name)
        except (BaseError, FileNotFoundError):
            return  # a few bytes remain, which no listing shows

    def _failure(self, outcome: Outcome | Exception, key: str, unsure: bool) -> StoreError:
        where = f"{self._client.place.uri}/{key}"
        if unsure:
            return OutcomeUnknownError(
                f"the answer to a write of {where} was lost, and the store does not report the outcome; read it back "
                "before you try again"
            )
        if isinstance(outcome, Exception):
            return store_error(outcome, "write", self._client.place, key)
        text = (
            f"cannot write {where}: the store reports that the key exists, but there is no object; some stores "
            "(SeaweedFS) do so if longer keys begin with it: choose another key"
        )
        return StoreUnavailableError(text, public_message=text, lasting=True)
