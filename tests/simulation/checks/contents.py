"""What records name, read from the raw stores without the engine's readers: trees, layers, staged rows.

Decoded files are remembered across schedules by their content's id (or taken from what `memo` has), but every lookup
checks again whether the files are still there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
import pyarrow as pa
from lakebed_engine.operations.context import decode_record, decode_workspace
from lakebed_engine.operations.keys import record_key
from lakebed_engine.stores.kv.base import Versioned
from lakebed_engine.stores.kv.memory import MemoryKV
from lakebed_engine.stores.objects.memory import MemoryObjects
from lakebed_engine.tree.manifest import RangeInfo, Tree, tree_from
from lakebed_engine.tree.rows import decode_row
from lakebed_engine.vocabulary.records import Branch, Commit, Workspace
from lakebed_format import decode_patch, decode_range, decode_tree
from lakebed_format.tree.reading import decode_layer

from tests.simulation.checks.history import State, Value, View, Violation
from tests.simulation.world.memo import coded, layer_rows

MARKER = b""

_trees: dict[str, tuple[Sequence[str], View]] = {}
_ranges: dict[str, Mapping[str, Value | None]] = {}
_commits: dict[bytes, Commit] = {}
_layers: dict[bytes, Mapping[str, Value | None]] = {}
_commit = msgspec.json.Decoder(Commit)


class Contents:
    """One repository's raw content."""

    def __init__(self, kv: MemoryKV, blobs: MemoryObjects, partition: str) -> None:
        self.kv = kv
        self.blobs = blobs
        self.partition = partition

    def partitions(self) -> list[str]:
        """Every KV partition that has rows."""
        return [name for name, found in self.kv._partitions.items() if found.rows]

    def rows(self, partition: str) -> Mapping[bytes, Versioned]:
        """The rows of a partition."""
        found = self.kv._partitions.get(partition)
        return found.rows if found is not None else {}

    def branch(self, name: str) -> Branch | None:
        """A branch's record, or that of an open workspace."""
        row = self.rows(self.partition).get(record_key(name))
        record = None if row is None else decode_record(name, row.value)
        return None if isinstance(record, Workspace) and record.state != "open" else record

    def branches(self) -> list[str]:
        """The names of all branches and open workspaces."""
        rows = self.rows(self.partition).items()
        return [name for key, row in rows if (name := name_of(key, row.value)) and self.branch(name) is not None]

    def commit(self, commit_id: str) -> Commit:
        """A commit. Raises Violation when there is none."""
        row = self.rows(self.partition).get(b"commit/" + commit_id.encode())
        if row is None:
            raise Violation(f"commit {commit_id[:8]} is named, and is not there")
        found = _commits.get(row.value)
        if found is None:
            found = _commits[row.value] = _commit.decode(row.value)
        return found

    def commits(self) -> list[Commit]:
        """Every commit there is."""
        return [self.commit(key[7:].decode()) for key in self.rows(self.partition) if key.startswith(b"commit/")]

    def tree(self, commit_id: str) -> View:
        """The content of a commit, all files of which must be there."""
        tree_id = self.commit(commit_id).metarange_id
        if not tree_id:
            return {}
        self.need(f"_lakebed/commits/{commit_id}.json")
        metarange = self.need(f"_lakebed/metaranges/{tree_id}.parquet")
        if tree_id not in _trees:
            tree = self._outline(metarange, tree_id)
            infos = [*tree.ranges, *reversed(tree.patches)]
            view: dict[str, Value] = {}
            for info in infos:  # patches come last, a newer one behind an older one
                _over(view, self._range(info))
            _trees[tree_id] = [info.file for info in infos], view
        files, found = _trees[tree_id]
        for name in files:
            self.need(name)
        return found

    def _outline(self, metarange: bytes, tree_id: str) -> Tree:
        known = coded((self.blobs.uri, "tree", tree_id))
        if known is not None:
            assert isinstance(known, Tree)
            return known
        rows, inline_patch = decode_tree(metarange, tree_id)
        return tree_from(tree_id, rows, carries=inline_patch is not None)

    def _range(self, info: RangeInfo) -> Mapping[str, Value | None]:
        if info.file not in _ranges:
            known = coded((self.blobs.uri, "whole", info.id))
            rows = _decoded(info, self.need(info.file)) if known is None else known.rows
            columns = [rows.column(one).to_pylist() for one in ("path", "identity", "physical_address")]
            gone = rows.column("deleted").to_pylist() if info.kind == "patch" else [False] * rows.num_rows
            _ranges[info.file] = {
                path: None if deleted else Value(found, address)
                for path, found, address, deleted in zip(*columns, gone, strict=True)
            }
        return _ranges[info.file]

    def need(self, name: str) -> bytes:
        """The bytes of a file. Raises Violation when it is not there."""
        found = self.blobs._blobs.get(name)
        if found is None:
            raise Violation(f"{name} is named, and is not there")
        return found.data

    def has(self, address: str) -> bool:
        """Whether the data of an entry is there. What others own may go, and is not looked at."""
        return "://" in address or address in self.blobs._blobs

    def staged(self, token: str) -> dict[str, Value | None]:
        """The rows of a staging token."""
        rows = self.rows(f"stage/{token}")
        return {key.decode(): value_of(row.value) for key, row in rows.items() if key != MARKER}

    def layer(self, name: str) -> Mapping[str, Value | None]:
        """The rows of one part of a file layer."""
        data = self.need(name)
        if data not in _layers:
            _layers[data] = _decoded_layer(data, name.removesuffix(".parquet").rsplit("/", 1)[1])
        return _layers[data]

    def state(self, record: Branch) -> State:
        """What a branch of this record shows."""
        tree, sealed, live = self.tree(record.commit_id), self._sealed(record), self.staged(record.staging_token)
        view = dict(tree)
        _over(view, sealed)
        _over(view, live)
        return State(record, view, tree, sealed, live)

    def _sealed(self, record: Branch) -> Mapping[str, Value | None]:
        rows: dict[str, Value | None] = {}
        for layer in reversed(record.layers):
            if layer.kind == "kv":
                rows |= self.staged(layer.id)
            for part in getattr(layer, "parts", ()):
                rows |= self.layer(f"_lakebed/layers/{part.id}.parquet")
        return rows


def name_of(key: bytes, value: bytes) -> str | None:
    """The name of the branch or workspace whose record a row is, if it is one."""
    if key.startswith(b"workspace/"):
        return decode_workspace(value).name
    return key[7:].decode() if key.startswith(b"branch/") else None


def value_of(row: bytes) -> Value | None:
    """A staged row's value."""
    entry = decode_row(row)
    return None if entry is None else Value(entry.identity, entry.physical_address)


def _over(view: dict[str, Value], rows: Mapping[str, Value | None]) -> None:
    for path, value in rows.items():
        if value is None:
            view.pop(path, None)
        else:
            view[path] = value


def _decoded(info: RangeInfo, data: bytes) -> pa.Table:
    if info.inline_in:
        return decode_tree(data, info.inline_in).inline_patch
    return decode_range(data, info.id) if info.kind == "range" else decode_patch(data, info.id)


def _decoded_layer(data: bytes, part_id: str) -> Mapping[str, Value | None]:
    known = layer_rows(data)
    rows = decode_layer(data, part_id) if known is None else known
    columns = [rows.column(one).to_pylist() for one in ("path", "identity", "physical_address", "deleted")]
    return {
        path: None if deleted else Value(identity, address)
        for path, identity, address, deleted in zip(*columns, strict=True)
    }
