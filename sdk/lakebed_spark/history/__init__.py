"""Tables over the history of a repository, as Python data sources: entries, commits, branches, diffs and changes.

Names are loaded when first used: `spans`, `tree`, `storage` and `history.tree_rows` serve the pipelines too, which need
no PySpark.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lakebed_spark.history.source import Binding, bind
    from lakebed_spark.history.views import SOURCES, binding_of, register, views

_HOMES = {
    "SOURCES": "views",
    "Binding": "source",
    "bind": "source",
    "binding_of": "views",
    "register": "views",
    "views": "views",
}

__all__ = ["SOURCES", "Binding", "bind", "binding_of", "register", "views"]


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    # not kept as an attribute: `views` is a module as well
    return getattr(import_module(f"lakebed_spark.history.{home}"), name)
