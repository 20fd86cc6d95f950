"""Amazon Resource Names (ARNs) of repositories, branches, tags, objects, users, groups and policies.

An ARN has six parts: `arn:lakefs:SERVICE:REGION:ACCOUNT:RESOURCE`. Lakebed writes no region and no account. Ids and
paths are in an ARN without an encoding: two paths that differ in one byte are two resources.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from lakebed_auth.actions import SERVICES, suggestion
from lakebed_auth.errors import PolicyError

ALL: Final = "*"
"""Every resource. As the resource of a request, it means that the request concerns no single resource (a list of
users).
"""

_FS: Final = "arn:lakefs:fs:::"
_AUTH: Final = "arn:lakefs:auth:::"
_EXAMPLE: Final = "such as 'arn:lakefs:fs:::repository/sales'"


def repository(name: str) -> str:
    """Return the ARN of a repository."""
    return f"{_FS}repository/{name}"


def object_(repository_name: str, path: str) -> str:
    """Return the ARN of an object. It names no branch: a rule about a path applies to all branches."""
    return f"{_FS}repository/{repository_name}/object/{path}"


def branch(repository_name: str, name: str) -> str:
    """Return the ARN of a branch."""
    return f"{_FS}repository/{repository_name}/branch/{name}"


def tag(repository_name: str, name: str) -> str:
    """Return the ARN of a tag."""
    return f"{_FS}repository/{repository_name}/tag/{name}"


def namespace(uri: str) -> str:
    """Return the ARN of a storage namespace, such as that of `s3://bucket/sales`."""
    return f"{_FS}namespace/{uri}"


def user(name: str) -> str:
    """Return the ARN of a user."""
    return f"{_AUTH}user/{name}"


def group(name: str) -> str:
    """Return the ARN of a group."""
    return f"{_AUTH}group/{name}"


def policy(name: str) -> str:
    """Return the ARN of a policy."""
    return f"{_AUTH}policy/{name}"


class Arn(NamedTuple):
    """The parts of an ARN that matter to a comparison. The region does not: Lakebed ignores it."""

    service: str
    account: str
    resource: str

    def __str__(self) -> str:
        return f"arn:lakefs:{self.service}::{self.account}:{self.resource}"


def parse(text: str) -> Arn:
    """Return the parts of an ARN. Raises PolicyError: it is not an ARN, or it has wildcards outside the resource."""
    parts = text.split(":", 5)
    if len(parts) < 6 or parts[:2] != ["arn", "lakefs"] or not parts[5]:
        raise PolicyError(f"{text!r} is not an ARN of six parts: write arn:lakefs:SERVICE:::RESOURCE, {_EXAMPLE}")
    service, account, resource = parts[2], parts[4], parts[5]
    if service not in SERVICES:
        raise PolicyError(f"{text!r} has the unknown service {service!r}: {suggestion(service, SERVICES)}")
    if "*" in account or "?" in account:
        raise PolicyError(f"{text!r} has a wildcard in its account: use wildcards only in the resource, {_EXAMPLE}")
    return Arn(service, account, resource)


def canonical(text: str) -> str:
    """Return `*` or an ARN without its region, as decisions compare it. Raises PolicyError as `parse` does."""
    return text if text == ALL else str(parse(text))


def short(resource: str) -> str:
    """Return a resource as messages show it: `repository/sales/object/x`."""
    return resource if resource == ALL else resource.split(":", 5)[-1]
