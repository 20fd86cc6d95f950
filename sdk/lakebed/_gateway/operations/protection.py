"""Calls about the rules that protect branches."""

from __future__ import annotations

import json
from collections.abc import Sequence

from lakebed._gateway import calls, convert
from lakebed._gateway.calls import call
from lakebed._values.wire import Answer, Call, Subject
from lakebed.model import ProtectionRules


def get(repository: str) -> Call[ProtectionRules]:
    """Return the rules and their ETag."""
    from lakebed_api.api.repositories import get_branch_protection_rules

    kwargs = get_branch_protection_rules._get_kwargs(repository)
    return call("getBranchProtectionRules", kwargs, _read, Subject(repository))


def put(repository: str, patterns: Sequence[str], *, etag: str | None) -> Call[None]:
    """Replace the rules. Doing it twice has the same effect as once, unless `etag` states the rules that must be
    present.
    """
    from lakebed_api.api.repositories import set_branch_protection_rules
    from lakebed_api.models import BranchProtectionRule
    from lakebed_api.types import UNSET

    kwargs = set_branch_protection_rules._get_kwargs(
        repository,
        body=[BranchProtectionRule(pattern=pattern) for pattern in patterns],
        if_match=UNSET if etag is None else etag or '""',
    )
    return call(
        "setBranchProtectionRules",
        kwargs,
        calls.nothing,
        Subject(repository),
        success=204,
        repeat="safe" if etag is None else "unsent",
    )


def _read(answer: Answer) -> ProtectionRules:
    from lakebed_api.models import BranchProtectionRule

    rows = json.loads(answer.content)
    if not isinstance(rows, list):
        raise ValueError(f"expected a JSON list, got {type(rows).__name__}")
    patterns = tuple(convert.text(BranchProtectionRule.from_dict(row).pattern) for row in rows)
    return ProtectionRules(patterns, answer.headers.get("etag", ""))
