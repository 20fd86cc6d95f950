# Generated from sdk/lakebed/_async/access/__init__.py by tools/unasync_sdk.py - do not edit.
# ruff: noqa: RUF100, UP028
"""Users, groups, policies and access keys of a lake."""
