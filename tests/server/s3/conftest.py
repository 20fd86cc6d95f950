from __future__ import annotations

from collections.abc import Iterator

import pytest
from lakebed_server.s3.config import Alias

from tests.server.s3.amazon_keys import AMAZON_KEY, AMAZON_SECRET
from tests.server.s3.gatewaying import Bucket


@pytest.fixture
def bucket() -> Iterator[Bucket]:
    """A gateway with a repository `lake`."""
    made = Bucket()
    yield made
    made.close()


AMAZON_NOW = 1369353600  # 20130524T000000Z


@pytest.fixture
def amazon() -> Iterator[Bucket]:
    """The bucket and the time of Amazon's examples; its keys have no branch, so the bucket is bound to one."""
    made = Bucket(domains=("s3.amazonaws.com",), aliases={"examplebucket": Alias("lake", "main")})
    made.now = AMAZON_NOW
    made.run(made.gateway._services.authenticator.store.ensure_admin(AMAZON_KEY, AMAZON_SECRET, AMAZON_NOW))
    yield made
    made.close()
