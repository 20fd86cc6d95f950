"""The parts of the groups of `make bench`: figures, their table, and measurements in other processes."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FULL = 1_000_000
"""Entries of a run whose figures are kept."""

SECONDS = 5.0
"""How long one kind of request is sent."""


@dataclass(frozen=True)
class Figure:
    """One line of the table. `bound` is "at least" or "at most" `target`; without a bound it is information."""

    name: str
    value: float
    unit: str
    bound: str = ""
    target: float = 0.0
    note: str = ""

    @property
    def met(self) -> bool:
        if not self.bound:
            return True
        return self.value >= self.target if self.bound == "at least" else self.value <= self.target


def table(figures: list[Figure], group: str = "") -> str:
    """The figures of one group as rows of a Markdown table."""
    lines = ["| what | figure | target | conditions | group |", "|---|---:|---:|---|---|"]
    for one in figures:
        target = f"{one.bound} {one.target:g} {one.unit if one.unit != 'ratio' else ''}".strip() if one.bound else ""
        mark = ("" if one.met else "**MISSED** ") + one.note
        value = f"{one.value:,.0f}" if one.value >= 100 else f"{one.value:.3g}"
        lines.append(
            f"| {one.name} | {value} {one.unit if one.unit != 'ratio' else ''} | {target} | {mark} | {group} |"
        )
    return "\n".join(lines)


def measured(module: str, *words: object) -> dict[str, float]:
    """The figures that a module of this package prints, run in a separate process."""
    command = [sys.executable, "-m", f"benchmarks.{module}", *map(str, words)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr[-3000:])
    found: dict[str, float] = json.loads(done.stdout)
    return found
