# Generated from sdk/lakebed/_async/hooks/__init__.py by tools/unasync_sdk.py - do not edit.
# ruff: noqa: RUF100, UP028
"""Hooks of a repository: their runs, and their calls after changes."""
