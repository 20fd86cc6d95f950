"""Binds a request to values: the parameters and the JSON body of one operation, checked against the spec.

The generated operation table has all types. This module has the rules that msgspec's lax mode does not know
(`facts/spec_first.md` 3): booleans in Go's notation, no scalar twice, no numbers for times, strict UTF-8, unknown keys
ignored, an empty optional body is not a body, null in an optional field is not a value.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec
from lakebed_wire.operations import Operation
from msgspec import inspect

from lakebed_server.http.body import RequestBody, decoded, unescape
from lakebed_server.rest.routing import decode_segment
from lakebed_server.vocabulary import RequestError, bad_request

BOOLEANS: dict[str, bool] = {
    **dict.fromkeys(("1", "t", "T", "true", "True", "TRUE"), True),
    **dict.fromkeys(("0", "f", "F", "false", "False", "FALSE"), False),
}

_AT = " - at `$"
"""What msgspec puts between an error and its location: ` - at `$.paths[0]``."""
_PATTERN = re.compile(r"^Expected `str` matching regex '(.*)'$", re.DOTALL)
_SHAPE_KINDS = {"name": "invalid_name", "id": "invalid_name", "storage_namespace": "invalid_namespace"}


PATTERNS = {
    "^[a-z0-9][a-z0-9-]{2,62}$": "3 to 63 lower-case letters, digits and hyphens, beginning with a letter or a digit",
    "^((s3|gs|az|https?|mem|local|transient)://.*)?$": "an address like local://sales, s3://bucket/sales, mem://sales",
    "^[0-9a-v]{20}$": "20 of the digits 0 to 9 and a to v",
    "^[0-9a-f]{32}$": "32 of the hexadecimal digits 0 to 9 and a to f",
    "^[0-9]{1,19}$": "a number of at most 19 digits",
    "^[0-9]{1,19}([.][0-9]{1,6})?$": "a number of at most 19 digits, or two such as 17.3, the second of at most 6",
}
"""The requirement of each pattern of the spec, in words."""


class Binder:
    """Binds the requests of one operation."""

    def __init__(self, operation: Operation, json_limit: int) -> None:
        self._params = operation.params
        self._path = tuple(p.name for p in operation.parameters if p.place == "path")
        self._query = {p.name: p for p in operation.parameters if p.place == "query"}
        self._headers = tuple((p.name, p.name.lower().encode()) for p in operation.parameters if p.place == "header")
        self._body = operation.body
        self._decoder = None if operation.body is None else msgspec.json.Decoder(operation.body)
        self._body_required = operation.body_required
        self._json_limit = json_limit

    def params(self, raw: tuple[str, ...], query: bytes, headers: Mapping[bytes, bytes]) -> Any:
        """The parameters as the operation's struct. Raises RequestError (400), which names the parameter."""
        got: dict[str, Any] = {name: decode_segment(name, value) for name, value in zip(self._path, raw, strict=True)}
        if query and self._query:
            self._read_query(query, got)
        for name, key in self._headers:
            value = headers.get(key)
            if value:  # an empty header counts as missing
                got[name] = decoded(value, f"parameter {name}")
        try:
            return msgspec.convert(got, self._params, strict=False)
        except msgspec.ValidationError as error:
            raise _refusal(error, "parameter") from None

    def _read_query(self, query: bytes, got: dict[str, Any]) -> None:
        for pair in _text(query).split("&"):
            key, _, value = pair.partition("=")
            if "%" in key or "+" in key:
                key = unescape(key.replace("+", " "), "query")
            parameter = self._query.get(key)
            if parameter is None:
                continue
            if "+" in value:
                value = value.replace("+", " ")
            if "%" in value:
                value = unescape(value, f"parameter {key}")
            if parameter.is_array:
                got.setdefault(key, []).append(value)
            elif key in got:
                raise bad_request(f"parameter {key}: given twice")
            elif parameter.is_bool:
                got[key] = _boolean(key, value)
            elif parameter.is_time and value[10:11] not in ("T", "t"):
                raise bad_request(f"parameter {key}: expected an RFC 3339 time, for example 2026-01-31T12:00:00Z")
            else:
                got[key] = value

    async def body(self, body: RequestBody, headers: Mapping[bytes, bytes]) -> Any:
        """The JSON body as the operation's struct, None when it is optional and empty."""
        if self._decoder is None:
            return None
        raw = await body.whole(self._json_limit)
        if not raw:
            if self._body_required:
                raise bad_request("body: required")
            return None
        _require_json(headers.get(b"content-type"))
        try:
            return _decode(raw, self._decoder, self._body)
        except (msgspec.ValidationError, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise _refusal(error, "body") from None


def _decode(raw: bytes, decoder: msgspec.json.Decoder[Any], body: Any) -> Any:
    """The body as its struct. Clients in Go send null for fields without a value."""
    try:
        return decoder.decode(raw)
    except msgspec.ValidationError:
        if b"null" not in raw:
            raise
        cleaned = _without_nulls(msgspec.json.decode(raw), inspect.type_info(body))
        return decoder.decode(msgspec.json.encode(cleaned))


def _without_nulls(value: Any, shape: inspect.Type) -> Any:
    """A JSON value without the null fields that are optional. A null in a map or a list stays, and is refused."""
    if isinstance(shape, inspect.UnionType):
        for one in shape.types:
            value = _without_nulls(value, one)
    elif isinstance(shape, inspect.StructType) and isinstance(value, dict):
        fields = {field.encode_name: field for field in shape.fields}
        kept: dict[str, Any] = {}
        for name, held in value.items():
            field = fields.get(name)
            if field is None:
                kept[name] = held
            elif held is not None or field.required or _allows_null(field.type):
                kept[name] = _without_nulls(held, field.type)
        return kept
    elif isinstance(shape, inspect.ListType) and isinstance(value, list):
        return [_without_nulls(one, shape.item_type) for one in value]
    elif isinstance(shape, inspect.DictType) and isinstance(value, dict):
        return {name: _without_nulls(one, shape.value_type) for name, one in value.items()}
    return value


def _allows_null(shape: inspect.Type) -> bool:
    kinds = shape.types if isinstance(shape, inspect.UnionType) else (shape,)
    return any(isinstance(kind, inspect.NoneType | inspect.AnyType) for kind in kinds)


def _text(query: bytes) -> str:
    try:
        return query.decode("ascii")
    except UnicodeDecodeError:
        raise bad_request("query: characters outside ASCII must be percent-encoded as UTF-8") from None


def _boolean(name: str, value: str) -> bool:
    try:
        return BOOLEANS[value]
    except KeyError:
        raise bad_request(f"parameter {name}: expected true or false") from None


def _require_json(content_type: bytes | None) -> None:
    if content_type is None:
        return
    kind = content_type.partition(b";")[0].strip().lower()
    if kind != b"application/json" and not kind.endswith(b"+json"):
        shown = kind.decode("ascii", "replace")[:100]
        raise bad_request(f"body: expected Content-Type application/json, got {shown!r}")


def _refusal(error: Exception, where: str) -> RequestError:
    text = str(error)
    reason, found, place = text.rpartition(_AT)
    if not found:
        return bad_request(f"{where}: {text}")
    place = place.removeprefix(".").removesuffix("`")
    shape = _PATTERN.match(reason)
    if shape is not None:
        reason = f"expected {PATTERNS.get(shape[1], shape[1])}"
    about_shape = where == "body" and (shape is not None or "of length" in reason)
    kind = _SHAPE_KINDS.get(place, "invalid_request") if about_shape else "invalid_request"
    return RequestError(kind, f"{where} {place}: {reason}")
