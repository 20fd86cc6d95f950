"""Sizes of tests that do the same with many drawn cases, by the tier that runs: `make check`, `make test`, `make soak`.

@given(states)
@examples(120)                               # 24 in `make check`
async def test_folds(...):

go(Machine, sized(35, soak=100))
"""

from __future__ import annotations

import os
from typing import Any, Literal, get_args

from hypothesis import settings

Tier = Literal["check", "test", "soak"]

_SHARE = 5
"""`make check` draws one case of five."""


def tier() -> Tier:
    """The tier that runs. The Makefile says it in LAKEBED_TIER; pytest alone is `make test`."""
    found = os.environ.get("LAKEBED_TIER", "test")
    assert found in get_args(Tier), f"LAKEBED_TIER={found}: expected one of {get_args(Tier)}"
    return found  # type: ignore[return-value]


def sized(count: int, *, soak: int = 0) -> int:
    """Return `count` in `make test`, a fifth of it in `make check`, and `soak`, if it is given, in `make soak`."""
    now = tier()
    if now == "check":
        return max(count // _SHARE, 1)
    return soak or count if now == "soak" else count


def examples(count: int, *, soak: int = 0, **more: Any) -> settings:
    """Settings of Hypothesis for a property test of `count` examples in `make test`."""
    return settings(max_examples=sized(count, soak=soak), deadline=None, **more)
