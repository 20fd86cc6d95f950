# Generated from sdk/lakebed/_async/__init__.py by tools/unasync_sdk.py - do not edit.
# ruff: noqa: RUF100, UP028
"""The verbs of the SDK. `lakebed._sync` is made from `lakebed._async` by tools/unasync_sdk.py.

These files never import asyncio or threading: what cannot be translated stands in `lakebed._compat`.
"""
