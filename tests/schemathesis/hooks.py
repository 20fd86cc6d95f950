"""Hooks of the schemathesis run: most generated names are swapped for ones that exist, so that calls get past 404.

Loaded by schemathesis (`SCHEMATHESIS_HOOKS`); `tools/run_schemathesis.py` makes what is named here.
The swap depends on the generated value alone, so a run can be repeated. What a server has answered with is never
swapped: it comes along a link, from one call of a scenario to the next. And what is to be created mostly gets a name
that is right, or few scenarios would come beyond their first call.

One check of our own: each request stays within a bound of CPU time and memory of the server
(tests/support/processes/meter.py).
"""

from __future__ import annotations

import itertools
import os
import zlib
from base64 import b64encode
from contextlib import suppress
from typing import Any

import schemathesis
from schemathesis.specs.openapi import _auth_retry

from tests.support.processes.meter import CPU_SECONDS, Meter

REPOSITORY = "lake"
WORKSPACES = ("0" * 31 + "1", "0" * 31 + "2", "0" * 31 + "3")
BRANCHES = ("main", "dev", "tx", f"main+{WORKSPACES[0]}", f"main+{WORKSPACES[2]}")
REFS = ("main", "dev", "v1", "main~1", "main@", "tx~2^1", f"main+{WORKSPACES[0]}", f"main+{WORKSPACES[2]}")
PATHS = ("a.csv", "dir/b.csv", "dir/ü 😀.csv", "nope")
RUN = f"{1:020x}"
"""Of tests/support/stored_runs.py."""
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
    "userId": ("admin", "robot"),
    "groupId": ("Viewers", "sales"),
    "policyId": ("FSReadAll", "sales-readers"),
    "run_id": (RUN,),
    "hook_run_id": ("0000_0000", "0000_0001"),
    "event": ("pre-commit", "post-merge"),
}
EXPENDABLE = {"userId": "robot", "groupId": "sales", "policyId": "sales-readers"}
"""What calls change instead of what the run's own user needs. They are not deleted."""
KEEP = 4  # one generated value in four stays
RETURNED: set[str] = set()
"""Ids and names that the server has answered with."""

_IDS = ("id", "name", "commit_id", "reference", "default_branch", "physical_address", "upload_id")


def _swap(values: Any) -> Any:
    if not isinstance(values, dict):
        return values
    return {name: _known(name, value) for name, value in values.items()}


def _known(name: str, value: Any) -> Any:
    choices = KNOWN.get(name)
    number = zlib.crc32(repr(value).encode())
    if isinstance(value, str) and value in RETURNED:
        return value
    if choices is None or number % KEEP == 0:
        return value
    return choices[number // KEEP % len(choices)]


def _spared(path: str, names: dict[str, Any], *, deletes: bool) -> dict[str, Any]:
    """Names of users, groups and policies that a call may change: what this run created, else EXPENDABLE."""
    whole = deletes and path.count("{") == 1
    made = {
        value for value in names.values() if value in RETURNED and str(value).startswith("i") and value[1:].isdigit()
    }
    return {
        name: "none" if whole and value not in made else value if value in made else EXPENDABLE.get(name, value)
        for name, value in names.items()
    }


def _nearby(name: str, value: Any) -> Any:
    """A namespace in a cloud, moved to this machine: the run uses no other network."""
    if name == "storage_namespace" and isinstance(value, str):
        scheme, separator, rest = value.partition("://")
        return f"mem://{rest}" if separator and scheme in {"s3", "gs", "az"} else value
    return value


def _named(path: str, body: dict[str, Any]) -> dict[str, Any]:
    """What is to be created, under a name that is right and new."""
    number = zlib.crc32(repr(body).encode())
    if number % KEEP == 0:
        return body
    if path.endswith("/repositories"):
        name = f"r{number}"
        return {**body, "name": name, "storage_namespace": f"mem://{name}", "default_branch": "main", "storage_id": ""}
    if path.endswith("/branches"):
        return {**body, "name": f"b{number}"}
    if path in ("/auth/users", "/auth/groups", "/auth/policies"):
        return {**body, "id": f"i{number}"}
    if path.endswith("/tags"):
        return {**body, "id": f"t{number}"}
    if path.endswith("/workspaces"):
        return {**{key: value for key, value in body.items() if key != "id"}, "branch": "main"}
    return body


class _OtherKeys(dict[str, str]):
    """Wrong credentials, each of another access key: the server answers repeated guesses at one key with 429."""

    _numbers = itertools.count()

    def get(self, scheme: str, default: Any = None) -> Any:
        """The header value for an authentication scheme."""
        if scheme != "_basic_auth":
            return super().get(scheme, default)
        return "Basic " + b64encode(f"wrong-{next(self._numbers)}:wrong".encode()).decode()


_auth_retry.INVALID_AUTH_HEADERS = _OtherKeys(_auth_retry.INVALID_AUTH_HEADERS)  # its version is pinned

METER = Meter(int(os.environ["LAKEBED_SERVER_PID"]))
MOST_CPU = float(os.environ.get("LAKEBED_MOST_CPU", CPU_SECONDS))
_before = [0.0]
"""The CPU time of the server before the call that is under way; schemathesis makes one call at a time."""


@schemathesis.check
def bounded_cost(context: Any, response: Any, case: Any) -> None:
    """Fail when the call used more CPU time, or left more memory, than a call may."""
    complaint = METER.complaint(_before[0], MOST_CPU)
    if complaint:
        raise AssertionError(complaint)


@schemathesis.hook
def before_call(context: Any, case: Any, kwargs: Any) -> None:
    """Swap names in the path, the query and a JSON body, in every phase. What everything needs is never deleted."""
    _before[0] = METER.cpu()
    deletes = case.method.upper() == "DELETE"
    if not (deletes and case.path.endswith(("/{repository}", "/{branch}", "/{tag}", "/{workspace}"))):
        case.path_parameters = _swap(case.path_parameters)
    if case.path.startswith("/auth/") and case.method.upper() in ("PUT", "PATCH", "DELETE"):
        case.path_parameters = _spared(case.path, case.path_parameters or {}, deletes=deletes)
    case.query = _swap(case.query)
    case.body = _swap(case.body)
    if isinstance(case.body, dict):
        case.body = {name: _nearby(name, value) for name, value in case.body.items()}
        if case.method.upper() == "POST":
            case.body = _named(case.path, case.body)


@schemathesis.hook
def after_call(context: Any, case: Any, response: Any) -> None:
    """Remember the server's answers."""
    if response.status_code < 300:
        with suppress(ValueError):  # an object of a user, of whatever content
            _remember(response.json())


def _remember(reported: Any) -> None:
    if isinstance(reported, list):
        for one in reported:
            _remember(one)
    elif isinstance(reported, dict):
        RETURNED.update(value for name, value in reported.items() if name in _IDS and isinstance(value, str))
        for value in reported.values():
            _remember(value)
