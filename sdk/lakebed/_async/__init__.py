"""The methods of the SDK. tools/unasync_sdk.py generates `lakebed._sync` from `lakebed._async`.

These files never import asyncio or threading. Code that the generator cannot translate is in `lakebed._compat`.
"""
