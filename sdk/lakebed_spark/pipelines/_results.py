"""The results of the pipelines: small typed values that print as tables and as JSON. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import attrs

if TYPE_CHECKING:
    import pandas as pd
    from lakebed.model import Commit


@attrs.frozen
class FolderSize:
    """The content of one folder. Sizes in bytes. `growth` is its growth over the examined commits."""

    prefix: str
    files: int
    bytes: int
    small_files: int
    small_bytes: int
    growth_files: int | None = None
    growth_bytes: int | None = None


@attrs.frozen
class TypeSize:
    """The total size of files with one ending. The empty ending is for names without one."""

    ending: str
    files: int
    bytes: int


@attrs.frozen
class Profile:
    """Sizes of a ref, in bytes: in all, by folder, by ending, and of files below `small`."""

    ref: str
    commit_id: str
    files: int
    bytes: int
    small: int
    small_files: int
    small_bytes: int
    since: str | None
    folders: tuple[FolderSize, ...]
    endings: tuple[TypeSize, ...]

    def to_pandas(self) -> pd.DataFrame:
        """The folders, as a DataFrame."""
        return _frame(self.folders, FolderSize)


@attrs.frozen
class Duplicates:
    """One content with several addresses. `keep` is the path whose address is kept. `bytes` of one copy."""

    checksum: str
    bytes: int
    copies: int
    keep: str
    paths: tuple[str, ...]
    verified: bool


@attrs.frozen
class DedupeReport:
    """The duplicates, and what was done about them. Sizes in bytes.

    `bytes` could be saved at this ref. Of these, `freeable_bytes` are in the repository's own namespace, where garbage
    collection frees them when no other commit uses them. `unverified` paths were not read, and have checksums that
    prove nothing (multipart uploads, other tools). `left` counts paths that changed during the run.
    """

    ref: str
    groups: int
    copies: int
    bytes: int
    freeable_bytes: int
    unverified: int
    largest: tuple[Duplicates, ...]
    shared: int = 0
    left: int = 0
    commit: Commit | None = None

    def to_pandas(self) -> pd.DataFrame:
        """The largest groups, as a DataFrame."""
        return _frame(self.largest, Duplicates)


@attrs.frozen
class Compacted:
    """Files of one folder that become the file `target`. `target`, `rows` and `bytes_after` are set after that."""

    folder: str
    paths: tuple[str, ...]
    bytes: int
    target: str | None = None
    rows: int | None = None
    bytes_after: int | None = None


@attrs.frozen
class CompactReport:
    """The combined files, or with a dry run the files to combine. Sizes in bytes."""

    ref: str
    files: int
    files_after: int
    bytes: int
    groups: tuple[Compacted, ...]
    rows: int | None = None
    commit: Commit | None = None

    def to_pandas(self) -> pd.DataFrame:
        """The groups, as a DataFrame."""
        return _frame(self.groups, Compacted)


@attrs.frozen
class ExportReport:
    """The copied files and their destination. Sizes in bytes. `skipped` files were there already, with the right
    content.
    """

    ref: str
    commit_id: str
    target: str
    files: int
    bytes: int
    copied: int
    skipped: int
    removed: int
    manifest: str


def _frame(rows: Sequence[Any], kind: type[Any]) -> pd.DataFrame:
    import pandas as pd

    names = [field.name for field in attrs.fields(kind)]
    return pd.DataFrame([[getattr(row, name) for name in names] for row in rows], columns=names)
