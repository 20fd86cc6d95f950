"""Hooks: rules that check a change before it is made, and calls that follow it.

An action file says which hooks run on which events. This package reads action files, evaluates contracts, and runs
Python checks in separate processes. It does not depend on the server or the engine: `lakebed_server.hooks` connects it
to both.

A Python check is a function of your own package:

    from lakebed_hooks import HookEvent, ReadOnlyRepo, Refuse

    def check(event: HookEvent, lake: ReadOnlyRepo, args: dict) -> Refuse | None: ...
"""

from lakebed_hooks.vocabulary import (
    Action,
    ActionFile,
    ActionFileError,
    BranchFilter,
    Changes,
    Hook,
    HookError,
    HookEvent,
    Outcome,
    Refuse,
)
from lakebed_hooks.workers.lake import ReadOnlyRepo

__all__ = [
    "Action",
    "ActionFile",
    "ActionFileError",
    "BranchFilter",
    "Changes",
    "Hook",
    "HookError",
    "HookEvent",
    "Outcome",
    "ReadOnlyRepo",
    "Refuse",
]
