from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.server.s3.gatewaying import Bucket


@pytest.fixture
def bucket() -> Iterator[Bucket]:
    """A gateway with a repository `lake`."""
    made = Bucket()
    yield made
    made.close()
