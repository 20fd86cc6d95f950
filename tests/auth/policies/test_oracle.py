"""The evaluator decides as the oracle that tries every statement, for any policies, users, contexts and questions."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from lakebed_auth import Compiled, Context, Policy, compile_policies, parse_statements

from tests.auth import oracle, support
from tests.auth.support import allow, deny
from tests.support.sizes import examples

SALES = "arn:lakefs:fs:::repository/sales"
ACTIONS = ["fs:ReadObject", "fs:WriteObject", "fs:ListObjects", "auth:ReadUser", "pr:WritePullRequest"]
ACTION_PATTERNS = [*ACTIONS, "fs:*", "fs:Read*", "fs:?eadObject", "fs:*Object?", "auth:*", "pr:*"]
PIECES = ["repository/", "sales", "sale", "object/", "branch/", "a", "b", "/", "user/", "ana"]
PATTERN_PIECES = [*PIECES, "*", "*", "?", "${user}"]
USERS = ["ana", "a", "a*", "?", "sales"]
ADDRESSES = ["10.0.0.1", "10.9.9.9", "192.0.2.7", "2001:db8::1", None, "unix:", ""]
TEXTS = ["main", "dev-1", "", "v1", "key", "oidc", None]


def arns(pieces: list[str], *, regions: list[str]) -> st.SearchStrategy[str]:
    heads = st.builds(
        "arn:lakefs:{}:{}:{}:".format,
        st.sampled_from(["fs", "auth"]),
        st.sampled_from(regions),
        st.sampled_from(["", "", "", "1"]),
    )
    tails = st.lists(st.sampled_from(pieces), min_size=1, max_size=5).map("".join)
    return st.builds(str.__add__, heads, tails) | st.just("*")


CONDITIONS = st.dictionaries(
    st.sampled_from(["IpAddress", "NotIpAddress"]),
    st.fixed_dictionaries(
        {"SourceIp": st.lists(st.sampled_from(["10.0.0.0/8", "192.0.2.7", "::/0"]), min_size=1, max_size=2)}
    ),
    min_size=1,
    max_size=2,
) | st.dictionaries(
    st.sampled_from(["StringLike", "StringNotLike"]),
    st.dictionaries(
        st.sampled_from(["fs:Branch", "fs:Ref", "auth:Source"]),
        st.lists(st.sampled_from(["main", "dev-*", "?1", "*", "k?y", "v"]), min_size=1, max_size=2),
        min_size=1,
        max_size=2,
    ),
    min_size=1,
    max_size=2,
)
STATEMENTS = st.fixed_dictionaries(
    {
        "effect": st.sampled_from(["allow", "allow", "deny"]),
        "action": st.lists(st.sampled_from(ACTION_PATTERNS), min_size=1, max_size=3),
        "resource": arns(PATTERN_PIECES, regions=["", "eu"])
        | st.lists(arns(PATTERN_PIECES, regions=[""]), min_size=1, max_size=3),
    },
    optional={"condition": CONDITIONS},
)
POLICIES = st.dictionaries(st.sampled_from("pqr"), st.lists(STATEMENTS, min_size=1, max_size=4), max_size=3)
CONTEXTS = st.fixed_dictionaries(
    {
        "source_ip": st.sampled_from(ADDRESSES),
        "branch": st.sampled_from(TEXTS),
        "ref": st.sampled_from(TEXTS),
        "source": st.sampled_from(TEXTS),
    }
)
QUESTIONS = st.tuples(st.sampled_from([*ACTIONS, "fs:New"]), arns(PIECES, regions=[""]), CONTEXTS)


def compiled(policies: dict[str, list[dict[str, Any]]], user: str) -> Compiled:
    return compile_policies([Policy(name, parse_statements(rows), 0) for name, rows in policies.items()], user)


@examples(500, soak=20000)
@given(POLICIES, st.sampled_from(USERS), st.lists(QUESTIONS, min_size=1, max_size=5))
@example(
    {"p": [{"effect": "allow", "action": ["fs:*"], "resource": "*"}]}, "ana", [("fs:ReadObject", "*", {"branch": ""})]
)
def test_decides_as_the_oracle(
    policies: dict[str, list[dict[str, Any]]], user: str, questions: list[tuple[str, str, dict[str, Any]]]
) -> None:
    permissions = compiled(policies, user)
    for action, resource, fields in questions:
        context = Context(**fields)
        decision = permissions.decide(action, resource, context)
        effect, statement = oracle.decide(policies, user, action, resource, fields)
        assert decision.effect == effect.replace("unknown", "denied")
        assert bool(decision.reason) is (effect == "unknown")
        assert effect == "unknown" or decision.statement == statement
        assert permissions.allowed_many(action, [resource], context) == [effect == "allowed"]
        for end in range(len(resource) + 1):
            assert effect != "denied" or permissions.denies_any(action, resource[:end], context)
            assert effect == "allowed" or not permissions.covers(action, resource[:end], context)
        if effect == "allowed":
            assert permissions.allows_some(action)


@examples(150, soak=5000)
@given(POLICIES, POLICIES, st.sampled_from(USERS), QUESTIONS)
def test_a_narrowed_key_may_do_what_both_allow(
    policies: dict[str, list[dict[str, Any]]],
    inline: dict[str, list[dict[str, Any]]],
    user: str,
    question: tuple[str, str, dict[str, Any]],
) -> None:
    action, resource, fields = question
    both = [oracle.decide(one, user, action, resource, fields)[0] for one in (policies, inline)]
    decision = compiled(policies, user).narrowed(compiled(inline, user)).decide(action, resource, Context(**fields))
    assert (decision.effect == "allowed") is (both == ["allowed", "allowed"])
    assert (decision.effect == "denied") is bool({"denied", "unknown"} & set(both))


INSIDE = ["", "/object/a", "/object/b/c", "/branch/main", "/tag/v1"]
ENDS = ["", "/*", "*", "?", "?*", "/object/*", "/object/b/*", "2/*"]
SCOPED = st.fixed_dictionaries(
    {
        "effect": st.sampled_from(["allow", "deny"]),
        "action": st.lists(st.sampled_from(ACTION_PATTERNS), min_size=1, max_size=2),
        "resource": st.lists(st.sampled_from(["*", *(SALES + end for end in ENDS)]), min_size=1, max_size=2),
    },
    optional={"condition": CONDITIONS},
)


@examples(500, soak=20000)
@given(
    st.booleans(), st.lists(SCOPED, max_size=3), st.sampled_from(ACTIONS), st.lists(CONTEXTS, min_size=1, max_size=3)
)
def test_what_is_always_allowed_is_allowed_everywhere_in_every_context(
    has_everything: bool, statements: list[dict[str, Any]], action: str, contexts: list[dict[str, Any]]
) -> None:
    policies = {"p": [*([allow("fs:*")] if has_everything else []), *statements]}
    effects = {oracle.decide(policies, "ana", action, SALES + end, fields)[0] for end in INSIDE for fields in contexts}
    is_always = bool(policies["p"]) and compiled(policies, "ana").always_allows((action,), "sales")
    assert not is_always or effects == {"allowed"}


@pytest.mark.parametrize(
    ("statements", "always"),
    [
        ([allow("fs:*")], True),
        ([allow("fs:Read*", [SALES, f"{SALES}/*"])], True),
        ([allow("fs:Read*", SALES), allow("fs:*", f"{SALES}/*")], True),
        ([allow("fs:*"), deny("fs:WriteObject"), deny("fs:ReadObject", f"{SALES}2/*")], True),
        ([allow("fs:*"), allow("fs:WriteObject", StringLike={"fs:Branch": ["main"]})], True),
        ([allow("fs:*", f"{SALES}/*")], False),
        ([allow("fs:*", SALES)], False),
        ([allow("fs:*", [SALES, f"{SALES}/object/*"])], False),
        ([allow("fs:*"), deny("fs:ReadObject", f"{SALES}/object/secret/*")], False),
        ([allow("fs:*"), deny("fs:*", SALES)], False),
        ([allow("fs:*"), allow("fs:Read*", StringLike={"fs:Branch": ["main"]})], False),
        ([allow("fs:*", StringLike={"fs:Branch": ["*"]})], False),
        ([], False),
    ],
)
def test_a_denial_or_a_condition_ends_what_is_always_allowed(statements: list[dict[str, Any]], always: bool) -> None:
    assert support.compiled(*statements).always_allows(("fs:ReadObject",), "sales") is always
    assert (
        support.compiled(allow("fs:*"))
        .narrowed(support.compiled(*statements or [allow("fs:W*")]))
        .always_allows(("fs:ReadObject",), "sales")
        is always
    )
