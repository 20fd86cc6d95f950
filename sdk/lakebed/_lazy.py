"""Packages that import their modules when they are first used, so that a short command loads only what it needs."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from types import ModuleType


def submodules(package: str) -> Callable[[str], ModuleType]:
    """Return the `__getattr__` (PEP 562) of a package: it imports the module of the wanted name.

    `from lakebed._async import tables` then imports no table code, but `tables.diff` does. The package names its
    modules under `TYPE_CHECKING`, for mypy and the import contracts.
    """

    def load(name: str) -> ModuleType:
        where = f"{package}.{name}"
        try:
            return import_module(where)
        except ModuleNotFoundError as error:
            if error.name != where:
                raise
            raise AttributeError(f"module {package!r} has no attribute {name!r}") from None

    return load
