"""CPU work that is remembered: pure jobs given to `Runtime.cpu`, and decoded files, which are named by their content.

Nothing of production is replaced, and no call to a store is saved: schedules repeat the same few files over and over,
and coding them again would take most of the time. One schedule in eight decodes everything.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Hashable
from typing import Any, TypeVar

import pyarrow as pa
from lakebed_engine.tree.cache import ByteCache
from lakebed_engine.tree.trees import RangeInfo, Tree, Trees
from lakebed_format import decode_patch, decode_range, decode_tree
from lakebed_format.tree.reading import decode_layer

T = TypeVar("T")

_LIMIT = 30_000
# by name: a job that is renamed is only not remembered any more
_TABLE_JOBS = {
    "_named", "encode_metarange", "encode_patch", "encode_range", "encode_layer",
    "merge_rows", "compare", "overlay",
}  # fmt: skip
_ROW_JOBS = {"delta_table", "_table"}
_ROW_DECODERS = {decode_range, decode_patch, decode_layer}
_DECODERS = {decode_tree, *_ROW_DECODERS}

_results: dict[Hashable, Any] = {}
_tables: dict[int, tuple[pa.Table, bytes]] = {}
_shared: dict[Hashable, Any] = {}
_files: dict[bytes, pa.Table] = {}  # the bytes of a file -> the rows that it was made of
_changes: dict[int, Any] = {}
_saved: dict[Hashable, tuple[Tree, Any]] = {}


def remembered(job: Callable[..., Any], args: tuple[Any, ...], share: bool = True) -> Any:
    """The result of a job, from memory when it is known to be pure and was done before.

    `share`: a file that was made here is not decoded, its rows are the rows of its writer. Schedules that do not
    share decode it, and find out whether that is so.
    """
    name = getattr(job, "__name__", "")
    made = _made_of(name, args)
    if made is not None and share:
        return made
    key = _job_key(name, job, args)
    if key is None:
        return job(*args)
    found = _results.get(key)
    if found is None:
        found = _results[key] = job(*args)
        _keep(args, found)
    if made is not None and not found.equals(made):
        raise AssertionError(f"{name}: a file holds other rows than it was made of")
    return found


def forget() -> None:
    """Forget everything, as in a process that has just started."""
    for one in (_results, _tables, _files, _saved, _changes, _shared):
        one.clear()


def _job_key(name: str, job: Callable[..., Any], args: tuple[Any, ...]) -> Hashable:
    """What its result depends on; None: not known to be pure."""
    if name in _TABLE_JOBS:
        return (name, *map(_key, args))
    if name in _ROW_JOBS:
        return (name, repr(args[0]))
    if name == "as_delta" and not args:  # of a result of `compare`, which is kept here
        changes = job.__self__  # type: ignore[attr-defined]
        return (name, id(changes)) if id(changes) in _changes else None
    if name == "_guarded" and args[1] in _DECODERS:
        return args
    if name == "_guarded" and args[1].__name__ == "_read_group" and hasattr(args[2], "data"):
        return ("_read_group", args[2].data, args[3])
    return None


def _made_of(name: str, args: tuple[Any, ...]) -> pa.Table | None:
    """The rows of the file that a job is about to decode as a whole, if it was made here."""
    if name != "_guarded":
        return None
    if args[1] in _ROW_DECODERS and len(args) == 4:
        return _files.get(args[2])
    if args[1].__name__ == "_read_group" and len(getattr(args[2], "max_paths", "")) == 1:
        return _files.get(args[2].data)
    return None


def _keep(args: tuple[Any, ...], found: Any) -> None:
    """Remember the facts of a result that later jobs need."""
    if len(_results) > _LIMIT:
        forget()
    parts = found if isinstance(found, tuple) else (found,)
    tables = [one for one in parts if isinstance(one, pa.Table)]
    files = [one for one in parts if isinstance(one, bytes)]
    for one in tables:
        _key(one)
    made = tables[:1] or [one for one in args if isinstance(one, pa.Table)]
    if len(files) == 1 and made:
        _files[files[0]] = made[0]
    if hasattr(found, "as_delta"):
        _changes[id(found)] = found


def _key(arg: Any) -> Hashable:
    if isinstance(arg, list):
        return tuple(map(_key, arg))
    if not isinstance(arg, pa.Table):
        return arg  # type: ignore[no-any-return]
    known = _tables.get(id(arg))
    if known is not None:
        return known[1]
    # with the names: tables of other columns are equally empty
    content = "\n".join([*arg.column_names, ""]).encode()
    content += b"".join(batch.serialize().to_pybytes() for batch in arg.to_batches())
    if len(_tables) < 4 * _LIMIT:
        _tables[id(arg)] = arg, content
    return content


class SharedTrees(Trees):
    """Trees that make the rows of each metarange once per process; it is still stored every time."""

    def outlined(self, ranges: tuple[RangeInfo, ...], patches: tuple[RangeInfo, ...]) -> tuple[Tree, pa.Table]:
        key = (ranges, patches)
        found = _saved.get(key)
        if found is None:
            found = _saved[key] = super().outlined(*key)
        return found

    def outlined_with_inline_patch(
        self, ranges: tuple[RangeInfo, ...], older: tuple[RangeInfo, ...], newest: RangeInfo
    ) -> tuple[Tree, pa.Table]:
        key = (ranges, older, newest)
        found = _saved.get(key)
        if found is None:
            found = _saved[key] = super().outlined_with_inline_patch(*key)
        return found


def finish(coro: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine that never waits, as those of the memory drivers."""
    try:
        coro.send(None)
    except StopIteration as stop:
        result: T = stop.value
        return result
    raise AssertionError("a memory driver waited")


class SharedCache(ByteCache):
    """A ByteCache that reports its content to `coded`. It answers only from its own content.

    Were its content shared by schedules, a read would ask the store or not, as other schedules ran before or did not:
    a seed would not be one schedule any more.
    """

    def put(self, key: Hashable, value: Any, nbytes: int) -> None:
        super().put(key, value, nbytes)
        if _by_content(key):
            _shared[key] = value


def coded(key: Hashable) -> Any | None:
    """What an engine cached under a key that names its content, if any did."""
    return _shared.get(key)


def layer_rows(data: bytes) -> pa.Table | None:
    """The rows that a layer's file was made from, if it was made here."""
    return _files.get(data)


def _by_content(key: Any) -> bool:
    return len(key[2]) == 64  # a digest, not the id of a layer's part
