# Generated from sdk/lakebed/_async/checkout/__init__.py by tools/unasync_sdk.py - do not edit.
# ruff: noqa: RUF100, UP028
"""Working directories: a branch checked out into a local directory."""
