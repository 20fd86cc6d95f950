"""Object stores for engines under test."""

from __future__ import annotations

from typing import Generic, TypeVar

from lakebed_engine.stores.objects.base import ObjectStore

Store = TypeVar("Store", bound=ObjectStore)


class OneStore(Generic[Store]):
    """Every namespace is this store."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def open(self, uri: str, store_id: str = "") -> Store:
        return self.store

    def check_new(self, uri: str, store_id: str) -> None:
        assert store_id == ""
