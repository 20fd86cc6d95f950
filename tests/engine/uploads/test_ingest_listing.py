"""Listings of a read-only bucket: the listing itself must show whether it is sorted (`cloud.listing`)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from lakebed_engine.stores.objects.cloud.client import Client
from lakebed_engine.stores.objects.cloud.keys import Place
from lakebed_engine.stores.objects.cloud.listing import Lister
from lakebed_engine.stores.objects.cloud.options import CloudOptions
from lakebed_engine.vocabulary.errors import UnsortedListing

TREE_ORDER = ["in/a/b", "in/a/c", "in/a!", "in/a0"]
"""As SeaweedFS lists: folders as a file system has them."""


class Listing(Lister):
    """Names in the order of a server that may have its own; it begins behind `offset` in that order."""

    def __init__(self, names: Sequence[str], *, endpoint: str = "http://store", bucket: str = "b") -> None:
        super().__init__(
            Client(Place(f"s3://{bucket}", "s3", bucket, ""), CloudOptions(endpoint=endpoint)), foreign=True
        )
        self.names = names
        self.listings = 0

    async def _probe(self) -> bool:
        raise AssertionError("a probe writes")

    async def _pages(self, top: str, offset: str) -> AsyncIterator[Any]:
        self.listings += top == "in/"
        names = [name for name in self.names if name.startswith(top)]
        if offset:
            names = [name for name in names[names.index(offset) + 1 :] if name > offset] if offset in names else names
        at = datetime.fromtimestamp(1, UTC)
        yield [{"path": name, "size": 1, "last_modified": at, "e_tag": '"x"'} for name in names]

    async def keys(self, start_after: str = "") -> list[str]:
        return [blob.key async for blob in self.list("in/", start_after)]


@pytest.mark.parametrize("start_after", ["", "in/a/b"])
async def test_an_unsorted_listing_is_detected_once_and_then_sorted(start_after: str) -> None:
    listing = Listing(TREE_ORDER)
    with pytest.raises(UnsortedListing):
        await listing.keys(start_after)
    assert await listing.keys() == sorted(TREE_ORDER)
    assert await listing.keys("in/a/b") == ["in/a/c", "in/a0"]
    assert await listing.keys("in/a!") == ["in/a/b", "in/a/c", "in/a0"]


async def test_a_sorted_server_of_unknown_make_is_looked_through_once() -> None:
    listing = Listing(sorted(TREE_ORDER))
    assert await listing.keys() == sorted(TREE_ORDER)
    assert listing.listings == 1
    assert await listing.keys("in/a!") == ["in/a/b", "in/a/c", "in/a0"]
    assert listing.listings == 3
    assert await listing.keys("in/a/b") == ["in/a/c", "in/a0"]
    assert listing.listings == 4


async def test_aws_itself_is_relied_on(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ENDPOINT", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"):
        monkeypatch.delenv(name, raising=False)
    listing = Listing(sorted(TREE_ORDER), endpoint="")
    assert await listing.keys("in/a!") == ["in/a/b", "in/a/c", "in/a0"]
    assert listing.listings == 1


async def test_s3_express_keeps_no_order() -> None:
    listing = Listing(TREE_ORDER, endpoint="", bucket="b--use1-az4--x-s3")
    assert await listing.keys() == sorted(TREE_ORDER)
