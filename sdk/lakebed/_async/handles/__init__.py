"""Handles: lake, repository, ref, branch, tag, task and workspace."""

from typing import TYPE_CHECKING

from lakebed._lazy import submodules

if TYPE_CHECKING:
    from lakebed._async.handles import branch, ref, tag, task, workspace

__all__ = ["branch", "ref", "tag", "task", "workspace"]

__getattr__ = submodules(__name__)
