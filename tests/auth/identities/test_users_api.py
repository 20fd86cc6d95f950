"""Users in the API: each status of `/auth/users`, pages, ids, grants, and attempts to gain rights."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from lakebed_auth import arn

from tests.auth.people import People, allow, deny, ids
from tests.server.support import ask, make_app

MANAGE = ("auth:*",)


@pytest.fixture
def people() -> Iterator[People]:
    made = People()
    yield made
    made.close()


def test_the_life_of_a_user(people: People) -> None:
    created = people("admin", "POST", "/auth/users", {"id": "jane", "invite_user": False})
    assert created.status == 201
    assert created.json.keys() == {"id", "creation_date"}
    assert people("admin", "GET", "/auth/users/jane").json == created.json
    again = people("admin", "POST", "/auth/users", {"id": "jane"})
    assert (again.status, again.kind) == (409, "already_exists")
    assert again.json["message"].startswith("Already exists")
    assert people("admin", "DELETE", "/auth/users/jane").status == 204
    for method in ("GET", "DELETE"):
        gone = people("admin", method, "/auth/users/jane")
        assert (gone.status, gone.kind) == (404, "user_not_found")


def test_the_fields_of_a_user(people: People) -> None:
    body = {"id": "robot", "friendly_name": "Nightly load", "email": "data@example.org", "service": True}
    created = people("admin", "POST", "/auth/users", body)
    assert created.json == {**body, "creation_date": created.json["creation_date"]}
    changed = people("admin", "PATCH", "/auth/users/robot", {"friendly_name": "", "disabled": True})
    assert changed.status == 200
    assert changed.json.keys() == {"id", "creation_date", "email", "disabled", "service"}
    assert people("admin", "PATCH", "/auth/users/robot", {"disabled": False}).json.keys() == {
        *("id", "creation_date", "email", "service")
    }
    assert people("admin", "PATCH", "/auth/users/nobody", {"email": ""}).kind == "user_not_found"
    assert people("admin", "PATCH", "/auth/users/robot", {"email": "x" * 321}).status == 400


def test_the_calling_user(people: People) -> None:
    people.add("ana")
    assert people("ana", "GET", "/user").json["user"]["friendly_name"] == "ana"
    people("admin", "PATCH", "/auth/users/ana", {"friendly_name": "Ana", "email": "ana@example.org"})
    user = people("ana", "GET", "/user").json["user"]
    assert (user["id"], user["friendly_name"], user["email"]) == ("ana", "Ana", "ana@example.org")


def test_a_disabled_user_is_refused_until_it_is_enabled(people: People) -> None:
    people.add("ana", groups=("Viewers",))
    assert people("ana", "GET", "/repositories").status == 200
    assert people("admin", "PATCH", "/auth/users/ana", {"disabled": True}).status == 200
    refused = people("ana", "GET", "/repositories")
    assert (refused.status, refused.kind) == (401, "unauthenticated")
    assert people("admin", "PATCH", "/auth/users/ana", {"disabled": False}).status == 200
    assert people("ana", "GET", "/repositories").status == 200


def test_invitations_are_not_supported(people: People) -> None:
    answer = people("admin", "POST", "/auth/users", {"id": "jane@example.org", "invite_user": True})
    assert (answer.status, answer.kind) == (501, "not_implemented")


@pytest.mark.parametrize("id", ["", " a", "a ", "a/b", "100%", "a\nb", ".", "..", "x" * 257, "é" * 129])
def test_ids_that_are_refused(people: People, id: str) -> None:
    answer = people("admin", "POST", "/auth/users", {"id": id})
    assert (answer.status, answer.kind) == (400, "invalid_request")
    assert "the id of a user" in answer.json["message"]


@pytest.mark.parametrize("id", ["jane@example.org", "Ана", "🦆", "a b", "x" * 256, "a+b", "a:b*?${user}"])
def test_ids_that_are_accepted(people: People, id: str) -> None:
    assert people("admin", "POST", "/auth/users", {"id": id}).status == 201
    path = f"/auth/users/{quote(id, safe='')}"
    assert people("admin", "GET", path).json["id"] == id
    assert people("admin", "PUT", f"{path}/policies/FSReadAll").status == 201
    assert ids(people("admin", "GET", f"{path}/policies")) == ["FSReadAll"]
    assert people("admin", "DELETE", path).status == 204


@pytest.mark.parametrize("path", ["a%2Fb", "100%25", "%F0%9F%A6%86"])
def test_an_id_in_a_path_that_no_user_has(people: People, path: str) -> None:
    for tail in ("", "/groups", "/policies", "/policies?effective=true", "/credentials", "/credentials/AKIA"):
        answer = people("admin", "GET", f"/auth/users/{path}{tail}")
        assert (answer.status, answer.kind) == (404, "user_not_found")
    assert people("admin", "DELETE", f"/auth/users/{path}").kind == "user_not_found"


def test_pages_are_in_the_order_of_bytes(people: People) -> None:
    names = ["a", "B", "ab", "é", "🦆", "b"]
    for name in names:
        people("admin", "POST", "/auth/users", {"id": name})
    expected = sorted([*names, "admin"], key=str.encode)
    assert ids(people("admin", "GET", "/auth/users")) == expected
    found, after = [], ""
    while True:
        page = people("admin", "GET", f"/auth/users?amount=2&after={quote(after)}")
        found += ids(page)
        after = page.json["pagination"]["next_offset"]
        assert page.json["pagination"]["max_per_page"] == 1000
        if not page.json["pagination"]["has_more"]:
            break
    assert (found, after) == (expected, "")
    assert ids(people("admin", "GET", "/auth/users?prefix=a")) == ["a", "ab", "admin"]
    assert people("admin", "GET", "/auth/users?amount=1001").status == 400


def test_policies_of_a_user(people: People) -> None:
    people.add("ana", groups=("Viewers",))
    policy = "/auth/users/ana/policies/CatalogReadAll"
    assert (people("admin", "PUT", policy).status, people("admin", "PUT", policy).kind) == (201, "already_exists")
    assert ids(people("admin", "GET", "/auth/users/ana/policies")) == ["CatalogReadAll"]
    effective = people("admin", "GET", "/auth/users/ana/policies?effective=true")
    assert ids(effective) == ["AuthManageOwnCredentials", "CatalogReadAll", "FSReadAll"]
    page = people("admin", "GET", "/auth/users/ana/policies?effective=true&amount=1&after=AuthManageOwnCredentials")
    assert (ids(page), page.json["pagination"]["has_more"]) == (["CatalogReadAll"], True)
    assert ids(people("admin", "GET", "/auth/users/ana/policies?effective=true&prefix=FS")) == ["FSReadAll"]
    assert ids(people("admin", "GET", "/auth/users/ana/groups")) == ["Viewers"]
    assert people("admin", "DELETE", policy).status == 204
    assert people("admin", "DELETE", policy).kind == "attachment_not_found"
    for method in ("PUT", "DELETE"):
        assert people("admin", method, "/auth/users/nobody/policies/FSReadAll").kind == "user_not_found"
        assert people("admin", method, "/auth/users/ana/policies/None").kind == "policy_not_found"


def test_credentials_of_another_user(people: People) -> None:
    people.add("ana")
    people.add("ben")
    made = people("admin", "POST", "/auth/users/ana/credentials")
    assert made.status == 201
    assert made.json.keys() == {"access_key_id", "secret_access_key", "creation_date"}
    key = f"/auth/users/ana/credentials/{made.json['access_key_id']}"
    listed = people("admin", "GET", "/auth/users/ana/credentials").json["results"]
    assert {row["access_key_id"] for row in listed} == {made.json["access_key_id"], people.keys["ana"].access_key_id}
    assert people("admin", "GET", key).json.keys() == {"access_key_id", "creation_date"}
    assert people("ben", "GET", key).json["message"] == "needs auth:ReadCredentials on user/ana"
    assert people("admin", "GET", key.replace("/ana/", "/ben/")).kind == "credentials_not_found"
    assert people("admin", "DELETE", key).status == 204
    assert people("admin", "DELETE", key).kind == "credentials_not_found"
    last = f"/auth/users/ana/credentials/{people.keys['ana'].access_key_id}"
    assert people("admin", "DELETE", last).status == 204
    assert people("ana", "GET", "/user").status == 401
    assert people("admin", "POST", "/auth/users/nobody/credentials").kind == "user_not_found"


def test_the_keys_of_a_deleted_user_do_not_work_for_a_new_one(people: People) -> None:
    people.add("ana", groups=("Viewers",))
    assert people("ana", "GET", "/user").status == 200
    assert people("admin", "DELETE", "/auth/users/ana").status == 204
    assert people("admin", "POST", "/auth/users", {"id": "ana"}).status == 201
    assert people("admin", "GET", "/auth/users/ana/credentials").json["results"] == []
    assert people("admin", "GET", "/auth/users/ana/groups").json["results"] == []
    assert people.run(people.store.find(people.keys["ana"].access_key_id)) is None


def test_the_first_key_of_the_administrator_belongs_to_it(people: People) -> None:
    listed = people("admin", "GET", "/auth/users/admin/credentials").json["results"]
    last = f"/auth/users/admin/credentials/{listed[0]['access_key_id']}"
    answer = people("admin", "DELETE", last)
    assert (len(listed), answer.status) == (1, 400)


def test_grants_on_one_repository(people: People) -> None:
    people.add("ana")
    target = "/auth/users/ana/grants/lake"
    assert people("ana", "GET", "/repositories/lake").status == 403
    granted = people("admin", "PUT", target, {"level": "reader"})
    assert (granted.status, granted.json["id"]) == (200, "lakebed.reader.lake")
    assert people("ana", "GET", "/repositories/lake").status == 200
    assert people.put("a", user="ana").json["message"] == "needs fs:WriteObject on repository/lake/object/a"
    assert people("admin", "PUT", target, {"level": "writer"}).status == 200
    assert people("admin", "PUT", target, {"level": "writer"}).status == 200
    assert ids(people("admin", "GET", "/auth/users/ana/policies")) == ["lakebed.writer.lake"]
    assert people.put("a", user="ana").status == 201
    assert people("admin", "DELETE", target).status == 204
    assert people("ana", "GET", "/repositories/lake").status == 403
    assert people("admin", "DELETE", target).kind == "attachment_not_found"
    refused = people("admin", "PUT", target, {"level": "owner"})
    assert refused.json["message"] == "body level: expected one of reader, writer, admin, got 'owner'"
    for method in ("PUT", "DELETE"):
        assert people("admin", method, "/auth/users/nobody/grants/lake", {"level": "reader"}).kind == "user_not_found"


@pytest.mark.parametrize("name", ["lak*", "*", "lake%2Fobject", "${user}", "la", "Lake"])
def test_a_grant_is_on_one_repository(people: People, name: str) -> None:
    people.add("ana")
    for method in ("PUT", "DELETE"):
        answer = people("admin", method, f"/auth/users/ana/grants/{name}", {"level": "reader"})
        assert (answer.status, answer.kind) == (400, "invalid_request")
        assert "3 to 63 lower-case letters" in answer.json["message"]
    assert people("admin", "GET", "/auth/policies?prefix=lakebed").json["results"] == []


def test_a_grant_keeps_what_an_administrator_changed(people: People) -> None:
    people.add("ana")
    body = {"id": "lakebed.reader.lake", "statement": [allow("fs:ReadRepository", on=arn.repository("lake"))]}
    assert people("admin", "POST", "/auth/policies", body).status == 201
    assert (
        people("admin", "PUT", "/auth/users/ana/grants/lake", {"level": "reader"}).json["statement"]
        == (body["statement"])
    )


def test_a_developer_cannot_give_itself_rights(people: People) -> None:
    people.add("dev", groups=("Developers",))
    for method, target, body in (
        ("PUT", "/auth/users/dev/policies/AuthFullAccess", None),
        ("PUT", "/auth/users/dev/grants/lake", {"level": "admin"}),
        ("PUT", "/auth/groups/Admins/members/dev", None),
        ("PUT", "/auth/groups/Developers/policies/AuthFullAccess", None),
        ("PUT", "/auth/policies/FSReadWriteAll", {"id": "FSReadWriteAll", "statement": [allow("auth:*")]}),
        ("POST", "/auth/policies", {"id": "mine", "statement": [allow("auth:*")]}),
        ("POST", "/auth/users", {"id": "dev2"}),
        ("POST", "/auth/users/admin/credentials", None),
        ("PATCH", "/auth/users/dev", {"email": "admin@example.org"}),
    ):
        answer = people("dev", method, target, body)
        assert (answer.status, answer.kind) == (403, "permission_denied"), target
        assert answer.json["message"].startswith("needs auth:")


def test_the_last_administrator_cannot_be_removed(people: People) -> None:
    for method, target, body in (
        ("DELETE", "/auth/users/admin", None),
        ("PATCH", "/auth/users/admin", {"disabled": True}),
        ("DELETE", "/auth/groups/Admins/members/admin", None),
        ("DELETE", "/auth/groups/Admins", None),
        ("DELETE", "/auth/groups/Admins/policies/AuthFullAccess", None),
        ("DELETE", "/auth/policies/AuthFullAccess", None),
        ("PUT", "/auth/policies/AuthFullAccess", {"id": "AuthFullAccess", "statement": [allow("auth:Read*")]}),
    ):
        answer = people("admin", method, target, body)
        assert (answer.status, answer.kind) == (409, "last_administrator"), target
    people.policy("no-auth", deny("auth:*"))
    assert people("admin", "PUT", "/auth/users/admin/policies/no-auth").kind == "last_administrator"
    people.add("ana", allow(*MANAGE))
    assert people("admin", "DELETE", "/auth/groups/Admins/members/admin").status == 204
    assert people("ana", "DELETE", "/auth/users/ana").kind == "last_administrator"


def test_two_administrators_cannot_remove_each_other(people: People) -> None:
    people.add("ana", groups=("Admins",))

    async def both() -> list[Any]:
        jobs = (people.directory.remove_member("Admins", user) for user in ("admin", "ana"))
        return await asyncio.gather(*jobs, return_exceptions=True)

    results = people.run(both())
    assert sorted(getattr(one, "kind", "") for one in results) == ["", "last_administrator"]


def test_single_mode_has_no_users() -> None:
    app = make_app()
    for method, path in (("GET", "/auth/users"), ("GET", "/auth/groups"), ("GET", "/auth/policies/x")):
        answer = ask(app, f"/api/v1{path}", method)
        assert (answer.status, answer.kind) == (501, "not_implemented")
        assert "auth.mode is single" in answer.json["message"]
