"""A second implementation of the policy language, as simple as possible: it tries every statement with regular
expressions.
"""

from __future__ import annotations

import re
from ipaddress import ip_address, ip_network
from typing import Any

FIELDS = {"fs:Branch": "branch", "fs:Ref": "ref", "auth:Source": "source", "SourceIp": "source_ip"}


def like(pattern: str, text: str, user: str = "${user}") -> bool:
    signs = {"*": ".*", "?": ".", "${user}": re.escape(user)}
    parts = re.split(r"(\*|\?|\$\{user\})", pattern)
    return bool(re.fullmatch("".join(signs.get(part) or re.escape(part) for part in parts), text, re.DOTALL))


def covers(pattern: str, resource: str, user: str) -> bool:
    if pattern == "*" or resource == "*":
        return pattern == resource or pattern == "*"
    one, other = pattern.split(":", 5), resource.split(":", 5)
    return one[2] == other[2] and one[4] == other[4] and like(one[5], other[5], user)


def truth(operator: str, field: str, values: list[str], context: dict[str, Any]) -> str:
    value = context.get(FIELDS[field])
    if field == "SourceIp":
        try:
            found = any(ip_address(value or "") in ip_network(one, strict=False) for one in values)
        except ValueError:
            return "unknown"
    elif value is None:
        return "false"
    else:
        found = any(like(one, value) for one in values)
    return "true" if found != ("Not" in operator) else "false"


def decide(
    policies: dict[str, list[dict[str, Any]]], user: str, action: str, resource: str, context: dict[str, Any]
) -> tuple[str, tuple[str, int] | None]:
    """Return the effect and the statement of the decision; "unknown" if an address is needed and not valid."""
    found: dict[str, list[tuple[str, int]]] = {"unknown deny": [], "deny": [], "unknown allow": [], "allow": []}
    for name, statements in policies.items():
        for number, row in enumerate(statements, 1):
            resources = [row["resource"]] if isinstance(row["resource"], str) else row["resource"]
            if not any(like(one, action) for one in row["action"]):
                continue
            if not any(covers(one, resource, user) for one in resources):
                continue
            asked = [(o, f, v) for o, fields in row.get("condition", {}).items() for f, v in fields.items()]
            truths = {truth(operator, field, values, context) for operator, field, values in asked}
            if "false" not in truths:
                found[f"unknown {row['effect']}" if "unknown" in truths else row["effect"]].append((name, number))
    first = next((key for key in found if found[key]), "neutral")
    if first.startswith("unknown"):
        return "unknown", None
    return {"deny": "denied", "allow": "allowed"}.get(first, first), found[first][0] if first in found else None
