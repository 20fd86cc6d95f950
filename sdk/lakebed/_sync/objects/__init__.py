# Generated from sdk/lakebed/_async/objects/__init__.py by tools/unasync_sdk.py - do not edit.
# ruff: noqa: RUF100, UP028
"""Objects: download and upload, through the server or past it."""
