"""Groups in the API: each status of `/auth/groups`, members, policies and grants."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.auth.people import People, ids


@pytest.fixture
def people() -> Iterator[People]:
    made = People()
    yield made
    made.close()


def test_the_life_of_a_group(people: People) -> None:
    created = people("admin", "POST", "/auth/groups", {"id": "sales", "description": "Sells things"})
    assert created.status == 201
    assert created.json.keys() == {"id", "name", "description", "creation_date"}
    assert (created.json["id"], created.json["name"]) == ("sales", "sales")
    assert people("admin", "GET", "/auth/groups/sales").json == created.json
    assert "description" not in people("admin", "POST", "/auth/groups", {"id": "ops"}).json
    again = people("admin", "POST", "/auth/groups", {"id": "sales"})
    assert (again.status, again.kind) == (409, "already_exists")
    assert people("admin", "POST", "/auth/groups", {"id": "a%b"}).status == 400
    assert people("admin", "DELETE", "/auth/groups/sales").status == 204
    for method, tail in (("GET", ""), ("DELETE", ""), ("GET", "/members"), ("GET", "/policies"), ("GET", "/acl")):
        gone = people("admin", method, f"/auth/groups/sales{tail}")
        assert (gone.status, gone.kind) == (404, "group_not_found")


def test_pages_of_groups(people: People) -> None:
    everything = ["Admins", "Analysts", "Developers", "SuperUsers", "Viewers"]
    assert ids(people("admin", "GET", "/auth/groups")) == everything
    page = people("admin", "GET", "/auth/groups?amount=2&after=Analysts")
    assert ids(page) == ["Developers", "SuperUsers"]
    assert page.json["pagination"] == {
        "has_more": True, "next_offset": "SuperUsers", "results": 2, "max_per_page": 1000
    }  # fmt: skip
    assert ids(people("admin", "GET", "/auth/groups?prefix=A")) == ["Admins", "Analysts"]


def test_members(people: People) -> None:
    people.add("ana")
    member = "/auth/groups/Viewers/members/ana"
    assert people("ana", "GET", "/repositories").status == 403
    assert people("admin", "PUT", member).status == 201
    assert people("ana", "GET", "/repositories").status == 200
    assert people("admin", "PUT", member).kind == "already_exists"
    assert ids(people("admin", "GET", "/auth/groups/Viewers/members")) == ["ana"]
    assert people("admin", "DELETE", member).status == 204
    assert people("ana", "GET", "/repositories").status == 403
    again = people("admin", "DELETE", member)
    assert (again.status, again.kind) == (404, "membership_not_found")
    for method in ("PUT", "DELETE"):
        assert people("admin", method, "/auth/groups/none/members/ana").kind == "group_not_found"
        assert people("admin", method, "/auth/groups/Viewers/members/none").kind == "user_not_found"


def test_a_deleted_group_gives_nothing(people: People) -> None:
    people.add("ana", groups=("Viewers",))
    assert people("ana", "GET", "/repositories").status == 200
    assert people("admin", "DELETE", "/auth/groups/Viewers").status == 204
    assert people("ana", "GET", "/repositories").status == 403
    assert ids(people("admin", "GET", "/auth/users/ana/groups")) == []


def test_policies_of_a_group(people: People) -> None:
    people.add("ana", groups=("Viewers",))
    policy = "/auth/groups/Viewers/policies/FSFullAccess"
    assert people("admin", "PUT", policy).status == 201
    assert people.put("a", user="ana").status == 201
    assert people("admin", "PUT", policy).kind == "already_exists"
    assert "FSFullAccess" in ids(people("admin", "GET", "/auth/groups/Viewers/policies"))
    assert people("admin", "DELETE", policy).status == 204
    assert people("admin", "DELETE", policy).kind == "attachment_not_found"
    assert people.put("a", user="ana").status == 403
    for method in ("PUT", "DELETE"):
        assert people("admin", method, "/auth/groups/none/policies/FSReadAll").kind == "group_not_found"
        assert people("admin", method, "/auth/groups/Viewers/policies/none").kind == "policy_not_found"


def test_a_group_has_no_access_control_list(people: People) -> None:
    answer = people("admin", "GET", "/auth/groups/Viewers/acl")
    assert (answer.status, answer.json["no_acl"], answer.kind) == (404, True, "policy_not_found")
    assert "no_acl" not in people("admin", "GET", "/auth/groups/none/acl").json
    assert people("admin", "POST", "/auth/groups/Viewers/acl", {"permission": "Read"}).status == 501


def test_grants_of_a_group(people: People) -> None:
    people("admin", "POST", "/auth/groups", {"id": "sales"})
    people.add("ana", groups=("sales",))
    grant = "/auth/groups/sales/grants/lake"
    assert people("admin", "PUT", grant, {"level": "writer"}).json["id"] == "lakebed.writer.lake"
    assert people.put("a", user="ana").status == 201
    assert people("admin", "DELETE", grant).status == 204
    assert people.put("a", user="ana").status == 403
    assert people("admin", "DELETE", grant).kind == "attachment_not_found"
    assert people("admin", "PUT", "/auth/groups/none/grants/lake", {"level": "writer"}).kind == "group_not_found"
