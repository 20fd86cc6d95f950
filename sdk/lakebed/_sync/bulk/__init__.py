# Generated from sdk/lakebed/_async/bulk/__init__.py by tools/unasync_sdk.py - do not edit.
# ruff: noqa: RUF100, UP028
"""Many objects: bulk transfers, checkouts and ingest."""
