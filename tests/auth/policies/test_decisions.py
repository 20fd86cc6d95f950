"""Every rule of the policy language, one by one."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from lakebed_auth import (
    AllOf,
    AnyOf,
    Compiled,
    Context,
    Decision,
    Need,
    Needs,
    Policy,
    arn,
    compile_policies,
    parse_statements,
)

from tests.auth.support import CONTEXT, allow, compiled, deny, effect

SALES = arn.repository("sales")
PATH = arn.object_("sales", "raw/x.csv")
READ, WRITE = "fs:ReadObject", "fs:WriteObject"


def test_a_denial_comes_first_wherever_it_is() -> None:
    for statements in ([allow("fs:*"), deny(READ, PATH)], [deny(READ, PATH), allow("fs:*")]):
        permissions = compiled(*statements)
        assert effect(permissions, READ, PATH) == "denied"
        assert effect(permissions, WRITE, PATH) == effect(permissions, READ, PATH + "2") == "allowed"
        assert effect(permissions, "auth:ReadUser", arn.user("ana")) == "neutral"


def test_policies_are_united_and_the_first_statement_is_reported() -> None:
    def policy(name: str, *statements: dict[str, Any]) -> Policy:
        return Policy(name, parse_statements(list(statements)), 0)

    readers = policy("readers", allow("fs:List*"), allow("fs:Read*"), allow(READ, PATH))
    guests = policy("guests", allow(WRITE), deny(WRITE, f"{SALES}/*"), deny(WRITE, PATH))
    permissions = compile_policies([readers, guests], "ana")
    assert permissions.decide(READ, PATH, CONTEXT) == Decision("allowed", ("readers", 2))
    assert permissions.decide(WRITE, PATH, CONTEXT) == Decision("denied", ("guests", 2))
    assert permissions.decide("fs:DeleteObject", PATH, CONTEXT) == Decision("neutral", None)
    assert compile_policies([], "ana").decide(READ, PATH, CONTEXT) == Decision("neutral")


@pytest.mark.parametrize(
    ("pattern", "covered", "other"),
    [
        ("fs:ReadObject", ["fs:ReadObject"], ["fs:ReadObjects", "fs:readObject", "fs:Read"]),
        ("fs:Read*", ["fs:ReadObject", "fs:ReadConfig"], ["fs:ListObjects", "auth:ReadUser"]),
        ("fs:*", ["fs:ReadObject", "fs:New"], ["auth:ReadUser"]),
        ("fs:*Object", ["fs:ReadObject", "fs:WriteObject"], ["fs:ListObjects"]),
        ("fs:????Object", ["fs:ReadObject"], ["fs:WriteObject"]),
    ],
)
def test_actions(pattern: str, covered: list[str], other: list[str]) -> None:
    permissions = compiled(allow(pattern))
    assert {effect(permissions, action, PATH) for action in covered} == {"allowed"}
    assert {effect(permissions, action, PATH) for action in other} == {"neutral"}


@pytest.mark.parametrize(
    ("resource", "covered", "other"),
    [
        ("*", [SALES, PATH, arn.ALL, arn.user("ana")], []),
        (SALES, [SALES], [PATH, arn.repository("sales2"), arn.repository("SALES"), arn.ALL]),
        (f"{SALES}*", [SALES, PATH, arn.repository("sales2"), arn.object_("sales2", "x")], [arn.repository("sale")]),
        (f"{SALES}/*", [PATH, arn.branch("sales", "main")], [SALES, arn.object_("sales2", "x")]),
        (arn.object_("sales", "raw/*"), [PATH, arn.object_("sales", "raw/")], [arn.object_("sales", "raw")]),
        (arn.object_("sales", "*.csv"), [PATH], [arn.object_("sales", "x.csv.gz")]),
        (arn.object_("sales", "r?w/x.csv"), [PATH], [arn.object_("sales", "rw/x.csv")]),
        (arn.object_("*", "raw/x.csv"), [PATH], [SALES]),
        ("arn:lakefs:fs:::*", [SALES, PATH], [arn.ALL, arn.user("ana")]),
        ("arn:lakefs:fs:eu-west-1::repository/sales", [SALES], [PATH]),
        ("arn:lakefs:fs::1:repository/sales", ["arn:lakefs:fs::1:repository/sales"], [SALES]),
        ("arn:lakefs:auth:::repository/sales", [], [SALES]),
        (arn.user("${user}"), [arn.user("ana")], [arn.user("bob"), arn.user("${user}"), arn.user("ana2")]),
        (f"{SALES}/branch/${{user}}/*", [arn.branch("sales", "ana/x")], [arn.branch("sales", "bob/x")]),
        ([SALES, PATH], [SALES, PATH], [arn.branch("sales", "main")]),
        (f'["{SALES}", "{PATH}"]', [SALES, PATH], [arn.branch("sales", "main")]),
        (arn.namespace("s3://lake/*"), [arn.namespace("s3://lake/sales")], [arn.namespace("s3://lake2/sales")]),
    ],
    ids=str,
)
def test_resources(resource: Any, covered: list[str], other: list[str]) -> None:
    permissions = compiled(allow(READ, resource))
    assert [one for one in covered if effect(permissions, READ, one) != "allowed"] == []
    assert [one for one in other if effect(permissions, READ, one) != "neutral"] == []


@pytest.mark.parametrize("user", ["*", "?", "a*", "${user}", "a/b", "50%", "😀", "a:b", "é", "ana@example.com"])
def test_a_user_id_is_no_pattern(user: str) -> None:
    """A user with the name `*` gets its own credentials, and no others."""
    permissions = compiled(allow("auth:*", arn.user("${user}")), user=user)
    assert effect(permissions, "auth:ReadUser", arn.user(user)) == "allowed"
    for other in ("ana", "b", "", "a", "ax", "e\u0301", "a/b/c"):
        assert effect(permissions, "auth:ReadUser", arn.user(other)) == "neutral"


BRANCH = {"fs:Branch": ["dev-*", "test"]}
TEN = {"SourceIp": ["10.0.0.0/8", "192.0.2.7", "2001:db8::/32"]}


@pytest.mark.parametrize(
    ("condition", "true", "false"),
    [
        ({"StringLike": BRANCH}, [{"branch": "dev-1"}, {"branch": "test"}], [{"branch": "main"}, {"branch": "test2"}]),
        ({"StringNotLike": BRANCH}, [{"branch": "main"}, {"branch": ""}], [{"branch": "dev-1"}, {"branch": "test"}]),
        ({"StringLike": {"fs:Branch": ["*"]}}, [{"branch": ""}, {"branch": "a/b"}], [{"branch": None}]),
        ({"StringNotLike": {"fs:Branch": ["x"]}}, [{"branch": "y"}], [{"branch": None}]),
        ({"StringLike": {"fs:Branch": ["Dev"]}}, [{"branch": "Dev"}], [{"branch": "dev"}]),
        ({"StringLike": {"fs:Branch": ["${user}"]}}, [{"branch": "${user}"}], [{"branch": "ana"}]),
        ({"StringLike": {"fs:Ref": ["v*"]}}, [{"ref": "v1"}], [{"ref": "main"}, {"ref": None}]),
        ({"StringLike": {"auth:Source": ["oidc"]}}, [{"source": "oidc"}], [{"source": "key"}, {"source": None}]),
        ({"StringLike": {"catalog:TableName": ["t?"]}}, [{"table": "t1"}], [{"table": "t"}, {"table": None}]),
        ({"StringLike": {"catalog:ViewName": ["v"]}}, [{"view": "v"}], [{"view": None}]),
        (
            {"StringLike": BRANCH | {"auth:Source": ["key"]}},
            [{"branch": "dev-1", "source": "key"}],
            [{"branch": "dev-1", "source": "oidc"}, {"branch": "main", "source": "key"}],
        ),
        (
            {"StringLike": BRANCH, "StringNotLike": {"fs:Ref": ["dev-9*"]}, "IpAddress": TEN},
            [{"branch": "dev-1", "ref": "dev-1", "source_ip": "10.0.0.1"}],
            [
                {"branch": "dev-9", "ref": "dev-9", "source_ip": "10.0.0.1"},
                {"branch": "dev-1", "ref": "dev-1", "source_ip": "11.0.0.1"},
                {"branch": "dev-9", "ref": "dev-9", "source_ip": None},
            ],
        ),
        (
            {"IpAddress": TEN},
            [{"source_ip": one} for one in ("10.0.0.0", "10.255.255.255", "192.0.2.7", "2001:db8::9")],
            [{"source_ip": one} for one in ("9.255.255.255", "11.0.0.0", "192.0.2.8", "2001:db9::", "::1")],
        ),
        (
            {"NotIpAddress": TEN},
            [{"source_ip": "11.0.0.0"}, {"source_ip": "::1"}],
            [{"source_ip": "10.0.0.0"}, {"source_ip": "192.0.2.7"}],
        ),
        ({"IpAddress": TEN}, [{"source_ip": "::ffff:10.0.0.1"}], [{"source_ip": "::ffff:11.0.0.1"}]),
        ({"IpAddress": {"SourceIp": ["10.1.2.3/8"]}}, [{"source_ip": "10.9.9.9"}], [{"source_ip": "11.1.2.3"}]),
        (
            {"IpAddress": {"SourceIp": ["::ffff:10.0.0.0/104"]}},
            [{"source_ip": "10.9.9.9"}],
            [{"source_ip": "11.1.2.3"}],
        ),
        ({"IpAddress": {"SourceIp": ["::ffff:10.0.0.1"]}}, [{"source_ip": "10.0.0.1"}], [{"source_ip": "10.0.0.2"}]),
        ({"IpAddress": {"SourceIp": ["0.0.0.0/0"]}}, [{"source_ip": "1.2.3.4"}], [{"source_ip": "::1"}]),
        ({"IpAddress": {"SourceIp": ["fe80::/10"]}}, [{"source_ip": "fe80::1%eth0"}], [{"source_ip": "10.0.0.1"}]),
    ],
    ids=str,
)
def test_conditions(condition: dict[str, Any], true: list[dict[str, Any]], false: list[dict[str, Any]]) -> None:
    allowing = compiled(allow(READ, **condition))
    denying = compiled(allow("fs:*"), deny(READ, **condition))
    assert [effect(allowing, READ, PATH, Context(**one)) for one in true] == ["allowed"] * len(true)
    assert [effect(denying, READ, PATH, Context(**one)) for one in true] == ["denied"] * len(true)
    assert [effect(allowing, READ, PATH, Context(**one)) for one in false] == ["neutral"] * len(false)
    assert [effect(denying, READ, PATH, Context(**one)) for one in false] == ["allowed"] * len(false)


@pytest.mark.parametrize(
    "address", [None, "", "unix:", "localhost", "10.0.0.1:80", "[::1]", "10.0.0.1, 10.0.0.2", "10"]
)
@pytest.mark.parametrize("operator", ["IpAddress", "NotIpAddress"])
def test_an_address_that_cannot_be_evaluated_refuses(address: str | None, operator: str) -> None:
    """The server cannot know whether the statement applies: neither an allow nor a deny may decide."""
    context = Context(source_ip=address, branch="main")
    for make in (allow, deny):
        permissions = compiled(allow("fs:*"), make(READ, **{operator: TEN}))
        decision = permissions.decide(READ, PATH, context)
        assert (decision.effect, decision.statement) == ("denied", ("p", 2))
        assert "address of the client" in decision.reason
        assert str(permissions.check(Need(READ, PATH), context)).endswith(decision.reason)
        assert effect(permissions, WRITE, PATH, context) == "allowed"  # no statement with the condition is about it
    certain = compiled(allow("fs:*"), deny(READ, StringLike={"fs:Branch": ["dev"]}, **{operator: TEN}))
    assert effect(certain, READ, PATH, context) == "allowed"  # the branch alone makes the condition false


def test_many() -> None:
    permissions = compiled(allow(READ, arn.object_("sales", "*")), deny(READ, arn.object_("sales", "*7")))
    paths = [arn.object_("sales", f"x{number}") for number in range(1000)]
    allowed = permissions.allowed_many(READ, iter(paths), CONTEXT)
    assert allowed == [not path.endswith("7") for path in paths]
    assert permissions.allowed_many(READ, [], CONTEXT) == []


@pytest.mark.parametrize(
    ("statement", "denies"),
    [
        (deny(READ), True),
        (deny("fs:*", PATH), True),
        (deny(READ, arn.object_("sales", "*secret*")), True),
        (deny(READ, arn.object_("s*", "x")), True),
        (deny(READ, arn.object_("*", "x")), True),
        (deny(READ, f"{SALES}*"), True),
        (deny(READ, [arn.object_("hr", "*"), PATH]), True),
        (deny(READ, SALES), False),
        (deny(READ, arn.object_("hr", "*")), False),
        (deny(READ, arn.object_("sales2", "*")), False),
        (deny(WRITE), False),
        (allow(READ), False),
        (deny(READ, StringLike={"fs:Branch": ["main"]}), True),
        (deny(READ, StringLike={"fs:Branch": ["dev"]}), False),
        (deny(READ, StringLike={"fs:Ref": ["dev"]}), True),  # the ref of the context is not known
        (deny(READ, IpAddress={"SourceIp": ["10.0.0.0/8"]}), False),
        (deny(READ, NotIpAddress={"SourceIp": ["10.0.0.0/8"]}), True),
    ],
    ids=str,
)
def test_denials_below_a_prefix_are_detected(statement: dict[str, Any], denies: bool) -> None:
    context = Context(source_ip="192.0.2.7", branch="main")
    prefix = arn.object_("sales", "")
    assert compiled(allow("fs:*"), statement).denies_any(READ, prefix, context) is denies
    narrowed = compiled(allow("fs:*")).narrowed(compiled(allow("fs:*"), statement))
    assert narrowed.denies_any(READ, prefix, context) is denies
    unknown = Context()
    assert compiled(deny(READ, PATH, IpAddress=TEN)).denies_any(READ, prefix, unknown)


@pytest.mark.parametrize(
    ("statements", "covers"),
    [
        ([allow("fs:*")], True),
        ([allow(READ, f"{SALES}/*")], True),
        ([allow(READ, arn.object_("sales", "*"))], True),
        ([allow(READ, arn.object_("s*s", "*"))], True),
        ([allow(READ, arn.object_("sales", "raw/*"))], True),
        ([allow(READ, arn.object_("sales", "raw/2024/*"))], False),
        ([allow(READ, arn.object_("sales", "*.csv"))], False),
        ([allow(READ, arn.object_("sales", "raw/"))], False),
        ([allow(READ), deny(READ, arn.object_("sales", "raw/x"))], False),
        ([allow(READ), deny(READ, arn.object_("sales", "other/*"))], True),
        ([allow(READ, StringLike={"fs:Branch": ["main"]})], True),
        ([allow(READ, StringLike={"fs:Branch": ["dev"]})], False),
        ([allow(READ, StringLike={"fs:Ref": ["main"]})], False),  # the ref of the context is not known
        ([allow(READ, IpAddress=TEN)], False),
        ([allow(READ), allow(READ, PATH, IpAddress=TEN)], False),
        ([], False),
    ],
    ids=str,
)
def test_covers_means_that_all_below_a_prefix_is_allowed(statements: list[dict[str, Any]], covers: bool) -> None:
    context = Context(branch="main")
    prefix = arn.object_("sales", "raw/")
    assert compiled(*statements).covers(READ, prefix, context) is covers
    assert compiled(allow("fs:*")).narrowed(compiled(*statements)).covers(READ, prefix, context) is covers


def test_asks_names_the_fields_of_all_conditions() -> None:
    permissions = compiled(allow("fs:*"), deny(READ, StringLike={"fs:Branch": ["x"]})).narrowed(
        compiled(allow("fs:*", NotIpAddress=TEN))
    )
    assert [permissions.asks(field) for field in ("fs:Branch", "SourceIp", "fs:Ref")] == [True, True, False]


def test_allows_some_detects_allowances_for_any_resource() -> None:
    permissions = compiled(allow("fs:List*", SALES), deny("fs:ReadConfig"))
    assert permissions.allows_some("fs:ListRepositories")
    assert not permissions.allows_some("fs:ReadConfig")
    assert not permissions.narrowed(compiled(allow(READ))).allows_some("fs:ListRepositories")
    assert permissions.narrowed(compiled(allow("fs:*"))).allows_some("fs:ListRepositories")


NEEDS = compiled(allow(READ), allow(WRITE, PATH), deny("fs:DeleteObject"))
YES, NO, DENIED = Need(READ, PATH), Need("fs:ListObjects", SALES), Need("fs:DeleteObject", PATH)


@pytest.mark.parametrize(
    ("needs", "missing"),
    [
        (YES, None),
        (NO, NO),
        (DENIED, DENIED),
        (AllOf(), None),
        (AllOf(YES, Need(WRITE, PATH)), None),
        (AllOf(YES, NO, Need(WRITE, SALES)), NO),
        (AllOf(NO, DENIED), DENIED),
        (AnyOf(YES), None),
        (AnyOf(NO, YES), None),
        (AnyOf(NO, Need(WRITE, SALES)), NO),
        (AnyOf(YES, DENIED), DENIED),
        (AnyOf(AllOf(NO, DENIED), YES), DENIED),
        (AllOf(AnyOf(NO, YES), AnyOf(YES, NO)), None),
        (AllOf(AnyOf(NO), YES), NO),
    ],
)
def test_needs(needs: Needs, missing: Need | None) -> None:
    refusal = NEEDS.check(needs, CONTEXT)
    assert (refusal and (refusal.action, refusal.resource)) == (missing and (missing.action, missing.resource))


def test_a_refusal_names_the_permission_and_no_policy() -> None:
    refusal = NEEDS.check(Need(WRITE, arn.object_("sales", "x")), CONTEXT)
    assert str(refusal) == "needs fs:WriteObject on repository/sales/object/x"
    assert str(NEEDS.check(Need("auth:ListUsers", arn.ALL), CONTEXT)) == "needs auth:ListUsers on *"
    denied = NEEDS.check(DENIED, CONTEXT)
    assert denied is not None
    assert denied.decision == Decision("denied", ("p", 3))
    assert str(denied) == "needs fs:DeleteObject on repository/sales/object/raw/x.csv"
    with pytest.raises(ValueError, match="at least one part"):
        AnyOf()


def test_a_need_may_be_about_another_branch() -> None:
    """A copy reads one branch and writes another."""
    permissions = compiled(
        allow(READ, StringLike={"fs:Branch": ["main"], "fs:Ref": ["main"]}),
        allow(WRITE, StringLike={"fs:Branch": ["dev"]}),
    )
    assert permissions.check(AllOf(YES, Need(WRITE, PATH, branch="dev")), CONTEXT) is None
    assert permissions.check(AllOf(YES, Need(WRITE, PATH)), CONTEXT) is not None
    assert permissions.check(Need(READ, PATH, ref="v1"), CONTEXT) is not None
    assert permissions.check(Need(READ, PATH, branch=""), CONTEXT) is not None


def test_key_permissions_only_narrow_those_of_its_user() -> None:
    user = compiled(allow("fs:*", f"{SALES}*"), deny(WRITE, PATH))
    key = compiled(allow("fs:Read*", [SALES, f"{SALES}/*"]), allow(WRITE), allow("auth:*"))
    permissions = user.narrowed(key)
    assert effect(permissions, READ, PATH) == "allowed"
    assert permissions.decide(READ, PATH, CONTEXT).statement == ("p", 1)
    assert effect(permissions, WRITE, PATH) == "denied"
    assert effect(permissions, "fs:DeleteObject", PATH) == "neutral"  # the key does not allow it
    assert effect(permissions, READ, arn.object_("sales2", "x")) == "neutral"
    assert effect(permissions, "auth:CreateUser", arn.user("eve")) == "neutral"  # the user does not have it
    assert effect(compiled().narrowed(key), READ, PATH) == effect(user.narrowed(compiled()), READ, PATH) == "neutral"
    twice = permissions.narrowed(compiled(deny(READ, PATH), allow("fs:*")))
    assert effect(twice, READ, PATH) == "denied"
    assert effect(user, "fs:DeleteObject", PATH) == "allowed"  # unchanged


def test_threads_get_the_same_decisions() -> None:
    permissions = compiled(*[allow("fs:*", arn.object_("sales", f"{number}/*")) for number in range(500)])
    start = threading.Barrier(8)
    found: list[list[bool]] = []

    def ask() -> None:
        start.wait()
        found.append(permissions.allowed_many(READ, [arn.object_("sales", f"{n}/x") for n in range(600)], CONTEXT))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [[True] * 500 + [False] * 100] * 8


def quickest(call: Callable[[], object]) -> float:
    def once() -> float:
        started = time.perf_counter()
        for _ in range(2000):
            call()
        return time.perf_counter() - started

    return min(once() for _ in range(7))


def test_a_decision_does_not_read_all_statements() -> None:
    """900 statements about other resources change little, and a decision costs little more than a few calls."""

    def permissions(count: int) -> Compiled:
        own = [allow("fs:*", f"{SALES}/*")]
        return compiled(*own, *[allow("fs:*", arn.object_(f"team-{n + 100}", "*")) for n in range(count)])

    few, many = permissions(3), permissions(900)
    assert effect(few, READ, PATH) == effect(many, READ, PATH) == "allowed"
    nothing = quickest(lambda: None)
    assert quickest(lambda: many.decide(READ, PATH, CONTEXT)) < 3 * quickest(lambda: few.decide(READ, PATH, CONTEXT))
    assert quickest(lambda: many.decide(READ, PATH, CONTEXT)) < 300 * nothing
