"""Object keys of a namespace: the folders, and the form of every key that Lakebed writes.

A namespace may hold other objects, which other tools wrote. Such a key is *foreign*. Lakebed deletes only what it made:
every deletion that goes by a listing asks `is_made` or `workspace_of` first.

    _lakebed/repository.json                            the marker: whose namespace it is
    _lakebed/commits/<64 hex>.json
    _lakebed/metaranges/<64 hex>.parquet
    _lakebed/ranges/<64 hex>.parquet                    ranges and patches
    _lakebed/layers/<32 hex>-<number>.parquet
    _lakebed/refs/<time>-<64 hex>.json                  ref snapshots (`lakebed_format.refs`)
    _lakebed/pulls/<20 of 0-9a-v>-<32 hex>.json         pull requests (`lakebed_format.refs`)
    _lakebed/dumps/<64 hex>.jsonl                       and draft-<32 hex>, an unfinished dump
    _lakebed/uploads/<32 hex>/<number>-<32 hex>         parts of uploads, where the store has none of its own
    _lakebed/history/date=<YYYY-MM-DD>/<HHMMSS>-<32 hex>.parquet
                                                        the access history
    _lakebed/journal/date=<YYYY-MM-DD>/<16 digits>.parquet
                                                        the event log
    _lakebed/sweep-clock                                written and removed by a sweep
    data/<YYYYMMDDHH>/<32 hex>                          objects; an address that a client was given to write at
                                                        also ends in ,<9 to 12 hex>.<64 hex>
    workspaces/<32 hex>/<any path>                      what clients wrote themselves; <32 hex>.<n>/ after n partial
                                                        commits. The engine names nothing in there
    workspaces/<32 hex>.committed, .used                notes that a workspace had this id
    symlinks/<repository>/<branch>/.../symlink.txt      manifests for Hive, written on request

These are all forms since the first version. Add a new form here before anything writes it.
"""

from __future__ import annotations

import re
from typing import Final

OURS: Final = "_lakebed/"
REPOSITORY_MARKER: Final = "_lakebed/repository.json"
COMMITS: Final = "_lakebed/commits/"
METARANGES: Final = "_lakebed/metaranges/"
RANGES: Final = "_lakebed/ranges/"
LAYERS: Final = "_lakebed/layers/"
REFS: Final = "_lakebed/refs/"
PULLS: Final = "_lakebed/pulls/"
DUMPS: Final = "_lakebed/dumps/"
DRAFTS: Final = "_lakebed/dumps/draft-"
PARTS: Final = "_lakebed/uploads/"
HISTORY: Final = "_lakebed/history/"
JOURNAL: Final = "_lakebed/journal/"
SWEEP_CLOCK: Final = "_lakebed/sweep-clock"
DATA: Final = "data/"
WORKSPACES: Final = "workspaces/"
SYMLINKS: Final = "symlinks/"

FILE_BYTES: Final = {
    REPOSITORY_MARKER: 64 << 10,
    COMMITS: 64 << 20,  # a message and metadata as large as any request ever had, with six bytes for each
    REFS: 256 << 20,  # about a million branches and tags
    PULLS: 1 << 30,  # 2,500 events of 64 KiB, with six bytes for each
    METARANGES: 256 << 20,  # about two million ranges
    RANGES: 64 << 20,  # a writer closes a range at 8 MiB, or behind the row of at most 10 MiB that passes them
    LAYERS: 256 << 20,  # a part ends with the batch of 5,000 rows that passes 8 MiB
}
"""Bytes of the largest file of each kind. Readers refuse a larger file before they read it."""

_OTHER_BYTES: Final = 256 << 20

MARKS: Final = (".committed", ".used")
"""What follows the id of a workspace in the keys of the notes about it."""

