"""Decides whether the policies of a user allow an action on a resource.

`compile_policies` reads the policies once. The result makes any number of decisions, from any thread, and never
changes: changed policies are compiled again.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from lakebed_auth import arn
from lakebed_auth.conditions import Context
from lakebed_auth.needs import AllOf, Need, Needs
from lakebed_auth.policy import Policy
from lakebed_auth.rules import NEUTRAL, Decision, RuleSet

_MOST_KEPT: Final = 100


@dataclass(frozen=True, slots=True)
class Refusal:
    """The first permission that an operation needs and the user does not have."""

    action: str
    resource: str
    decision: Decision

    def __str__(self) -> str:
        """Return the text for the user. It names no policy: the user may not be allowed to read them."""
        text = f"needs {self.action} on {arn.short(self.resource)}"
        return f"{text}: {self.decision.reason}" if self.decision.reason else text


class Compiled:
    """The policies of a user, ready for decisions. `compile_policies` makes it.

    Resources are `arn.ALL` or ARNs as the functions of `arn` make them. `arn.canonical` reads an ARN of a client.
    """

    __slots__ = ("_rule_sets", "always_allows")

    def __init__(self, *rule_sets: RuleSet) -> None:
        self._rule_sets = rule_sets
        self.always_allows = lru_cache(_MOST_KEPT)(self._always_allows)
        """Return whether actions are allowed on the repository of this name and everything in it, in every context.

        False if any statement about one of the actions there denies it, or has a condition. The answers are kept.
        """

    def decide(self, action: str, resource: str, context: Context) -> Decision:
        """Return whether the action on the resource is allowed, and by which statement.

        Denied: a statement denies it, or a condition about the address cannot be evaluated. Neutral: no statement
        applies, so the action is refused too.
        """
        if len(self._rule_sets) == 1:
            return self._rule_sets[0].decide(action, resource, context)
        decision: Decision | None = None
        for rules in self._rule_sets:
            found = rules.decide(action, resource, context)
            if found.effect == "denied":
                return found
            if decision is None or found.effect == "neutral":
                decision = found
        return decision or NEUTRAL

    def allowed_many(self, action: str, resources: Iterable[str], context: Context) -> list[bool]:
        """Return for each resource whether the action on it is allowed."""
        return [self.decide(action, resource, context).effect == "allowed" for resource in resources]

    def denies_any(self, action: str, prefix: str, context: Context) -> bool:
        """Return whether a statement may deny the action on some resource that begins with the prefix.

        True when unsure: a pattern may match such a resource, or a condition uses a field that is None.
        """
        return any(rules.may_deny(action, prefix, context) for rules in self._rule_sets)

    def covers(self, action: str, prefix: str, context: Context) -> bool:
        """Return whether the action is certainly allowed on every resource that begins with the prefix."""
        return all(rules.allows_all(action, prefix, context) for rules in self._rule_sets) and not self.denies_any(
            action, prefix, context
        )

    @property
    def has_conditions(self) -> bool:
        """Whether decisions may depend on the context."""
        return any(rules.has_conditions for rules in self._rule_sets)

    def asks(self, field: str) -> bool:
        """Return whether a condition has this field, so that its value in the context matters."""
        return any(rules.asks(field) for rules in self._rule_sets)

    def allows_some(self, action: str) -> bool:
        """Return whether the action may be allowed on some resource, whatever the conditions and denials."""
        return all(rules.allows_some(action) for rules in self._rule_sets)

    def check(self, needs: Needs, context: Context) -> Refusal | None:
        """Return the first missing permission; a denied one comes before others. None: all needs are met."""
        if type(needs) is Need:
            return self._check_one(needs, context)
        assert not isinstance(needs, Need)
        refusals = [self.check(part, context) for part in needs.parts]
        missing = [refusal for refusal in refusals if refusal is not None]
        denied = [refusal for refusal in missing if refusal.decision.effect == "denied"]
        if denied:
            return denied[0]
        is_met = not missing if isinstance(needs, AllOf) else len(missing) < len(refusals)
        return None if is_met else missing[0]

    def narrowed(self, inline: Compiled) -> Compiled:
        """Return the permissions that both allow: those of a user, narrowed by the inline policy of a key."""
        return Compiled(*self._rule_sets, *inline._rule_sets)

    def _always_allows(self, actions: tuple[str, ...], repository: str) -> bool:
        resource = arn.repository(repository)
        return all(rules.always_allows(action, resource) for rules in self._rule_sets for action in actions)

    def _check_one(self, need: Need, context: Context) -> Refusal | None:
        if need.branch is not None or need.ref is not None:
            context = context.at(need.branch, need.ref)
        decision = self.decide(need.action, need.resource, context)
        return None if decision.effect == "allowed" else Refusal(need.action, need.resource, decision)


def compile_policies(policies: Iterable[Policy], user: str) -> Compiled:
    """Return the union of the policies, ready for decisions. `${user}` in their resources is the id of this user."""
    return Compiled(RuleSet(policies, user))
