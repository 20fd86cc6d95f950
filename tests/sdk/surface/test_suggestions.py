"""Similar names in errors: after an error only, with few and short requests, and only what the caller may list."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import lakebed
import pytest
import respx
from lakebed._async.http import suggestions as async_suggestions
from lakebed._sync.http import suggestions

from tests.sdk.doors import API, REPO, Door


def missing(kind: str, message: str = "m") -> httpx.Response:
    return httpx.Response(404, json={"message": message, "kind": kind, "request_id": "r"})


def names(*found: str) -> httpx.Response:
    rows = [{"id": name, "commit_id": "0" * 64} for name in found]
    page = {"has_more": False, "next_offset": "", "results": len(rows), "max_per_page": 1000}
    return httpx.Response(200, json={"pagination": page, "results": rows})


@pytest.fixture(autouse=True)
def _no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (suggestions, async_suggestions):
        monkeypatch.setattr(module, "PAUSE", 0.0)


async def error_of(lake: Any, name: str = "mian") -> lakebed.NotFoundError:
    with pytest.raises(lakebed.NotFoundError) as caught:
        await lake.repository("repo").branch(name).info()
    return caught.value


def test_one_request_lists_the_branches(door: Door, wire: respx.MockRouter) -> None:
    async def scenario(lake: Any) -> None:
        wire.get(REPO + "/branches/mian").mock(missing("branch_not_found"))
        listed = wire.get(REPO + "/branches").mock(names("dev", "main"))
        error = await error_of(lake)
        assert error.suggestions == ("main",)
        assert error.message.endswith("did you mean 'main'?")
        assert listed.call_count == 1
        assert (await error_of(lake)).suggestions == ("main",)
        assert listed.call_count == 1  # remembered
        assert listed.calls[0].request.extensions["timeout"]["read"] == 2.0

    door.run(scenario)


@pytest.mark.parametrize("answer", [httpx.Response(403), httpx.Response(500), httpx.ConnectError("gone")])
def test_a_listing_that_fails_changes_nothing(door: Door, wire: respx.MockRouter, answer: Any) -> None:
    async def scenario(lake: Any) -> None:
        wire.get(REPO + "/branches/mian").mock(missing("branch_not_found"))
        listed = wire.get(REPO + "/branches").mock(side_effect=[answer])
        error = await error_of(lake)
        assert (error.suggestions, error.kind) == ((), "branch_not_found")
        assert "did you mean" not in error.message
        assert listed.call_count == 1  # and it is not repeated

    door.run(scenario)


def test_repeated_errors_query_suggestions_once_a_second(
    door: Door, wire: respx.MockRouter, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (suggestions, async_suggestions):
        monkeypatch.setattr(module, "PAUSE", 60.0)

    async def scenario(lake: Any) -> None:
        wire.get(url__regex=REPO + "/branches/.+").mock(missing("branch_not_found"))
        listed = wire.get(REPO + "/branches").mock(names("main"))
        for number in range(20):
            await error_of(lake, f"mian{number}")
        assert listed.call_count == 1

    door.run(scenario)


def test_existence_checks_request_no_suggestions(door: Door, wire: respx.MockRouter) -> None:
    async def scenario(lake: Any) -> None:
        wire.get(REPO).mock(missing("repository_not_found"))
        listed = wire.get(API + "/repositories").mock(names("repos"))
        assert not await lake.repository("repo").exists()
        wire.get(REPO + "/refs/main/objects/stat").mock(missing("object_not_found"))
        assert not await lake.repository("repo").branch("main").exists("a")
        assert listed.call_count == 0
        assert len(wire.calls) == 2

    door.run(scenario)


def test_repositories_tags_expressions_and_paths(lake: lakebed.Lake, repo: lakebed.Repository, tmp_path: Path) -> None:
    main = repo.branch("main")
    main.put_many({"orders/2026/june.csv": b"1", "orders/2026/july.csv": b"2", "notes.txt": b"n"})
    main.commit("first")
    repo.tag("release").create("main")
    other = f"{repo.id[:-1]}_"
    assert repo.id in found(lambda: lake.repository(other).info())
    assert found(lambda: repo.tag("relaese").info()) == ("release",)
    assert found(lambda: repo.ref("relaese~0").commit_info()) == ("release~0",)
    assert found(lambda: repo.ref("Main").commit_info()) == ("main",)
    assert found(lambda: repo.branch("zzz").info()) == ()
    assert found(lambda: repo.ref("main~99").commit_info()) == ()  # the branch exists, the commit does not
    repo.branch("dev").create("main")
    assert found(lambda: repo.branch("dve").info()) == ("dev",)
    assert found(lambda: main.get("orders/2026/jnue.csv")) == ("orders/2026/june.csv",)
    assert found(lambda: main.get("order/2026/june.csv")) == ()  # two folders are wrong or missing
    assert found(lambda: main.get("orders/2062/june.csv")) == ("orders/2026/",)
    assert found(lambda: main.download("note.txt", tmp_path / "n")) == ("notes.txt",)
    assert found(lambda: repo.ref("mian").get("notes.txt")) == ("main",)
    assert not list(tmp_path.iterdir())


def test_the_misspelled_one_of_several_refs(repo: lakebed.Repository) -> None:
    main = repo.branch("main")
    main.put("a.csv", b"id\n1\n")
    main.commit("first")
    dev = repo.branch("dev").create("main")
    repo.tag("v1").create("main")
    assert found(lambda: repo.ref("mian").diff("dev").all()) == ("main",)
    assert found(lambda: main.diff("dve").all()) == ("dev",)
    assert found(lambda: repo.ref("v1").diff("dve~0").all()) == ("dev~0",)
    assert found(lambda: main.diff("dve").table("a.csv", key="id")) == ("dev",)
    assert found(lambda: repo.ref("dve").merge_into("main")) == ("dev",)
    assert found(lambda: dev.merge_into("mian")) == ("main",)
    assert found(lambda: main.merge_base("dve")) == ("dev",)
    assert found(lambda: repo.branch("dev2").create("mian")) == ("main",)  # the new name is not a misspelled one
    assert found(lambda: repo.tag("v2").create("mian")) == ("main",)
    assert found(lambda: main.cherry_pick("dve")) == ("dev",)
    assert found(lambda: main.revert("dve")) == ("dev",)
    assert found(lambda: main.diff("zzzz").all()) == ()


def found(call: Any) -> tuple[str, ...]:
    with pytest.raises(lakebed.NotFoundError) as caught:
        call()
    return caught.value.suggestions


def test_errors_have_no_fixed_first_words_of_the_rest_api(repo: lakebed.Repository) -> None:
    calls: list[Callable[[], object]] = [
        repo.create,
        lambda: repo.branch("main").create("main"),
        lambda: repo.branch("main").commit("nothing"),
    ]
    for call in calls:
        with pytest.raises(lakebed.LakebedError) as caught:
            call()
        assert "not unique" not in str(caught.value)
        assert "commit: no changes" not in str(caught.value)
