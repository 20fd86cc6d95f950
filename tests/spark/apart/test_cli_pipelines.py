"""`lakebed spark ...` as a command, and as what `spark-submit` runs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import lakebed
import pytest
from lakebed_format.installation import install_command

from tests.spark.pipelining import stocked
from tests.support.processes.server import RunningServer, clean_environment

BIN = Path(sys.executable).parent


class Command:
    """The command, in an environment that has the server and nothing else."""

    def __init__(self, server: RunningServer) -> None:
        self._environment = clean_environment(**server.environment, PYSPARK_PYTHON=sys.executable)

    def __call__(self, *words: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        return self.run([str(BIN / "lakebed"), "spark", *words], code)

    def run(self, words: list[str], code: int = 0) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(words, env=self._environment, capture_output=True, text=True, check=False)
        assert done.returncode == code, done.stdout + done.stderr
        return done


@pytest.fixture
def command(server: RunningServer) -> Command:
    return Command(server)


@pytest.fixture
def place(repo: lakebed.Repository) -> str:
    main = repo.branch("main")
    main.put_many({"a/1": b"twice", "a/2": b"twice", "b/3.txt": b"once"})
    main.commit("three")
    return f"{repo.id}/main"


def test_verbs_without_spark(command: Command, place: str, tmp_path: Path) -> None:
    assert command("profile", place, "--local").stdout == (
        "FOLDER  FILES  BYTES  SMALL FILES  SMALL BYTES\n"
        "a/          2     10            2           10\n"
        "b/          1      4            1            4\n"
        "\n"
        "ENDING  FILES  BYTES\n"
        "(none)      2     10\n"
        ".txt        1      4\n"
    )
    looked = command("dedupe", place, "--local").stdout
    assert looked.startswith("1 duplicates of 1 contents: 5 B")
    assert looked.endswith("Nothing was changed: --apply makes them share an address.\n")
    done = json.loads(command("dedupe", place, "--local", "--apply", "--json").stdout)
    assert (done["shared"], done["largest"][0]["keep"], done["commit"]["message"][:6]) == (1, "a/1", "Dedupe")
    assert "Nothing to combine." in command("compact", place, "--local").stdout
    exported = command("export", place, str(tmp_path / "out"), "--local").stdout
    assert exported == f"3 files, 14 B: 3 copied, 0 already there\nfile://{tmp_path}/out/_lakebed_export.json\n"
    assert (tmp_path / "out/b/3.txt").read_text() == "once"


def test_spark_submit_runs_the_same(command: Command, place: str, tmp_path: Path) -> None:
    script = command("path").stdout.strip()
    submit = [str(BIN / "spark-submit"), "--master", "local[1]", "--conf", "spark.ui.enabled=false", script]
    found = command.run([*submit, "profile", place, "--json"]).stdout
    shown = json.loads(found[found.index("{") :])
    assert (shown["files"], shown["bytes"], shown["folders"][0]["prefix"]) == (3, 14, "a/")


_EACH = """
import json, os, runpy, sys
script, *verbs = json.loads(sys.argv[1])
sys.path[0] = os.path.dirname(script)
for words in verbs:
    sys.argv = [script, *words]
    runpy.run_path(script, run_name="__main__")
"""
"""Runs the entry of `spark-submit` for one verb after the other, in one JVM: each with a session of its own."""


def test_spark_submit_runs_every_verb(
    command: Command, server: RunningServer, lake: lakebed.Lake, tmp_path: Path
) -> None:
    feed = stocked(server, lake)
    place, script = f"{feed.repo.id}/main", command("path").stdout.strip()
    verbs = [
        ["ingest", feed.uri, f"{place}/in"],
        ["dedupe", place, "--apply"],
        ["compact", f"{place}/t", "--apply"],
        ["profile", place, "--commits", "3"],
        ["export", place, str(tmp_path / "out")],
    ]
    each = tmp_path / "each.py"
    each.write_text(_EACH)
    submit = [str(BIN / "spark-submit"), "--master", "local[1]", "--conf", "spark.ui.enabled=false"]
    text = command.run([*submit, str(each), json.dumps([script, *([*words, "--json"] for words in verbs)])]).stdout
    ingested, shared, compacted, profile, exported = values(text)
    assert (ingested["added"], ingested["commit"]["message"]) == (2, f"Ingest {feed.uri}")
    assert (shared["shared"], shared["left"], shared["largest"][0]["keep"]) == (1, 0, "copies/1")
    assert (compacted["files"], compacted["files_after"], compacted["rows"]) == (2, 1, 2)
    assert {one["prefix"]: one["growth_files"] for one in profile["folders"]} == {"copies/": 0, "in/": 2, "t/": -1}
    assert (exported["copied"], exported["files"]) == (5, 5)

    assert sorted(feed.main.read_parquet("t/")["n"]) == [0, 1]
    assert feed.main.stat("copies/2").physical_address == feed.main.stat("copies/1").physical_address
    assert feed.main.get("in/2.csv") == (tmp_path / "out/in/2.csv").read_bytes() == b"n\n2\n"
    made = [commit.metadata.get("lakebed.rewrite", commit.message[:6]) for commit in feed.main.log(limit=3)]
    assert made == ["compact", "Dedupe", "Ingest"]


def values(text: str) -> list[Any]:
    """All JSON objects of a text; Spark says something in between."""
    decoder, found, at = json.JSONDecoder(), [], text.find("{")
    while at >= 0:
        value, at = decoder.raw_decode(text, at)
        found.append(value)
        at = text.find("{", at)
    return found


def test_bad_input_is_one_sentence(command: Command, place: str) -> None:
    for words, code, text in (
        (("profile", f"{place}-nope", "--local"), 3, "not found"),
        (("ingest", "local://elsewhere/", place, "--local"), 6, "ingest.allow"),
        (("ingest", "nothing", place, "--local"), 2, "must be a URI such as s3://bucket/folder/"),
        (("export", place, "ftp://x", "--local"), 2, "cannot export to 'ftp://x'"),
    ):
        done = command(*words, code=code)
        assert text in done.stderr
        assert "Traceback" not in done.stderr


def test_without_pyspark_it_says_what_to_install(place: str, server: RunningServer) -> None:
    code = (
        "import sys; sys.modules['pyspark'] = None\n"
        "from lakebed.cli.main import run\n"
        f"sys.exit(run(['spark', 'profile', {place!r}]))"
    )
    environment = clean_environment(**server.environment)
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert install_command("spark") in done.stderr
    assert "Traceback" not in done.stderr
