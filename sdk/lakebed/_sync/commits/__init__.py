# Generated from sdk/lakebed/_async/commits/__init__.py by tools/unasync_sdk.py - do not edit.
# ruff: noqa: RUF100, UP028
"""Commits and merges: retries, recovery of lost answers, and tasks."""
