"""No other spelling of a path avoids a denial: paths are compared character by character, as the engine stores them."""

from __future__ import annotations

import json
import unicodedata
from urllib.parse import quote

import pytest
from lakebed_auth import Context, PolicyError, arn, parse_document, parse_statements

from tests.auth.support import CONTEXT, allow, compiled, deny, effect

READ = "fs:ReadObject"
SECRET = "a/é secret.csv"
SPELLINGS = [
    "a//é secret.csv",
    "./a/é secret.csv",
    "a/./é secret.csv",
    "a/b/../é secret.csv",
    "/a/é secret.csv",
    "a/é secret.csv/",
    "a\\é secret.csv",
    "A/é secret.csv",
    "a/é secret.csv ",
    "a/é secret.csv\x00",
    "a/é secret.csv\n",
    quote(SECRET),
    quote(SECRET, safe=""),
    quote(quote(SECRET)),
    "a/é+secret.csv",
    "a/é\u00a0secret.csv",
    unicodedata.normalize("NFD", SECRET),
    "*",
    "a/*",
]


def test_another_spelling_is_another_object() -> None:
    """The denied object has one key, which is the denied path; each other spelling is the key of another object."""
    assert unicodedata.normalize("NFC", SECRET) == SECRET
    assert len({SECRET, *SPELLINGS}) == len(SPELLINGS) + 1
    permissions = compiled(allow("fs:*"), deny(READ, arn.object_("sales", SECRET)))
    assert effect(permissions, READ, arn.object_("sales", SECRET)) == "denied"
    assert {effect(permissions, READ, arn.object_("sales", one)) for one in SPELLINGS} == {"allowed"}


@pytest.mark.parametrize("denied", SPELLINGS[:-2])
def test_a_denial_is_about_its_exact_path(denied: str) -> None:
    permissions = compiled(allow("fs:*"), deny(READ, arn.object_("sales", denied)))
    assert effect(permissions, READ, arn.object_("sales", denied)) == "denied"
    assert effect(permissions, READ, arn.object_("sales", SECRET)) == "allowed"


def test_a_denied_folder_has_no_way_around() -> None:
    """All keys that begin with the folder are denied, whatever follows."""
    permissions = compiled(allow("fs:*"), deny(READ, arn.object_("sales", "hr/*")))
    for path in ("hr/", "hr//x", "hr/./x", "hr/\n", "hr/x\ny", "hr/é", "hr/%2e%2e/x", "hr/../x", "hr/*"):
        assert effect(permissions, READ, arn.object_("sales", path)) == "denied"
    assert effect(permissions, READ, arn.object_("sales", "hr")) == "allowed"


@pytest.mark.parametrize(
    "name", ["a/b", "100%", "😀", "*", "?", "[a]", "a:b", "arn:lakefs:fs:::x", "../x", "x y", "\n"]
)
def test_any_id_is_covered_by_its_own_arn_and_by_no_other(name: str) -> None:
    """A required resource is not a pattern, and colons in it change no part."""
    for make in (arn.user, arn.group, arn.policy, arn.repository, arn.namespace):
        assert effect(compiled(allow("fs:*", make("other"))), READ, make(name)) == "neutral"
        assert effect(compiled(allow("fs:*", make("*"))), READ, make(name)) == "allowed"
        assert effect(compiled(allow("fs:*", make(name))), READ, make(name)) == "allowed"
        assert make(name) == arn.canonical(make(name))


def test_a_wildcard_in_a_request_is_a_character() -> None:
    permissions = compiled(allow(READ, arn.object_("sales", "a")))
    for resource in (arn.object_("sales", "*"), arn.object_("*", "a"), "arn:lakefs:fs:::*", arn.ALL):
        assert effect(permissions, READ, resource) == "neutral"


def test_rules_cover_only_their_kind_of_resource() -> None:
    """Rules about objects cover no branch, and rules about users cover no group."""
    permissions = compiled(allow("fs:*", arn.object_("a", "*")), allow("auth:*", arn.user("*")))
    assert effect(permissions, READ, arn.branch("a", "x")) == "neutral"
    assert effect(permissions, "auth:ReadGroup", arn.group("user/x")) == "neutral"
    assert effect(permissions, "auth:ReadUser", "arn:lakefs:fs:::user/x") == "neutral"


def test_an_unreadable_condition_never_becomes_no_condition() -> None:
    for row in (
        allow("fs:*") | {"Condition": {"StringLike": {"fs:Branch": ["x"]}}},
        allow("fs:*") | {"conditions": {}},
        allow("fs:*") | {"condition": {"StringLike": []}},
        allow("fs:*") | {"notResource": "*"},
    ):
        with pytest.raises(PolicyError):
            parse_statements([row])


def test_a_mapped_address_is_the_address() -> None:
    permissions = compiled(allow("fs:*"), deny("fs:*", IpAddress={"SourceIp": ["203.0.113.0/24"]}))
    for address in ("203.0.113.9", "::ffff:203.0.113.9", "::FFFF:cb00:7109", "0:0:0:0:0:ffff:203.0.113.9"):
        assert effect(permissions, READ, arn.ALL, Context(source_ip=address)) == "denied"
    assert effect(permissions, READ, arn.ALL, Context(source_ip="203.0.114.9")) == "allowed"


def test_deep_and_odd_documents_are_refused() -> None:
    deep = '{"statement": ' + "[" * 50_000 + "]" * 50_000 + "}"
    odd = ['{"statement": [NaN]}', '{"statement": 1e999}', '{"statement": {"a": 1}}', '"\\ud800"', "\ufeff{}", deep]
    for text in [*odd, json.dumps({"statement": [[]]})]:
        with pytest.raises(PolicyError):
            parse_document(text)


def test_the_number_of_actions_asked_for_does_not_fill_the_memory() -> None:
    permissions = compiled(allow("fs:*"))
    assert all(effect(permissions, f"fs:Unknown{number}", arn.ALL) == "allowed" for number in range(5000))
    [rules] = permissions._rule_sets
    assert len(rules._indexes) <= 1000
    for number in range(5000):
        assert effect(permissions, READ, arn.object_(f"lake{number}", "a"), CONTEXT) == "allowed"
    assert len(rules._indexes) <= 1000
