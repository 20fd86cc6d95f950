"""Payloads, byte for byte: one file in `golden/` for each event.

`python -m tests.hooks.test_payload` writes the files again, after a deliberate change.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from lakebed_hooks import Changes, HookEvent
from lakebed_hooks.payload import OWN_FIELDS, cloudevents, encode, fields, rfc3339
from lakebed_hooks.vocabulary import EVENTS

GOLDEN = Path(__file__).parent / "golden"
TIME = 1767268800
HEAD = "1" * 64
COMMIT = "c" * 64
CANDIDATE = "d" * 64
TREE = "e" * 64
ALL = HookEvent(
    event_type="",
    event_time=TIME,
    action_name="checks",
    hook_id="schema",
    repository_id="sales",
    branch_id="main",
    source_ref="",
    tag_id="v1",
    commit_id=COMMIT,
    commit_message='Load orders – ½ "of" <them>\n',
    committer="jane",
    commit_metadata={"job": "42", "author": "jane"},
    merge_source="dev",
    run_id="7f3a",
    user="jane",
    base_commit_id=HEAD,
    candidate_commit_id=CANDIDATE,
    tree_id=TREE,
    changes=Changes(1, 2, 0, ("orders/a.parquet", "orders/b.parquet"), truncated=True),
    links={"run": "https://lake.example.com/runs/7f3a"},
)

# Which of the fields that existing receivers know each event has, and its source_ref.
COMMITTED = ("branch_id", "commit_message", "committer", "commit_metadata")
MERGED = (*COMMITTED, "commit_id", "merge_source")
OF_EVENTS: dict[str, tuple[tuple[str, ...], str]] = {
    "prepare-commit": (COMMITTED, "main"),
    "pre-commit": (COMMITTED, "main"),
    "post-commit": ((*COMMITTED, "commit_id"), COMMIT),
    "pre-merge": (MERGED, HEAD),
    "post-merge": (MERGED, COMMIT),
    "pre-create-branch": (("branch_id", "commit_id"), "main~1"),
    "post-create-branch": (("branch_id", "commit_id"), "main~1"),
    "pre-delete-branch": (("branch_id",), HEAD),
    "post-delete-branch": (("branch_id",), HEAD),
    "pre-create-tag": (("tag_id", "commit_id"), COMMIT),
    "post-create-tag": (("tag_id", "commit_id"), COMMIT),
    "pre-delete-tag": (("tag_id", "commit_id"), COMMIT),
    "post-delete-tag": (("tag_id", "commit_id"), COMMIT),
    "pre-revert": (COMMITTED, "main"),
    "post-revert": ((*COMMITTED, "commit_id"), COMMIT),
    "pre-cherry-pick": (COMMITTED, "main"),
    "post-cherry-pick": ((*COMMITTED, "commit_id"), COMMIT),
    "pre-reset": (("branch_id", "commit_id"), HEAD),
    "post-reset": (("branch_id", "commit_id"), COMMIT),
}
OPTIONAL = ("branch_id", "tag_id", "commit_id", "commit_message", "committer", "commit_metadata", "merge_source")


def event_of(kind: str) -> HookEvent:
    """The event of a kind, with each field that it has."""
    known, source_ref = OF_EVENTS[kind]
    empty: dict[str, Any] = {name: {} if name == "commit_metadata" else "" for name in OPTIONAL if name not in known}
    has_candidate = kind in ("pre-commit", "pre-merge", "pre-revert", "pre-cherry-pick")
    own: dict[str, Any] = {} if has_candidate else {"candidate_commit_id": ""}
    if "tag" in kind or "branch" in kind:
        own |= {"base_commit_id": "", "tree_id": "", "changes": None}
    return replace(ALL, event_type=kind, source_ref=source_ref, **empty, **own)


# What section 3 of the description of existing servers says, as text: the order, and which fields are always there.
ORDER = [
    "event_type", "event_time", "action_name", "hook_id", "repository_id", "branch_id", "source_ref", "tag_id",
    "commit_id", "commit_message", "committer", "commit_metadata", "merge_source",
]  # fmt: skip


def known_to_existing_receivers(kind: str) -> bytes:
    """The body for a receiver that knows only the older fields, written without our code."""
    known, source_ref = OF_EVENTS[kind]
    text = {
        "event_type": f'"{kind}"',
        "event_time": '"2026-01-01T12:00:00Z"',
        "action_name": '"checks"',
        "hook_id": '"schema"',
        "repository_id": '"sales"',
        "branch_id": '"main"',
        "source_ref": f'"{source_ref}"',
        "tag_id": '"v1"',
        "commit_id": f'"{COMMIT}"',
        "commit_message": '"Load orders – ½ \\"of\\" <them>\\n"',
        "committer": '"jane"',
        "commit_metadata": '{"author":"jane","job":"42"}',
        "merge_source": '"dev"',
    }
    chosen = [name for name in ORDER if name in (*ORDER[:5], "source_ref", *known)]
    return ("{" + ",".join(f'"{name}":{text[name]}' for name in chosen) + "}").encode()


def without_own_fields(body: bytes) -> bytes:
    reported = json.loads(body)
    kept = {name: content for name, content in reported.items() if name not in OWN_FIELDS}
    return json.dumps(kept, ensure_ascii=False, separators=(",", ":")).encode()


def test_each_event_has_a_golden_payload() -> None:
    assert set(OF_EVENTS) == EVENTS
    assert {path.stem for path in GOLDEN.glob("*.json")} == EVENTS


@pytest.mark.parametrize("kind", sorted(EVENTS))
def test_golden_payloads(kind: str) -> None:
    assert encode(event_of(kind)) + b"\n" == (GOLDEN / f"{kind}.json").read_bytes()


@pytest.mark.parametrize("kind", sorted(EVENTS))
def test_an_existing_receiver_gets_what_it_knows(kind: str) -> None:
    golden = (GOLDEN / f"{kind}.json").read_bytes()
    assert without_own_fields(golden) == known_to_existing_receivers(kind)
    assert golden.startswith(known_to_existing_receivers(kind)[:-1]), "our own fields come last"


def test_fields_that_say_nothing_are_left_out() -> None:
    least = HookEvent(event_type="post-commit", event_time=0, action_name="", hook_id="", repository_id="")
    assert encode(least) == (
        b'{"event_type":"post-commit","event_time":"1970-01-01T00:00:00Z","action_name":"","hook_id":"","repository_id":""}'
    )
    no_change = replace(least, changes=Changes())
    assert fields(no_change)["changes"] == {"added": 0, "changed": 0, "removed": 0, "paths": [], "truncated": False}


def test_times() -> None:
    assert rfc3339(TIME) == "2026-01-01T12:00:00Z"
    assert rfc3339(253402300799) == "9999-12-31T23:59:59Z"


def test_half_of_a_surrogate_pair_is_replaced() -> None:
    assert json.loads(encode(replace(ALL, commit_message="a\ud800b")))["commit_message"] == "a?b"


def test_cloudevents() -> None:
    event = event_of("pre-merge")
    body = cloudevents(event, delivery="0001-checks", source="https://lake.example.com/api/v1/repositories/sales")
    assert json.loads(body) == {
        "specversion": "1.0",
        "id": "0001-checks",
        "source": "https://lake.example.com/api/v1/repositories/sales",
        "type": "io.lakebed.pre-merge",
        "subject": "main",
        "time": "2026-01-01T12:00:00Z",
        "datacontenttype": "application/json",
        "data": json.loads(encode(event)),
    }
    tag = cloudevents(event_of("post-create-tag"), delivery="1", source="/sales")
    assert json.loads(tag)["subject"] == "v1"
    assert "subject" not in json.loads(
        cloudevents(replace(ALL, event_type="x", branch_id="", tag_id=""), delivery="1", source="/")
    )


if __name__ == "__main__":
    for one in sorted(EVENTS):
        (GOLDEN / f"{one}.json").write_bytes(encode(event_of(one)) + b"\n")
