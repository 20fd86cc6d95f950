"""What the tests of the pipelines share: a server that may ingest, a folder that other tools write to, both runners."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import attrs
import lakebed

from tests.support.server import RunningServer


@attrs.frozen
class Feed:
    """A directory of the server's machine that another tool writes to, and a repository beside it."""

    uri: str
    directory: Path
    repo: lakebed.Repository
    lake: lakebed.Lake

    @property
    def main(self) -> lakebed.Branch:
        return self.repo.branch("main")

    def write(self, path: str, text: str) -> None:
        target = self.directory / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)

    def entries(self, ref: str = "main") -> list[tuple[str, str, int, str, int]]:
        """All that an entry says, but for what no ingest decides."""
        return [
            (row.path, row.physical_address, row.size, row.checksum, int(row.mtime.timestamp()))
            for row in self.repo.ref(ref).list()
            if isinstance(row, lakebed.ObjectInfo)
        ]


def feeds(server: RunningServer) -> Iterator[Feed]:
    """A fresh feed, of a server whose `ingest.allow` has `local://feed/`."""
    name = f"f{uuid4().hex[:8]}"
    directory = server.data_dir / "objects" / "feed" / name
    directory.mkdir(parents=True)
    with lakebed.connect(server.endpoint, server.access_key_id, server.secret_access_key, timeout=60) as lake:
        repo = lake.repository(name).create(f"local://{name}")
        yield Feed(f"local://feed/{name}/", directory, repo, lake)
