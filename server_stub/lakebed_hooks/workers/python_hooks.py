"""Runs a Python check: a function of an installed package that the settings allow. It never runs code from the data."""

from __future__ import annotations

import importlib
import importlib.metadata
import re
from collections.abc import Callable, Sequence
from typing import Any, Final

from lakebed_hooks.vocabulary import HookError, Outcome, Refuse
from lakebed_hooks.workers.connection import Connection
from lakebed_hooks.workers.lake import ReadOnlyRepo
from lakebed_hooks.workers.pipe import PipeSnapshot
from lakebed_hooks.workers.wire import Job

GROUP: Final = "lakebed.hooks"
"""The entry-point group in which a package names its checks."""

_ENTRY: Final = re.compile(r"([A-Za-z_][\w.]{0,199}):([A-Za-z_]\w{0,99})")


def run(job: Job, connection: Connection) -> Outcome:
    """Call the function of a job. Raises HookError, and the errors of the function."""
    entry = job.properties.get("entry")
    if not isinstance(entry, str):
        raise HookError("the hook has no `entry`: name a function, such as `package:function`")
    function = _function(entry, job.allow)
    lake = ReadOnlyRepo(PipeSnapshot(connection, may_open=False))
    found = function(job.event, lake, dict(job.properties.get("args") or {}))
    if found is None:
        return Outcome("passed")
    if isinstance(found, Refuse):
        return Outcome("refused", str(found.message), tuple(dict(one) for one in found.details))
    raise HookError(f"the hook returned {type(found).__name__}: a check returns None or Refuse(message)")


def is_allowed(target: str, allow: Sequence[str]) -> bool:
    """Whether the settings allow `package.module:function`. They name functions, packages or modules."""
    module = target.partition(":")[0]
    return any(one in (target, module) or module.startswith(f"{one}.") for one in allow if one)


def _function(entry: str, allow: Sequence[str]) -> Callable[..., Any]:
    target = entry if ":" in entry else _target_of(entry)
    found = _ENTRY.fullmatch(target)
    if found is None:
        raise HookError(f"the entry {entry[:100]!r} is not a function: write `package:function`")
    if not is_allowed(target, allow):
        raise HookError(
            f"the entry {entry[:100]!r} is not allowed: an administrator adds {found[1]!r} to `hooks.python.allow`"
        )
    try:
        function = getattr(importlib.import_module(found[1]), found[2], None)
    except ModuleNotFoundError as error:
        raise HookError(
            f"the entry {entry[:100]!r} is not installed on the server: no module {error.name!r}"
        ) from error
    if not callable(function):
        raise HookError(f"the module {found[1]!r} has no function {found[2]!r}")
    return function  # type: ignore[no-any-return]


def _target_of(name: str) -> str:
    for one in importlib.metadata.entry_points(group=GROUP, name=name):
        return one.value.replace(" ", "")
    raise HookError(f"no installed package names a check {name[:100]!r} in the entry-point group {GROUP!r}")
