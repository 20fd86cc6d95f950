"""What stands in the object store: ranges, metaranges, layers and commits. Pure: bytes and Arrow in and out, no I/O.

Used by the engine, the SDK and Spark jobs; imports none of them. `docs/formats.md` is the specification.
"""

from lakebed_format.commits import CommitRecord, commit_id, decode_commit, encode_commit
from lakebed_format.digest import metarange_id, patch_id, range_id
from lakebed_format.files import encode_patch, encode_range
from lakebed_format.identity import identity
from lakebed_format.metaranges import decode_metarange, decode_tree, encode_metarange
from lakebed_format.reading import decode_patch, decode_range
from lakebed_format.schemas import DELTA_SCHEMA, METARANGE_SCHEMA, PATCH_SCHEMA, RANGE_SCHEMA
from lakebed_format.split import closes, row_sizes, split_points

__all__ = [
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
