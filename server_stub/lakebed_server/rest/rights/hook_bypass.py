"""The right to change history although hooks refuse it: `force` of a user who may change the protection rules."""

from __future__ import annotations

from lakebed_auth import Need, arn
from lakebed_auth.actions import Branches

from lakebed_server.http.request import Call


def asks_to_bypass(params: object, body: object) -> bool:
    """Whether a request says `force`, as a parameter or in its body."""
    return any(getattr(part, "force", False) is True for part in (params, body))


def may_bypass(call: Call, repository: str) -> bool:
    """Whether the caller may bypass the hooks of a repository. The permissions of the request are known."""
    if call.rights is None:
        return True
    need = Need(Branches.SET_PROTECTION_RULES, arn.repository(repository))
    return call.rights.policies.check(need, call.rights.context) is None
