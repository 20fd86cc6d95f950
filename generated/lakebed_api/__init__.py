# generated from openapi.yaml by `make generate` - do not edit
"""A client library for accessing Lakebed API"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .client import AuthenticatedClient, Client

_MODULES = {"AuthenticatedClient": "client", "Client": "client"}


def __getattr__(name: str) -> object:
    """Import a name when it is used."""
    from importlib import import_module

    module = _MODULES.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f".{module}", __name__), name)
    return value


__all__ = ("AuthenticatedClient", "Client")
