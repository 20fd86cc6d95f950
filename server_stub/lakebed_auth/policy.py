"""Policies and their statements, and the parser of their JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal, cast

from lakebed_auth import arn
from lakebed_auth import conditions as condition_rules
from lakebed_auth.actions import KNOWN_ACTIONS, SERVICES, suggestion
from lakebed_auth.conditions import Condition
from lakebed_auth.errors import PolicyError

MOST_BYTES: Final = 1024 * 1024
"""Maximum bytes of all texts of a policy."""
MOST_INLINE_BYTES: Final = 10 * 1024
"""Maximum bytes of the inline policy of a key or a token. It is smaller because any user may send one, and each
decision about a new path reads all of it.
"""
MOST_STATEMENTS: Final = 1000
MOST_VALUES: Final = 1000
"""Maximum number of actions or resources of a statement, and of values of a field of a condition."""
LONGEST_TEXT: Final = 4096
"""Maximum number of characters of one action, resource or value."""

Effect = Literal["allow", "deny"]
_KEYS: Final = ("effect", "action", "resource", "condition")


@dataclass(frozen=True, slots=True)
class Statement:
    """One rule of a policy. `resource_sent`: the field `resource` as sent, a text or an array."""

    effect: Effect
    actions: tuple[str, ...]
    resources: tuple[str, ...]
    resource_sent: str | tuple[str, ...]
    conditions: tuple[Condition, ...] = ()


@dataclass(frozen=True, slots=True)
class Policy:
    """A named list of statements. `creation_date`: seconds since 1970."""

    id: str
    statements: tuple[Statement, ...]
    creation_date: int


def parse_document(text: str | bytes, *, most_bytes: int = MOST_BYTES) -> tuple[Statement, ...]:
    """Return the statements of `{"statement": [...]}`. Raises PolicyError, also if it has more than `most_bytes`."""
    encoded = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    if len(encoded) > most_bytes:
        raise PolicyError(f"the policy has {len(encoded)} bytes: at most {most_bytes} are allowed, divide it")
    try:
        document = json.loads(encoded)
    except (ValueError, RecursionError):
        raise PolicyError('the policy is not valid JSON: write {"statement": [...]}') from None
    if not isinstance(document, dict) or "statement" not in document:
        raise PolicyError('the policy has no statements: write {"statement": [...]}')
    return parse_statements(document["statement"])


def parse_statements(statements: object) -> tuple[Statement, ...]:
    """Return the statements of the JSON field `statement` of a policy. Raises PolicyError."""
    rows = _items(statements, "statement", MOST_STATEMENTS)
    parsed = tuple(_statement(row, number) for number, row in enumerate(rows, 1))
    size = sum(_size(statement) for statement in parsed)
    if size > MOST_BYTES:
        raise PolicyError(f"the policy has {size} bytes of text: at most {MOST_BYTES} are allowed, divide it")
    return parsed


def to_json(policy: Policy) -> dict[str, Any]:
    """Return a policy as the API returns it."""
    return {
        "id": policy.id,
        "creation_date": policy.creation_date,
        "statement": statements_to_json(policy.statements),
    }


def statements_to_json(statements: Iterable[Statement]) -> list[dict[str, Any]]:
    """Return the statements as the API returns them: the value that `parse_statements` reads."""
    rows = []
    for statement in statements:
        sent = statement.resource_sent
        row: dict[str, Any] = {
            "effect": statement.effect,
            "action": list(statement.actions),
            "resource": sent if isinstance(sent, str) else list(sent),
        }
        for condition in statement.conditions:
            fields = row.setdefault("condition", {}).setdefault(condition.operator, {})
            fields[condition.field] = list(condition.values)
        rows.append(row)
    return rows


def _statement(row: object, number: int) -> Statement:
    where = f"statement {number}"
    if not isinstance(row, dict):
        raise PolicyError(f"{where}: is not an object: write {{{', '.join(_KEYS)}}}")
    for key in row:
        if key not in _KEYS:
            raise PolicyError(f"{where}: unknown field {key!r}: {suggestion(str(key), _KEYS)}")
    effect = row.get("effect")
    if effect not in ("allow", "deny"):
        raise PolicyError(f"{where}, effect: is {effect!r}: write 'allow' or 'deny'")
    sent, resources = _resources(row.get("resource"), f"{where}, resource")
    return Statement(
        cast(Effect, effect),
        _texts(row.get("action"), f"{where}, action", _check_action),
        resources,
        sent,
        tuple(_conditions(row.get("condition"), f"{where}, condition")),
    )


def _items(value: object, where: str, most: int) -> list[object]:
    if not isinstance(value, list) or not value:
        raise PolicyError(f"{where}: is not an array with values: write at least one")
    if len(value) > most:
        raise PolicyError(f"{where}: has {len(value)} values: at most {most} are allowed, divide it")
    return value


def _texts(values: object, where: str, check: Callable[[str], object]) -> tuple[str, ...]:
    """Return the values of an array of texts, each checked. Errors begin with `where`."""
    texts = []
    for value in _items(values, where, MOST_VALUES):
        if not isinstance(value, str) or not value:
            raise PolicyError(f"{where}: {value!r:.80} is not a text: write texts in quotation marks")
        if len(value) > LONGEST_TEXT:
            raise PolicyError(
                f"{where}: {value[:80]!r}... has {len(value)} characters: at most {LONGEST_TEXT} are allowed"
            )
        if any("\ud800" <= character <= "\udfff" for character in value):
            raise PolicyError(f"{where}: {value[:80]!r} is not valid Unicode: write it without \\ud800 to \\udfff")
        try:
            check(value)
        except PolicyError as error:
            raise PolicyError(f"{where}: {error}") from None
        texts.append(value)
    return tuple(texts)


def _check_action(action: str) -> None:
    if action.count(":") != 1:
        raise PolicyError(
            f"{action!r} has not exactly one colon: write SERVICE:NAME, such as 'fs:ReadObject' or 'fs:*'"
        )
    service, name = action.split(":")
    if service not in SERVICES:
        raise PolicyError(f"{action!r} has the unknown service {service!r}: {suggestion(service, SERVICES)}")
    if "*" not in name and "?" not in name and action not in KNOWN_ACTIONS:
        raise PolicyError(f"no operation needs {action!r}: {suggestion(action, _of_service(service))}")


def _of_service(service: str) -> list[str]:
    return [action for action in KNOWN_ACTIONS if action.startswith(f"{service}:")]


def _resources(sent: object, where: str) -> tuple[str | tuple[str, ...], tuple[str, ...]]:
    """Return the field as sent, and its resources. The field is a text, an array, or a JSON array in a text."""
    values: object = [sent]
    if isinstance(sent, list):
        values = sent
    elif isinstance(sent, str) and sent.startswith("["):
        try:
            values = json.loads(sent)
        except (ValueError, RecursionError):
            raise PolicyError(f"{where}: {sent[:80]!r} is not JSON array: write an ARN or an array of ARNs") from None
    resources = _texts(values, where, arn.canonical)
    return sent if isinstance(sent, str) else resources, resources


def _conditions(value: object, where: str) -> Iterator[Condition]:
    if value is None:
        return
    for operator, fields in _members(value, where):
        for field, values in _members(fields, f"{where} {operator}"):
            inside = f"{where} {operator} {field}"
            condition = Condition(operator, field, _texts(values, inside, str))
            try:
                condition_rules.check(condition)
            except PolicyError as error:
                raise PolicyError(f"{inside}: {error}") from None
            yield condition


def _members(value: object, where: str) -> list[tuple[str, object]]:
    if not isinstance(value, dict) or not value:
        raise PolicyError(f'{where}: is not an object with values: write {{"StringLike": {{"fs:Branch": ["dev-*"]}}}}')
    return list(value.items())


def _size(statement: Statement) -> int:
    """Return the bytes of the texts of a statement."""
    values = (value for condition in statement.conditions for value in condition.values)
    sent = statement.resource_sent
    texts = (*statement.actions, *((sent,) if isinstance(sent, str) else sent), *values)
    return sum(len(text.encode()) for text in texts)
