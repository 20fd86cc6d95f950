"""What the tests of the pipelines share: a server that may ingest, a folder that other tools write to, both runners."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import attrs
import lakebed
import pandas as pd

from tests.support.processes.server import RunningServer
from tests.support.waiting import PATIENCE


@attrs.frozen
class Feed:
    """A directory of the server's machine that another tool writes to, and a repository next to it."""

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
    with lakebed.connect(server.endpoint, server.access_key_id, server.secret_access_key, timeout=PATIENCE) as lake:
        yield fed(server, lake)


def fed(server: RunningServer, lake: lakebed.Lake) -> Feed:
    """One of them."""
    name = f"f{uuid4().hex[:16]}"
    directory = server.data_dir / "objects" / "feed" / name
    directory.mkdir(parents=True)
    repo = lake.repository(name).create(f"local://{name}")
    return Feed(f"local://feed/{name}/", directory, repo, lake)


def stocked(server: RunningServer, lake: lakebed.Lake) -> Feed:
    """A feed of two files, and a repository in which every pipeline has something to do.

    Committed are one content twice, and two small Parquet files of one folder.
    """
    feed = fed(server, lake)
    feed.write("1.csv", "n\n1\n")
    feed.write("2.csv", "n\n2\n")
    feed.main.put_many({"copies/1": b"twice", "copies/2": b"twice"})
    for number in range(2):
        feed.main.put(f"t/{number}.parquet", pd.DataFrame({"n": [number]}).to_parquet())
    feed.main.commit("stocked")
    return feed
