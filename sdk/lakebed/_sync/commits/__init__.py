# Generated from sdk/lakebed/_async/commits/__init__.py by tools/unasync_sdk.py - do not edit.
# ruff: noqa: RUF100, UP028
"""Commits and merges: retries, recovery of lost answers, and tasks."""

from typing import TYPE_CHECKING

from lakebed._lazy import submodules

if TYPE_CHECKING:
    from lakebed._sync.commits import commit, publish, recover, revert

__all__ = ["commit", "publish", "recover", "revert"]

__getattr__ = submodules(__name__)
