"""The actions that policies may name, and the ARNs of the resources."""

from __future__ import annotations

import pytest
from lakebed_auth import PolicyError, arn
from lakebed_auth.actions import KNOWN_ACTIONS, SERVICES, Auth, Fs


def test_services_and_actions() -> None:
    assert {"fs", "auth", "ci", "retention", "branches", "pr", "catalog", "audit"} == SERVICES
    assert {Fs.READ_OBJECT, Fs.COMMIT_AS, Auth.CREATE_TOKEN, "pr:ApprovePullRequest"} <= KNOWN_ACTIONS
    assert len(KNOWN_ACTIONS) == 27 + 26 + 3 + 5 + 2 + 5 + 15 + 1
    assert all(action.count(":") == 1 for action in KNOWN_ACTIONS)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (arn.repository("sales"), "arn:lakefs:fs:::repository/sales"),
        (arn.object_("sales", "a:b//c%2F?😀"), "arn:lakefs:fs:::repository/sales/object/a:b//c%2F?😀"),
        (arn.branch("sales", "dev/x"), "arn:lakefs:fs:::repository/sales/branch/dev/x"),
        (arn.tag("sales", "v1"), "arn:lakefs:fs:::repository/sales/tag/v1"),
        (arn.namespace("s3://bucket/sales"), "arn:lakefs:fs:::namespace/s3://bucket/sales"),
        (arn.user("ana@example.com"), "arn:lakefs:auth:::user/ana@example.com"),
        (arn.group("a/b"), "arn:lakefs:auth:::group/a/b"),
        (arn.policy("P"), "arn:lakefs:auth:::policy/P"),
    ],
)
def test_arns(made: str, expected: str) -> None:
    assert made == arn.canonical(made) == str(arn.parse(made)) == expected
    assert arn.short(made) == expected.partition(":::")[2]


def test_other_arns() -> None:
    assert arn.canonical("arn:lakefs:fs:eu:1:repository/a") == "arn:lakefs:fs::1:repository/a"
    assert arn.canonical(arn.ALL) == arn.short(arn.ALL) == "*"
    with pytest.raises(PolicyError, match="is not an ARN"):
        arn.canonical("repository/sales")
