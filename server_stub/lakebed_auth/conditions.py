"""Conditions of statements: the address of the client, the branch, the ref, and how the user signed in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from operator import attrgetter
from typing import Final, NamedTuple

from lakebed_auth.actions import suggestion
from lakebed_auth.errors import PolicyError
from lakebed_auth.wildcard import Wildcard

MAPPED_BITS: Final = 96
"""An IPv4 address in IPv6 form (`::ffff:10.0.0.1`) has this many bits in front."""


class Context(NamedTuple):
    """The fields of a request that conditions can use. None: the request has no such field.

    `source_ip`: the address of the client. `branch`: the branch that the request reads or writes; the empty string for
    commits and tags. `ref`: the ref expression as sent. `source`: how the user signed in (`key`, `token`, `oidc`,
    `saml`, `ldap`). `table`, `view`: names in a catalog.
    """

    source_ip: str | None = None
    branch: str | None = None
    ref: str | None = None
    source: str | None = None
    table: str | None = None
    view: str | None = None

    def at(self, branch: str | None, ref: str | None) -> Context:
        """Return this context with another branch and ref. None keeps the current one."""
        return self._replace(branch=self.branch if branch is None else branch, ref=self.ref if ref is None else ref)


@dataclass(frozen=True, slots=True)
class Condition:
    """One field of one operator, with its values as sent."""

    operator: str
    field: str
    values: tuple[str, ...]


_TEXT_FIELDS: Final[dict[str, Callable[[Context], str | None]]] = {
    "fs:Branch": attrgetter("branch"),
    "fs:Ref": attrgetter("ref"),
    "auth:Source": attrgetter("source"),
    "catalog:TableName": attrgetter("table"),
    "catalog:ViewName": attrgetter("view"),
}
_ADDRESS_FIELDS: Final[dict[str, Callable[[Context], str | None]]] = {"SourceIp": attrgetter("source_ip")}

OPERATORS: Final = {
    "IpAddress": _ADDRESS_FIELDS,
    "NotIpAddress": _ADDRESS_FIELDS,
    "StringLike": _TEXT_FIELDS,
    "StringNotLike": _TEXT_FIELDS,
}
"""The fields of each operator."""


def check(condition: Condition) -> None:
    """Raise PolicyError if the operator, the field or a value is not valid."""
    fields = OPERATORS.get(condition.operator)
    if fields is None:
        raise PolicyError(f"unknown operator {condition.operator!r}: {suggestion(condition.operator, OPERATORS)}")
    if condition.field not in fields:
        raise PolicyError(
            f"{condition.operator} has no field {condition.field!r}: {suggestion(condition.field, fields)}"
        )
    if fields is _ADDRESS_FIELDS:
        for value in condition.values:
            _network(value)


class CompiledCondition:
    """A condition, ready to be evaluated. `is_of_address`: the condition is about the address of the client."""

    __slots__ = ("_is_negated", "_test", "_value", "is_of_address")

    def __init__(self, condition: Condition) -> None:
        fields = OPERATORS[condition.operator]
        self._value = fields[condition.field]
        self._is_negated = "Not" in condition.operator
        self.is_of_address = fields is _ADDRESS_FIELDS
        self._test = (_in_networks if self.is_of_address else _like)(condition.values)

    def holds(self, context: Context) -> bool | None:
        """Return whether the condition is true; None if the request does not have the field, or not a valid address."""
        value = self._value(context)
        found = None if value is None else self._test(value)
        return None if found is None else found is not self._is_negated


def _like(values: tuple[str, ...]) -> Callable[[str], bool | None]:
    patterns = [Wildcard(value) for value in values]
    return lambda text: any(pattern.matches(text) for pattern in patterns)


def _in_networks(values: tuple[str, ...]) -> Callable[[str], bool | None]:
    networks = [_network(value) for value in values]

    def test(text: str) -> bool | None:
        address = _address(text)
        return None if address is None else any(address in network for network in networks)

    return test


@lru_cache(maxsize=1024)
def _address(text: str) -> IPv4Address | IPv6Address | None:
    """Return an address, an IPv4 address in IPv6 form as the IPv4 address; None if it is not valid."""
    try:
        address = ip_address(text)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def _network(text: str) -> IPv4Network | IPv6Network:
    """Return the network of an address or CIDR; the bits after the prefix may be set. Raises PolicyError."""
    base, slash, bits = text.partition("/")
    address = _address(base)
    try:
        if address is None or (slash and not (bits.isascii() and bits.isdecimal())):
            raise ValueError
        size = int(bits) if slash else address.max_prefixlen
        if slash and ":" in base and address.version == 4:
            size -= MAPPED_BITS
        return ip_network((address, size), strict=False)
    except ValueError:
        raise PolicyError(
            f"{text!r} is not an address or a CIDR: write one such as '10.0.0.0/8', '192.0.2.7' or '2001:db8::/32'"
        ) from None
