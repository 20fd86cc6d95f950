# Generated from sdk/lakebed/_async/handles/__init__.py by tools/unasync_sdk.py - do not edit.
# ruff: noqa: RUF100, UP028
"""Handles: lake, repository, ref, branch, tag, task and workspace."""
