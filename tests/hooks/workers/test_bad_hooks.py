"""Checks that misbehave: each is one sentence, leaves no process, and holds up nothing (see conftest.py)."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from tests.hooks.workers.running import MODULE, called, ran

ENDED: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "hangs": ({}, {"seconds": 2}, "the hook took longer than 2 s and was ended"),
    "answers_late": ({"seconds": 3}, {"seconds": 2}, "the hook took longer than 2 s and was ended"),
    "forks_without_end": ({"seconds": 9}, {"seconds": 3}, "the hook took longer than 3 s and was ended"),
    "exhausts_memory": ({}, {"memory": 1 << 30}, "the hook needed more than 1,024 MiB of memory"),
    "exits": ({}, {}, "the hook ended its process with exit code 3, before it answered"),
    "exits_at_once": ({}, {}, "the hook ended its process with exit code 4, before it answered"),
    "exits_as_if_done": ({}, {}, "the hook ended its process with exit code 0, before it answered"),
    "segfaults": ({}, {}, "the hook was ended by SIGSEGV after it read 'notes.txt', before it answered"),
    "ends_its_group": ({}, {}, "the hook was ended by SIGKILL, before it answered"),
    "ends_its_parent": ({}, {}, "the hook closed its connection without an answer"),
    "closes_the_pipe": ({}, {}, "the hook closed its connection without an answer"),
    "returns_much": ({"bytes": 2 << 20}, {}, "the answer of the hook has 2,097,"),
    "sends_much": ({}, {}, "the hook sent an answer of 4,294,967,295 bytes, at most 1,048,576"),
    "raises": ({}, {}, "the hook raised KeyError; its log has the trace"),
    "returns_a_text": ({}, {}, "the hook returned str: a check returns None or Refuse(message)"),
    "reads_much": ({}, {"read": 1000}, "the hook read more than 1,000 bytes"),
    "writes_a_large_file": ({"bytes": 1 << 30}, {}, "the hook raised OSError; its log has the trace"),
    "computes": ({}, {"seconds": 2}, "the hook took longer than 2 s and was ended"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", ENDED)
async def test_a_bad_check_is_an_error_of_one_sentence(name: str) -> None:
    args, limits, said = ENDED[name]
    outcome, log = await called(name, args, **limits)
    assert outcome.state == "error"
    assert outcome.message.startswith(said)
    assert "\n" not in outcome.message
    assert (b"Traceback" in log) is (name in ("raises", "exits", "writes_a_large_file"))
    assert "secret" not in outcome.message


@pytest.mark.slow
async def test_ten_gibibytes_are_never_made() -> None:
    outcome, _ = await called("returns_much", {"bytes": 10 << 30})
    assert (outcome.state, outcome.message) == ("error", "the hook needed more than 2,048 MiB of memory")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["forks", "leaves_a_daemon", "leaves_a_program", "leaves_a_thread"])
async def test_processes_of_a_check_end_with_it(name: str) -> None:
    outcome, _ = await called(name)
    assert outcome.state == "passed"


@pytest.mark.slow
async def test_a_flooded_log_is_cut() -> None:
    outcome, log = await called("floods_its_log", log=100_000)
    assert outcome.state == "passed"
    assert log.startswith(b"first\nxxx")
    assert log.endswith(b"\n[20,871,526 more bytes were dropped]\n")
    assert len(log) < 100_100


GARBAGE = {
    "no JSON": "\x00\x01",
    "a list": "[]",
    "no number": '{"op": "read"}',
    "a negative number": '{"id": -1, "op": "read"}',
    "deep": "[" * 8000,
    "long": '{"id": 1, "x": "' + "x" * 300_000 + '"}',
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", GARBAGE)
async def test_garbage_on_the_pipe(kind: str) -> None:
    outcome, _ = await called("sends_garbage", {"text": GARBAGE[kind]})
    assert (outcome.state, outcome.message) == ("error", "the hook sent bytes that are not a message")


@pytest.mark.slow
@pytest.mark.parametrize(
    "answer", ['{"op": "answer"}', '{"op": "answer", "state": "pending", "message": "", "details": []}']
)
async def test_an_invalid_outcome_of_a_hook_is_an_error(answer: str) -> None:
    outcome, _ = await called("sends_garbage", {"text": answer})
    assert (outcome.state, outcome.message) == ("error", "the hook sent an answer that is not an outcome")


ASKED: dict[str, tuple[dict[str, Any], str]] = {
    "above": ({"operation": "read", "side": "candidate", "path": "../x"}, "'../x' is not a path of the repository"),
    "inside": ({"operation": "read", "side": "base", "path": "a/../x"}, "'a/../x' is not a path of the repository"),
    "root": ({"operation": "read", "side": "base", "path": "/etc/passwd"}, "'/etc/passwd' is not a path"),
    "zero": ({"operation": "read", "side": "base", "path": "a\0b"}, "`path` must be a text"),
    "long": ({"operation": "read", "side": "base", "path": "a" * 2000}, "`path` must be a text"),
    "another side": ({"operation": "read", "side": "main", "path": "x"}, "there is no side 'main'"),
    "a local file": ({"operation": "locals", "side": "candidate", "paths": ["x"]}, "only contracts may open files"),
    "a write": ({"operation": "write", "side": "candidate", "path": "x"}, "there is no operation 'write'"),
    "much": (
        {"operation": "read", "side": "candidate", "path": "x", "offset": 0, "length": 1 << 40},
        "a read needs an offset, and a length of at most 8,388,608",
    ),
    "before the beginning": (
        {"operation": "read", "side": "candidate", "path": "x", "offset": -1, "length": 1},
        "a read needs an offset",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("what", ASKED)
async def test_a_check_cannot_ask_for_anything_else(what: str) -> None:
    args, said = ASKED[what]
    outcome, log = await called("asks", args)
    assert (outcome.state, outcome.message) == ("error", "the hook raised ValueError; its log has the trace")
    assert said in log.decode()


@pytest.mark.slow
async def test_a_hook_that_hangs_does_not_hold_up_another() -> None:
    hanging = [asyncio.create_task(called("hangs", seconds=500)) for _ in range(3)]
    outcome, _ = await called("passes")
    assert outcome.state == "passed"
    assert not any(one.done() for one in hanging)
    for one in hanging:
        one.cancel()
    ended = await asyncio.gather(*hanging, return_exceptions=True)
    assert [type(one) for one in ended] == [asyncio.CancelledError] * 3


@pytest.mark.slow
async def test_a_cancelled_call_ends_its_process_also_while_it_starts() -> None:
    calls = [asyncio.create_task(called("hangs", seconds=500)) for _ in range(6)]
    for number, one in enumerate(calls):
        await asyncio.sleep(0.03 * number)
        one.cancel()
    ended = await asyncio.gather(*calls, return_exceptions=True)
    assert [type(one) for one in ended] == [asyncio.CancelledError] * 6


@pytest.mark.slow
async def test_the_end_of_a_bad_check_is_not_late() -> None:
    begin = time.monotonic()
    outcome, _ = await called("hangs", seconds=1)
    assert outcome.state == "error"
    assert time.monotonic() - begin < 20


NOT_ALLOWED = {
    "another module": (f"{MODULE}:passes", ("other",), "is not allowed: an administrator adds"),
    "a prefix of a name": (f"{MODULE}:passes", (MODULE[:-1],), "is not allowed"),
    "no list": (f"{MODULE}:passes", (), "is not allowed"),
    "another function": (f"{MODULE}:passes", (f"{MODULE}:hangs",), "is not allowed"),
    "not installed": ("lakebed_test_nothing:passes", ("lakebed_test_nothing",), "no module 'lakebed_test_nothing'"),
    "no function": (f"{MODULE}:nothing", (MODULE,), "has no function 'nothing'"),
    "no name": ("nothing", (MODULE,), "no installed package names a check 'nothing' in the entry-point group"),
    "no entry": ("a b:c", (MODULE,), "is not a function: write `package:function`"),
    "code": ("os:system('x')", ("os",), "is not a function: write `package:function`"),
}


@pytest.mark.slow
@pytest.mark.parametrize("what", NOT_ALLOWED)
async def test_only_allowed_functions_run(what: str) -> None:
    entry, allow, said = NOT_ALLOWED[what]
    outcome, _ = await called("", entry=entry, allow=allow)
    assert outcome.state == "error"
    assert said in outcome.message


@pytest.mark.slow
async def test_a_bad_contract_is_an_error_with_its_file_and_line() -> None:
    outcome, _ = await ran("contract", {"path": "x", "checks": [{"rows": {"mni": 1}}]})
    assert outcome.state == "error"
    assert outcome.message.startswith("_lakebed_actions/a.yaml line 3: `checks[0].rows` of the contract has")
