"""The registry opens the object store of a namespace."""

from __future__ import annotations

from pathlib import Path

import pytest
from lakebed_engine.stores.objects.base import ObjectStores
from lakebed_engine.stores.objects.registry import Stores
from lakebed_engine.vocabulary.errors import (
    InvalidNamespaceError,
)


async def test_registry_opens_and_remembers(stores: Stores, root: Path) -> None:
    registry: ObjectStores = stores
    sales = registry.open("local://sales/eu-1/")
    assert sales.uri == "local://sales/eu-1"
    assert registry.open("local://sales/eu-1") is sales
    assert registry.open("mem://x") is registry.open("mem://x/")
    assert registry.open("mem://x") is not registry.open("mem://y")
    await sales.put("a", b"1")
    await registry.open("mem://x").put("a", b"2")
    assert (root / "sales/eu-1/a").read_bytes() == b"1"


@pytest.mark.parametrize(
    ("uri", "rule"),
    [
        ("local://", "no empty name"), ("local:///", "no empty name"), ("local:///etc", "no absolute path"),
        ("local://..", "no `..`"), ("local://../x", "no `..`"), ("local://a/../../b", "no `..`"),
        ("local://.", "begins"),
        ("local://a//b", "no empty part"), ("local://%2e%2e/x", "no %-escapes"), ("local://a/%2e%2e", "no %-escapes"),
        ("local://a\\..\\b", "characters"), ("local://a\x00", "characters"), ("local://a\n", "characters"),
        ("local://.lakebed-tmp", "begins"), ("local://~/x", "characters"), ("local://é", "characters"),
        ("local://" + "a/" * 300, "at most 500"), ("local://" + "a" * 101, "1 to 100"), ("mem://../x", "no `..`"),
        ("mem://", "no empty name"), ("s3://bucket", "switched off"), ("gs://b", "switched off"),
        ("az://b", "switched off"), ("s3://", "no empty name"), ("s3://b/../c", "no `..`"), ("gcs://b", "no adapter"),
        ("file:///etc", "no adapter is configured for file://"), ("sales", "is a URI"), ("", "is a URI"),
        ("LOCAL://a", "is a URI"), ("local:/etc", "is a URI"), (" local://a", "is a URI"),
    ],
)  # fmt: skip
def test_registry_refuses(stores: Stores, place: Path, uri: str, rule: str) -> None:
    with pytest.raises(InvalidNamespaceError, match=rule):
        stores.open(uri)
    assert list(place.iterdir()) == []


def test_registry_without_adapters() -> None:
    stores = Stores(None, memory=False)
    with pytest.raises(InvalidNamespaceError, match="not configured"):
        stores.open("local://a")
    with pytest.raises(InvalidNamespaceError, match="switched off"):
        stores.open("mem://a")
    stores.close()
