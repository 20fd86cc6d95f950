# Generated from sdk/lakebed/_async/__init__.py by tools/unasync_sdk.py - do not edit.
# ruff: noqa: RUF100, UP028
"""The methods of the SDK. tools/unasync_sdk.py generates `lakebed._sync` from `lakebed._async`.

These files never import asyncio or threading. Code that the generator cannot translate is in `lakebed._compat`.
"""
