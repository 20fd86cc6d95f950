"""Sizes of tests that do the same with many drawn cases, by the tier that runs: `make check`, `make test`, `make soak`.

@given(states)
@examples(120)                               # 48 in `make test`, 24 in `make check`
async def test_folds(...):

go(Machine, sized(35, soak=100))
"""

from __future__ import annotations

import os
from typing import Any, Literal, get_args

from hypothesis import settings

Tier = Literal["check", "test", "soak"]

_SHARES = {"check": 1 / 5, "test": 2 / 5, "soak": 1}
"""Of the cases that a test names, the share that a tier draws. The engine's sources choose which (`seeds.py`)."""


def tier() -> Tier:
    """The tier that runs. The Makefile says it in LAKEBED_TIER; pytest alone is `make test`."""
    found = os.environ.get("LAKEBED_TIER", "test")
    assert found in get_args(Tier), f"LAKEBED_TIER={found}: expected one of {get_args(Tier)}"
    return found  # type: ignore[return-value]


def sized(count: int, *, soak: int = 0) -> int:
    """Return `count` in `make soak`, or `soak` if it is given, and a share of `count` in the other tiers."""
    now = tier()
    return max(int((soak or count if now == "soak" else count) * _SHARES[now]), 1)


def examples(count: int, *, soak: int = 0, **more: Any) -> settings:
    """Settings of Hypothesis for a property test of `count` examples, or of `soak` in `make soak`."""
    return settings(max_examples=sized(count, soak=soak), deadline=None, **more)
