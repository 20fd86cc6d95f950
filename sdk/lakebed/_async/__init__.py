"""The verbs of the SDK. `lakebed._sync` is made from `lakebed._async` by tools/unasync_sdk.py.

These files never import asyncio or threading: what cannot be translated stands in `lakebed._compat`.
"""
