"""Pages of a listing in which a user sees only some items, and whose events a user may read."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Final, TypeVar

from lakebed_auth import Need, arn
from lakebed_auth.actions import Audit
from lakebed_engine.vocabulary.records import Page

from lakebed_server.access.rights_log import RightsLog
from lakebed_server.http.request import Call
from lakebed_server.rest.serializers import MAX_PER_PAGE
from lakebed_server.rest.server_events import MOST_REPOSITORIES
from lakebed_server.vocabulary import bad_request

T = TypeVar("T")

_READ: Final = 1000
"""Items that one read of the listing returns."""


async def filtered(
    fetch: Callable[[str, int], Awaitable[Page[T]]],
    allowed: Callable[[Sequence[T]], Sequence[bool]],
    key: Callable[[T], str],
    *,
    after: str,
    amount: int,
) -> Page[T]:
    """At most `amount` items that are allowed. `fetch` reads a page after a key, `key` is the key of an item."""
    found: list[T] = []
    has_more = True
    while has_more and len(found) <= amount:
        page = await fetch(after, _READ)
        found += [one for one, is_allowed in zip(page.items, allowed(page.items), strict=True) if is_allowed]
        has_more = page.has_more
        after = key(page.items[-1]) if page.items else after
    return Page(found[:amount], has_more=len(found) > amount)


async def audited(call: Call) -> tuple[list[str], RightsLog | None]:
    """The repositories whose events the caller may read, and the log of rights if the caller may read it too.

    Raises RequestError: 403 if the caller may read no events at all, 400 if there are too many repositories.
    """
    rights = call.rights
    if rights is not None and not rights.policies.allows_some(Audit.READ_EVENTS):
        rights.require(Need(Audit.READ_EVENTS, arn.ALL))
    names: list[str] = []
    after, has_more = "", True
    while has_more:
        page = await call.engine.repositories.list(after=after, amount=MAX_PER_PAGE)
        found = [one.name for one in page.items]
        allowed = None if rights is None else rights.allowed(Audit.READ_EVENTS, map(arn.repository, found))
        names += found if allowed is None else [name for name, may in zip(found, allowed, strict=True) if may]
        if len(names) > MOST_REPOSITORIES:
            raise bad_request(
                f"there are events of more than {MOST_REPOSITORIES:,} repositories: read those of each repository"
            )
        after, has_more = found[-1] if found else "", page.has_more
    everything = rights is None or rights.allowed(Audit.READ_EVENTS, [arn.ALL])[0]
    return names, call.services.rights_log if everything else None
