"""A lake in memory for processes of hooks, and what is left of them."""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pyarrow.parquet as pq
from lakebed_hooks import HookEvent, Outcome
from lakebed_hooks.reading import Change, File, Side
from lakebed_hooks.snapshots import FilesSnapshot
from lakebed_hooks.workers.process import run
from lakebed_hooks.workers.wire import Job, Limits

CHECKS = Path(__file__).parent / "checks"
MODULE = "lakebed_test_checks"
EVENT = HookEvent(event_type="pre-merge", event_time=1, action_name="a", hook_id="h", repository_id="sales")


def parquet(**columns: Any) -> bytes:
    file = io.BytesIO()
    pq.write_table(pa.table(columns), file)
    return file.getvalue()


class Lake:
    """Files in memory, served as a server does. `page`: files of one page of a list."""

    def __init__(
        self, candidate: Mapping[str, bytes], base: Mapping[str, bytes] | None = None, page: int = 1000
    ) -> None:
        self._snapshot = FilesSnapshot(candidate, base)
        self._page = page
        self.reads = 0

    async def list(self, side: Side, prefix: str, after: str) -> Sequence[File]:
        return [one for one in self._snapshot.files(side, prefix) if one.path > after][: self._page]

    async def changes(self, after: str) -> Sequence[Change]:
        return [one for one in self._snapshot.changes() if one.path > after][: self._page]

    async def read(self, side: Side, path: str, offset: int, length: int) -> bytes:
        self.reads += 1
        return self._snapshot.read(side, path, offset, length)

    async def expect(self, side: Side, paths: Sequence[str]) -> None:
        return None

    async def local(self, side: Side, path: str) -> str | None:
        return None


LAKE = Lake(
    {"notes.txt": b"hello from the end!", "orders/a.parquet": parquet(id=[1, 2]), "orders/b.parquet": parquet(id=[3])},
    {"notes.txt": b"hello from the end!", "orders/a.parquet": parquet(id=[1])},
    page=2,
)


async def called(
    name: str,
    args: Mapping[str, Any] | None = None,
    *,
    lake: Lake = LAKE,
    allow: Sequence[str] = (MODULE,),
    entry: str = "",
    **limits: Any,
) -> tuple[Outcome, bytes]:
    """Run one of the checks of this folder."""
    properties = {"entry": entry or f"{MODULE}:{name}", "args": args or {}}
    return await ran("python", properties, lake=lake, allow=allow, **limits)


async def ran(
    type: Literal["python", "contract"],
    properties: Mapping[str, Any],
    *,
    lake: Lake = LAKE,
    allow: Sequence[str] = (),
    **limits: Any,
) -> tuple[Outcome, bytes]:
    job = Job(type=type, event=EVENT, properties=properties, file="_lakebed_actions/a.yaml", line=3, allow=tuple(allow))
    return await run(job, lake, Limits(**{"seconds": 60.0, **limits}))


def left_behind(folder: Path) -> list[str]:
    """The processes of hooks, whose home is below a folder, that still run."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdecimal():
            with contextlib.suppress(OSError):
                if f"HOME={folder}".encode() in Path(f"/proc/{name}/environ").read_bytes():
                    found.append(Path(f"/proc/{name}/cmdline").read_text().replace("\0", " "))
    return found
