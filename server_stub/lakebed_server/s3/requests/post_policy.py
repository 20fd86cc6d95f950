"""The policy of a form upload (PostObject): until when, and with which fields, a form is accepted. Pure.

The owner of a key signs the policy, and a browser sends it with the form. Written from Amazon's public description.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import msgspec

from lakebed_server.s3.requests.dates import seconds_of_iso
from lakebed_server.s3.vocabulary import S3Error

_WITHOUT_CONDITION: Final = frozenset(("policy", "x-amz-signature", "signature", "awsaccesskeyid", "file"))
"""Fields that need no condition. Fields with the prefix `x-ignore-` need none either."""
_RANGE: Final = "content-length-range"
_MOST: Final = 1 << 50


class Condition(NamedTuple):
    """`kind` is `eq` or `starts-with`. `field` is in lower case, without its dollar sign."""

    kind: str
    field: str
    value: str


class Policy(NamedTuple):
    """What a form may contain. The end is in Unix seconds; the content has `smallest` to `largest` bytes."""

    expires: int
    conditions: tuple[Condition, ...]
    smallest: int
    largest: int

    def check(self, fields: Mapping[str, str], now: float) -> None:
        """Check the fields of a form, with lower-case names, and `bucket`. Raises S3Error (AccessDenied)."""
        if now >= self.expires:
            raise _refused("Policy expired.")
        for kind, field, value in self.conditions:
            if not _meets(kind, field, value, fields.get(field, "")):
                raise _refused(f'Policy Condition failed: ["{kind}", "${field}", "{value}"]')
        named = {condition.field for condition in self.conditions} | _WITHOUT_CONDITION
        for field in fields:
            if field not in named and not field.startswith("x-ignore-"):
                raise _refused(f"Extra input fields: {field[:80]}")


def parse(encoded: str) -> Policy:
    """The policy of a form, from base64. Raises S3Error: InvalidPolicyDocument."""
    try:
        found = msgspec.json.decode(base64.b64decode(encoded, validate=True))
    except (binascii.Error, ValueError, RecursionError) as error:
        raise _invalid(f"it is not JSON in base64: {error}") from None
    if not isinstance(found, dict) or not isinstance(found.get("conditions"), list):
        raise _invalid("it needs an expiration and a list of conditions.")
    expiration = found.get("expiration")
    expires = seconds_of_iso(expiration) if isinstance(expiration, str) else None
    if expires is None:
        raise _invalid("its expiration must be a time such as 2026-11-28T12:00:00.000Z.")
    conditions: list[Condition] = []
    smallest, largest = 0, _MOST
    for one in found["conditions"]:
        if isinstance(one, list) and len(one) == 3 and _name(one[0]) == _RANGE:
            low, high = _size(one[1]), _size(one[2])
            smallest, largest = max(smallest, low), min(largest, high)
        else:
            conditions += _conditions(one)
    return Policy(expires, tuple(conditions), smallest, largest)


def _conditions(one: Any) -> list[Condition]:
    """`{"acl": "private"}` or `["starts-with", "$key", "user/"]`."""
    if isinstance(one, dict) and all(isinstance(value, str) for value in one.values()):
        return [Condition("eq", name.lower(), value) for name, value in one.items()]
    if isinstance(one, list) and len(one) == 3 and all(isinstance(part, str) for part in one):
        kind, field, value = one
        if kind.lower() in ("eq", "starts-with") and field.startswith("$"):
            return [Condition(kind.lower(), field[1:].lower(), value)]
    raise _invalid(f"a condition is not one: {msgspec.json.encode(one).decode()[:120]}")


def _meets(kind: str, field: str, wanted: str, sent: str) -> bool:
    if kind == "eq":
        return sent == wanted
    if field == "content-type":  # each type of a list must begin so
        return all(part.strip().startswith(wanted) for part in sent.split(","))
    return sent.startswith(wanted)


def _name(value: Any) -> str:
    return value.lower() if isinstance(value, str) else ""


def _size(value: Any) -> int:
    """A number of bytes, which some clients write as text."""
    text = str(value) if isinstance(value, int | str) and not isinstance(value, bool) else ""
    if not (text.isascii() and text.isdigit() and len(text) < 16):
        raise _invalid(f"{_RANGE} needs two numbers of bytes.")
    return int(text)


def _invalid(why: str) -> S3Error:
    return S3Error("InvalidPolicyDocument", f"Invalid Policy: {why}"[:300])


def _refused(why: str) -> S3Error:
    return S3Error("AccessDenied", f"Invalid according to Policy: {why}"[:300])
