"""Compare two states of a table of the SDK by key. Blocking. `lakebed_tables.row_diff` compares the rows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lakebed_tables import row_diff

from lakebed._tables.compare_results import ColumnChange, TableDiff
from lakebed._tables.location import Place
from lakebed._tables.reading import Opened


def compare(
    left: Opened | None, right: Opened | None, key: Sequence[str], where: Place, local: Path, size: int
) -> TableDiff:
    """Compare two states. None: this side has no such table. Raises InvalidRequestError for invalid keys.

    `size` is the size of the files in bytes, `local` a directory for the buckets.
    """
    before, after = (None if one is None else row_diff.State(one.schema, one.batches) for one in (left, right))
    try:
        found = row_diff.compare(before, after, key, local, row_diff.buckets_for(size))
    except row_diff.KeyProblem as problem:
        convertible = isinstance(problem, row_diff.KeyTypesDiffer)
        advice = "; pass an Arrow schema as schema= to read both with it" if convertible else ""
        raise where.invalid("diff.table", f"{problem}{advice}", problem.kind) from None
    differing = found.differing()
    names = [name.removesuffix("_before") for name in found.changed.column_names[len(key) + 1 :: 2]]
    unchanged = [f"{name}_{side}" for name in names if name not in differing for side in ("before", "after")]
    return TableDiff(
        where.path,
        tuple(key),
        found.added,
        found.removed,
        found.changed.drop_columns(unchanged),
        tuple(ColumnChange(*one) for one in found.schema),
        found.changed,
    )
