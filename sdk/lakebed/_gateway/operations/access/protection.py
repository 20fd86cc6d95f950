"""Calls about the rules that protect branches."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from lakebed._gateway import calls, convert
from lakebed._gateway.calls import call, clean
from lakebed._values.wire import Answer, Call, Subject
from lakebed.model import ProtectionRule, ProtectionRules


def get(repository: str) -> Call[ProtectionRules]:
    """Return the rules and their ETag."""
    from lakebed_api.api.repositories import get_branch_protection_rules

    kwargs = get_branch_protection_rules._get_kwargs(repository)
    return call("getBranchProtectionRules", kwargs, _read, Subject(repository))


def put(repository: str, rules: Sequence[ProtectionRule], *, etag: str | None) -> Call[None]:
    """Replace the rules. A repeat has no effect, unless `etag` names the rules that must be present."""
    from lakebed_api.api.repositories import set_branch_protection_rules
    from lakebed_api.models import BranchProtectionRule
    from lakebed_api.types import UNSET

    kwargs = set_branch_protection_rules._get_kwargs(
        repository,
        body=[BranchProtectionRule.from_dict(_body(rule)) for rule in rules],
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
    rows = json.loads(answer.content)
    if not isinstance(rows, list):
        raise ValueError(f"expected a JSON list, got {type(rows).__name__}")
    rules = tuple(_rule(row) for row in rows)
    return ProtectionRules(tuple(rule.pattern for rule in rules), answer.headers.get("etag", ""), rules)


def _rule(row: Mapping[str, Any]) -> ProtectionRule:
    checks = tuple(map(convert.text, row.get("required_checks") or ()))
    return ProtectionRule(convert.text(row["pattern"]), convert.number(row.get("required_approvals"), 0), checks)


def _body(rule: ProtectionRule) -> dict[str, Any]:
    body: dict[str, Any] = {"pattern": rule.pattern, **clean(required_checks=list(rule.required_checks))}
    if rule.required_approvals:
        body["required_approvals"] = rule.required_approvals
    return body
