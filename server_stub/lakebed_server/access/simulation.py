"""Explains the decision about one action of a user, without doing it."""

from __future__ import annotations

from typing import NamedTuple

from lakebed_auth import Compiled, Context, Decision, PolicyError, arn
from lakebed_auth.actions import KNOWN_ACTIONS, suggestion

from lakebed_server.access.administrators import compiled
from lakebed_server.access.directory import Directory
from lakebed_server.vocabulary import bad_request


class Explained(NamedTuple):
    """A decision, and the reason in one sentence."""

    decision: Decision
    reason: str


async def explain(
    directory: Directory, user: str, action: str, resource: str, context: Context, of_key: Compiled | None = None
) -> Explained:
    """Decide as for a request of this user. Raises RequestError: 400, 404.

    `of_key`: the rights of the access key that asks about its own user, if it has a policy.
    """
    if action not in KNOWN_ACTIONS:
        raise bad_request(f"body action: no operation uses {action!r}: {suggestion(action, KNOWN_ACTIONS)}")
    try:
        resource = arn.canonical(resource)
    except PolicyError as error:
        raise bad_request(f"body resource: {error}") from None
    if (await directory.user(user)).disabled:
        return Explained(Decision("denied"), f"user {user!r} is disabled")
    policies = compiled(await directory.effective_policies(user), user)
    decision = policies.decide(action, resource, context)
    asked = f"{action} on {arn.short(resource)}"
    if of_key is not None and decision.effect == "allowed":
        narrowed = of_key.decide(action, resource, context)
        if narrowed.effect != "allowed":
            return Explained(narrowed, f"the user may do {asked}, but the policy of this access key does not allow it")
    return Explained(decision, _reason(decision, asked))


def _reason(decision: Decision, asked: str) -> str:
    if decision.statement is None:
        return f"no statement of the user's policies allows {asked}"
    policy, number = decision.statement
    if decision.reason:
        return f"statement {number} of policy {policy!r} refuses {asked}: {decision.reason}"
    verb = "allows" if decision.effect == "allowed" else "denies"
    return f"statement {number} of policy {policy!r} {verb} {asked}"
