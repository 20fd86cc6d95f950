"""The access history: reads, writes and refusals with their users, as rows in the bucket of the repository."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest
from lakebed_engine.vocabulary.errors import StoreUnavailableError
from lakebed_engine.vocabulary.reports import FsckOptions
from lakebed_server.access_history import recorder
from lakebed_server.access_history.recorder import Recorder
from lakebed_server.process.app import create_app

from tests.auth.people import REPO, People, allow, deny


@pytest.fixture
def people() -> Iterator[People]:
    made = People()
    services = replace(made.services, history=Recorder(made.engine))
    made.app = create_app(services)
    made.services = services
    yield made
    made.close()


def rows(people: People, query: str = "", user: str = "admin") -> list[dict[str, Any]]:
    """The access history without the requests for it."""
    answer = people(user, "GET", f"{REPO}/history{query}")
    assert answer.status == 200, answer.body
    found = pa.ipc.open_stream(answer.body).read_all().to_pylist()
    return [row for row in found if row["operation"] != "getAccessHistory"]


def test_a_row_says_who_did_what_from_where(people: People) -> None:
    people.put("a.csv", b"12345")
    people.add("ana", allow("fs:Read*"))
    people("ana", "GET", f"{REPO}/refs/main/objects?path=a.csv", user_agent="my tool/1.0")
    write, read = rows(people)
    assert (write["operation"], write["path"], write["ref"], write["bytes_in"]) == ("uploadObject", "a.csv", "main", 5)
    assert (read["user"], read["auth"], read["operation"]) == ("ana", "key", "getObject")
    assert (read["repository"], read["path"], read["bytes_out"], read["status"]) == ("lake", "a.csv", 5, 200)
    assert (read["access_key_id"], read["client"]) == (people.keys["ana"].access_key_id, "my tool/1.0")
    assert (read["source_ip"], read["interface"]) == ("192.0.2.1", "rest")
    assert abs(read["time"].timestamp() - time.time()) < 60


def test_refusals_are_recorded_and_can_be_chosen(people: People) -> None:
    people.put("a")
    people.add("ana")
    people("ana", "GET", f"{REPO}/refs/main/objects?path=a")
    (row,) = rows(people, "?refused=true")
    assert (row["user"], row["path"], row["status"]) == ("ana", "a", 403)


def test_requests_to_s3_are_recorded(people: People) -> None:
    people.s3("admin", "PUT", "/lake/main/b", b"x")
    (row,) = rows(people, "?operation=PutObject")
    assert (row["interface"], row["ref"], row["path"], row["user"]) == ("s3", "main", "b", "admin")


def test_a_request_for_many_objects_has_a_row_for_each(people: People) -> None:
    for path in ("a", "b"):
        people.put(path)
    people("admin", "POST", f"{REPO}/refs/main/objects/batch", {"paths": ["a", "b", "missing"]})
    found = rows(people, "?operation=getObjects")
    assert [row["path"] for row in found] == ["a", "b", "missing"]


def test_a_refusal_within_a_request_for_many_objects_is_recorded(people: People) -> None:
    for path in ("a", "b"):
        people.put(path)
    people.add(
        "ana", allow("fs:*"), deny("fs:ReadObject", "fs:DeleteObject", on="arn:lakefs:fs:::repository/lake/object/b")
    )
    both = {"paths": ["a", "b"]}
    assert people("ana", "POST", f"{REPO}/refs/main/objects/batch", both).status == 200
    assert people("ana", "POST", f"{REPO}/branches/main/objects/delete", {"paths": ["b"]}).status == 200
    keys = b"<Delete><Object><Key>main/b</Key></Object><Object><Key>main/a</Key></Object></Delete>"
    assert people.s3("ana", "POST", "/lake?delete=", keys).status == 200
    found = [(row["operation"], row["ref"], row["path"]) for row in rows(people, "?refused=true")]
    assert found == [("getObjects", "main", "b"), ("deleteObjects", "main", "b"), ("DeleteObjects", "main", "b")]
    statuses = {row["path"]: row["status"] for row in rows(people, "?operation=DeleteObjects")}
    assert statuses == {"a": 200, "b": 403}


def test_a_commit_has_its_id(people: People) -> None:
    people.put("a")
    made = people("admin", "POST", f"{REPO}/branches/main/commits", {"message": "m"}).json["id"]
    (row,) = rows(people, "?operation=commit")
    assert row["commit_id"] == made


def test_filters_of_user_path_and_time(people: People) -> None:
    people.put("x/a")
    people.put("y/a")
    assert [row["path"] for row in rows(people, "?path=x/")] == ["x/a"]
    assert rows(people, "?user=somebody") == []
    assert rows(people, "?until=2020-01-01T00:00:00Z&since=2019-12-01T00:00:00Z") == []


def test_reading_it_needs_its_own_permission(people: People) -> None:
    people.add("ana", groups=("Developers",))
    refused = people("ana", "GET", f"{REPO}/history")
    assert (refused.status, refused.json["message"]) == (403, "needs audit:ReadEvents on repository/lake")


def test_files_of_other_days_are_not_read(people: People, monkeypatch: pytest.MonkeyPatch) -> None:
    people.put("a")
    people.run(people.services.history.flush())  # type: ignore[union-attr]
    files = people.run(people.engine.access_history.files("lake", "2020-01-01", "2999-01-01"))
    assert len(files) == 1
    assert people.run(people.engine.access_history.files("lake", "2020-01-01", "2020-12-31")) == []


def test_a_bucket_that_takes_no_rows_does_not_stop_requests(people: People, monkeypatch: pytest.MonkeyPatch) -> None:
    history = people.services.history
    assert history is not None

    async def fail(*_: object) -> str:
        raise StoreUnavailableError("the bucket does not answer")

    monkeypatch.setattr(recorder, "MOST_ROWS", 3)
    write = people.engine.access_history.write
    people.engine.access_history.write = fail  # type: ignore[assignment,method-assign]
    for number in range(5):
        assert people.put(f"a{number}").status == 201
    people.run(history.flush())
    assert (history.dropped, history._waiting) == (2, 3)
    people.engine.access_history.write = write  # type: ignore[method-assign]
    assert len(rows(people)) >= 3
    assert history._waiting <= 1


def test_files_of_the_history_are_not_orphans(people: People) -> None:
    people.put("a")
    people.run(people.services.history.flush())  # type: ignore[union-attr]
    report = people.run(people.engine.maintenance.fsck("lake", FsckOptions(data=True)))
    assert report.orphans == []


def test_a_server_without_history_says_so() -> None:
    made = People()
    answer = made("admin", "GET", f"{REPO}/history")
    assert (answer.status, "history.enabled" in answer.json["message"]) == (501, True)
    made.close()


def test_changes_of_rights_are_recorded_with_their_author(people: People) -> None:
    people("admin", "POST", "/auth/users", {"id": "eva"})
    people("admin", "PUT", "/auth/groups/Viewers/members/eva")
    listed = people("admin", "GET", "/auth/changes?amount=1000").json["results"]
    assert [(row["by"], row["what"]) for row in listed][-2:] == [
        ("admin", "creating user 'eva'"),
        ("admin", "adding user 'eva' to group 'Viewers'"),
    ]
    assert listed[0]["by"] == "server"
    first = people("admin", "GET", "/auth/changes?amount=1").json
    assert first["pagination"]["has_more"] is True
    second = people("admin", "GET", f"/auth/changes?amount=1&after={first['pagination']['next_offset']}").json
    assert second["results"][0] == listed[1]


def test_a_change_that_is_refused_is_not_recorded(people: People) -> None:
    before = people("admin", "GET", "/auth/changes?amount=1000").json["results"]
    assert people("admin", "DELETE", "/auth/users/admin").status == 409
    assert people("admin", "GET", "/auth/changes?amount=1000").json["results"] == before
