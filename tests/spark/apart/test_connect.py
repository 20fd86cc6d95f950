"""The same operations over Spark Connect, in a separate process, because one process has only one kind of session."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import lakebed
import pytest

from tests.spark import workers
from tests.spark.pipelining import stocked
from tests.support.processes.server import RunningServer, clean_environment


@pytest.mark.timeout(3100)
def test_everything_over_connect(
    server: RunningServer, lake: lakebed.Lake, repo: lakebed.Repository, tmp_path: Path
) -> None:
    feed = stocked(server, lake)
    settings = {
        "REPOSITORY": repo.id,
        "STOCKED": feed.repo.id,
        "FEED": feed.uri,
        "EXPORT": str(tmp_path / "export"),
        "CHECKPOINT": str(tmp_path / "checkpoint"),
        "PYSPARK_PYTHON": workers.python(tmp_path),
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    done = subprocess.run(
        [sys.executable, "-m", "tests.spark.connecting"],
        env=clean_environment(**server.environment, **settings),
        capture_output=True,
        text=True,
        timeout=3000,  # what hangs inside says so sooner
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:] + _without_traces(done.stderr)[-4000:]
    seen = json.loads(next(line for line in done.stdout.splitlines() if line.startswith("SEEN "))[5:])
    assert seen == {
        "kind": "pyspark.sql.connect.session",
        "first": "over connect",
        "rows": 110,
        "columns": ["id", "day"],
        "one_day": 55,
        "before": 100,
        "few": 10,
        "entries": len(list(repo.ref("main~1").list("few"))),
        "messages": ["Repository created", "over connect", "both", "Batch 0 of copy"],
        "changes": ["_streams", "copy", "few", "orders"],
        "branches": ["main"],
        "diff": True,
        "blame": ["both"],
        "copied": 110,
        "jobs": {
            "equal": [True] * 5,
            "did": [2, 1, 2, 5],
            "log": ["Compact", "Dedupe", "Ingest"],
            "verb": 5,
        },
    }
    assert (tmp_path / "export/in/1.csv").read_text() == "n\n1\n"


def _without_traces(said: str) -> str:
    """A JVM prints the error above the many lines of its trace."""
    return "\n".join(
        line for line in said.splitlines() if not line.lstrip().startswith(("at org.", "at java", "at scala"))
    )
