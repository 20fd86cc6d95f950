"""Protection rules: patterns of branches that take no direct changes (`facts/rest_api.md` 3.4).

The rules are in the repository's record, which every operation reads anyway. So a rule applies immediately and costs
no further read. `context.open_repo` refuses the forbidden changes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from lakebed_engine.operations.context import Context, decode_repository, encode, open_repo
from lakebed_engine.operations.events.rows import event_rows
from lakebed_engine.operations.keys import REPOSITORIES, text_key
from lakebed_engine.operations.retry import retry_on_conflict
from lakebed_engine.operations.validation import check_text
from lakebed_engine.stores.kv.base import Batch, Check, Put
from lakebed_engine.vocabulary.errors import (
    InvalidRequestError,
    OutcomeUnknownError,
    PreconditionFailedError,
    PredicateFailed,
    RepositoryNotFoundError,
    RuleNotFoundError,
)
from lakebed_engine.vocabulary.events import NewEvent
from lakebed_engine.vocabulary.records import etag_of_rules

MOST_RULES = 1000
MAX_PATTERN = 256

Rules = tuple[str, ...]


async def get_rules(ctx: Context, repo_name: str) -> Rules:
    """The patterns, in the order in which they were set."""
    return (await open_repo(ctx, repo_name)).record.protection


async def set_rules(ctx: Context, repo_name: str, patterns: Sequence[str], *, if_match: str | None = None) -> None:
    """Replace all rules. `if_match`: only if the current rules have this entity tag, `""` for no rules.

    Raises PreconditionFailedError.
    """
    _check(patterns)
    new = tuple(dict.fromkeys(patterns))

    def change(now: Rules) -> Rules:
        if if_match is not None and etag_of_rules(now) != if_match:
            raise PreconditionFailedError(
                f"protection rules of {repo_name!r}: they have changed (If-Match): nothing was set, read them again"
            )
        return new

    await _change(ctx, repo_name, change)


async def add_rule(ctx: Context, repo_name: str, pattern: str) -> None:
    """Add one pattern. Does nothing when it exists already."""
    _check([pattern])

    def change(now: Rules) -> Rules:
        new = now if pattern in now else (*now, pattern)
        _check(new)
        return new

    await _change(ctx, repo_name, change)


async def delete_rule(ctx: Context, repo_name: str, pattern: str) -> None:
    """Remove one pattern. Raises RuleNotFoundError."""

    def change(now: Rules) -> Rules:
        if pattern not in now:
            raise RuleNotFoundError(f"protection rule {pattern[:80]!r} not found in repository {repo_name!r}")
        return tuple(one for one in now if one != pattern)

    await _change(ctx, repo_name, change)


def _check(patterns: Sequence[str]) -> None:
    if len(patterns) > MOST_RULES:
        raise InvalidRequestError(f"protection rules: {len(patterns)}, at most {MOST_RULES}")
    for pattern in patterns:
        check_text("protection rule", pattern)
        if not 1 <= len(pattern) <= MAX_PATTERN:
            raise InvalidRequestError(f"protection rule {pattern[:40]!r}: must have 1 to {MAX_PATTERN} characters")
        # refuse a rule that seems to protect a branch but matches nothing
        strange = next((sign for sign in "{}\\^" if sign in pattern), None)
        if strange is not None:
            raise InvalidRequestError(
                f"protection rule {pattern[:80]!r}: {strange!r} has no meaning; use *, ?, [abc] and [!abc]"
            )


async def _change(ctx: Context, repo_name: str, change: Callable[[Rules], Rules]) -> None:
    """Change the rules by compare-and-swap of the repository's record. This also works on a read-only repository."""
    key = text_key(repo_name)
    repo = await open_repo(ctx, repo_name)
    uid = repo.record.uid
    lost: OutcomeUnknownError | None = None
    wanted: Rules = ()

    async def attempt() -> bool | None:
        nonlocal lost, wanted
        found = await ctx.kv.get(REPOSITORIES, key)
        if found is None or decode_repository(found.value).uid != uid:
            raise lost or RepositoryNotFoundError(
                f"repository {repo_name!r} not found: it was deleted during the request"
            )
        record = decode_repository(found.value)
        if lost is not None and record.protection == wanted:
            return True
        if lost is not None:  # the lost batch may be applied later, or was applied and changed since: unknown
            raise lost
        wanted = change(record.protection)
        if wanted == record.protection:
            return True
        new = encode(msgspec.structs.replace(record, protection=wanted))
        event = NewEvent(type="protection.changed", data={"before": record.protection, "after": wanted})
        try:
            await ctx.kv.apply(
                Batch(
                    checks=[Check(REPOSITORIES, key, found.version)],
                    puts=[Put(REPOSITORIES, key, new), *event_rows(ctx, repo, event)],
                )
            )
        except PredicateFailed:
            return None
        except OutcomeUnknownError as error:
            lost = error
            return None
        return True

    await retry_on_conflict(f"repository {repo_name!r}", attempt)
