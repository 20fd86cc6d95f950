"""Makes the fixture of an upgrade: what the Lakebed that runs this has stored, for later versions to open.

    python tools/make_fixture.py tests/upgrade/data/0.2.0     # with the Python of the version that is released

It writes two archives, each with a data directory that a real server has filled: `sqlite.tar.gz` (database, secret key
and objects) and `postgres.tar.gz` (secret key, objects and `dump.sql`, plain SQL of pg_dump). `expected.json` says what
the server showed. Only what every version has is used: the command `lakebed`, the SDK and the S3 gateway.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

import boto3  # type: ignore[import-untyped]
import lakebed
from botocore.config import Config  # type: ignore[import-untyped]

from tests.support.services.postgres import PASSWORD, USER, Postgres, programs, running_postgres

ADMIN_ID = "LBUPGRADETESTKEY0000"
ADMIN_SECRET = "a-test-key-that-is-public-0123456789abcdef"
SCHEMA = "lakebed"
YEAR = 365 * 24 * 3600
_READY = re.compile(r"is ready at (http://\S+)")


@contextmanager
def served(directory: Path, more: Mapping[str, str]) -> Iterator[str]:
    """The endpoint of a server over a data directory."""
    log = directory.parent / "log"
    kept = {key: value for key, value in os.environ.items() if not key.startswith("LAKEBED_")}
    admin = {"LAKEBED_ADMIN_ACCESS_KEY_ID": ADMIN_ID, "LAKEBED_ADMIN_SECRET_ACCESS_KEY": ADMIN_SECRET}
    settings = {"LAKEBED_INGEST_ALLOW": "local://outside/", "LAKEBED_REFS_SNAPSHOT": "always"}
    command = [str(Path(sys.executable).parent / "lakebed"), "serve", "--port", "0", "--data-dir", str(directory)]
    with log.open("wb") as output:
        server = subprocess.Popen(
            command, stdout=output, stderr=subprocess.STDOUT, env={**kept, **admin, **settings, **more}
        )
    try:
        deadline = time.monotonic() + 60
        while (found := _READY.search(log.read_text())) is None:
            if server.poll() is not None or time.monotonic() > deadline:
                raise SystemExit(f"the server did not start; it said:\n{log.read_text()}")
            time.sleep(0.05)
        yield found[1]
    finally:
        server.terminate()
        if server.wait(60) != 0:
            raise SystemExit(f"the server ended with {server.returncode}; it said:\n{log.read_text()}")


def fill(endpoint: str, outside: Path) -> dict[str, Any]:
    """Use every kind of record. What the server then shows."""
    outside.mkdir(parents=True)
    (outside / "o.txt").write_text("outside")
    with lakebed.connect(endpoint, ADMIN_ID, ADMIN_SECRET) as lake:
        repo = lake.repository("sales").create("local://sales")
        repo.set_metadata({"team": "fruit"})
        _history(repo)
        _open_workspaces(repo)
        _uncommitted(repo.branch("dev").create("main"))
        repo.set_protection(["release-*"])
        key = lake.create_access_key()
        upload = _upload_in_parts(endpoint)
        return {
            "version": lake.version(),
            "second_key": [key.id, key.secret],
            "upload": upload,
            **_shown(repo),
        }


def _history(repo: lakebed.Repository) -> None:
    """Commits, a merge, tags, a publication, a task and an ingested folder."""
    main = repo.branch("main")
    for number in range(12):
        main.put(f"orders/{number:03}.csv", f"order {number}\n".encode(), metadata={"n": str(number)})
    main.commit("the first orders", metadata={"who": "kim"})
    repo.tag("v1").create("main")
    side = repo.branch("side").create("main")
    side.put("side.txt", b"side")
    side.commit("on the side")
    main.put("orders/000.csv", b"corrected\n")
    main.delete("orders/001.csv")
    main.commit("corrected", key="a key of a commit")
    side.merge_into("main", "from the side")
    main.ingest("local://outside/", "outside", "ingested")
    main.publish({"published.txt": b"published"}, "published")
    repo.branch("release-1").create("v1")
    repo.branch("hidden").create("v1", hidden=True)


def _open_workspaces(repo: lakebed.Repository) -> None:
    """Make three workspaces: a committed one, a dropped one, and an open one with a layer and with rows."""
    main = repo.branch("main")
    with main.workspace("committed") as done:
        done.put("workspace/done.txt", b"done")
    main.workspace("dropped").create().drop()
    held = main.workspace("open", expires_in=YEAR).create()
    for name in ("a", "b"):
        held.put(f"workspace/{name}.txt", name.encode())
    held.revert("workspace/b.txt")
    held.put("workspace/c.txt", b"c")


def _uncommitted(dev: lakebed.Branch) -> None:
    dev.put("staged.txt", b"staged")
    dev.delete("orders/002.csv")
    stash = dev.stash("put aside", expires_in=YEAR)
    stash.pop()
    dev.put("staged too.txt", b"staged too")


def _upload_in_parts(endpoint: str) -> dict[str, str]:
    s3 = boto3.client(
        "s3",
        endpoint_url=endpoint,
        aws_access_key_id=ADMIN_ID,
        aws_secret_access_key=ADMIN_SECRET,
        region_name="us-east-1",
        config=Config(s3={"addressing_style": "path"}),
    )
    where = {"Bucket": "sales", "Key": "dev/parts.bin"}
    upload: str = s3.create_multipart_upload(**where)["UploadId"]
    etag: str = s3.upload_part(**where, UploadId=upload, PartNumber=1, Body=b"the only part")["ETag"]
    return {"id": upload, "etag": etag, "body": "the only part"}


def _shown(repo: lakebed.Repository) -> dict[str, Any]:
    refs = [one.id for one in repo.branches(hidden=True)] + [one.id for one in repo.tags()]
    workspaces = list(repo.workspaces(state="all"))
    refs += [one.name for one in workspaces if one.state == "open"]
    return {
        "refs": {
            name: {
                "commits": [commit.id for commit in repo.ref(name).log()],
                "objects": {one.path: repo.ref(name).get(one.path).decode() for one in repo.ref(name).list()},
            }
            for name in refs
        },
        "workspaces": {one.name: one.state for one in workspaces},
        "metadata": dict(repo.metadata()),
        "protection": [str(one) for one in repo.protection().patterns],
    }


def dumped(postgres: Postgres) -> str:
    """The KV store as plain SQL, without names of this machine."""
    command = [str(programs() / "pg_dump"), "-h", str(postgres.directory), "-U", USER, "-n", SCHEMA, "--no-owner"]
    environment = {**os.environ, "PGPASSWORD": PASSWORD, "PGDATABASE": "postgres"}
    done = subprocess.run([*command, "--inserts"], env=environment, capture_output=True, text=True, check=True)
    kept = [line for line in done.stdout.splitlines() if not line.startswith(("--", "\\"))]
    return "\n".join(line for line in kept if line) + "\n"


def restore(postgres: Postgres, dump: str) -> None:
    """Run a dump in an empty database."""
    command = [str(programs() / "psql"), "-q", "-v", "ON_ERROR_STOP=1", "-h", str(postgres.directory), "-U", USER]
    environment = {**os.environ, "PGPASSWORD": PASSWORD, "PGDATABASE": "postgres"}
    subprocess.run(command, env=environment, input=dump, capture_output=True, text=True, check=True)


def packed(directory: Path, archive: Path) -> None:
    """A data directory as an archive, without what a server makes again."""
    with tarfile.open(archive, "w:gz") as out:
        for path in sorted(directory.rglob("*")):
            if path.is_file() and path.suffix not in (".log", ".lock"):
                out.add(path, str(path.relative_to(directory)))


def main(place: Path) -> None:
    """Make both archives and say what is in them."""
    place.mkdir(parents=True, exist_ok=True)
    expected: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as scratch:
        data = Path(scratch) / "sqlite" / "data"
        data.mkdir(parents=True)
        with served(data, {}) as endpoint:
            expected["sqlite"] = fill(endpoint, data / "objects" / "outside")
        packed(data, place / "sqlite.tar.gz")
        data = Path(scratch) / "postgres" / "data"
        data.mkdir(parents=True)
        with running_postgres() as postgres:
            settings = {"LAKEBED_KV_TYPE": "postgres", "LAKEBED_KV_POSTGRES_DSN": postgres.dsn}
            with served(data, settings) as endpoint:
                expected["postgres"] = fill(endpoint, data / "objects" / "outside")
            (data / "dump.sql").write_text(dumped(postgres))
        packed(data, place / "postgres.tar.gz")
    shutil.copyfile(Path(__file__).parent.parent / "tests/upgrade/about_fixtures.txt", place / "README.md")
    (place / "expected.json").write_text(json.dumps(expected, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
