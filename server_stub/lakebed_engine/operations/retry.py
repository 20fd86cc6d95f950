"""Repeats an operation whose compare-and-swap has lost a race, such as a change of a repository's record.

A pass over all repositories continues after the failure of one (`Failures`).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from lakebed_engine.operations.context import Context, Repo, decode_repository, encode
from lakebed_engine.operations.keys import REPOSITORIES, text_key
from lakebed_engine.stores.kv.base import Batch, Check, Put
from lakebed_engine.vocabulary.errors import (
    OutcomeUnknownError,
    PredicateFailed,
    RepositoryNotFoundError,
    StoreError,
    TooManyAttemptsError,
)
from lakebed_engine.vocabulary.records import Repository

T = TypeVar("T")

ATTEMPTS = 60
"""Attempts of an optimistic operation before it gives up."""


async def retry_on_conflict(what: str, attempt: Callable[[], Awaitable[T | None]], attempts: int = ATTEMPTS) -> T:
    """The first result of `attempt` that is not None. None means: a record has changed, so read it again.

    `what` names the record in the error. Raises TooManyAttemptsError, and the errors of `attempt`.
    """
    for _ in range(attempts):
        result = await attempt()
        if result is not None:
            return result
    raise TooManyAttemptsError(f"{what} changed during each of {attempts} attempts: nothing was done, try again later")


async def change_record(
    ctx: Context,
    repo: Repo,
    change: Callable[[Repository], Repository],
    same: Callable[[Repository, Repository], bool],
    puts: Callable[[Repository, Repository], Sequence[Put]],
) -> None:
    """Change the record of a repository by compare-and-swap. This also works on a read-only repository.

    `change` returns the changed record, or raises. `same`: whether two records agree in the fields that `change`
    changes. `puts` returns further rows of the batch, from the records before and after.

    Raises RepositoryNotFoundError, and OutcomeUnknownError when the store did not say whether the batch was applied.
    """
    key = text_key(repo.name)
    lost: OutcomeUnknownError | None = None
    wanted = repo.record

    async def attempt() -> bool | None:
        nonlocal lost, wanted
        found = await ctx.kv.get(REPOSITORIES, key)
        record = None if found is None else decode_repository(found.value)
        if found is None or record is None or record.uid != repo.record.uid:
            raise lost or RepositoryNotFoundError(
                f"repository {repo.name!r} not found: it was deleted during the request"
            )
        if lost is None:
            wanted = change(record)
        if same(record, wanted):
            return True
        if lost is not None:  # the lost batch may be applied later, or was applied and changed since: unknown
            raise lost
        try:
            await ctx.kv.apply(
                Batch(
                    checks=[Check(REPOSITORIES, key, found.version)],
                    puts=[Put(REPOSITORIES, key, encode(wanted)), *puts(record, wanted)],
                )
            )
        except PredicateFailed:
            return None
        except OutcomeUnknownError as error:
            lost = error
            return None
        return True

    await retry_on_conflict(f"repository {repo.name!r}", attempt)


class Failures:
    """Collects the store errors of single repositories, so that a pass continues with the others."""

    def __init__(self) -> None:
        self._first: StoreError | None = None

    @contextmanager
    def kept(self) -> Iterator[list[StoreError]]:
        """Keep the StoreError of this block. Yields a list, which then contains it."""
        here: list[StoreError] = []
        try:
            yield here
        except StoreError as error:
            here.append(error)
            self._first = self._first or error

    def raise_first(self) -> None:
        """Raise the first error of the pass, if there was one."""
        if self._first is not None:
            raise self._first
