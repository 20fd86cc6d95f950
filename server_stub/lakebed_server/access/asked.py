"""What one request asks for: the permissions that it needs, and where it reads or writes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from lakebed_auth import AllOf, Needs


class EachPath(NamedTuple):
    """An action on many objects of a repository. The request is refused whole if one of them is not allowed."""

    action: str
    repository: str
    paths: Iterable[str]


class Everything(NamedTuple):
    """An action on all objects of a repository whose paths begin with `prefix`."""

    action: str
    repository: str
    prefix: str = ""


class Source(NamedTuple):
    """An object that the request copies. It must be allowed to read it, on the branch of its own ref."""

    repository: str
    ref: str
    path: str


class Asked(NamedTuple):
    """The permissions that a request needs.

    `branch`: the branch that it reads or writes. `ref`: the ref as it was sent. `workspace`: the id of the workspace,
    whose branch counts as `branch`. `spares_creator`: the workspace's creator needs none of `needs`. `owner`: this user
    needs none of `needs`, except with an access key that has a policy.
    """

    needs: Needs = AllOf()
    branch: str = ""
    ref: str = ""
    workspace: str = ""
    spares_creator: bool = False
    owner: str = ""
    each: tuple[EachPath, ...] = ()
    everything: tuple[Everything, ...] = ()
    source: Source | None = None


NOTHING = Asked()
"""Any user may do this."""


class Row(NamedTuple):
    """A row of a table of permissions. `asked` returns what one request asks for.

    `actions`: if given, every request asks for some of these actions, on the repository of the request or in it, and
    for nothing else. The server does not call `asked` for a user who may always do them there.
    """

    asked: Callable[..., Asked]
    actions: tuple[str, ...] = ()
