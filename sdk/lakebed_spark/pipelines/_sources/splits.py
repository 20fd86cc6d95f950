"""Splits a source so that several tasks list it: at its folders, and where it has too few, between its keys.

A bad split only makes the tasks uneven. The spans together cover every key, whatever the source contains.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from lakebed_spark.history.key_ranges import Span, of_prefix
from lakebed_spark.pipelines._sources.base import Disordered, Source

_LOOKS = 200
"""Largest number of folders that are listed to find splits."""

_PER_TASK = 4


def spans_of(source: Source, within: Span, count: int) -> list[Span]:
    """At most this many neighbouring spans that make up one. Without an order of keys, only folders are cut apart."""
    if count < 2:
        return [within]
    cuts = _at_folders(source, within, _PER_TASK * count)
    try:
        if source.divides and len(cuts) < count - 1:
            cuts = sorted({*cuts, *_between_keys(source, within)})
    except Disordered:  # a task that lists all of it meets the same
        return [within]
    step = max(1.0, (len(cuts) + 1) / count)
    chosen = sorted({cuts[round(number * step) - 1] for number in range(1, count) if round(number * step) <= len(cuts)})
    bounds = [within.low, *chosen, within.high]
    return [Span(low or "", high) for low, high in pairwise(bounds)]


def _at_folders(source: Source, within: Span, wanted: int) -> list[str]:
    """Beginnings of folders inside a span: level by level, until there are enough."""
    found: set[str] = set()
    level = [_shared_folder(within)]
    looks = 0
    while level and len(found) < wanted and looks < _LOOKS:
        below: list[str] = []
        for folder in level[: _LOOKS - looks]:
            below += [one for one in source.folders(folder) if _meets(within, one)]
            looks += 1
        found.update(one for one in below if _inside(within, one))
        level = below
    return sorted(found)


def _shared_folder(span: Span) -> str:
    """Return the deepest folder that contains the whole span."""
    if not span.low or span.high is None:
        return ""
    shared = 0
    for one, other in zip(span.low, span.high, strict=False):
        if one != other:
            break
        shared += 1
    return span.low[: span.low.rfind("/", 0, shared) + 1]


def _meets(span: Span, folder: str) -> bool:
    return not span.both(of_prefix(folder)).empty


def _inside(span: Span, cut: str) -> bool:
    return span.low < cut and (span.high is None or cut < span.high)


def _between_keys(source: Source, within: Span) -> Iterable[str]:
    """Where keys first differ: `part-1`, `part-2` of `part-0001`, `part-1007`, `part-2233`. A request for each."""
    first = _first(source, within)
    if first is None:
        return []
    low, high = 0, len(first)
    while low < high:  # the longest beginning that all keys of the span share
        middle = (low + high + 1) // 2
        if _first(source, within.both(_behind(first[:middle]))) is None:
            low = middle
        else:
            high = middle - 1
    cuts: list[str] = []
    key: str | None = first
    while key is not None and len(cuts) < _LOOKS:
        key = _first(source, within.both(_behind(key[: low + 1])))
        if key is not None:
            cuts.append(key[: low + 1])
    return [cut for cut in cuts if _inside(within, cut) and not cut.endswith("\0")]


def _behind(prefix: str) -> Span:
    high = of_prefix(prefix).high if prefix else None
    return Span("", "") if high is None else Span(high)


def _first(source: Source, span: Span) -> str | None:
    if span.empty:
        return None
    for rows in source.listed(span, 1):
        return str(rows["key"][0].as_py())
    return None
