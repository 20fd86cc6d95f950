"""`fs ranges`, `fs symlinks`, `fs describe`, `repo dump`, `repo restore`, and commits with a key."""

from __future__ import annotations

from pathlib import Path

import lakebed

from tests.cli.conftest import Run


def test_ranges_and_idempotency_keys_in_the_store(run: Run, repo: lakebed.Repository, file: Path) -> None:
    run("fs", "upload", str(file), f"{repo.id}/main/orders.csv")
    first = run("commit", f"{repo.id}/main", "-m", "one", "--key", "k", "--json").json
    assert run("commit", f"{repo.id}/main", "-m", "one", "--key", "k", "--json").json == first
    run("commit", f"{repo.id}/main", "-m", "two", "--key", "k", code=4)
    text = run("fs", "ranges", f"{repo.id}/main").text
    assert text.startswith("range ")
    assert "_lakebed/ranges/" in text
    assert run("fs", "ranges", f"{repo.id}/main", "--json").json[0]["count"] == 1
    run("fs", "describe", f"{repo.id}/main/orders.csv", "--meta", "owner=me")
    assert repo.branch("main").stat("orders.csv").metadata == {"owner": "me"}
    assert "symlinks" in run("fs", "symlinks", f"{repo.id}/main").text
    dump = run("repo", "dump", repo.id, "--json").json
    ids = [part for name in ("commits", "tags", "branches") for part in (f"--{name}", dump[name])]
    assert "has branches" in run("repo", "restore", repo.id, *ids, code=2).err
