"""The files of a namespace: ranges, metaranges, layers and commits. Pure: bytes and Arrow in and out, no I/O.

The engine, the SDK and Spark jobs use it; it imports none of them. `docs/formats.md` is the specification. The names
below are loaded when they are first used: only some need pyarrow.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from lakebed_format.identity import CHECKSUM_KEYS, identity

if TYPE_CHECKING:
    from lakebed_format.commits import CommitRecord, commit_id, decode_commit, encode_commit
    from lakebed_format.schemas import DELTA_SCHEMA, METARANGE_SCHEMA, PATCH_SCHEMA, RANGE_SCHEMA
    from lakebed_format.tree.digest import metarange_id, patch_id, range_id
    from lakebed_format.tree.files import encode_patch, encode_range
    from lakebed_format.tree.metaranges import decode_metarange, decode_tree, encode_metarange
    from lakebed_format.tree.reading import decode_patch, decode_range
    from lakebed_format.tree.split import closes, row_sizes, split_points

_MODULES = {
    "commits": ("CommitRecord", "commit_id", "decode_commit", "encode_commit"),
    "tree.digest": ("metarange_id", "patch_id", "range_id"),
    "tree.files": ("encode_patch", "encode_range"),
    "tree.metaranges": ("decode_metarange", "decode_tree", "encode_metarange"),
    "tree.reading": ("decode_patch", "decode_range"),
    "schemas": ("DELTA_SCHEMA", "METARANGE_SCHEMA", "PATCH_SCHEMA", "RANGE_SCHEMA"),
    "tree.split": ("closes", "row_sizes", "split_points"),
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [
    "CHECKSUM_KEYS",
    "DELTA_SCHEMA",
    "METARANGE_SCHEMA",
    "PATCH_SCHEMA",
    "RANGE_SCHEMA",
    "CommitRecord",
    "closes",
    "commit_id",
    "decode_commit",
    "decode_metarange",
    "decode_patch",
    "decode_range",
    "decode_tree",
    "encode_commit",
    "encode_metarange",
    "encode_patch",
    "encode_range",
    "identity",
    "metarange_id",
    "patch_id",
    "range_id",
    "row_sizes",
    "split_points",
]


def __getattr__(name: str) -> object:
    """Load a public name when it is first used."""
    if name not in _HOMES:
        raise AttributeError(f"module 'lakebed_format' has no attribute {name!r}")
    value = getattr(import_module(f"lakebed_format.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
