"""One object to be stored, for all sinks."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from lakebed import _checks
from lakebed._async.objects.upload import Progress, checked_type
from lakebed._values.hashed_file import HashedFile
from lakebed._values.upload_source import Source, source_of
from lakebed.model import ObjectInfo


@dataclass(frozen=True, slots=True)
class Outgoing:
    """One object to be stored."""

    path: str
    source: Source
    content_type: str
    metadata: Mapping[str, str] = field(default_factory=dict)
    progress: Progress = None
    given: HashedFile | None = None
    """The file of the content, when the caller does not need it any more: a store on the same disk may keep it."""

    def stored(self, address: str, checksum: str, size: int) -> ObjectInfo:
        """The object after it was stored."""
        now = datetime.fromtimestamp(int(time.time()), UTC)
        return ObjectInfo(self.path, size, checksum, now, self.content_type, dict(self.metadata), address)

    def moved(self, amount: int) -> None:
        """Report that bytes were sent."""
        if self.progress is not None:
            self.progress(amount)


def outgoing(
    path: str,
    data: Any,
    content_type: str | None = None,
    metadata: Mapping[str, str] | None = None,
    progress: Progress = None,
    *,
    given: bool = False,
) -> Outgoing:
    """Check what was given. Raises InvalidRequestError."""
    checked = _checks.check_metadata(dict(metadata or {}), "object")
    file = data if given and isinstance(data, HashedFile) else None
    return Outgoing(_checks.check_path(path), source_of(data), checked_type(content_type), checked, progress, file)
