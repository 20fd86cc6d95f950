"""The files that commits added to a table, from the trees before and after."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Final

import attrs
import lakebed
from lakebed.errors import PreconditionFailedError
from lakebed.model import ObjectInfo

from lakebed_spark._access import Place
from lakebed_spark._commit_metadata import rewrites_only
from lakebed_spark._tables.formats import is_hidden
from lakebed_spark.history.key_ranges import of_prefix
from lakebed_spark.history.storage import Store
from lakebed_spark.history.tree_diff import Pair, differences, spans_of

ON_CHANGE: Final = ("error", "ignore", "reread")
"""What a stream does about a replaced or deleted file: end with an error, read nothing of it, or (for a replaced one)
read the whole new file.
"""

_NO_TIME: Final = datetime.fromtimestamp(0, UTC)
"""The time of files from differences, which contain no time."""


@attrs.frozen
class AddedFile:
    """A file of a table, and a commit that shows it. `below` is the path below the table's."""

    commit: str
    below: str
    info: ObjectInfo


class Arrivals:
    """Reads the changes of a table in the commits of a branch."""

    def __init__(self, lake: lakebed.Lake, store: Store, place: Place, on_change: str) -> None:
        self._repository = lake.repository(place.repository)
        self._store = store
        self._place = place
        self._on_change = on_change

    def all_of(self, commit_id: str) -> Iterator[AddedFile]:
        """Every file of the table in a commit."""
        after = self._repository.commit(commit_id).metarange_id
        return self._files(commit_id, "", after)

    def of(self, commit_id: str) -> Iterator[AddedFile]:
        """Return the files that a commit added, against its first parent. None for a compaction, whose rows were read
        before.

        Raises PreconditionFailedError.
        """
        commit = self._repository.commit(commit_id)
        if rewrites_only(commit):
            return iter(())
        before = self._repository.commit(commit.parents[0]).metarange_id if commit.parents else ""
        return self._files(commit_id, before, commit.metarange_id)

    def _files(self, commit_id: str, before: str, after: str) -> Iterator[AddedFile]:
        if before == after:
            return
        pair = Pair.of(self._store.tree(before), self._store.tree(after))
        for span in spans_of([pair], of_prefix(self._place.folder)):
            for row in sorted(differences(self._store, pair, span).to_pylist(), key=_path):
                below = row["path"][len(self._place.folder) :]
                if is_hidden(below) or not below.endswith(".parquet"):
                    continue
                if row["type"] != "added" and self._on_change == "error":
                    raise self._changed(commit_id, row)
                if row["type"] == "added" or (row["type"] == "changed" and self._on_change == "reread"):
                    yield AddedFile(commit_id, below, _info(row))

    def _changed(self, commit_id: str, row: dict[str, Any]) -> PreconditionFailedError:
        verb = "replaced" if row["type"] == "changed" else "deleted"
        return PreconditionFailedError(
            f"the stream of {self._place} reached commit {commit_id[:16]}, which {verb} {row['path']!r} after the "
            "stream read its rows. The option onChange=ignore continues with added files only, onChange=reread also "
            "reads the whole replaced files",
            kind="stream_changed",
            operation="readStream",
            repository=self._place.repository,
            ref=self._place.ref,
            path=row["path"],
        )


def _info(row: dict[str, Any]) -> ObjectInfo:
    return ObjectInfo(
        path=row["path"],
        size=row["right_size"],
        checksum=row["right_checksum"],
        mtime=_NO_TIME,
        physical_address=row["right_physical_address"],
    )


def _path(row: dict[str, Any]) -> str:
    return str(row["path"])
