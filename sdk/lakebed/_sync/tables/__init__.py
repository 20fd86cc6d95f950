# Generated from sdk/lakebed/_async/tables/__init__.py by tools/unasync_sdk.py - do not edit.
# ruff: noqa: RUF100, UP028
"""Tables: read, write and compare them."""
