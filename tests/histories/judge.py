"""The requirements for a history: every register is linearizable, and the branches contain what was acknowledged.

Each object of a branch, each tag, each branch name and each head is a register of its own. How operations change it:

- an object on `main`: put, delete, and their conditional forms. A commit changes no view, so it changes no object; but
  it is a read of all of them, at one moment between its call and its answer: what it holds can be read afterwards.
- an object on `trunk`: a merge writes it; each merge brings one path that no other one brings.
- the head of `main` (commits) and of `trunk` (merges): each is a compare-and-swap from its first parent to itself, with
  the parents as the first-parent history in the end has them. That history must hold every acknowledged commit once,
  no refused commit, and nothing else. A commit with an unknown answer is there once, or never was.
- a tag, and the name of a branch without writers: created where nothing is, deleted where something is.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from tests.histories.checker import State, Step, TooHardError, order_of, smallest
from tests.histories.client import STRANGE, etag_of
from tests.histories.history import Event

Log = Sequence[tuple[str, str]]
"""Ids and messages of a branch's first-parent history, the oldest first."""

ACTS = ("commit", "merge")
_SHOWN = 40
"""Steps of one violation that are printed."""


@dataclass(frozen=True, slots=True)
class Listing:
    """What a commit holds in one folder: checksums by path."""

    folder: str
    checksums: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Found:
    """What was read when the load was over: the histories by branch, and the content of some commits by their id."""

    logs: Mapping[str, Log]
    listings: Mapping[str, Listing]


@dataclass(slots=True)
class Verdict:
    """What was wrong, one text each, and how much was looked at."""

    wrong: list[str] = field(default_factory=list)
    registers: int = 0
    steps: int = 0


@dataclass(slots=True)
class _Register:
    start: State = None
    steps: list[Step] = field(default_factory=list)


def judge(events: Sequence[Event], found: Found) -> Verdict:
    """Check a whole history."""
    verdict = Verdict()
    registers: dict[str, _Register] = defaultdict(_Register)
    for branch, log in found.logs.items():
        _add_log(branch, log, events, registers, verdict)
    for one in events:
        if one.act not in ACTS and (steps := _steps(one)):
            registers[one.key].steps += steps
    _add_listings(events, found, registers)
    for key, register in registers.items():
        _check(key, register, verdict)
    verdict.wrong += [str(one) for one in events if one.answer.startswith(STRANGE)]
    return verdict


def _steps(one: Event) -> list[Step]:
    """The step of an event on its register; none where it says nothing."""
    done, label = one.outcome == "ok", str(one)
    match one.act.partition(" ")[0], one.outcome:
        case ("side", _) | (_, "failed"):
            return []
        case ("get" | "head", _):
            return [Step(one.call, one.end, "is", one.seen, label=label)] if done else []
        case ("create", "refused"):
            return [Step(one.call, one.end, "not", None, label=label)]
        case ("replace" | "take", "refused"):
            return [Step(one.call, one.end, "not", one.expected, label=label)]
        case ("delete", "refused"):
            return [Step(one.call, one.end, "is", None, label=label)]
    end = one.end if done else math.inf
    match one.act:
        case "put" | "delete":
            return [Step(one.call, end, "any", None, True, one.value, done, label)]
        case "replace" | "take":
            return [Step(one.call, end, "is", one.expected, True, one.value, done, label)]
        case "create" | "create tag" | "create branch":
            return [Step(one.call, end, "is", None, True, one.value, done, label)]
        case "delete tag" | "delete branch":
            return [Step(one.call, end, "not", None, True, None, done, label)]
        case _:
            raise AssertionError(f"no such operation: {one.act}")


def _add_log(branch: str, log: Log, events: Sequence[Event], registers: dict[str, _Register], verdict: Verdict) -> None:
    """Compare a branch's history with what was asked for, and add the steps of its head and of what merges brought."""
    key = f"head {branch}"
    asked = {one.value: one for one in events if one.key == key and one.act in ACTS}
    ids, messages = Counter(name for name, _ in log), Counter(message for _, message in log[1:])
    for name, count in [*ids.items(), *messages.items()]:
        if count > 1:
            verdict.wrong.append(f"{key}: {name!r} is {count} times in its history")
    for message, one in asked.items():
        if one.outcome == "ok" and one.seen not in ids:
            verdict.wrong.append(f"{key}: acknowledged, and not in its history: {one}")
        if one.outcome == "failed" and message in messages:
            verdict.wrong.append(f"{key}: refused, and in its history: {one}")
    registers[key].start = log[0][0]
    for (parent, _), (name, message) in pairwise(log):
        by = asked.get(message)
        if by is None or (by.seen or name) != name:
            verdict.wrong.append(f"{key}: {name} with message {message!r} is in its history, and nobody asked for it")
            continue
        end = by.end if by.outcome == "ok" else math.inf
        registers[key].steps.append(Step(by.call, end, "is", parent, True, name, label=str(by)))
        if by.act == "merge":
            registers[by.key2].steps.append(Step(by.call, end, "any", None, True, by.content, label=str(by)))


def _add_listings(events: Sequence[Event], found: Found, registers: dict[str, _Register]) -> None:
    """A commit read every object: add what it holds to their registers."""
    values = {etag_of(one.value): one.value for one in events if one.value is not None}
    objects: dict[str, set[str]] = defaultdict(set)
    for one in events:
        kind, _, path = one.key.partition(" main ")
        if kind == "object":
            objects[path.partition("/")[0]].add(path)
    for one in events:
        listing = found.listings.get(one.seen or "") if one.act == "commit" else None
        if listing is None:
            continue
        for path in sorted(objects[listing.folder]):
            checksum = listing.checksums.get(path)
            value = None if checksum is None else values.get(checksum, checksum)
            label = f"{one} (it holds {value!r} at {path})"
            registers[f"object main {path}"].steps.append(Step(one.call, one.end, "is", value, label=label))


def _check(key: str, register: _Register, verdict: Verdict) -> None:
    verdict.registers += 1
    verdict.steps += len(register.steps)
    try:
        if order_of(register.steps, register.start) is None:
            few = smallest(register.steps, register.start)
            lines = [f"  {one.label}" for one in few]
            more = [f"  and {len(lines) - _SHOWN} more"] if len(lines) > _SHOWN else []
            verdict.wrong.append("\n".join([f"{key} is not linearizable:", *lines[:_SHOWN], *more]))
    except TooHardError as error:
        verdict.wrong.append(f"{key} could not be judged: {error}")
