"""Seeds that caught each mutant before, in `mutants/seeds.json`: `make test` tries them first.

A hint decides nothing: a mutant that its seeds catch no more, as after a change of the mixes, is hunted from fresh
starts as one without hints.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.simulation.mutants import PATCHES, Hunt, fresh_starts, hunt_with_hints, patches

SEEDS = PATCHES / "seeds.json"
EACH = 2
"""Seeds that are remembered for each mutant."""


def known(path: Path = SEEDS) -> dict[str, list[int]]:
    """The remembered seeds, by the name of the mutant."""
    found: dict[str, list[int]] = json.loads(path.read_text())
    return found


def seeds_of(found: Sequence[Hunt]) -> Iterator[int]:
    """The very seeds that caught it."""
    return (one.start + one.needed - 1 for one in found if one.needed is not None)


def remember(jobs: int, path: Path = SEEDS) -> list[str]:
    """Hunt the mutants whose hints fail, in `jobs` threads. Writes every seed down. Returns uncaught mutants."""
    before: Mapping[str, Sequence[int]] = known(path) if path.exists() else {}
    starts, now, missed = fresh_starts(EACH), dict[str, list[int]](), []
    with ThreadPoolExecutor(jobs) as pool:
        every = pool.map(lambda patch: hunt_with_hints(patch, before.get(patch.stem, ()), starts), patches())
        for patch, found in zip(patches(), every, strict=True):
            now[patch.stem] = list(seeds_of(found))
            fresh = len(set(now[patch.stem]) - set(before.get(patch.stem, ())))
            print(f"{patch.stem:42s} {len(now[patch.stem])} of {EACH} seeds, {fresh} new", flush=True)
            if len(now[patch.stem]) < EACH:
                missed.append(patch.stem)
    lines = [f"  {json.dumps(name)}: {json.dumps(seeds)}" for name, seeds in now.items()]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    return missed
