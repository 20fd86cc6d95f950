"""The statements of all policies of a user, indexed by action and by the beginning of the resource."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from lakebed_auth import arn
from lakebed_auth.conditions import CompiledCondition, Context
from lakebed_auth.policy import Policy, Statement
from lakebed_auth.wildcard import Wildcard

_NO_ADDRESS: Final = (
    "a policy has a condition about the address of the client, and the server does not know a valid one"
)


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether an action on a resource is allowed; only "allowed" allows it.

    `statement`: the id of the policy and the number of the statement (from 1) that decided, None when neutral.
    `reason`: why a condition could not be evaluated, otherwise empty.
    """

    effect: Literal["allowed", "denied", "neutral"]
    statement: tuple[str, int] | None = None
    reason: str = ""


NEUTRAL: Final = Decision("neutral")


class _Rule:
    """A statement, ready to be evaluated. `order`: its place among all statements of the user."""

    __slots__ = ("actions", "conditions", "decision", "is_deny", "order", "resources", "undecided")

    def __init__(self, statement: Statement, policy_id: str, number: int, order: int, user: str) -> None:
        self.order = order
        self.is_deny = statement.effect == "deny"
        self.actions = [Wildcard(action) for action in statement.actions]
        self.resources = [Wildcard(arn.canonical(resource), user=user) for resource in statement.resources]
        self.conditions = [CompiledCondition(condition) for condition in statement.conditions]
        self.decision = Decision("denied" if self.is_deny else "allowed", (policy_id, number))
        self.undecided = Decision("denied", (policy_id, number), _NO_ADDRESS)

    def decide(self, context: Context) -> Decision | None:
        """Return the decision if the conditions are true, None if one is false. Missing texts make it false."""
        held = [(condition.holds(context), condition.is_of_address) for condition in self.conditions]
        if any(found is False or (found is None and not is_of_address) for found, is_of_address in held):
            return None
        return self.undecided if any(found is None for found, _ in held) else self.decision

    def may_apply(self, context: Context) -> bool:
        """Return whether no condition is false for certain."""
        return all(condition.holds(context) is not False for condition in self.conditions)


class _Index:
    """Rules of one action and one effect, by the characters before the first wildcard of their resources.

    Contains only patterns that may match a resource that begins with `scope`.
    """

    __slots__ = ("_by_length", "_literal", "rules")

    def __init__(self, rules: list[_Rule], scope: str) -> None:
        self.rules = rules
        self._literal: dict[str, list[_Rule]] = {}
        by_length: dict[int, dict[str, list[tuple[Wildcard, _Rule]]]] = {}
        for rule in rules:
            for pattern in rule.resources:
                if not pattern.may_match_below(scope):
                    continue
                if pattern.is_literal:
                    self._literal.setdefault(pattern.prefix, []).append(rule)
                else:
                    same = by_length.setdefault(len(pattern.prefix), {})
                    same.setdefault(pattern.prefix, []).append((pattern, rule))
        self._by_length = list(by_length.items())

    def decide(self, resource: str, context: Context) -> Decision | None:
        """Return the decision of the first rule that applies. A rule whose address is not valid comes before others."""
        first: _Rule | None = None
        for rule in self._matching(resource):
            if rule.conditions:
                decision = rule.decide(context)
                if decision is rule.undecided:
                    return decision
                if decision is None:
                    continue
            if first is None or rule.order < first.order:
                first = rule
        return first.decision if first else None

    def _matching(self, resource: str) -> list[_Rule]:
        """Return the rules of this resource, in any order."""
        found = list(self._literal.get(resource, ()))
        for length, by_prefix in self._by_length:
            for pattern, rule in by_prefix.get(resource[:length], ()):
                if pattern.is_prefix or pattern.matches(resource):
                    found.append(rule)
        return found


_REPOSITORY: Final = arn.repository("")
_MOST_INDEXES: Final = 1000


class _OfAction(NamedTuple):
    denies: _Index
    allows: _Index


class RuleSet:
    """The statements of some policies for one user. Thread-safe: at worst, two threads index an action twice."""

    __slots__ = ("_fields", "_indexes", "_rules")

    def __init__(self, policies: Iterable[Policy], user: str) -> None:
        policies = list(policies)
        self._fields = frozenset(
            condition.field
            for policy in policies
            for statement in policy.statements
            for condition in statement.conditions
        )
        numbered = (
            (statement, policy.id, number)
            for policy in policies
            for number, statement in enumerate(policy.statements, 1)
        )
        self._rules = [_Rule(*one, order, user) for order, one in enumerate(numbered)]
        self._indexes: dict[tuple[str, str], _OfAction] = {}

    def decide(self, action: str, resource: str, context: Context) -> Decision:
        """Return the decision about one resource. A denial takes precedence."""
        found = self._of(action, _scope(resource))
        return found.denies.decide(resource, context) or found.allows.decide(resource, context) or NEUTRAL

    def always_allows(self, action: str, repository: str) -> bool:
        """Return whether the action is allowed on a repository (an ARN) and everything in it, in every context.

        False if any statement about the action there denies it, or has a condition.
        """
        below = f"{repository}/"
        patterns: list[Wildcard] = []
        for rule in self._about(action):
            own = [one for one in rule.resources if one.matches(repository) or one.may_match_below(below)]
            if own and (rule.is_deny or rule.conditions):
                return False
            patterns += own
        return any(one.matches(repository) for one in patterns) and any(
            one.matches_all_below(below) for one in patterns
        )

    def may_deny(self, action: str, prefix: str, context: Context) -> bool:
        """Return whether a statement may deny the action on a resource that begins with the prefix."""
        return any(
            rule.may_apply(context) and any(pattern.may_match_below(prefix) for pattern in rule.resources)
            for rule in self._of(action).denies.rules
        )

    def allows_all(self, action: str, prefix: str, context: Context) -> bool:
        """Return whether one statement allows the action on every resource that begins with the prefix.

        False if a condition about the address cannot be evaluated: it may refuse some of them.
        """
        decided = [(rule, rule.decide(context)) for rule in self._of(action).allows.rules]
        return not any(decision is rule.undecided for rule, decision in decided) and any(
            decision is not None and any(pattern.matches_all_below(prefix) for pattern in rule.resources)
            for rule, decision in decided
        )

    def asks(self, field: str) -> bool:
        """Return whether a condition of a statement has this field."""
        return field in self._fields

    @property
    def has_conditions(self) -> bool:
        """Whether a statement has a condition."""
        return bool(self._fields)

    def allows_some(self, action: str) -> bool:
        """Return whether a statement allows the action on some resource."""
        return bool(self._of(action).allows.rules)

    def _about(self, action: str) -> list[_Rule]:
        return [rule for rule in self._rules if any(pattern.matches(action) for pattern in rule.actions)]

    def _of(self, action: str, scope: str = "") -> _OfAction:
        found = self._indexes.get((action, scope))
        if found is None:
            rules = self._about(action)
            by_effect = ([rule for rule in rules if rule.is_deny is deny] for deny in (True, False))
            found = _OfAction(*(_Index(some, scope) for some in by_effect))
            if len(self._indexes) >= _MOST_INDEXES:  # actions and repositories come from clients
                self._indexes.clear()
            self._indexes[action, scope] = found
        return found


def _scope(resource: str) -> str:
    """The part of a resource that names its repository. Empty for other resources."""
    if not resource.startswith(_REPOSITORY):
        return ""
    end = resource.find("/", len(_REPOSITORY))
    return resource if end < 0 else resource[:end]
