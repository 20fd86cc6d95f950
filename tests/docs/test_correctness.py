"""docs/correctness.md is generated from the reports of the proofs' runs. It never reports a failed run as passed."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.docs.snippets import ROOT
from tests.histories.run import Caught, Result
from tests.histories.run import Report as HistoryReport
from tests.power.pool import Failure as BadDisk
from tests.power.pool import Run as PowerRun
from tests.simulation.mutants import Hunt, Mutant
from tests.simulation.mutants import Report as MutantReport
from tests.simulation.pool import Failure, Run
from tools.correctness.page import PAGE, RESULTS, Seen, render
from tools.correctness.proofs import PROOFS
from tools.correctness.reports import (
    Report,
    of_histories,
    of_mutants,
    of_power,
    of_pytest,
    of_schedules,
    of_schemathesis,
)
from tools.correctness.run import judge, load, main, write

EXAMPLES = base64.b64encode(
    b"  - during generate phase:\n    - 80 passing, 0 failing, and 1 invalid test cases"
).decode()
JUNIT = """<testsuites><testsuite>
<properties><property name="hypothesis-statistics-tests/x.py::a" value="{examples}"/></properties>
<testcase classname="tests.x" name="a[sqlite]"><properties>
<property name="kill_points" value="40"/><property name="seed" value="0x1f"/></properties></testcase>
<testcase classname="tests.x" name="b">{inside}</testcase></testsuite></testsuites>"""


def junit(inside: str = "", examples: str = EXAMPLES) -> bytes:
    return JUNIT.format(inside=inside, examples=examples).encode()


def power(wrong: str = "") -> bytes:
    failures = [BadDisk(7, wrong)] if wrong else []
    return msgspec.json.encode(PowerRun(2, 300, 40, 3, 900, 80, 1.5, Counter({"nothing": 40}), failures))


def schedules(violation: str = "") -> bytes:
    failures = [Failure(7, "writes", violation)] if violation else []
    found = Run(7, 2, schedules=300, steps=9000, seconds=2.0, cpu_seconds=3.0, failures=failures)
    return msgspec.json.encode(found)


def mutants(*needed: int | None, red: str = "") -> bytes:
    one = Mutant.of("M01_push_keeps_the_token", [Hunt(5, count, "wrong | x" if count else "") for count in needed])
    return msgspec.json.encode(MutantReport(len(needed), 3000, [one], 9, [Hunt(5, 3, red)] if red else []))


def schemathesis(**changes: Any) -> bytes:
    cases = {"generated": 1470, "with_failures": 0, "errored": 0, **changes.pop("cases", {})}
    operations = {"total": 38, "tested": 38, **changes.pop("operations", {})}
    found = {"failures": [], "errors": [], "complete": True, "stop_reason": "completed", **changes}
    return json.dumps({**found, "test_cases": cases, "operations": operations}).encode()


def histories(runs: int = 2, wrong: Sequence[str] = (), operations: int = 90) -> bytes:
    result = Result(
        seed=7,
        seconds=600.0,
        operations={"put": {"ok": operations, "unknown": 3}} if operations else {},
        faults={"pause": 5, "kill": 2},
        commits=4,
        registers=11,
        steps=99,
        wrong=list(wrong),
        history="",
    )
    caught = [Caught(mutant="stale_cache", runs=runs, seen="a stale read" if runs else "")]
    return msgspec.json.encode(HistoryReport(run=result, mutants=caught))


GOOD: list[tuple[Callable[[bytes], Report], bytes, dict[str, int]]] = [
    (of_pytest, junit(), {"cases": 2, "kill points on SQLite": 40, "generated examples": 80}),
    (of_schedules, schedules(), {"schedules": 300, "violations": 0, "schedules a second": 150}),
    (of_mutants, mutants(4, 9), {"mutants": 1, "caught from every start": 1, "seeds at worst": 9}),
    (of_power, power(), {"disks": 40, "real servers started on them": 3, "violations": 0}),
    (of_histories, histories(), {"operations": 93, "faults": 7, "violations": 0, "mutants caught": 1}),
    (of_schemathesis, schemathesis(), {"requests": 1470, "operations": 38}),
]
BAD: list[tuple[Callable[[bytes], Report], bytes]] = [
    (of_pytest, junit('<failure message="no"/>')),
    (of_pytest, junit('<error message="no"/>')),
    (of_pytest, junit('<skipped message="no"/>')),
    (of_pytest, junit(examples=base64.b64encode(b"nothing").decode())),
    (of_pytest, b"<testsuites><testsuite/></testsuites>"),
    (of_pytest, b"<testsuites><tests"),
    (of_schedules, schedules("lost a write")),
    (of_schedules, msgspec.json.encode(Run(7, seconds=1.0))),
    (of_mutants, mutants(4, None)),
    (of_mutants, mutants(4, 9, red="wrong without")),
    (of_mutants, mutants()),
    (of_mutants, msgspec.json.encode(MutantReport(2, 3000))),
    (of_power, power("an acknowledged object is gone")),
    (of_power, msgspec.json.encode(PowerRun())),
    (of_histories, histories(wrong=["a stale read"])),
    (of_histories, histories(runs=0)),
    (of_histories, histories(operations=0)),
    (of_histories, msgspec.json.encode({"run": msgspec.json.decode(histories())["run"], "mutants": []})),
    (of_schemathesis, schemathesis(failures=[{}])),
    (of_schemathesis, schemathesis(errors=[{}])),
    (of_schemathesis, schemathesis(cases={"with_failures": 1})),
    (of_schemathesis, schemathesis(operations={"tested": 37})),
    (of_schemathesis, schemathesis(complete=False)),
    (of_schemathesis, b""),
]


def seen(key: str, report: Report) -> Seen:
    figures, wrong, details = report
    return Seen(
        key=key,
        command="python -m x",
        figures=figures,
        wrong=wrong,
        seconds=3.0,
        date="2026-01-02",
        commit="abc",
        machine="2 cores",
        details=details,
    )


@pytest.mark.parametrize(("read", "report", "figures"), GOOD, ids=lambda one: getattr(one, "__name__", ""))
def test_a_good_report(read: Callable[[bytes], Report], report: bytes, figures: dict[str, int]) -> None:
    one = seen("kills", judge(0, report, read))
    assert one.wrong == []
    assert one.passed
    assert {name: one.figures[name] for name in figures} == figures
    page = render([job.proof for job in PROOFS], {"kills": one})
    assert "| passed |" in page
    assert "FAILED" not in page
    assert all(f"{count:,} {name}" in page for name, count in figures.items())


@pytest.mark.parametrize(("read", "report"), BAD)
def test_a_bad_report_is_never_a_pass(read: Callable[[bytes], Report], report: bytes) -> None:
    one = seen("kills", judge(0, report, read))
    assert one.wrong != []
    page = render([job.proof for job in PROOFS], {"kills": one})
    assert "| **FAILED** |" in page
    assert "- **failed**: " in page
    assert "passed |" not in page
    assert "Last run: passed" not in page


@pytest.mark.parametrize(("read", "report", "figures"), GOOD, ids=lambda one: getattr(one, "__name__", ""))
def test_a_program_that_fails_is_never_a_pass(
    read: Callable[[bytes], Report], report: bytes, figures: dict[str, int]
) -> None:
    one = seen("kills", judge(3, report, read))
    assert one.wrong == ["it ended with exit code 3"]
    assert not one.passed


def test_every_proof_has_a_row_and_a_section() -> None:
    page = render([job.proof for job in PROOFS], {})
    for job in PROOFS:
        assert f"| [{job.proof.title}](#" in page
        assert f"\n## {job.proof.title}\n" in page
    assert page.count("| not run |") == len(PROOFS)
    assert len({job.proof.key for job in PROOFS}) == len(PROOFS)


def test_every_figure_that_is_looked_for_has_tests() -> None:
    sizes = {
        "seeds": 1,
        "sets": 2,
        "kills": 3,
        "workspaces": 6,
        "disks": 8,
        "history": 7,
        "inputs": 9,
        "examples": 4,
        "start": 5,
    }
    for job in PROOFS:
        arguments, _ = job.run(sizes)
        files = [one for one in arguments if one.startswith("tests/")]
        assert bool(files) == (job.read is of_pytest), job.proof.key
        assert [one for one in files if not (ROOT / one).exists()] == []


def test_results_are_kept_and_the_page_is_made_of_them(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    proofs = [job.proof for job in PROOFS]
    one = seen("mutants", judge(0, mutants(4, 9), of_mutants))
    write(tmp_path, proofs, {"mutants": one, "gone": one})
    assert load(tmp_path / RESULTS) == {"mutants": one}
    page = (tmp_path / PAGE).read_text("utf-8")
    assert page == render(proofs, {"mutants": one})
    assert r"| M01 push keeps the token | 2 of 2 | 9 | 9 | wrong \| x |" in page


def test_the_page_is_the_one_of_its_results() -> None:
    assert (ROOT / PAGE).read_text("utf-8") == render([job.proof for job in PROOFS], load(ROOT / RESULTS))


def test_an_unknown_proof_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--only", "kills,nothing"])
    assert "no such proof: nothing" in capsys.readouterr().err


@pytest.mark.soak  # `make soak` runs the command
def test_the_command_fails_when_a_proof_does() -> None:
    command = [sys.executable, "-m", "tools.correctness.run", "--dry", "--only", "schedules", "--seeds"]
    said = [
        subprocess.run([*command, seeds], cwd=ROOT, capture_output=True, text=True, check=False)
        for seeds in ("100", "0")
    ]
    assert [done.returncode for done in said] == [0, 1]
    assert "'schedules': 100" in said[0].stdout
    assert "every proof passed" in said[0].stdout
    assert "failed: schedules" in said[1].stdout
