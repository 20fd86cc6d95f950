"""Policies in the API: each status of `/auth/policies`, the form in which they return, bounds, and simulation."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from lakebed_auth import builtin

from tests.auth.people import People, allow, deny, ids

STATEMENTS: list[dict[str, Any]] = [
    {
        "effect": "allow",
        "action": ["fs:Read*", "fs:List*"],
        "resource": '["arn:lakefs:fs:::repository/lake","arn:lakefs:fs:::repository/lake/*"]',
        "condition": {"IpAddress": {"SourceIp": ["10.0.0.0/8"]}},
    },
    {"effect": "deny", "action": ["fs:DeleteObject"], "resource": ["arn:lakefs:fs:eu::repository/${user}/*"]},
]


@pytest.fixture
def people() -> Iterator[People]:
    made = People()
    yield made
    made.close()


def test_the_life_of_a_policy(people: People) -> None:
    body = {"id": "SalesReaders", "statement": STATEMENTS}
    created = people("admin", "POST", "/auth/policies", body)
    assert (created.status, created.json) == (201, {**body, "creation_date": created.json["creation_date"]})
    assert people("admin", "GET", "/auth/policies/SalesReaders").json == created.json
    assert people("admin", "POST", "/auth/policies", body).kind == "already_exists"
    body["statement"] = [allow("fs:*")]
    changed = people("admin", "PUT", "/auth/policies/SalesReaders", body)
    assert (changed.status, changed.json) == (200, {**created.json, "statement": body["statement"]})
    assert people("admin", "DELETE", "/auth/policies/SalesReaders").status == 204
    for method, sent in (("GET", None), ("PUT", body), ("DELETE", None)):
        gone = people("admin", method, "/auth/policies/SalesReaders", sent)
        assert (gone.status, gone.kind) == (404, "policy_not_found")


def test_the_id_in_the_path_and_in_the_body_are_the_same(people: People) -> None:
    answer = people("admin", "PUT", "/auth/policies/FSReadAll", {"id": "other", "statement": STATEMENTS})
    assert (answer.status, answer.kind) == (400, "invalid_request")
    assert people("admin", "POST", "/auth/policies", {"id": "a/b", "statement": STATEMENTS}).status == 400


def test_pages_of_policies(people: People) -> None:
    expected = sorted(builtin.POLICIES)
    assert ids(people("admin", "GET", "/auth/policies")) == expected
    assert ids(people("admin", "GET", "/auth/policies?amount=3")) == expected[:3]
    assert ids(people("admin", "GET", "/auth/policies?prefix=FSRead")) == ["FSReadAll", "FSReadWriteAll"]


def test_a_change_takes_effect_on_the_next_request(people: People) -> None:
    people.add("ana", allow("fs:*"))
    assert people("ana", "GET", "/repositories/lake").status == 200
    body = {"id": "ana-policy", "statement": [allow("fs:Write*")]}
    assert people("admin", "PUT", "/auth/policies/ana-policy", body).status == 200
    assert people("ana", "GET", "/repositories/lake").status == 403


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        (allow("*"), "'*' has not exactly one colon"),
        (allow("ReadObject"), "'ReadObject' has not exactly one colon"),
        (allow("fs:ReadObjet"), "did you mean 'fs:ReadObject'?"),
        (allow("s3:GetObject"), "unknown service 's3'"),
        (allow("fs:*", on="arn:aws:s3:::x"), "is not an ARN"),
        (allow("fs:*", on="[not json"), "is not JSON array"),
        ({**allow("fs:*"), "effect": "Allow"}, "write 'allow' or 'deny'"),
        ({**allow("fs:*"), "resource": 5}, "resource"),
        ({**allow("fs:*"), "conditon": {}}, "did you mean 'condition'?"),
        (allow("fs:*", StringIs={"fs:Branch": ["x"]}), "unknown operator 'StringIs'"),
        (allow("fs:*", IpAddress={"SourceIp": ["10.0.0.300"]}), "is not an address"),
    ],
)
def test_statements_that_are_refused(people: People, statement: dict[str, Any], message: str) -> None:
    for method, target in (("POST", "/auth/policies"), ("PUT", "/auth/policies/FSReadAll")):
        answer = people("admin", method, target, {"id": "FSReadAll", "statement": [statement]})
        assert (answer.status, answer.kind) == (400, "invalid_policy")
        assert message in answer.json["message"]
        assert answer.json["message"].startswith("statement 1")


@pytest.mark.parametrize("statement", [None, "x", [], [None], [{}], [{**STATEMENTS[1], "action": "fs:*"}]])
def test_invalid_statements_are_refused(people: People, statement: object) -> None:
    answer = people("admin", "POST", "/auth/policies", {"id": "p", "statement": statement})
    assert answer.status == 400, answer.body


def test_large_policies_are_refused(people: People) -> None:
    many = [allow("fs:ReadObject")] * 1001
    answer = people("admin", "POST", "/auth/policies", {"id": "p", "statement": many})
    assert (answer.status, answer.kind) == (400, "invalid_policy")
    raw = b'{"id": "p", "statement": ' + b" " * (2 << 20) + msgspec.json.encode(many[:1]) + b"}"
    assert people("admin", "POST", "/auth/policies", raw).kind == "invalid_policy"
    assert people("admin", "POST", "/auth/policies", b" " * (11 << 20)).kind == "request_too_large"
    thousand = {"id": "p", "statement": many[:1000]}
    assert people("admin", "POST", "/auth/policies", thousand).status == 201
    assert len(people("admin", "GET", "/auth/policies/p").json["statement"]) == 1000


def test_two_administrators_who_change_one_policy(people: People) -> None:
    async def both() -> None:
        changes = (
            people.directory.update_policy("FSReadAll", msgspec.Raw(json.dumps([allow(action)]).encode()))
            for action in ("fs:Read*", "fs:List*")
        )
        await asyncio.gather(*changes)

    epoch = people.run(people.directory.epoch())
    people.run(both())
    assert people.run(people.directory.epoch()) == epoch + 2
    kept = people("admin", "GET", "/auth/policies/FSReadAll").json["statement"]
    assert kept in ([allow("fs:Read*")], [allow("fs:List*")])


def ask(people: People, caller: str, **question: Any) -> Any:
    body = {"action": "fs:WriteObject", "resource": "arn:lakefs:fs:::repository/lake/object/x", **question}
    return people(caller, "POST", "/auth/simulate", body)


def test_simulation_explains_a_decision(people: People) -> None:
    people.add(
        "ana", allow("fs:Read*"), allow("fs:Write*"), deny("fs:*", on="arn:lakefs:fs:::repository/lake/object/s*")
    )
    allowed = ask(people, "admin", user="ana")
    assert (allowed.status, allowed.json) == (
        200,
        {
            "allowed": True,
            "effect": "allowed",
            "statement": {"policy": "ana-policy", "number": 2},
            "reason": "statement 2 of policy 'ana-policy' allows fs:WriteObject on repository/lake/object/x",
        },
    )
    denied = ask(people, "ana", resource="arn:lakefs:fs:::repository/lake/object/secret").json
    assert (denied["allowed"], denied["effect"], denied["statement"]["number"]) == (False, "denied", 3)
    neutral = ask(people, "ana", action="fs:DeleteBranch", resource="arn:lakefs:fs:::repository/lake/branch/main").json
    assert (neutral["allowed"], neutral["effect"], "statement" in neutral) == (False, "neutral", False)
    assert neutral["reason"] == (
        "no statement of the user's policies allows fs:DeleteBranch on repository/lake/branch/main"
    )


def test_simulation_of_conditions(people: People) -> None:
    people.add(
        "ana",
        allow("fs:WriteObject", StringLike={"fs:Branch": ["dev-*"]}, IpAddress={"SourceIp": ["10.0.0.0/8"]}),
    )
    inside = {"source_ip": "10.1.2.3", "branch": "dev-1"}
    assert ask(people, "ana", context=inside).json["allowed"]
    assert not ask(people, "ana", context={**inside, "branch": "main"}).json["allowed"]
    assert not ask(people, "ana", context={**inside, "source_ip": "192.0.2.1"}).json["allowed"]
    invalid = ask(people, "ana", context={**inside, "source_ip": "nowhere"}).json
    assert (invalid["allowed"], "does not know a valid one" in invalid["reason"]) == (False, True)


def test_who_may_simulate(people: People) -> None:
    people.add("ana")
    people.add("ben", allow("auth:ReadUser", on="arn:lakefs:auth:::user/ana"))
    refused = ask(people, "ana", user="ben")
    assert (refused.status, refused.json["message"]) == (403, "needs auth:ReadUser on user/ben")
    assert ask(people, "ben", user="ana").status == 200
    assert ask(people, "admin", user="none").kind == "user_not_found"
    people("admin", "PATCH", "/auth/users/ana", {"disabled": True})
    assert ask(people, "ben", user="ana").json == {
        "allowed": False, "effect": "denied", "reason": "user 'ana' is disabled"
    }  # fmt: skip


def test_questions_that_are_refused(people: People) -> None:
    people.add("ana")
    unknown = ask(people, "ana", action="fs:WriteObjet")
    assert (unknown.status, "did you mean 'fs:WriteObject'?" in unknown.json["message"]) == (400, True)
    assert ask(people, "ana", resource="lake/x").status == 400
    assert people("ana", "POST", "/auth/simulate", {}).status == 400
