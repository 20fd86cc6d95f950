"""A real Lakebed server inside the test process: over HTTP, on stores in memory, with faults on demand.

    with lakebed_testing.server() as started:
        lake = started.connect()

For pytest there are the fixtures `lakebed_server`, `lake` and `repo` (`plugin`). This package loads its names at their
first use, because pytest imports the plugin, and with it this package, in every run.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lakebed_testing.faults import Faults, UnusedFaultsError
    from lakebed_testing.running import LakebedServer, server

__all__ = ["Faults", "LakebedServer", "UnusedFaultsError", "server"]

_HOMES = {"Faults": "faults", "UnusedFaultsError": "faults", "LakebedServer": "running", "server": "running"}


def __getattr__(name: str) -> object:
    """Load a public name at its first use."""
    if name not in _HOMES:
        raise AttributeError(f"module 'lakebed_testing' has no attribute {name!r}")
    value = getattr(import_module(f"lakebed_testing.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