_MADE: Final = re.compile(
    r"_lakebed/(?:repository\.json|sweep-clock"
    r"|commits/[0-9a-f]{64}\.json"
    r"|(?:metaranges|ranges)/[0-9a-f]{64}\.parquet"
    r"|layers/[0-9a-f]{32}-[0-9]{5,9}\.parquet"
    r"|history/date=[0-9]{4}-[0-9]{2}-[0-9]{2}/[0-9]{6}-[0-9a-f]{32}\.parquet"
    r"|journal/date=[0-9]{4}-[0-9]{2}-[0-9]{2}/[0-9]{16}\.parquet"
    r"|refs/[0-9]{8}T[0-9]{9}Z-[0-9a-f]{64}\.json"
    r"|pulls/[0-9a-v]{20}-[0-9a-f]{32}\.json"
    r"|dumps/(?:[0-9a-f]{64}\.jsonl|draft-[0-9a-f]{32})"
    r"|uploads/[0-9a-f]{32}/[0-9]{5}-[0-9a-f]{32})"
    r"|data/[0-9]{10}/[0-9a-f]{32}(?:,[0-9a-f]{9,12}\.[0-9a-f]{64})?",
    re.ASCII,
)
JOURNAL_FILE: Final = re.compile(r"_lakebed/journal/date=[0-9-]{10}/([0-9]{16})\.parquet", re.ASCII)
"""The number in the key of a file of the event log."""
SNAPSHOT_FILE: Final = re.compile(r"_lakebed/refs/(\d{8}T\d{9}Z)-([0-9a-f]{64})\.json", re.ASCII)
"""The time and the hash in the key of a ref snapshot."""
SIGNED_DATA: Final = re.compile(r"(data/[0-9]{10}/[0-9a-f]{32}),([0-9a-f]{9,12})\.([0-9a-f]{64})", re.ASCII)
"""The key, the time and the signature in the key of a physical address that the server gave to a client."""
_MARK: Final = re.compile(r"workspaces/[0-9a-f]{32}\.(?:committed|used)", re.ASCII)
_WORKSPACE: Final = re.compile(r"workspaces/([0-9a-f]{32})(?:\.[0-9]{1,9})?/.", re.ASCII | re.DOTALL)


_NO_FILE: Final = re.compile(
    rb"(?:\A|/)(?:\.{0,2}|\.lakebed-[^/]*|[^/]{256,})(?=/|\Z)"  # no directory entry, or a name that a store uses
    rb"|[\x00-\x1f\x7f]|\xc2[\x80-\x9f]"  # control characters, C1 in UTF-8
)


def is_plain(key: bytes) -> bool:
    """Whether a key, in UTF-8, is also its path below the root of a store. `local://` spells other keys differently."""
    return _NO_FILE.search(key) is None


def commit_file(commit_id: str) -> str:
    """The key of a commit. Example: `_lakebed/commits/<id>.json`."""
    return f"{COMMITS}{commit_id}.json"


def metarange_file(tree_id: str) -> str:
    """The key of a metarange."""
    return f"{METARANGES}{tree_id}.parquet"


def range_file(range_id: str) -> str:
    """The key of a range or a patch."""
    return f"{RANGES}{range_id}.parquet"


def layer_file(part_id: str) -> str:
    """The key of a part of a layer."""
    return f"{LAYERS}{part_id}.parquet"


def pull_file(pull_id: str, revision: str) -> str:
    """The key of a pull request at one revision."""
    return f"{PULLS}{pull_id}-{revision}.json"


def history_file(day: str, second: str, id: str) -> str:
    """The key of a file of the access history."""
    return f"{HISTORY}date={day}/{second}-{id}.parquet"


def largest(key: str) -> int:
    """How many bytes a file at this key may have for a reader to take it into memory."""
    return next((most for start, most in FILE_BYTES.items() if key.startswith(start)), _OTHER_BYTES)


def is_made(key: str) -> bool:
    """Whether the engine makes keys of this form, below `_lakebed/` or `data/`."""
    return _MADE.fullmatch(key) is not None


def is_mark(key: str) -> bool:
    """Whether a key is a note that an id belongs to a workspace. Notes are never deleted."""
    return _MARK.fullmatch(key) is not None


def workspace_of(key: str) -> str:
    """The id of the workspace whose folder holds a key; empty for any other key.

    The engine may delete a key of this form only if it knows a workspace of this id.
    """
    found = _WORKSPACE.match(key)
    return "" if found is None else found[1]
