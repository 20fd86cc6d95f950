"""Policies are read as clients send them, and returned as they were sent. Errors name the place and the next step."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from lakebed_auth import Condition, Policy, PolicyError, Statement, parse_document, parse_statements, to_json
from lakebed_auth.actions import KNOWN_ACTIONS, SERVICES
from lakebed_auth.policy import LONGEST_TEXT, MOST_BYTES, MOST_STATEMENTS, MOST_VALUES

SALES = "arn:lakefs:fs:::repository/sales"
HR = "arn:lakefs:fs:::repository/hr"


def statement(**fields: Any) -> dict[str, Any]:
    return {"effect": "allow", "action": ["fs:ReadObject"], "resource": SALES} | fields


SENT = {
    "id": "SalesReaders",
    "creation_date": 1767225600,
    "statement": [
        {
            "effect": "allow",
            "action": ["fs:Read*", "fs:List*"],
            "resource": "arn:lakefs:fs:::repository/sales*",
            "condition": {"IpAddress": {"SourceIp": ["10.0.0.0/8"]}, "StringLike": {"fs:Branch": ["dev-*", "main"]}},
        },
        statement(effect="deny", resource=f'["{SALES}", "{HR}"]'),
        statement(resource=[SALES, HR]),
        statement(resource="*"),
    ],
}


def test_a_policy_is_returned_as_it_was_sent() -> None:
    policy = Policy("SalesReaders", parse_statements(SENT["statement"]), 1767225600)
    assert to_json(policy) == SENT
    assert parse_document(json.dumps(SENT)) == parse_document(json.dumps(SENT).encode()) == policy.statements
    assert policy.statements[0] == Statement(
        "allow",
        ("fs:Read*", "fs:List*"),
        ("arn:lakefs:fs:::repository/sales*",),
        "arn:lakefs:fs:::repository/sales*",
        (
            Condition("IpAddress", "SourceIp", ("10.0.0.0/8",)),
            Condition("StringLike", "fs:Branch", ("dev-*", "main")),
        ),
    )
    assert [one.resources for one in policy.statements[1:]] == [(SALES, HR), (SALES, HR), ("*",)]


@pytest.mark.parametrize(
    "fields",
    [
        {"action": ["fs:*"]},
        {"action": ["fs:*Raed?"]},
        {"action": sorted(KNOWN_ACTIONS)},
        {"action": [f"{service}:*" for service in SERVICES]},
        {"resource": "arn:lakefs:fs:eu-west-1:123:*"},
        {"resource": "arn:lakefs:auth:::user/${user}"},
        {"resource": "arn:lakefs:fs:::repository/a/object/%2F:😀 [x]"},
        {"resource": ["*", SALES]},
        {"resource": '[ "*" ]'},
        {"condition": None},
        {"condition": {"NotIpAddress": {"SourceIp": ["10.1.2.3/8", "::1", "2001:db8::/32", "::ffff:10.0.0.0/104"]}}},
        {"condition": {"StringNotLike": {"fs:Ref": ["v?"], "auth:Source": ["oidc"], "catalog:TableName": ["t*"]}}},
    ],
    ids=str,
)
def test_accepted(fields: dict[str, Any]) -> None:
    assert len(parse_statements([statement(**fields)])) == 1


ARN = "write arn:lakefs:SERVICE:::RESOURCE, such as"


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"effect": "Allow"}, "statement 2, effect: is 'Allow': write 'allow' or 'deny'"),
        ({"effect": None}, "effect: is None: write 'allow' or 'deny'"),
        ({"effect": ["allow"]}, "effect: is ['allow']: write"),
        ({"effects": "deny"}, "statement 2: unknown field 'effects': did you mean 'effect'?"),
        ({"conditions": {}}, "unknown field 'conditions': did you mean 'condition'?"),
        ({"action": "fs:ReadObject"}, "statement 2, action: is not an array with values: write at least one"),
        ({"action": []}, "action: is not an array with values"),
        ({"action": [1]}, "action: 1 is not a text"),
        ({"action": [""]}, "action: '' is not a text"),
        ({"action": ["fs:ReadObject", "*"]}, "action: '*' has not exactly one colon: write SERVICE:NAME, such as"),
        ({"action": ["ReadObject"]}, "'ReadObject' has not exactly one colon"),
        ({"action": ["fs:Read:Object"]}, "'fs:Read:Object' has not exactly one colon"),
        ({"action": ["f*:ReadObject"]}, "unknown service 'f*': use one of audit"),
        ({"action": ["s3:GetObject"]}, "unknown service 's3': use one of audit, auth, branches"),
        ({"action": ["FS:ReadObject"]}, "unknown service 'FS'"),
        ({"action": ["fs:ReadObjects"]}, "no operation needs 'fs:ReadObjects': did you mean 'fs:ReadObject'?"),
        ({"action": ["fs:readobject"]}, "did you mean 'fs:ReadObject'?"),
        ({"action": ["fs:"]}, "no operation needs 'fs:': use one of fs:AttachStorageNamespace"),
        ({"resource": None}, "statement 2, resource: None is not a text"),
        ({"resource": ""}, "resource: '' is not a text"),
        ({"resource": "repository/sales"}, f"'repository/sales' is not an ARN of six parts: {ARN}"),
        ({"resource": "arn:lakefs:fs::repository/sales"}, "is not an ARN of six parts"),
        ({"resource": "arn:lakefs:fs:::"}, "is not an ARN of six parts"),
        ({"resource": "arn:aws:fs:::x"}, "is not an ARN of six parts"),
        ({"resource": "ARN:lakefs:fs:::x"}, "is not an ARN of six parts"),
        ({"resource": "**"}, "is not an ARN of six parts"),
        ({"resource": "arn:lakefs:*:::repository/sales"}, "has the unknown service '*'"),
        ({"resource": "arn:lakefs:fs::*:repository/sales"}, "has a wildcard in its account"),
        ({"resource": "[]"}, "resource: is not an array with values"),
        ({"resource": []}, "resource: is not an array with values"),
        ({"resource": "["}, "resource: '[' is not JSON array: write an ARN or an array of ARNs"),
        ({"resource": "[" * 100_000}, "is not JSON array"),
        ({"resource": '["repository/sales"]'}, "is not an ARN of six parts"),
        ({"resource": [[SALES]]}, "is not a text"),
        ({"resource": "arn:lakefs:fs:::repository/\ud800"}, "is not valid Unicode"),
        ({"condition": []}, "statement 2, condition: is not an object with values"),
        ({"condition": {}}, "condition: is not an object with values"),
        ({"condition": {"StringLike": {}}}, "condition StringLike: is not an object with values"),
        ({"condition": {"StringLike": {"fs:Branch": "main"}}}, "condition StringLike fs:Branch: is not an array"),
        ({"condition": {"StringLike": {"fs:Branch": []}}}, "fs:Branch: is not an array with values"),
        ({"condition": {"StringLike": {"fs:Branch": [1]}}}, "fs:Branch: 1 is not a text"),
        (
            {"condition": {"StringEquals": {"fs:Branch": ["x"]}}},
            "unknown operator 'StringEquals': use one of IpAddress",
        ),
        ({"condition": {"stringlike": {"fs:Branch": ["x"]}}}, "did you mean 'StringLike'?"),
        ({"condition": {"StringLike": {"fs:Brunch": ["x"]}}}, "no field 'fs:Brunch': did you mean 'fs:Branch'?"),
        ({"condition": {"StringLike": {"SourceIp": ["x"]}}}, "StringLike has no field 'SourceIp': did you mean"),
        ({"condition": {"IpAddress": {"fs:Branch": ["x"]}}}, "no field 'fs:Branch': use one of SourceIp"),
        (
            {"condition": {"IpAddress": {"SourceIp": ["10.0.0"]}}},
            "'10.0.0' is not an address or a CIDR: write one such",
        ),
        ({"condition": {"IpAddress": {"SourceIp": ["10.0.0.0/33"]}}}, "'10.0.0.0/33' is not an address"),
        ({"condition": {"IpAddress": {"SourceIp": ["10.0.0.0/"]}}}, "is not an address"),
        ({"condition": {"IpAddress": {"SourceIp": ["10.0.0.0/-1"]}}}, "is not an address"),
        ({"condition": {"IpAddress": {"SourceIp": ["10.0.0.0/255.0.0.0"]}}}, "is not an address"),
        ({"condition": {"IpAddress": {"SourceIp": ["::ffff:10.0.0.0/8"]}}}, "is not an address"),
        ({"condition": {"IpAddress": {"SourceIp": ["10.0.0.*"]}}}, "is not an address"),
        ({"condition": {"IpAddress": {"SourceIp": ["/" * 4000]}}}, "is not an address"),
    ],
    ids=lambda value: str(value)[:60].encode("ascii", "replace").decode(),
)
def test_refused(fields: dict[str, Any], error: str) -> None:
    with pytest.raises(PolicyError) as raised:
        parse_statements([statement(), statement(**fields)])
    assert str(raised.value).startswith("statement 2")
    assert error in str(raised.value)


@pytest.mark.parametrize(
    ("statements", "error"),
    [
        (None, "statement: is not an array with values: write at least one"),
        ([], "statement: is not an array with values"),
        ({"0": statement()}, "statement: is not an array with values"),
        ([statement(), 1], "statement 2: is not an object: write {effect, action, resource, condition}"),
        ([{}], "statement 1, effect: is None"),
    ],
)
def test_refused_lists(statements: object, error: str) -> None:
    with pytest.raises(PolicyError) as raised:
        parse_statements(statements)
    assert error in str(raised.value)


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", "1", '{"statement": ', "[" * 100_000, b"\xff"])
def test_refused_documents(text: str | bytes) -> None:
    with pytest.raises(PolicyError, match=r'write \{"statement": \[\.\.\.\]\}'):
        parse_document(text)


def long_arn(characters: int) -> str:
    return "arn:lakefs:fs:::".ljust(characters, "x")


BRANCH = "fs:Branch"
BOUNDS = [
    ("statements", lambda n: [statement()] * n, MOST_STATEMENTS),
    ("actions", lambda n: [statement(action=["fs:*"] * n)], MOST_VALUES),
    ("resources", lambda n: [statement(resource=[SALES] * n)], MOST_VALUES),
    ("resources in a text", lambda n: [statement(resource=json.dumps([SALES] * n))], MOST_VALUES),
    ("values", lambda n: [statement(condition={"StringLike": {BRANCH: ["x"] * n}})], MOST_VALUES),
    ("length of an action", lambda n: [statement(action=["fs:".ljust(n, "*")])], LONGEST_TEXT),
    ("length of a resource", lambda n: [statement(resource=long_arn(n))], LONGEST_TEXT),
    ("length of a value", lambda n: [statement(condition={"StringLike": {BRANCH: ["é" * n]}})], LONGEST_TEXT),
]


@pytest.mark.parametrize(("make", "most"), [bound[1:] for bound in BOUNDS], ids=[bound[0] for bound in BOUNDS])
def test_bounds(make: Any, most: int) -> None:
    assert parse_statements(make(most))
    with pytest.raises(PolicyError, match=f"at most {most} are allowed"):
        parse_statements(make(most + 1))


def test_all_texts_together_have_a_bound() -> None:
    """The bound also counts characters of several bytes, and a text that holds an array."""
    assert parse_statements([statement(resource=[long_arn(4000)] * 262)])
    for resource in (
        [long_arn(4000)] * 263,
        ["arn:lakefs:fs:::".ljust(2016, "é")] * 263,
        json.dumps([long_arn(4000)] * 263),
    ):
        with pytest.raises(PolicyError, match=f"at most {MOST_BYTES} are allowed, divide it"):
            parse_statements([statement(resource=resource)])
    document = json.dumps({"statement": [statement()]}).ljust(MOST_BYTES)
    assert parse_document(document)
    with pytest.raises(PolicyError, match=f"has {MOST_BYTES + 1} bytes: at most {MOST_BYTES} are allowed"):
        parse_document(document + " ")
    with pytest.raises(PolicyError, match="has 201 bytes: at most 200 are allowed"):
        parse_document(document[:201], most_bytes=200)


def test_refusing_megabytes_is_quick() -> None:
    started = time.process_time()
    for statements in (
        [statement()] * 1_000_000,
        [statement(action=["fs:x" * 1000] * 1000)],
        [statement(x="y" * 10**7)],
    ):
        with pytest.raises(PolicyError):
            parse_statements(statements)
    assert time.process_time() - started < 1
