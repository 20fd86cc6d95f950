"""What records name, read from the raw stores without the engine's readers: trees, layers, staged rows.

Above the shipped memory drivers and `lakebed_format`; used by `audit`. Decoded files are remembered across schedules by
their content's id (or taken from what `memo` has), but every look-up asks anew whether the files are still there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
from lakebed_engine.stores.kv.base import Versioned
from lakebed_engine.stores.kv.memory import MemoryKV
from lakebed_engine.stores.objects.memory import MemoryObjects
from lakebed_engine.tree.cursor import decode_row
from lakebed_engine.vocabulary.records import Branch, Commit
from lakebed_format import decode_metarange, decode_range
from lakebed_format.files import decode_layer

from tests.simulation.history import State, Value, View, Violation
from tests.simulation.memo import coded, layer_rows

MARKER = b""

_trees: dict[str, tuple[Sequence[str], View]] = {}
_ranges: dict[str, View] = {}
_commits: dict[bytes, Commit] = {}
_layers: dict[bytes, Mapping[str, Value | None]] = {}
_branch = msgspec.json.Decoder(Branch)
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
        """A branch's record."""
        row = self.rows(self.partition).get(b"branch/" + name.encode())
        return None if row is None else _branch.decode(row.value)

    def branches(self) -> list[str]:
        """The names of all branches."""
        return [key[7:].decode() for key in self.rows(self.partition) if key.startswith(b"branch/")]

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
            names = [f"_lakebed/ranges/{one}.parquet" for one in self._range_ids(metarange, tree_id)]
            view: dict[str, Value] = {}
            for name in names:
                view.update(self._range(name))
            _trees[tree_id] = names, view
        files, found = _trees[tree_id]
        for name in files:
            self.need(name)
        return found

    def _range_ids(self, metarange: bytes, tree_id: str) -> list[str]:
        known = coded((self.blobs.uri, "tree", tree_id))
        if known is not None:
            return [info.id for info in known.ranges]
        return [str(one) for one in decode_metarange(metarange, tree_id).column(0).to_pylist()]

    def _range(self, name: str) -> View:
        if name not in _ranges:
            range_id = name.removesuffix(".parquet").rsplit("/", 1)[1]
            known = coded((self.blobs.uri, "whole", range_id))
            rows = decode_range(self.need(name), range_id) if known is None else known.rows
            columns = [rows.column(one).to_pylist() for one in ("path", "identity", "physical_address")]
            _ranges[name] = {path: Value(found, address) for path, found, address in zip(*columns, strict=True)}
        return _ranges[name]

    def need(self, name: str) -> bytes:
        """The bytes of a file. Raises Violation when it is not there."""
        found = self.blobs._blobs.get(name)
        if found is None:
            raise Violation(f"{name} is named, and is not there")
        return found.data

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
        tree = self.tree(record.commit_id)
        view = dict(tree)
        for layer in reversed(record.layers):
            if layer.kind == "kv":
                _over(view, self.staged(layer.id))
            for part in getattr(layer, "parts", ()):
                _over(view, self.layer(f"_lakebed/layers/{part.id}.parquet"))
        _over(view, self.staged(record.staging_token))
        return State(record, view, tree)


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


def _decoded_layer(data: bytes, part_id: str) -> Mapping[str, Value | None]:
    known = layer_rows(data)
    rows = decode_layer(data, part_id) if known is None else known
    columns = [rows.column(one).to_pylist() for one in ("path", "identity", "physical_address", "deleted")]
    return {
        path: None if deleted else Value(identity, address)
        for path, identity, address, deleted in zip(*columns, strict=True)
    }
