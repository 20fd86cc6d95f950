"""What the proofs came to, as values, and docs/correctness.md made of them. Pure: `correctness` runs and writes.

A proof has passed when nothing was wrong and something was counted; that is worked out here each time the page is made,
and stored nowhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

PAGE = "docs/correctness.md"
RESULTS = "docs/correctness.json"


class Proof(msgspec.Struct, frozen=True):
    """One proof as the page shows it. `more`: how to do more of it, as shell commands with a word on each."""

    key: str
    title: str
    prose: str
    more: Sequence[str] = ()


class Seen(msgspec.Struct, kw_only=True):
    """What one run of a proof came to. `figures` were counted by the run; `wrong` says what failed, one line each."""

    key: str
    command: str
    figures: dict[str, int]
    wrong: list[str]
    seconds: float
    date: str
    commit: str
    machine: str
    details: list[dict[str, str | int]] = []

    @property
    def passed(self) -> bool:
        """Whether the proof holds: nothing wrong, and something was tried."""
        return not self.wrong and any(self.figures.values())


_HEAD = """\
# Correctness

**You need**: to repeat a proof: a clone of the repository, and make.

This page lists the proofs that run on the real code, their results, and how to repeat them. To generate it, run:

```sh
make correctness
```

The command runs all proofs and writes their figures. No figure is typed by hand. If a proof fails, this page reports
it as failed, and the command fails. `make test` also runs most proofs, with smaller sizes. The figures are stored in
[correctness.json](correctness.json).
"""

_FOOT = """\
## What this does not show

These are tests: they can find mistakes, but cannot prove that there are none. The simulation uses one repository with
a few branches, paths and callers. It assumes that the KV store's batches are atomic, and that an object store shows a
file once it is written. The conformance suite tests the drivers for these two properties. The proofs do not cover
faulty memory, disks that lose synced data, and clocks that jump by hours.
"""


def render(proofs: Sequence[Proof], seen: Mapping[str, Seen]) -> str:
    """The page. A proof without a result is said not to have been run."""
    rows = [_row(proof, seen.get(proof.key)) for proof in proofs]
    table = "\n".join(["| proof | counted | result | took |", "|---|---|---|---:|", *rows])
    sections = [_section(proof, seen.get(proof.key)) for proof in proofs]
    return "\n".join([_HEAD, table, "", *sections, _FOOT])


def _row(proof: Proof, seen: Seen | None) -> str:
    link = f"[{proof.title}](#{_anchor(proof.title)})"
    if seen is None:
        return f"| {link} | | not run | |"
    return f"| {link} | {_figures(seen)} | {_verdict(seen)} | {_time(seen.seconds)} |"


def _section(proof: Proof, seen: Seen | None) -> str:
    lines = [f"## {proof.title}", "", proof.prose, ""]
    if seen is None:
        lines += ["Not run yet.", ""]
    else:
        lines += [f"Last run: {_verdict(seen)}, {_figures(seen)}, in {_time(seen.seconds)}.", ""]
        if seen.wrong:
            lines += [*(f"- **failed**: {_cell(one)}" for one in seen.wrong), ""]
        lines += [*_details(seen.details)]
        lines += [f"{seen.date}, {seen.machine}, at commit {seen.commit}. To repeat it:", ""]
        lines += ["```sh", seen.command, "```", ""]
    if proof.more:
        lines += ["To run more, or one case:", "", "```sh", *proof.more, "```", ""]
    return "\n".join(lines)


def _details(rows: Sequence[Mapping[str, str | int]]) -> list[str]:
    if not rows:
        return []
    names = list(rows[0])
    rule = "|".join("---:" if isinstance(rows[0][name], int) else "---" for name in names)
    cells = [" | ".join(_cell(row[name]) for name in names) for row in rows]
    return [f"| {' | '.join(names)} |", f"|{rule}|", *(f"| {one} |" for one in cells), ""]


def _verdict(seen: Seen) -> str:
    return "passed" if seen.passed else "**FAILED**"


def _figures(seen: Seen) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in seen.figures.items()) or "nothing"


def _cell(value: str | int) -> str:
    text = f"{value:,}" if isinstance(value, int) else " ".join(value.split())
    return text.replace("|", "\\|")


def _time(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def _anchor(title: str) -> str:
    return "".join(one for one in title.lower().replace(" ", "-") if one.isalnum() or one == "-")
