"""The access history: reads, writes and refusals with their users, as rows in the bucket of the repository."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import msgspec
import pyarrow as pa
import pytest
from lakebed_engine.vocabulary.errors import StoreUnavailableError
from lakebed_engine.vocabulary.reports import FsckOptions
from lakebed_server.access_history import recorder
from lakebed_server.access_history.recorder import Recorder
from lakebed_server.auth.records import Credential
from lakebed_server.process.app import create_app

from tests.auth.people import REPO, People, allow, deny


@pytest.fixture
def people() -> Iterator[People]:
    made = People()
    services = replace(made.services, history=Recorder(made.engine, "mem://_server"))
    made.app = create_app(services)
    made.services = services
    yield made
    made.close()


def rows(people: People, query: str = "", user: str = "admin") -> list[dict[str, Any]]:
    """The access history of the repository without the requests for it."""
    return rows_of(people, f"{REPO}/history{query}", user)


def server_rows(people: People, query: str = "") -> list[dict[str, Any]]:
    """The access history of the server without the requests for it."""
    return rows_of(people, f"/history{query}", "admin")


def rows_of(people: People, target: str, user: str) -> list[dict[str, Any]]:
    answer = people(user, "GET", target)
    assert answer.status == 200, answer.body
    found = pa.ipc.open_stream(answer.body).read_all().sort_by("time").to_pylist()
    return [row for row in found if not row["operation"].endswith("AccessHistory")]


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


def test_reads_have_the_commit_to_which_their_ref_resolved(people: People) -> None:
    people.put("a")
    first = people("admin", "POST", f"{REPO}/branches/main/commits", {"message": "m"}).json["id"]
    people("admin", "GET", f"{REPO}/refs/main/objects?path=a")
    people("admin", "GET", f"{REPO}/refs/main/objects/stat?path=a")
    people.s3("admin", "GET", "/lake/main/a")
    people.s3("admin", "GET", "/lake?list-type=2&prefix=main%2F")
    people("admin", "POST", f"{REPO}/refs/main/objects/batch", {"paths": ["a", "missing"]})
    people.put("b")
    second = people("admin", "POST", f"{REPO}/branches/main/commits", {"message": "m"}).json["id"]
    people("admin", "GET", f"{REPO}/refs/main~1/objects?path=a")
    people("admin", "GET", f"{REPO}/refs/main/objects/ls")
    people("admin", "GET", f"{REPO}/refs/missing/objects?path=a")
    found = [(row["operation"], row["ref"], row["commit_id"]) for row in rows(people)]
    reads = [row for row in found if row[0] not in ("uploadObject", "commit")]
    assert reads == [
        ("getObject", "main", first),
        ("statObject", "main", first),
        ("GetObject", "main", first),
        ("ListObjectsV2", "main", first),
        ("getObjects", "main", first),
        ("getObjects", "main", first),
        ("getObject", "main~1", first),
        ("listObjects", "main", second),
        ("getObject", "missing", ""),
    ]


def test_requests_about_no_repository_have_rows_of_the_server(people: People) -> None:
    people.add("ana")
    people("ana", "GET", "/repositories")
    people("ana", "GET", "/auth/users")
    people("admin", "POST", "/auth/users", {"id": "eva"})
    people("admin", "POST", "/auth/users/eva/credentials")
    people.s3("ana", "GET", "/")
    found = [(row["user"], row["operation"], row["path"], row["status"]) for row in server_rows(people)]
    assert found == [
        ("ana", "listRepositories", "/repositories", 403),
        ("ana", "listUsers", "/auth/users", 403),
        ("admin", "createUser", "/auth/users", 201),
        ("admin", "createCredentials", "/auth/users/eva/credentials", 201),
        ("ana", "ListBuckets", "", 200),
    ]
    assert rows(people) == []


def test_sign_ins_and_wrong_keys_have_rows_of_the_server(people: People) -> None:
    key = people.keys[people.add("ana")]
    body = {"access_key_id": key.access_key_id, "secret_access_key": key.secret_access_key}
    assert people("", "POST", "/auth/login", body, authorization="").status == 200
    assert people("", "POST", "/auth/login", {**body, "secret_access_key": "wrong"}, authorization="").status == 401
    assert people("", "GET", REPO, authorization="Basic " + "dG9t" + "OmNhdA==").status == 401
    people("", "GET", "/healthcheck", authorization="")
    found = [(row["user"], row["operation"], row["access_key_id"], row["status"]) for row in server_rows(people)]
    assert found == [
        ("ana", "login", key.access_key_id, 200),
        ("", "login", key.access_key_id, 401),
        ("", "getRepository", "tom", 401),
    ]


def test_a_wrong_signature_has_a_row_of_the_repository(people: People) -> None:
    people.add("ana")
    people.keys["ana"] = replace_secret(people.keys["ana"])
    assert people.s3("ana", "GET", "/lake/main/a").status == 403
    (row,) = rows(people)
    assert (row["user"], row["access_key_id"]) == ("", people.keys["ana"].access_key_id)
    assert (row["operation"], row["path"], row["status"]) == ("GET", "a", 403)


def replace_secret(key: Credential) -> Credential:
    return msgspec.structs.replace(key, secret_access_key="x" * 40)


def test_rows_of_a_repository_that_does_not_exist_are_of_the_server(people: People) -> None:
    people("admin", "GET", "/repositories/nothing")
    people("admin", "POST", "/repositories", {"name": "new", "storage_namespace": "mem://new"})
    people("admin", "DELETE", "/repositories/new")
    found = [(row["repository"], row["operation"], row["status"]) for row in server_rows(people)]
    assert found == [
        ("nothing", "getRepository", 404),
        ("new", "createRepository", 201),
        ("new", "deleteRepository", 204),
    ]


def test_requests_without_a_user_cannot_push_out_those_of_users(
    people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorder, "MOST_WITHOUT_USER", 2)
    for _ in range(5):
        people("", "GET", "/auth/users", authorization="")
    people("admin", "GET", "/auth/users")
    assert people.services.history is not None
    assert people.services.history.dropped == 3
    assert [row["user"] for row in server_rows(people)] == ["", "", "admin"]


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
    of_lake = people.run(people.engine.access_history.of_repository("lake"))
    assert len(people.run(of_lake.files("2020-01-01", "2999-01-01"))) == 1
    assert people.run(of_lake.files("2020-01-01", "2020-12-31")) == []


def test_a_bucket_that_takes_no_rows_does_not_stop_requests(people: People, monkeypatch: pytest.MonkeyPatch) -> None:
    history = people.services.history
    assert history is not None

    async def fail(*_: object) -> None:
        raise StoreUnavailableError("the bucket does not answer")

    monkeypatch.setattr(recorder, "MOST_ROWS", 3)
    of_repository = people.engine.access_history.of_repository
    people.engine.access_history.of_repository = fail  # type: ignore[assignment,method-assign]
    for number in range(5):
        assert people.put(f"a{number}").status == 201
    people.run(history.flush())
    assert (history.dropped, history._waiting) == (2, 3)
    people.engine.access_history.of_repository = of_repository  # type: ignore[method-assign]
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


def test_changes_of_access_keys_are_recorded_in_their_order(people: People) -> None:
    people("admin", "POST", "/auth/users", {"id": "eva"})
    statement = [{"effect": "allow", "action": ["fs:Read*"], "resource": "*"}]
    sent = {"statement": statement, "expires_in": 3600}
    made = people("admin", "POST", "/auth/users/eva/credentials", sent).json
    assert people("admin", "DELETE", f"/auth/users/eva/credentials/{made['access_key_id']}").status == 204
    people("admin", "DELETE", "/auth/users/eva")
    listed = people("admin", "GET", "/auth/changes?amount=1000").json["results"]
    key, end = made["access_key_id"], time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(made["expiration"]))
    assert [(row["by"], row["what"]) for row in listed][-4:] == [
        ("admin", "creating user 'eva'"),
        ("admin", f"making access key {key!r} of user 'eva' until {end} UTC with a policy"),
        ("admin", f"deleting access key {key!r} of user 'eva'"),
        ("admin", "deleting user 'eva'"),
    ]
    page = people("admin", "GET", f"/auth/changes?amount=1&after={listed[-4]['id']}").json
    assert page["results"] == [listed[-3]]
    assert page["pagination"]["has_more"] is True


def test_an_access_key_that_is_refused_is_not_recorded(people: People) -> None:
    before = people("admin", "GET", "/auth/changes?amount=1000").json["results"]
    assert people("admin", "POST", "/auth/users/nobody/credentials").status == 404
    assert people("admin", "DELETE", "/auth/users/admin/credentials/LKBDNONE").status == 404
    assert people("admin", "GET", "/auth/changes?amount=1000").json["results"] == before


def test_a_change_that_is_refused_is_not_recorded(people: People) -> None:
    before = people("admin", "GET", "/auth/changes?amount=1000").json["results"]
    assert people("admin", "DELETE", "/auth/users/admin").status == 409
    assert people("admin", "GET", "/auth/changes?amount=1000").json["results"] == before
