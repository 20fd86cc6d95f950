"""Hooks of the schemathesis run: most generated names are swapped for ones that exist, so that calls get past 404.

Loaded by schemathesis (`SCHEMATHESIS_HOOKS`) in its own environment; `tools/run_schemathesis.py` makes what is named
here. The swap depends on the generated value alone, so a run can be repeated.
"""

from __future__ import annotations

import zlib
from typing import Any

import schemathesis  # type: ignore[import-not-found]  # lives in an environment of its own

REPOSITORY = "lake"
WORKSPACES = ("0" * 31 + "1", "0" * 31 + "2", "0" * 31 + "3")
BRANCHES = ("main", "dev", "tx", f"main+{WORKSPACES[0]}", f"main+{WORKSPACES[2]}")
REFS = ("main", "dev", "v1", "main~1", "main@", "tx~2^1", f"main+{WORKSPACES[0]}", f"main+{WORKSPACES[2]}")
PATHS = ("a.csv", "dir/b.csv", "dir/ü 😀.csv", "nope")
KNOWN = {
    "repository": (REPOSITORY,),
    "branch": BRANCHES,
    "workspace": WORKSPACES,
    "destinationBranch": BRANCHES,
    "ref": REFS,
    "leftRef": REFS,
    "rightRef": REFS,
    "sourceRef": REFS,
    "commitId": REFS,
    "tag": ("v1", "v2"),
    "path": PATHS,
    "src_path": PATHS,
    "src_ref": REFS,
    "source": REFS,
}
KEEP = 4  # one generated value in so many stays


def _swap(values: Any) -> Any:
    if not isinstance(values, dict):
        return values
    return {name: _known(name, value) for name, value in values.items()}


def _known(name: str, value: Any) -> Any:
    choices = KNOWN.get(name)
    number = zlib.crc32(repr(value).encode())
    if choices is None or number % KEEP == 0:
        return value
    return choices[number // KEEP % len(choices)]


def _nearby(name: str, value: Any) -> Any:
    """A namespace in somebody's cloud, moved to this machine: the run talks to nobody else."""
    if name == "storage_namespace" and isinstance(value, str):
        scheme, separator, rest = value.partition("://")
        return f"mem://{rest}" if separator and scheme in {"s3", "gs", "az"} else value
    return value


@schemathesis.hook  # type: ignore[untyped-decorator]
def before_call(context: Any, case: Any, kwargs: Any) -> None:
    """Swap names in the path, the query and a JSON body, in every phase. What everything needs is never deleted."""
    deletes = case.method.upper() == "DELETE"
    if not (deletes and case.path.endswith(("/{repository}", "/{branch}", "/{tag}", "/{workspace}"))):
        case.path_parameters = _swap(case.path_parameters)
    case.query = _swap(case.query)
    case.body = _swap(case.body)
    if isinstance(case.body, dict):
        case.body = {name: _nearby(name, value) for name, value in case.body.items()}
