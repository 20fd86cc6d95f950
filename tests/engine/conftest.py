"""What all engine tests share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True, scope="module")
def _no_courtesy() -> Iterator[None]:
    """Committers hardly wait for one another: tests put a whole commit inside another's call, which would wait long."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lakebed_engine.operations.commit.queue._PATIENCE", 0.002)
        yield
