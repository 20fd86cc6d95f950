# Generated from sdk/lakebed/_async/http/__init__.py by tools/unasync_sdk.py - do not edit.
# ruff: noqa: RUF100, UP028
"""The transport: connections, bodies and pagination."""
