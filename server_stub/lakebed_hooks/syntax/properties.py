"""The properties of each type of hook, and their allowed values.

Values of `password`, `secret`, headers and query parameters may be secrets, so no message shows them.

Durations are written as in Go: `90s`, `1m`, `1h30m`, `1.5h`, `300ms`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

from lakebed_hooks import secrets
from lakebed_hooks.syntax.nodes import Fields, Items, Node, Problem, Scalar, is_null, value

LONGEST_URL: Final = 2048
LONGEST_TEXT: Final = 8192
MOST_FIELDS: Final = 100
"""Headers, or query parameters."""
LONGEST_TIMEOUT: Final = 24 * 3600
OWN_HEADERS: Final = frozenset(
    [
        *("host", "content-length", "content-type", "transfer-encoding", "connection"),
        *("webhook-id", "webhook-timestamp", "webhook-signature"),
    ]
)
"""Headers that the server sets itself."""

_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_DAG = re.compile(r"[\w.~:+@-]{1,250}")
_ENTRY = re.compile(r"[A-Za-z_][\w.]{0,199}(?::[A-Za-z_][\w.]{0,199})?|[\w.-]{1,200}", re.ASCII)

Check = Callable[[str, Node], Any]
"""Reads the property of a name. Raises Problem."""


class Property(NamedTuple):
    """A property of a type of hooks."""

    check: Check
    is_required: bool = False


def _scalar(name: str, node: Node, expected: str) -> Any:
    if not isinstance(node, Scalar) or is_null(node):
        raise Problem(f"{name!r} must be {expected}", node.line)
    return value(node)


def _text(name: str, node: Node) -> str:
    text = _scalar(name, node, "text")
    if not isinstance(text, str):
        raise Problem(f"{name!r} must be text: write it in quotes", node.line)
    if not text or len(text) > LONGEST_TEXT:
        raise Problem(f"{name!r} must have 1 to {LONGEST_TEXT} characters", node.line)
    return text


def _line_of_text(name: str, node: Node) -> str:
    text = _text(name, node)
    if _CONTROL.search(text):
        raise Problem(f"{name!r} must not have line breaks or other control characters", node.line)
    return text


def _secret(name: str, node: Node) -> str:
    text = _line_of_text(name, node)
    try:
        secrets.names(text)
    except secrets.SecretError as error:
        raise Problem(f"{name!r}: {error.message}", node.line) from None
    return text


def _url(name: str, node: Node) -> str:
    text = _line_of_text(name, node)
    try:
        parts = urlsplit(text)
        is_usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # an invalid port or address in brackets
        is_usable = False
    if not is_usable or " " in text or len(text) > LONGEST_URL:
        raise Problem(
            f"{name!r} must be an address with http:// or https://, of at most {LONGEST_URL} characters", node.line
        )
    if parts.username is not None or parts.password is not None or "{{" in text:
        raise Problem(
            f"{name!r} must have no secrets, because logs show it: put them into 'headers' or 'query_params'", node.line
        )
    return text


def _flag(name: str, node: Node) -> bool:
    flag = _scalar(name, node, "true or false")
    if not isinstance(flag, bool):
        raise Problem(f"{name!r} must be true or false", node.line)
    return flag


def _timeout(name: str, node: Node) -> str:
    text = _scalar(name, node, "a duration, such as 90s, 1m or 1h30m")
    try:
        seconds = duration_seconds(str(text))
    except ValueError as error:
        raise Problem(f"{name!r}: {error}", node.line) from None
    if not 0 < seconds <= LONGEST_TIMEOUT:
        raise Problem(f"{name!r} must be more than 0 and at most 24h", node.line)
    return str(text)


def _choice(*words: str) -> Check:
    def check(name: str, node: Node) -> str:
        word = _scalar(name, node, f"one of {', '.join(words)}")
        if word not in words:
            raise Problem(f"{name!r} must be one of {', '.join(words)}", node.line)
        return str(word)

    return check


def _matching(pattern: re.Pattern[str], expected: str) -> Check:
    def check(name: str, node: Node) -> str:
        text = _text(name, node)
        if not pattern.fullmatch(text):
            raise Problem(f"{name!r} must be {expected}", node.line)
        return text

    return check


def mapping(name: str, node: Node) -> dict[str, Any]:
    """Return any mapping. Raises Problem."""
    fields = value(_fields(name, node))
    assert isinstance(fields, dict)
    return fields


def contract(node: Node) -> dict[str, Any]:
    """Return the properties of a contract. Checks only the timeout: contracts check the others. Raises Problem."""
    fields = _fields("properties", node)
    if "timeout" in fields.fields:
        _timeout("timeout", fields.fields["timeout"])
    return mapping("properties", node)


def _fields(name: str, node: Node) -> Fields:
    if is_null(node):
        return Fields({}, {}, node.line)
    if not isinstance(node, Fields):
        raise Problem(f"{name!r} must be a mapping of keys to values", node.line)
    return node


def _bounded(name: str, node: Node) -> Fields:
    fields = _fields(name, node)
    if len(fields.fields) > MOST_FIELDS:
        raise Problem(f"{name!r} has {len(fields.fields)} keys, at most {MOST_FIELDS}", node.line)
    return fields


def _headers(name: str, node: Node) -> dict[str, str]:
    headers = _bounded(name, node)
    for header, item in headers.fields.items():
        if not _HEADER.fullmatch(header):
            raise Problem(f"{name!r}: {header[:80]!r} is not a valid header name", headers.lines[header])
        if header.lower() in OWN_HEADERS:
            raise Problem(f"{name!r}: the server sets {header} itself", headers.lines[header])
        if isinstance(item, Scalar) and not item.text.isascii():
            raise Problem(f"{name!r}: {header} must have ASCII characters only", item.line)
    return {header: _secret(f"{name}.{header}", item) for header, item in headers.fields.items()}


def _query(name: str, node: Node) -> dict[str, str | list[str]]:
    query: dict[str, str | list[str]] = {}
    for key, item in _bounded(name, node).fields.items():
        where = f"{name}.{key[:80]}"
        if isinstance(item, Items):
            if len(item.items) > MOST_FIELDS:
                raise Problem(f"{where!r} has {len(item.items)} values, at most {MOST_FIELDS}", item.line)
            query[key] = [_secret(where, one) for one in item.items]
        else:
            query[key] = _secret(where, item)
    return query


_WEBHOOK: Final = {
    "url": Property(_url, True),
    "timeout": Property(_timeout),
    "query_params": Property(_query),
    "headers": Property(_headers),
    "secret": Property(_secret),
    "retry": Property(_flag),
    "ordered": Property(_flag),
    "format": Property(_choice("lakefs", "cloudevents")),
}
_AIRFLOW: Final = {
    "url": Property(_url, True),
    "dag_id": Property(_matching(_DAG, "the id of a DAG"), True),
    "username": Property(_secret, True),
    "password": Property(_secret, True),
    "dag_conf": Property(mapping),
    "wait_for_dag": Property(_flag),
    "timeout": Property(_timeout),
    "api": Property(_choice("v1", "v2", "auto")),
}
_PYTHON: Final = {
    "entry": Property(_matching(_ENTRY, "package:function, or a name of the entry points lakebed.hooks"), True),
    "args": Property(mapping),
    "timeout": Property(_timeout),
}
OF_TYPES: Final[Mapping[str, Mapping[str, Property]]] = {"webhook": _WEBHOOK, "airflow": _AIRFLOW, "python": _PYTHON}
"""The properties of each type that this module checks. Contracts check their own."""


def read(of_type: str, node: Node, *, line: int) -> dict[str, Any]:
    """Return the properties of a hook. `line`: of the hook, for errors about missing properties. Raises Problem."""
    known, given = OF_TYPES[of_type], _fields("properties", node)
    for name in given.fields:
        if name not in known:
            raise Problem(
                f"a hook of type {of_type} has no property {name[:80]!r}: it has {', '.join(known)}", given.lines[name]
            )
    for name, one in known.items():
        if one.is_required and name not in given.fields:
            raise Problem(f"the property {name!r} is missing", line)
    return {name: known[name].check(name, item) for name, item in given.fields.items()}


_UNITS: Final = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_PART = re.compile(r"([0-9]{1,12}(?:\.[0-9]{0,12})?|\.[0-9]{1,12})(ns|us|µs|μs|ms|s|m|h)")
_LONGEST: Final = 64


def duration_seconds(text: str) -> float:
    """Return the seconds of a duration. Raises ValueError. `1m30s` -> 90.0."""
    total, place = 0.0, 0
    if len(text) > _LONGEST:
        raise ValueError(f"the duration has {len(text)} characters, at most {_LONGEST}")
    while place < len(text):
        part = _PART.match(text, place)
        if part is None:
            break
        total += float(part[1]) * _UNITS[part[2]]
        place = part.end()
    if not text or place < len(text):
        raise ValueError(f"expected a duration with units, such as 90s, 1m or 1h30m, got {text!r}")
    return total
