"""What the reports of the proofs say: figures that were counted, and what was wrong.

Pure, from bytes; `correctness` runs the programs. Each reader gives (figures, what was wrong, details).
"""

from __future__ import annotations

import base64
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

import msgspec

Report = tuple[dict[str, int], list[str], list[dict[str, str | int]]]

_STORES = {"sqlite": "SQLite", "postgres": "PostgreSQL"}
_EXAMPLES = re.compile(r"(\d+) passing\b")
_ENOUGH = 20
"""The number of failures that are listed one by one."""


def of_pytest(report: bytes) -> Report:
    """A JUnit file. Counted: cases, hypothesis's examples, and what tests noted with `record_property`, by store."""
    figures, wrong = Counter[str](), []
    root = ElementTree.fromstring(report)  # of our own pytest
    for case in root.iter("testcase"):
        name = f"{case.get('classname')}::{case.get('name')}"
        bad = next((one for one in case if one.tag in {"failure", "error", "skipped"}), None)
        if bad is not None:
            wrong.append(f"{name} {bad.tag}: {bad.get('message') or ''}"[:300])
            continue
        figures["cases"] += 1
        store = next((f" on {said}" for word, said in _STORES.items() if word in name), "")
        for noted, value in _properties(case):
            if re.fullmatch(r"\d+", value):
                figures[noted.replace("_", " ") + store] += int(value)
    hypothesis = [value for name, value in _suite_properties(root) if name.startswith("hypothesis-statistics")]
    generated = [_examples(value) for value in hypothesis]
    if generated:
        figures["generated examples"] = sum(generated)
        if not all(generated):
            wrong.append("hypothesis says of a test that no example passed")
    reported = wrong[:_ENOUGH] + ([f"{len(wrong) - _ENOUGH} more"] if len(wrong) > _ENOUGH else [])
    return dict(figures), reported, []


def of_schedules(report: bytes) -> Report:
    """The JSON of `tests.simulation.run`."""
    found: dict[str, Any] = msgspec.json.decode(report)
    wrong = [f"seed {one['seed']} ({one['mix']}): {one['violation']}" for one in found["failures"]]
    figures = {
        "schedules": found["schedules"],
        "steps": found["steps"],
        "violations": len(wrong),
        "schedules a second": int(found["schedules"] / max(found["seconds"], 0.001)),
    }
    spread = [{"policy": name, "schedules": count} for name, count in sorted(found["policies"].items())]
    return figures, wrong, spread


def of_mutants(report: bytes) -> Report:
    """The JSON of `tests.simulation.run --mutants`."""
    found: dict[str, Any] = msgspec.json.decode(report)
    mutants: list[dict[str, Any]] = found["mutants"]
    wrong = [
        f"{one['name']}: caught from {one['caught']} of {one['sets']} starting seeds"
        for one in mutants
        if one["caught"] != one["sets"] or not one["sets"]
    ]
    wrong += [f"without any mutant, from seed {one['start']}: {one['violation']}" for one in found["red"]]
    figures = {
        "mutants": len(mutants),
        "caught from every start": sum(0 < one["sets"] == one["caught"] for one in mutants),
        "fresh starts": found["sets"],
        "seeds at worst": max((one["most"] for one in mutants), default=0),
        "seeds without a mutant": found["clean_seeds"],
    }
    details: list[dict[str, str | int]] = [
        {
            "mutant": one["name"].replace("_", " "),
            "caught": f"{one['caught']} of {one['sets']}",
            "seeds, median": one["median"],
            "at worst": one["most"],
            "what was seen": one["violation"][:120],
        }
        for one in mutants
    ]
    return figures, wrong if mutants else ["no mutant was hunted"], details


def of_histories(report: bytes) -> Report:
    """The JSON of `tests.histories.run`."""
    found: dict[str, Any] = msgspec.json.decode(report)
    run, mutants = found["run"], found["mutants"]
    wrong = [one[:1000] for one in run["wrong"][:_ENOUGH]]
    wrong += [f"mutant {one['mutant']} was not caught" for one in mutants if not one["runs"]]
    counts: dict[str, dict[str, int]] = run["operations"]
    figures = {
        "operations": sum(sum(of.values()) for of in counts.values()),
        "of them with an unknown answer": sum(of.get("unknown", 0) for of in counts.values()),
        "faults": sum(run["faults"].values()),
        "registers": run["registers"],
        "commits and merges in history": run["commits"],
        "violations": len(run["wrong"]),
        "mutants": len(mutants),
        "mutants caught": sum(one["runs"] > 0 for one in mutants),
        "runs for a mutant at worst": max((one["runs"] for one in mutants), default=0),
    }
    details: list[dict[str, str | int]] = [
        {"what": act, "done": of.get("ok", 0), **{word: of.get(word, 0) for word in ("refused", "failed", "unknown")}}
        for act, of in counts.items()
    ]
    nothing = dict.fromkeys(("refused", "failed", "unknown"), 0)
    details += [{"what": f"fault: {kind}", "done": count, **nothing} for kind, count in run["faults"].items()]
    return figures, wrong if figures["operations"] and mutants else [*wrong, "nothing was tried"], details


def of_power(report: bytes) -> Report:
    """The JSON of `tests.power.run`."""
    found: dict[str, Any] = msgspec.json.decode(report)
    wrong = [f"seed {one['seed']}: {one['wrong']}" for one in found["failures"]]
    figures = {
        "disks": found["disks"],
        "real servers started on them": found["served"],
        "recordings": found["recordings"],
        "moments": found["moments"],
        "changes lost": found["lost"],
        "acknowledged operations looked for": found["acknowledged"],
        "violations": len(wrong),
    }
    spread = [{"what reached the disk": way, "disks": count} for way, count in sorted(found["ways"].items())]
    return figures, wrong, spread


def of_schemathesis(report: bytes) -> Report:
    """The JSON report of `schemathesis run`."""
    found: dict[str, Any] = msgspec.json.decode(report)
    cases, operations = found["test_cases"], found["operations"]
    wrong = [f"{one.get('title')} at {', '.join(one.get('operations', ()))}" for one in found["failures"]]
    wrong += [f"error: {one}"[:300] for one in found["errors"]]
    wrong += [f"{cases[name]} cases {name}" for name in ("with_failures", "errored") if cases[name]]
    if operations["tested"] != operations["total"]:
        wrong.append(f"only {operations['tested']} of {operations['total']} operations were tested")
    if not found["complete"]:
        wrong.append(f"stopped early: {found['stop_reason']}")
    return {"requests": cases["generated"], "operations": operations["tested"]}, wrong, []


def _properties(case: ElementTree.Element) -> Iterator[tuple[str, str]]:
    for one in case.iterfind("properties/property"):
        yield one.get("name", ""), one.get("value", "")


def _suite_properties(root: ElementTree.Element) -> Iterator[tuple[str, str]]:
    for one in root.iterfind(".//testsuite/properties/property"):
        yield one.get("name", ""), one.get("value", "")


def _examples(statistics: str) -> int:
    return sum(map(int, _EXAMPLES.findall(base64.b64decode(statistics).decode())))
