"""Protection rules: patterns of branches that refuse direct changes, and the requirements of pull requests into them.

The rules are in the repository's record, which every operation reads anyway. So a rule applies immediately and needs no
additional read. `context.open_repo` refuses the forbidden changes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from lakebed_engine.operations.context import Context, open_repo
from lakebed_engine.operations.events.rows import event_rows
from lakebed_engine.operations.retry import change_record
from lakebed_engine.operations.validation import MAX_CHECK_NAME, check_bounded, check_text
from lakebed_engine.stores.kv.base import Put
from lakebed_engine.vocabulary.errors import (
    InvalidRequestError,
    PreconditionFailedError,
    RuleNotFoundError,
)
from lakebed_engine.vocabulary.events import NewEvent
from lakebed_engine.vocabulary.records import NO_REQUIREMENTS, Repository, Rule, etag_of_rules

MOST_RULES = 1000
MAX_PATTERN = 256
MAX_APPROVALS = 20
MOST_REQUIRED_CHECKS = 50

Rules = tuple[Rule, ...]


async def get_rules(ctx: Context, repo_name: str) -> Rules:
    """The rules, in the order in which they were set."""
    return (await open_repo(ctx, repo_name)).record.rules


async def set_rules(ctx: Context, repo_name: str, rules: Sequence[Rule], *, if_match: str | None = None) -> None:
    """Replace all rules. `if_match`: only if the current rules have this entity tag, `""` for no rules.

    Raises PreconditionFailedError.
    """
    _check(rules)
    new = tuple({rule.pattern: rule for rule in rules}.values())

    def change(now: Rules) -> Rules:
        if if_match is not None and etag_of_rules(now) != if_match:
            raise PreconditionFailedError(
                f"protection rules of {repo_name!r}: they have changed (If-Match): nothing was set; read them again"
            )
        return new

    await _change(ctx, repo_name, change)


async def add_rule(ctx: Context, repo_name: str, rule: Rule) -> None:
    """Add one rule, or replace the rule with the same pattern."""
    _check([rule])

    def change(now: Rules) -> Rules:
        new = tuple({**{one.pattern: one for one in now}, rule.pattern: rule}.values())
        _check(new)
        return new

    await _change(ctx, repo_name, change)


async def delete_rule(ctx: Context, repo_name: str, pattern: str) -> None:
    """Remove the rule with a pattern. Raises RuleNotFoundError."""

    def change(now: Rules) -> Rules:
        if all(one.pattern != pattern for one in now):
            raise RuleNotFoundError(f"protection rule {pattern[:80]!r} not found in repository {repo_name!r}")
        return tuple(one for one in now if one.pattern != pattern)

    await _change(ctx, repo_name, change)


def _check(rules: Sequence[Rule]) -> None:
    if len(rules) > MOST_RULES:
        raise InvalidRequestError(f"protection rules: {len(rules)}, at most {MOST_RULES}")
    for pattern, requirements in ((rule.pattern, rule.requirements) for rule in rules):
        check_text("protection rule", pattern)
        if not 1 <= len(pattern) <= MAX_PATTERN:
            raise InvalidRequestError(f"protection rule {pattern[:40]!r}: must have 1 to {MAX_PATTERN} characters")
        # refuse a rule that seems to protect a branch but matches nothing
        strange = next((sign for sign in "{}\\^" if sign in pattern), None)
        if strange is not None:
            raise InvalidRequestError(
                f"protection rule {pattern[:80]!r}: {strange!r} is not supported; use *, ?, [abc] and [!abc]"
            )
        if not 0 <= requirements.approvals <= MAX_APPROVALS:
            raise InvalidRequestError(f"required approvals: {requirements.approvals}, must be 0 to {MAX_APPROVALS}")
        if len(requirements.checks) > MOST_REQUIRED_CHECKS:
            raise InvalidRequestError(f"required checks: at most {MOST_REQUIRED_CHECKS}")
        for check in requirements.checks:
            check_bounded("required check", check, MAX_CHECK_NAME, least=1)


def _shown(record: Repository) -> list[object]:
    """The rules, for an event: patterns, and rules with requirements as objects."""
    return [
        rule.pattern if rule.requirements == NO_REQUIREMENTS else msgspec.to_builtins(rule) for rule in record.rules
    ]


async def _change(ctx: Context, repo_name: str, change: Callable[[Rules], Rules]) -> None:
    """Change the rules in the repository's record. This also works on a read-only repository."""
    repo = await open_repo(ctx, repo_name)

    def changed(record: Repository) -> Repository:
        wanted = change(record.rules)
        patterns = tuple(rule.pattern for rule in wanted)
        requirements = {rule.pattern: rule.requirements for rule in wanted if rule.requirements != NO_REQUIREMENTS}
        return msgspec.structs.replace(record, protection=patterns, requirements=requirements)

    def event(before: Repository, after: Repository) -> Sequence[Put]:
        data = {"before": _shown(before), "after": _shown(after)}
        return event_rows(ctx, repo, NewEvent(type="protection.changed", data=data))

    await change_record(ctx, repo, changed, lambda one, other: one.rules == other.rules, event)
