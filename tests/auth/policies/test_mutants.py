"""Two faults that these tests must catch: an interface that ignores policies, and a cache that is never refreshed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from lakebed_server.access.permissions import Permissions
from lakebed_server.s3 import gateway

from tests.auth.people import REPO, People, allow, deny


@pytest.fixture
def people() -> Iterator[People]:
    made = People()
    made.put("a")
    yield made
    made.close()


def deny_holds_in_s3(people: People) -> None:
    people.add("ana", allow("fs:*"), deny("fs:ReadObject"))
    assert people.s3("ana", "GET", "/lake/main/a").status == 403


def a_right_ends(people: People) -> None:
    clock = [0.0]
    people.permissions._clock = lambda: clock[0]
    people.add("ana", groups=("Viewers",))
    assert people("ana", "GET", REPO).status == 200
    people.run(people.directory.remove_member("Viewers", "ana"))
    clock[0] += 1
    assert people("ana", "GET", REPO).status == 403


def test_unchanged_code_passes_the_checks_of_the_mutants(people: People) -> None:
    deny_holds_in_s3(people)
    people.run(people.directory.delete_user("ana"))
    a_right_ends(people)


def test_an_interface_without_checks_is_caught(people: People, monkeypatch: pytest.MonkeyPatch) -> None:
    async def ignore(*_: object) -> None:
        pass

    monkeypatch.setattr(gateway, "authorize", ignore)
    with pytest.raises(AssertionError):
        deny_holds_in_s3(people)


def test_a_stale_permission_cache_fails_the_test(people: People, monkeypatch: pytest.MonkeyPatch) -> None:
    async def never(self: Permissions) -> None:
        self._valid_until = self._clock() + 0.9

    monkeypatch.setattr(Permissions, "_refresh", never)
    with pytest.raises(AssertionError):
        a_right_ends(people)
