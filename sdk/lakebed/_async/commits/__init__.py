"""Commits and merges: retries, recovery of lost answers, and tasks."""

from typing import TYPE_CHECKING

from lakebed._lazy import submodules

if TYPE_CHECKING:
    from lakebed._async.commits import commit, publish, recover, revert

__all__ = ["commit", "publish", "recover", "revert"]

__getattr__ = submodules(__name__)
