# Generated from sdk/lakebed/_async/handles/__init__.py by tools/unasync_sdk.py - do not edit.
# ruff: noqa: RUF100, UP028
"""Handles: lake, repository, ref, branch, tag, task and workspace."""

from typing import TYPE_CHECKING

from lakebed._lazy import submodules

if TYPE_CHECKING:
    from lakebed._sync.handles import branch, ref, tag, task, workspace

__all__ = ["branch", "ref", "tag", "task", "workspace"]

__getattr__ = submodules(__name__)
