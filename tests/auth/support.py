"""Short forms for policies in tests."""

from __future__ import annotations

from typing import Any

from lakebed_auth import Compiled, Context, Policy, arn, compile_policies, parse_statements

CONTEXT = Context(source_ip="192.0.2.7", branch="main", ref="main", source="key")


def allow(action: str, resource: Any = arn.ALL, **condition: Any) -> dict[str, Any]:
    """A statement. Conditions are keyword arguments: `StringLike={"fs:Branch": ["main"]}`."""
    row = {"effect": "allow", "action": action.split(), "resource": resource}
    return row | {"condition": condition} if condition else row


def deny(action: str, resource: Any = arn.ALL, **condition: Any) -> dict[str, Any]:
    return allow(action, resource, **condition) | {"effect": "deny"}


def compiled(*statements: dict[str, Any], user: str = "ana") -> Compiled:
    """The permissions of a user with one policy `p`."""
    return compile_policies([Policy("p", parse_statements(list(statements)), 0)] if statements else [], user)


def effect(permissions: Compiled, action: str, resource: str, context: Context = CONTEXT) -> str:
    return permissions.decide(action, resource, context).effect
