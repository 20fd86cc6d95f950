"""docs/policies.md: every policy decides as the table below it says, and the lists are those of the code."""

from __future__ import annotations

import json
import re
from typing import NamedTuple

import pytest
from lakebed_auth import Context, Policy, arn, builtin, compile_policies, parse_document
from lakebed_auth.actions import KNOWN_ACTIONS
from lakebed_auth.conditions import OPERATORS
from lakebed_auth.policy import LONGEST_TEXT, MOST_BYTES, MOST_INLINE_BYTES, MOST_STATEMENTS, MOST_VALUES

from tests.docs.snippets import ROOT

PAGE = (ROOT / "docs/policies.md").read_text("utf-8")
EXAMPLE = re.compile(r"^```json\n((?:[ {}].*\n)+)```\n\n\| action \| resource .*\n\|-.*\n((?:\|.*\n)+)", re.MULTILINE)
ROW = re.compile(r"^\| `(\S+)` \| `(\S+)` \| (.*?) ?\| (allowed|refused) \|$", re.MULTILINE)
REQUESTS = {"from": "source_ip", "on branch": "branch", "signed in by": "source", "by": "user", "": ""}


class Example(NamedTuple):
    """One row of a table: a request, and whether the policy above the table allows it."""

    policy: str
    action: str
    resource: str
    request: str
    result: str


EXAMPLES = [Example(document, *row) for document, table in EXAMPLE.findall(PAGE) for row in ROW.findall(table)]


def test_every_policy_and_every_row_is_read() -> None:
    assert len(EXAMPLE.findall(PAGE)) == PAGE.count("```json") == 7
    assert len(EXAMPLES) == len(re.findall(r"^\|.* (?:allowed|refused) \|$", PAGE, re.MULTILINE)) == 31


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: " ".join(example[1:4]))
def test_example(example: Example) -> None:
    name = json.loads(example.policy)["id"]
    permissions = compile_policies([Policy(name, parse_document(example.policy), 0)], "ana")
    found = re.fullmatch(r"(.*?) ?(?:`(.*)`|an unknown address)?", example.request)
    assert found is not None
    field = REQUESTS[found[1]]
    assert field != "user" or found[2] == "ana"
    context = Context(**{"source_ip": "10.1.2.3"} | ({field: found[2]} if field not in ("", "user") else {}))
    service = example.action.partition(":")[0].replace("pr", "fs")
    resource = arn.canonical(f"arn:lakefs:{service}:::{example.resource}")
    decision = permissions.decide(example.action, resource, context)
    assert (decision.effect == "allowed") is (example.result == "allowed")


def test_groups() -> None:
    rows = re.findall(r"^\| (\w+) \| ((?:\w+, )+\w+) \|$", PAGE.split("## Built-in policies")[1], re.MULTILINE)
    assert {group: tuple(names.split(", ")) for group, names in rows} == builtin.GROUPS


def test_names() -> None:
    named = set(re.findall(r"`((?:fs|auth|pr):\w+)`", PAGE))
    assert named - {"fs:Branch", "fs:Ref", "auth:Source"} <= KNOWN_ACTIONS
    table = PAGE.split("## Conditions")[1].split("\n## ")[0]
    for operator, fields in OPERATORS.items():
        assert all(f"`{name}`" in table for name in (operator, *fields))


def test_limits() -> None:
    limits = " ".join(PAGE.split("## Limits")[1].split())
    assert f"{MOST_BYTES // 2**20} MiB of text, {MOST_STATEMENTS:,} statements, and {MOST_VALUES:,} actions" in limits
    assert f"at most {LONGEST_TEXT:,} characters" in limits
    assert f"at most {MOST_INLINE_BYTES // 1024} KiB" in limits
