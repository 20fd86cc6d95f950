"""The event log through both doors, on a real server: what is there, and what comes."""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Iterator
from typing import Any

import lakebed
import pytest
from lakebed._gateway.operations.events import FeedReader

from tests.sdk.doors import Door
from tests.sdk.live import KEY, SECRET, serving

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving(tmp_path_factory.mktemp("server")) as address:
        yield address


def test_events_are_typed_and_filtered(door: Door, endpoint: str) -> None:
    async def body(lake: Any) -> None:
        name = f"r{uuid.uuid4().hex[:12]}"
        repo = await lake.repository(name).create(f"local://{name}")
        await repo.branch("dev").create("main")
        made = await repo.branch("dev").commit("one", allow_empty=True)
        await repo.tag("v1").create("dev")
        found = await repo.events().all()
        assert [one.type for one in found] == [
            "repository.created",
            "branch.created",
            "branch.committed",
            "tag.created",
        ]
        assert (found[2].branch, found[2].commit_id, found[2].repository) == ("dev", made.id, name)
        assert found[2].before == found[1].after
        assert found[3].data == {"tag": "v1", "source": "dev"}
        assert len({one.id for one in found}) == 4
        assert [one.type for one in await repo.events(branch="dev", type="branch").all()] == [
            "branch.created",
            "branch.committed",
        ]
        assert [one.id for one in await repo.events(limit=2).all()] == [one.id for one in found[:2]]
        assert (await repo.events().to_pandas())["type"].tolist() == [one.type for one in found]

    door.run(body, endpoint=endpoint, key=KEY, secret=SECRET, quick=False)


def test_following_yields_new_events_and_resumes(door: Door, endpoint: str) -> None:
    async def body(lake: Any) -> None:
        name = f"r{uuid.uuid4().hex[:12]}"
        repo = await lake.repository(name).create(f"local://{name}")
        names = [f"b{number}" for number in range(4)]
        with lakebed.connect(endpoint, KEY, SECRET) as other:
            for one in names:
                other.repository(name).branch(one).create("main")
        found = [event async for event in repo.events(after=0, type="branch", limit=4, follow=True)]
        assert [one.branch for one in found] == names
        assert all(one.logical_timestamp for one in found)
        rest = [event async for event in repo.events(after=found[1].logical_timestamp, limit=2, follow=True)]
        assert [one.id for one in rest] == [one.id for one in found[2:]]

    door.run(body, endpoint=endpoint, key=KEY, secret=SECRET, quick=False)


def test_a_feed_is_read_in_pieces_of_any_size() -> None:
    event = (
        b'id: 7\nevent: a.b\ndata: {"id":"1","logical_timestamp":"7","type":"a.b","time":"2026-01-01T00:00:00.5Z",'
        b'"repository":"r","repository_uid":"u","data":{"x":"\\n\\n"}}\n\n'
    )
    text = b"id: 5\nretry: 3000\n\n:\n\nevent: reset\ndata: {}\n\n" + event
    for size in (1, 3, 1000):
        reader = FeedReader("r")
        pieces = [text[start : start + size] for start in range(0, len(text), size)]
        found = list(itertools.chain.from_iterable(reader.read(piece) for piece in pieces))
        assert [(one.type, one.logical_timestamp) for one in found] == [("reset", None), ("a.b", 7)]
        assert found[1].data == {"x": "\n\n"}
        assert reader.last_id == "7"
    with pytest.raises(lakebed.ProtocolError, match="has an unreadable event"):
        list(FeedReader("r").read(b"data: {}\n\n"))
