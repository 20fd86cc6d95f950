"""Listings load their pages automatically, can be read again, and never end early without an error."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
import respx
from lakebed import errors
from lakebed.model import Change, Commit, CommonPrefix, ObjectInfo, RefInfo

from tests.sdk.answers import COMMIT, page
from tests.sdk.doors import API, REPO, Door

TAGS = REPO + "/tags"


def refs(*names: str) -> list[dict[str, Any]]:
    return [{"id": name, "commit_id": f"c-{name}"} for name in names]


def test_pages_follow_each_other(door: Door, wire: respx.MockRouter) -> None:
    pages = {"": page(refs("a", "b"), "b"), "b": page(refs("c", "d"), "d"), "d": page(refs("e"))}

    async def scenario(lake: Any) -> None:
        route = wire.get(url__startswith=TAGS)
        route.side_effect = lambda request: httpx.Response(200, json=pages[request.url.params.get("after", "")])
        tags = lake.repository("repo").tags()
        assert [tag.id async for tag in tags] == list("abcde")
        assert await tags.all() == [RefInfo(name, f"c-{name}") for name in "abcde"]  # once more
        assert route.call_count == 6
        assert all(call.request.url.params["amount"] == "1000" for call in route.calls)

    door.run(scenario)


def test_limit_and_first(door: Door, wire: respx.MockRouter) -> None:
    async def scenario(lake: Any) -> None:
        route = wire.get(url__startswith=TAGS)
        route.side_effect = lambda request: httpx.Response(
            200, json=page(refs("a", "b", "c")[: int(request.url.params["amount"])], "x")
        )
        tags = lake.repository("repo").tags(limit=2)
        assert [tag.id for tag in await tags.all()] == ["a", "b"]
        assert route.calls.last.request.url.params["amount"] == "2"
        assert (await tags.first()).id == "a"
        assert await lake.repository("repo").tags(limit=0).all() == []
        assert await lake.repository("repo").tags(limit=0).first() is None
        with pytest.raises(errors.InvalidRequestError):
            lake.repository("repo").tags(limit=-1)

    door.run(scenario)


@pytest.mark.parametrize(
    "second",
    [page([], "z"), page(refs("c"), "b"), {"pagination": {"has_more": True}, "results": []}, {"results": []}],
    ids=["empty page", "no progress", "no offset", "no pagination"],
)
def test_incomplete_listing_raises_an_error(door: Door, wire: respx.MockRouter, second: dict[str, Any]) -> None:
    async def scenario(lake: Any) -> None:
        route = wire.get(url__startswith=TAGS)
        route.side_effect = [httpx.Response(200, json=page(refs("a", "b"), "b")), httpx.Response(200, json=second)]
        with pytest.raises(errors.ProtocolError):
            await lake.repository("repo").tags().all()

    door.run(scenario)


def test_more_without_an_offset(door: Door, wire: respx.MockRouter) -> None:
    body = page(refs("a"))
    body["pagination"]["has_more"] = True

    async def scenario(lake: Any) -> None:
        wire.get(url__startswith=TAGS).mock(httpx.Response(200, json=body))
        with pytest.raises(errors.ProtocolError):
            await lake.repository("repo").tags().all()

    door.run(scenario)


@pytest.mark.parametrize(
    "changed",
    [{"path": None}, {"size_bytes": "5"}, {"mtime": True}, {"mtime": [1]}, {"metadata": ["k"]}, {"checksum": ...}],
    ids=str,
)
def test_invalid_row_ends_a_listing_with_an_error(door: Door, wire: respx.MockRouter, changed: dict[str, Any]) -> None:
    good = {"path": "a", "path_type": "object", "physical_address": "", "checksum": "x", "mtime": 1, "size_bytes": 5}
    bad = {name: value for name, value in {**good, **changed}.items() if value is not ...}

    async def scenario(lake: Any) -> None:
        wire.get(url__startswith=REPO + "/refs/main/objects/ls").mock(httpx.Response(200, json=page([good, bad])))
        with pytest.raises(errors.ProtocolError, match="list objects"):
            await lake.repository("repo").branch("main").list().all()

    door.run(scenario)


def test_listings_send_the_expected_requests(door: Door, wire: respx.MockRouter) -> None:
    async def scenario(lake: Any) -> None:
        route = wire.get(url__startswith=API).mock(httpx.Response(200, json=page([])))
        repo = lake.repository("repo")
        main = repo.branch("main")

        async def asked(listing: Any) -> str:
            assert await listing.all() == []
            return str(route.calls.last.request.url).removeprefix(API)

        listing = "amount=1000"
        assert await asked(lake.repositories("p", "s")) == f"/repositories?prefix=p&{listing}&search=s"
        assert await asked(repo.branches("p", hidden=True)) == (
            f"/repositories/repo/branches?prefix=p&{listing}&show_hidden=true"
        )
        assert await asked(main.list("a b/", "/")) == (
            f"/repositories/repo/refs/main/objects/ls?{listing}&delimiter=%2F&prefix=a+b%2F"
        )
        assert await asked(main.uncommitted("p")) == f"/repositories/repo/branches/main/diff?{listing}&prefix=p"
        assert await asked(main.diff("dev~2")) == (f"/repositories/repo/refs/main/diff/dev~2?{listing}&type=three_dot")
        assert await asked(main.changes_since(repo.tag("v1"), two_dot=True)) == (
            f"/repositories/repo/refs/v1/diff/main?{listing}&type=two_dot"
        )
        assert await asked(repo.ref("main^2").log(paths=["a", "b c"], prefixes=["p/"], first_parent=True)) == (
            f"/repositories/repo/refs/main%5E2/commits?{listing}&objects=a&objects=b+c&prefixes=p%2F&first_parent=true"
        )

    door.run(scenario)


def test_rows_as_tables(door: Door, wire: respx.MockRouter) -> None:
    objects: list[dict[str, Any]] = [
        {"path": "a/", "path_type": "common_prefix", "physical_address": "", "checksum": "", "mtime": 0},
        {
            "path": "b",
            "path_type": "object",
            "physical_address": "local://b",
            "checksum": "x",
            "mtime": 1_700_000_000,
            "size_bytes": 5,
            "metadata": {"k": "v"},
            "content_type": "text/plain",
        },
    ]
    changes: list[dict[str, Any]] = [
        {"type": "added", "path": "x", "path_type": "object", "size_bytes": 3},
        {"type": "prefix_changed", "path": "y/", "path_type": "common_prefix"},
        {"type": "moved", "path": "z", "path_type": "object"},  # a word of a later server
    ]

    async def scenario(lake: Any) -> None:
        main = lake.repository("repo").branch("main")
        wire.get(url__startswith=REPO + "/refs/main/objects/ls").mock(httpx.Response(200, json=page(objects)))
        rows = await main.list(delimiter="/").all()
        assert rows[0] == CommonPrefix("a/")
        assert isinstance(rows[1], ObjectInfo)
        frame = await main.list(delimiter="/").to_pandas()
        assert list(frame["path"]) == ["a/", "b"]
        assert list(frame["is_prefix"]) == [True, False]
        assert frame["metadata"][1] == {"k": "v"}
        assert str(frame["mtime"][1]) == "2023-11-14 22:13:20+00:00"
        wire.get(url__startswith=REPO + "/branches/main/diff").mock(httpx.Response(200, json=page(changes)))
        table = await main.uncommitted().to_arrow()
        assert table.column_names == ["type", "path", "is_prefix", "size"]
        assert table.column("size").to_pylist() == [3, None, None]
        assert (await main.uncommitted().all())[2] == Change("moved", "z")
        wire.get(url__startswith=REPO + "/refs/main/commits").mock(httpx.Response(200, json=page([COMMIT])))
        assert (await main.log().to_arrow()).column("parents").to_pylist() == [[]]
        assert isinstance(await main.log().first(), Commit)
        wire.get(url__startswith=REPO + "/tags").mock(httpx.Response(200, json=page([])))
        assert (await lake.repository("repo").tags().to_pandas()).empty

    door.run(scenario)
