"""Checks the values of a file, batch by batch: counts the bad ones, and keeps the first of them with their rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

from lakebed_hooks.contracts.bounds import Bounds, accepted_in, bounds_of, limits_of, whole_type
from lakebed_hooks.contracts.columns import ColumnAt, values_of
from lakebed_hooks.contracts.report import VALUES_MOST, BadValue, Result
from lakebed_hooks.contracts.vocabulary import Accepted, NotNan, NotNull, Range
from lakebed_hooks.reading import File

ValueCheck = NotNull | NotNan | Range | Accepted

NAMES = {NotNull: "not_null", NotNan: "not_nan", Range: "range", Accepted: "accepted"}

Test = Callable[[Any], Any]
"""Returns which values of an array are bad, as an array of booleans without nulls. None: no value is bad."""


class Scan:
    """One check of one column, over the batches of a file."""

    def __init__(self, check: ValueCheck, column: ColumnAt, test: Test) -> None:
        self.check = check
        self.column = column
        self.bad = 0
        self.values: list[BadValue] = []
        self._test = test

    def add(self, batch: Any, first_row: int) -> None:
        """Check a batch. `first_row`: the number of its first row in the file."""
        values = values_of(batch, self.column)
        mask = self._test(values)
        found = mask.true_count if mask is not None else 0
        self.bad += found
        if found and len(self.values) < VALUES_MOST:
            for row in mask.to_numpy(zero_copy_only=False).nonzero()[0][: VALUES_MOST - len(self.values)].tolist():
                self.values.append(BadValue(first_row + row, python_of(values[row])))


def python_of(scalar: Any) -> Any:
    """Convert an Arrow scalar to a Python value, or to a text if Python has no such value."""
    try:
        return scalar.as_py()
    except (ValueError, OverflowError, UnicodeError):
        return str(scalar)


def test_of(check: ValueCheck, type_: Any) -> Test | str:
    """The test of a check for a type of column, or the reason why there is none, as the end of a sentence about the
    column.
    """
    from pyarrow import types

    if isinstance(check, NotNull):
        return lambda values: values.is_null()
    if isinstance(check, NotNan):
        return _nan if types.is_floating(type_) else (lambda _: None)
    if type_.num_fields or types.is_null(type_):
        return (lambda _: None) if types.is_null(type_) else f"is {type_}, which has no single values"
    if isinstance(check, Accepted):
        return _accepted(check.values, type_)
    bounds = bounds_of(check.low, check.high, type_)
    if bounds is None:
        return f"is {type_}, which cannot be compared with {check.low!r} to {check.high!r}"
    return _Outside(bounds, type_)


def _nan(values: Any) -> Any:
    import pyarrow.compute as pc

    return pc.fill_null(pc.is_nan(_single(values)), False)


def _single(values: Any) -> Any:
    """Convert half-precision numbers to single precision: Arrow cannot compare half-precision numbers."""
    import pyarrow as pa

    return values.cast(pa.float32()) if pa.types.is_float16(values.type) else values


def _accepted(accepted: Sequence[Any], type_: Any) -> Test | str:
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        known = accepted_in(accepted, type_)
    except (pa.ArrowException, TypeError, ValueError):
        return f"is {type_}, for which there are no accepted values"
    if not len(known):
        return f"is {type_}, which has none of the accepted values"
    whole = pa.large_string() if isinstance(accepted[0], str) and known.type == type_ else whole_type(type_)
    known = known if whole is None else known.cast(whole)

    def test(values: Any) -> Any:
        compared = _single(values if whole is None else values.cast(whole))
        bad = pc.and_(pc.invert(pc.is_in(compared, value_set=_single(known))), compared.is_valid())
        if pa.types.is_floating(compared.type):
            bad = pc.and_(bad, pc.invert(pc.fill_null(pc.is_nan(compared), False)))
        return bad

    return test


class _Outside:
    """The test of a range. It converts the ends to scalars only when first used, because pyarrow imports pandas for
    that.
    """

    def __init__(self, bounds: Bounds, type_: Any) -> None:
        import pyarrow as pa

        self._bounds = bounds
        self._type = type_
        self._stored = pa.large_string() if bounds.kind == "text" else whole_type(type_)
        self._ends: tuple[Any, Any, bool] | None = None

    def __call__(self, values: Any) -> Any:
        import pyarrow.compute as pc

        if self._ends is None:
            self._ends = _scalars(self._bounds, self._type)
        low, high, all_bad = self._ends
        compared = _single(values if self._stored is None else values.cast(self._stored))
        if all_bad:
            return compared.is_valid()
        masks = [pc.less(compared, low)] if low is not None else []
        masks += [pc.greater(compared, high)] if high is not None else []
        if not masks:
            return None
        return pc.fill_null(masks[0] if len(masks) == 1 else pc.or_(*masks), False)


def _scalars(bounds: Bounds, type_: Any) -> tuple[Any, Any, bool]:
    """The ends as Arrow scalars, and whether no value of the type can be between them.

    An end beyond the values of the type is left out.
    """
    import pyarrow as pa

    low, high, _ = bounds.low, bounds.high, bounds.kind
    if bounds.kind == "text":
        return _scalar(low, pa.large_string()), _scalar(high, pa.large_string()), False
    if bounds.kind == "float":
        kind = pa.float32() if type_.bit_width == 16 else type_
        return _scalar(low, kind), _scalar(high, kind), False
    whole = whole_type(type_)
    least, most = limits_of(whole) if bounds.kind == "whole" else (1 - 10**type_.precision, 10**type_.precision - 1)
    if (low is not None and low > most) or (high is not None and high < least):
        return None, None, True
    low = None if low is None or low <= least else low
    high = None if high is None or high >= most else high
    if bounds.kind == "whole":
        return _scalar(low, whole), _scalar(high, whole), False
    low, high = (None if one is None else _decimal(one, type_.scale) for one in (low, high))
    return _scalar(low, type_), _scalar(high, type_), False


def _scalar(value: Any, type_: Any) -> Any:
    import pyarrow as pa

    return None if value is None else pa.scalar(value, type_)


def _decimal(unscaled: int, scale: int) -> Decimal:
    return Decimal((int(unscaled < 0), tuple(map(int, str(abs(unscaled)))), -scale))


def result_of(file: File, scan: Scan, rows: int) -> Result:
    """The result of a scan. `rows`: of the file."""
    name = NAMES[type(scan.check)]
    if not scan.bad:
        return Result(file.path, name, "passed", scan.column.path, rows=rows, bad=0, source="scan")
    first = scan.values[0]
    value = "" if isinstance(scan.check, NotNull | NotNan) else f", which is {first.value!s:.60}"
    what = {NotNull: "null", NotNan: "NaN", Accepted: "not accepted"}.get(type(scan.check)) or _range_said(scan.check)
    number = "1 value" if scan.bad == 1 else f"{scan.bad:,} values"
    said = f"{number} of {scan.column.path!r} {'is' if scan.bad == 1 else 'are'} {what}, the first in row {first.row}"
    return Result(
        file.path, name, "refused", scan.column.path, said + value, rows, scan.bad, tuple(scan.values), "scan"
    )


def _range_said(check: Any) -> str:
    low, high = ("any" if one is None else one for one in (check.low, check.high))
    return f"outside of {low} to {high}"
