"""Values of a contract in the type of a column: the ends of a range, and accepted values.

Whole numbers, decimals, dates and times are compared as the whole numbers that Parquet and Arrow store. So the range of
a column is exact, and a footer and a scan are compared with the same two numbers.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final, Literal, NamedTuple

from lakebed_hooks.contracts.column_types import stored

_PER_SECOND: Final = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_EPOCH: Final = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)


class Bounds(NamedTuple):
    """The ends of a range as stored values. None: no end. `kind`: how they are stored."""

    kind: Literal["whole", "decimal", "float", "text"]
    low: Any
    high: Any


def bounds_of(low: Any, high: Any, type_: Any) -> Bounds | None:
    """The ends of a range, converted to a type. None: the type cannot be compared with them."""
    from pyarrow import types

    type_ = stored(type_)
    try:
        if types.is_string(type_) or types.is_large_string(type_) or types.is_string_view(type_):
            return Bounds("text", low, high) if all(isinstance(one, str | None) for one in (low, high)) else None
        if types.is_floating(type_):
            return Bounds("float", *(None if one is None else _float(one, type_) for one in (low, high)))
        exact = [None if one is None else _units(one, type_) for one in (low, high)]
    except (TypeError, ValueError, OverflowError, ArithmeticError):
        return None
    ends = [None if exact[0] is None else math.ceil(exact[0]), None if exact[1] is None else math.floor(exact[1])]
    return Bounds("decimal" if types.is_decimal(type_) else "whole", *ends)


def accepted_in(values: Sequence[Any], type_: Any) -> Any:
    """The accepted values as an Arrow array of a type. Leaves out values that the type cannot have."""
    import pyarrow as pa
    from pyarrow import types

    type_ = stored(type_)
    if types.is_boolean(type_):
        return pa.array([one for one in values if isinstance(one, bool)], type_)
    found = []
    for value in values:
        bounds = bounds_of(value, value, type_)
        if bounds is not None and bounds.low == bounds.high:
            found.append(bounds.low)
    if types.is_decimal(type_):
        scaled = [Decimal(one).scaleb(-type_.scale, _context()) for one in found]
        return pa.array([one for one in scaled if len(one.as_tuple().digits) <= type_.precision], type_)
    whole = whole_type(type_)
    if whole is None:
        return pa.array(found, type_)
    least, most = limits_of(whole)
    return pa.array([one for one in found if least <= one <= most], whole)


def whole_type(type_: Any) -> Any:
    """The type of whole numbers in which Arrow stores a type. None: Arrow does not store it as whole numbers."""
    import pyarrow as pa
    from pyarrow import types

    if types.is_integer(type_):
        return type_
    if types.is_temporal(type_) and not types.is_interval(type_):
        return pa.int64() if type_.bit_width == 64 else pa.int32()
    return None


def limits_of(whole: Any) -> tuple[int, int]:
    """The smallest and the largest number of a type of whole numbers."""
    from pyarrow import types

    bits = whole.bit_width
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if types.is_signed_integer(whole) else (0, (1 << bits) - 1)


def _units(value: Any, type_: Any) -> Fraction:
    """A value as a number of units of a type, such as cents or microseconds. Raises TypeError, ValueError."""
    from pyarrow import types

    if types.is_integer(type_) or types.is_decimal(type_):
        if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
            raise TypeError
        # 0.1 in a contract is the decimal 0.1, not the nearest floating-point number
        exact = Fraction(repr(value) if isinstance(value, float) else value)
        return exact * (10**type_.scale if types.is_decimal(type_) else 1)
    if types.is_date(type_):
        seconds = _seconds(value)
        return seconds / 86_400 if type_.bit_width == 32 else seconds * 1000
    if types.is_timestamp(type_):
        return _seconds(value) * _PER_SECOND[type_.unit]
    if types.is_time(type_) and isinstance(value, str):
        time = datetime.time.fromisoformat(value)
        seconds = Fraction(time.hour * 3600 + time.minute * 60 + time.second) + Fraction(time.microsecond, 10**6)
        return seconds * _PER_SECOND[type_.unit]
    raise TypeError


def _seconds(value: Any) -> Fraction:
    """Seconds since 1970. A date is its midnight. A time without a zone is in UTC."""
    if isinstance(value, str):
        value = datetime.datetime.fromisoformat(value)
    if isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
        value = datetime.datetime(value.year, value.month, value.day)
    if not isinstance(value, datetime.datetime):
        raise TypeError
    since = (value if value.tzinfo else value.replace(tzinfo=datetime.UTC)) - _EPOCH
    return Fraction(since.days * 86_400 + since.seconds) + Fraction(since.microseconds, 10**6)


def _float(value: Any, type_: Any) -> float:
    """A number, rounded to the type."""
    import numpy as np

    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise TypeError
    if type_.bit_width == 64:
        return float(value)
    with np.errstate(over="ignore"):
        return float(np.float32(value) if type_.bit_width == 32 else np.float16(value))


def _context() -> Any:
    import decimal

    return decimal.Context(prec=100)
