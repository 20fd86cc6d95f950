"""Types of columns, as contracts name them: `int64`, `decimal(12,2)`, `timestamp(us, UTC)`, `list(string)`.

The names of logical types of the Open Data Contract Standard are accepted too. They are wider: `integer` is any whole
number, `number` any number, `array` any list, `object` any structure.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

from lakebed_hooks.contracts.fields import did_you_mean

_INTEGERS: Final = tuple(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))
_ALIASES: Final = {
    "boolean": "bool", "tinyint": "int8", "byte": "int8", "smallint": "int16", "short": "int16", "int": "int32",
    "bigint": "int64", "long": "int64", "float16": "halffloat", "float": "float32", "double": "float64",
    "text": "string", "varchar": "string", "str": "string",
}  # fmt: skip
_NAMES: Final = (
    "bool", *_INTEGERS, "halffloat", "float32", "float64", "decimal", "string", "binary", "date", "time", "timestamp",
    "duration", "list", "map", "struct", "integer", "number", "array", "object",
)  # fmt: skip
_UNITS: Final = ("s", "ms", "us", "ns")
_TEXT: Final = re.compile(r"([A-Za-z0-9_]{1,30})\s{0,20}(?:\((.{1,200})\))?")


@dataclass(frozen=True, slots=True)
class ColumnType:
    """A type. `arguments`: precision and scale, a unit and `utc` or `none`, or the text of the type of list items."""

    name: str
    arguments: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.name + (f"({','.join(self.arguments)})" if self.arguments else "")

    def fits(self, kind: Any) -> bool:
        """Whether a type of Arrow is this type. The encoding (dictionary, large string) is ignored."""
        from pyarrow import types

        kind = stored(kind)
        if self.name in _INTEGERS:
            return str(kind) == self.name
        if self.name == "decimal":
            return types.is_decimal(kind) and self.arguments in ((), (str(kind.precision), str(kind.scale)))
        if self.name in ("timestamp", "time", "duration"):
            return bool(getattr(types, f"is_{self.name}")(kind)) and _unit_fits(self.arguments, kind)
        if self.name == "list":
            return _is_list(kind) and (not self.arguments or parse_type(self.arguments[0]).fits(kind.value_type))
        return any(test(kind) for test in _tests()[self.name])

    def arrow(self) -> Any:
        """The Arrow type that a reader of text converts to. None: the reader infers it."""
        import pyarrow as pa

        if self.name in (*_INTEGERS, "float32", "float64", "bool", "string", "binary"):
            return pa.type_for_alias(self.name)
        if self.name == "decimal" and self.arguments:
            precision, scale = map(int, self.arguments)
            return pa.decimal128(precision, scale) if precision <= 38 else pa.decimal256(precision, scale)
        if self.name == "date":
            return pa.date32()
        if self.name == "timestamp":
            unit = self.arguments[0] if self.arguments else "us"
            return pa.timestamp(unit, "UTC" if "utc" in self.arguments else None)
        return None


def parse_type(text: str) -> ColumnType:
    """Read a type. Raises ValueError with the rest of a sentence: `is not a type: ...`."""
    found = _TEXT.fullmatch(text.strip()) if len(text) <= 250 else None
    name = found[1].lower() if found else ""
    name = _ALIASES.get(name, name)
    if found is None or name not in _NAMES:
        raise ValueError(f"is the unknown type {text[:60]!r}{did_you_mean(name, (*_NAMES, *_ALIASES))}")
    if found[2] is None:
        return ColumnType(name)
    if name == "list":
        return ColumnType(name, (str(parse_type(found[2])),))
    arguments = tuple(part.strip().lower() for part in found[2].split(","))
    if name == "decimal":
        if len(arguments) == 1:
            arguments = (*arguments, "0")
        if not all(part.isdecimal() for part in arguments) or len(arguments) != 2:
            raise ValueError(f"is {text[:60]!r}: write decimal(precision,scale), such as decimal(12,2)")
        precision, scale = map(int, arguments)
        if not 1 <= precision <= 76 or scale > precision:
            raise ValueError(f"is {text[:60]!r}: the precision is 1 to 76, and the scale at most the precision")
        return ColumnType(name, (str(precision), str(scale)))
    zones = {"utc", "none"} if name == "timestamp" else set()
    if name in ("timestamp", "time", "duration") and arguments[0] in _UNITS and set(arguments[1:]) <= zones:
        return ColumnType(name, arguments[:2])
    raise ValueError(f"is {text[:60]!r}: {name} takes no such arguments (timestamp(us), timestamp(us, UTC), time(us))")


def stored(kind: Any) -> Any:
    """The type of the values, without dictionaries, runs and extension types."""
    import pyarrow as pa

    while True:
        if isinstance(kind, pa.BaseExtensionType):
            kind = kind.storage_type
        elif pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
            kind = kind.value_type
        else:
            return kind


def _unit_fits(arguments: tuple[str, ...], kind: Any) -> bool:
    if arguments and arguments[0] != kind.unit:
        return False
    return len(arguments) < 2 or (kind.tz is not None) == (arguments[1] == "utc")


def _is_list(kind: Any) -> bool:
    from pyarrow import types

    return bool(types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind))


def _tests() -> dict[str, tuple[Any, ...]]:
    from pyarrow import types

    return {
        "bool": (types.is_boolean,),
        "halffloat": (types.is_float16,),
        "float32": (types.is_float32,),
        "float64": (types.is_float64,),
        "string": (types.is_string, types.is_large_string, types.is_string_view),
        "binary": (types.is_binary, types.is_large_binary, types.is_fixed_size_binary, types.is_binary_view),
        "date": (types.is_date,),
        "map": (types.is_map,),
        "struct": (types.is_struct,),
        "integer": (types.is_integer,),
        "number": (types.is_integer, types.is_floating, types.is_decimal),
        "array": (_is_list,),
        "object": (types.is_struct, types.is_map),
    }
