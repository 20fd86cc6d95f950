"""Keys that the engine makes in a namespace: the folders, and the form of every name below them.

A namespace may hold other objects: another tool wrote them, or they were there before. Such a key is *foreign*.
Lakebed deletes only what it made, so every deletion that goes by a listing asks `is_made` or `workspace_of` first.

    _lakebed/repository.json                            the marker: whose namespace it is
    _lakebed/commits/<64 hex>.json
    _lakebed/metaranges/<64 hex>.parquet
    _lakebed/ranges/<64 hex>.parquet                    ranges and patches
    _lakebed/layers/<32 hex>-<number>.parquet
    _lakebed/refs/<time>-<64 hex>.json                  ref snapshots (`lakebed_format.refs`)
    _lakebed/dumps/<64 hex>.jsonl                       and draft-<32 hex>, a dump that is not whole yet
    _lakebed/uploads/<32 hex>/<number>-<32 hex>         parts of uploads, where the store has none of its own
    _lakebed/sweep-clock                                written and removed by a sweep
    data/<YYYYMMDDHH>/<32 hex>                          objects; an address that a client was given to write at
                                                        also ends in ,<9 to 12 hex>.<64 hex>
    workspaces/<32 hex>/<any path>                      what clients wrote themselves; <32 hex>.<n>/ after n partial
                                                        commits. The engine names nothing in there
    workspaces/<32 hex>.committed, .used                notes that a workspace had this id
    symlinks/<repository>/<branch>/.../symlink.txt      manifests for Hive, written on request

These are all forms since the first version. A new form belongs here before anything writes it.
"""

from __future__ import annotations

import re
from typing import Final

OURS: Final = "_lakebed/"
MARKER: Final = "_lakebed/repository.json"
COMMITS: Final = "_lakebed/commits/"
METARANGES: Final = "_lakebed/metaranges/"
RANGES: Final = "_lakebed/ranges/"
LAYERS: Final = "_lakebed/layers/"
DUMPS: Final = "_lakebed/dumps/"
DRAFTS: Final = "_lakebed/dumps/draft-"
PARTS: Final = "_lakebed/uploads/"
SWEEP_CLOCK: Final = "_lakebed/sweep-clock"
DATA: Final = "data/"
WORKSPACES: Final = "workspaces/"

MARKS: Final = (".committed", ".used")
"""What follows a workspace's id in the notes beside its folder."""

_MADE: Final = re.compile(
    r"_lakebed/(?:repository\.json|sweep-clock"
    r"|commits/[0-9a-f]{64}\.json"
    r"|(?:metaranges|ranges)/[0-9a-f]{64}\.parquet"
    r"|layers/[0-9a-f]{32}-[0-9]{5,9}\.parquet"
    r"|refs/[0-9]{8}T[0-9]{9}Z-[0-9a-f]{64}\.json"
    r"|dumps/(?:[0-9a-f]{64}\.jsonl|draft-[0-9a-f]{32})"
    r"|uploads/[0-9a-f]{32}/[0-9]{5}-[0-9a-f]{32})"
    r"|data/[0-9]{10}/[0-9a-f]{32}(?:,[0-9a-f]{9,12}\.[0-9a-f]{64})?",
    re.ASCII,
)
_MARK: Final = re.compile(r"workspaces/[0-9a-f]{32}\.(?:committed|used)", re.ASCII)
_WORKSPACE: Final = re.compile(r"workspaces/([0-9a-f]{32})(?:\.[0-9]{1,9})?/.", re.ASCII | re.DOTALL)


def is_made(key: str) -> bool:
    """Whether the engine makes keys of this form, below `_lakebed/` or `data/`."""
    return _MADE.fullmatch(key) is not None


def is_mark(key: str) -> bool:
    """Whether a key is a note that some id is a workspace's. Notes stay for ever."""
    return _MARK.fullmatch(key) is not None


def workspace_of(key: str) -> str:
    """The id of the workspace in whose folder a key lies; empty for any other key.

    A key of this form is the engine's to delete only if a workspace of this id is known.
    """
    found = _WORKSPACE.match(key)
    return "" if found is None else found[1]
