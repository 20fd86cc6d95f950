"""The events of all repositories and of the directory as one log."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import msgspec
import pytest
from lakebed_engine.stores.kv.base import Batch, Put
from lakebed_engine.stores.kv.memory import MemoryKV
from lakebed_engine.vocabulary.events import SKEW
from lakebed_server.access.rights_log import RightsLog
from lakebed_server.access.rows import Holder
from lakebed_server.auth.records import CHANGES, EPOCH, PARTITION, Change
from lakebed_server.process.app import create_app

from tests.auth.people import People, allow

OTHER = {"name": "other", "storage_namespace": "mem://other"}


@pytest.fixture
def people() -> Iterator[People]:
    made = People()
    made.services = replace(made.services, rights_log=RightsLog(made.kv))
    made.app = create_app(made.services)
    assert made("admin", "POST", "/repositories", OTHER).status == 201
    yield made
    made.close()


def pages(people: People, user: str = "admin", query: str = "", amount: int = 1000) -> list[dict[str, Any]]:
    """All pages, as a client reads them: an event that comes twice counts once."""
    found: dict[str, dict[str, Any]] = {}
    after = "0"
    for _ in range(500):
        answer = people(user, "GET", f"/events?after={after}&amount={amount}{query}")
        assert answer.status == 200, answer.body
        assert len(answer.json["results"]) <= amount
        found.update({one["id"]: one for one in answer.json["results"]})
        after = answer.json["pagination"]["next_offset"]
        if not answer.json["pagination"]["has_more"]:
            return list(found.values())
    raise AssertionError("the pages have no end")


def test_a_page_has_the_changes_of_all_repositories_and_of_rights(people: People) -> None:
    people.add("ana", allow("fs:*"), groups=("Developers",))
    made = people("admin", "POST", "/repositories/other/branches", {"name": "dev", "source": "main"})
    assert made.status == 201, made.body
    people.run(people.directory.detach(Holder("user", "ana"), "ana-policy"))
    people.run(people.engine.events.drain("other"))
    found = pages(people)
    of_refs = [(one["repository"], one["type"]) for one in found if one["repository"]]
    assert sorted(of_refs) == [
        ("lake", "repository.created"),
        ("other", "branch.created"),
        ("other", "repository.created"),
    ]
    rights = [(one["type"], one["data"]["what"]) for one in found if not one["repository"]]
    assert rights[0][0] == "auth.key_changed"
    assert rights[1:] == [
        ("auth.group_changed", "creating the built-in policies and groups"),
        ("auth.user_changed", "creating user 'ana'"),
        ("auth.key_changed", rights[3][1]),
        ("auth.policy_changed", "creating policy 'ana-policy'"),
        ("auth.attachment_changed", "attaching policy 'ana-policy' to user 'ana'"),
        ("auth.membership_changed", "adding user 'ana' to group 'Developers'"),
        ("auth.attachment_changed", "detaching policy 'ana-policy' from user 'ana'"),
    ]
    assert rights[3][1].startswith("making access key")
    only = pages(people, query="&type=auth.key_changed")
    assert [one["type"] for one in only] == ["auth.key_changed"] * 2


def test_the_answer_has_what_the_user_may_read(people: People) -> None:
    people.add("auditor", allow("audit:ReadEvents", on="arn:lakefs:fs:::repository/other"))
    people.add("no-auditor", allow("fs:*"))
    assert {one["repository"] for one in pages(people, "auditor")} == {"other"}
    refused = people("no-auditor", "GET", "/events")
    assert (refused.status, refused.json["kind"]) == (403, "permission_denied")
    assert "audit:ReadEvents" in refused.json["message"]


@pytest.mark.parametrize("text", ["x", "-1", "1.", "1.2.3", "9" * 19, "1.1234567"])
def test_a_wrong_place_is_refused(people: People, text: str) -> None:
    refused = people("admin", "GET", f"/events?after={text}")
    assert (refused.status, refused.json["kind"]) == (400, "invalid_request")


@pytest.mark.parametrize("amount", [1, 2, 3, 7])
def test_pages_of_any_size_have_each_event_once_the_oldest_first(people: People, amount: int) -> None:
    """Old events: their order is final. Several have the same logical timestamp."""
    old = 1_600_000_000_000
    rows = [Change(old // 1000, "ana", f"change {n}", "", "user", old + n // 4 * 10, "r") for n in range(20)]
    puts = [Put(PARTITION, f"{CHANGES}{n + 2:016}".encode(), msgspec.json.encode(row)) for n, row in enumerate(rows)]
    people.run(people.kv.apply(Batch(puts=[*puts, Put(PARTITION, EPOCH.encode(), b"21")])))
    found = pages(people, query="&type=auth", amount=amount)
    reported = [one["data"]["what"] for one in found if one["data"]["what"].startswith("change ")]
    assert reported == [f"change {n}" for n in range(20)]


async def test_the_log_of_rights_finds_its_place_among_many() -> None:
    kv = MemoryKV()
    start = 1_600_000_000_000
    times = [start + n * 7_000 + (-SKEW // 2 if n % 5 == 0 else 0) for n in range(900)]
    rows = [Change(moment // 1000, "ana", f"{n}", "", "user", moment) for n, moment in enumerate(times)]
    puts = [Put(PARTITION, f"{CHANGES}{n:016}".encode(), msgspec.json.encode(row)) for n, row in enumerate(rows, 1)]
    for first in range(0, 900, 300):
        await kv.apply(Batch(puts=puts[first : first + 300]))
    await kv.apply(Batch(puts=[Put(PARTITION, EPOCH.encode(), b"900")]))
    log = RightsLog(kv)
    found: list[str] = []
    after, has_more = 0, True
    while has_more:
        page = await log.page(after, lambda event: True, 50)
        final = [one for one in page.items if not page.has_more or one.logical_timestamp <= page.position]
        assert page.position > after or not page.has_more
        found += [one.data["what"] for one in final]
        after, has_more = page.position, page.has_more
    assert sorted(found, key=int) == [f"{n}" for n in range(900)]
    assert len(found) == 900
    moment = start + 890 * 7_000
    late = await log.page(moment << 20, lambda event: True, 50)
    assert {one.data["what"] for one in late.items} == {f"{n}" for n in range(900) if times[n] >= moment}
