"""Operations of the lakeFS API that Lakebed does not have: answered with 501 and an alternative.

So a client sees the difference between an unsupported operation and a misspelled path (404, `endpoint_not_found`).
"""

from __future__ import annotations

from typing import Final

from lakebed_server.rest.routing import Trie
from lakebed_server.vocabulary import RequestError, not_implemented

_ACL: Final = "groups have no access control lists on this server: attach policies to the group"
_OUTSIDE: Final = "accounts of other systems are not accepted: log in with an access key"
_GC: Final = "clients cannot collect garbage: the server sweeps periodically, and `lakebed sweep` sweeps immediately"

_TABLE: Final[tuple[tuple[str, str, str], ...]] = (
    ("POST", "/auth/groups/{}/acl", _ACL),
    ("POST DELETE", "/auth/users/{}/external/principals", _OUTSIDE),
    ("GET", "/auth/users/{}/external/principals/ls", _OUTSIDE),
    ("GET", "/auth/external/principals", _OUTSIDE),
    ("POST", "/auth/external/principal/login", _OUTSIDE),
    ("POST", "/sts/login", _OUTSIDE),
    ("GET", "/oidc/callback", _OUTSIDE),
    ("GET PUT DELETE", "/repositories/{}/settings/gc_rules", _GC),
    ("GET", "/repositories/{}/gc/rules/set_allowed", _GC),
    ("GET POST DELETE", "/repositories/{}/gc/rules", _GC),
    ("POST", "/repositories/{}/gc/prepare_commits", _GC),
    ("POST", "/repositories/{}/gc/prepare_commits/async", _GC),
    ("GET", "/repositories/{}/gc/prepare_commits/status", _GC),
    ("POST", "/repositories/{}/gc/prepare_uncommited", _GC),
    ("GET", "/config/garbage-collection", _GC),
)
"""Methods, path and message."""


_trie = Trie((method, path, said) for methods, path, said in _TABLE for method in methods.split())


def refusal(method: str, path: str, otherwise: RequestError) -> RequestError:
    """The error for a path without an operation."""
    try:
        return not_implemented(_trie.find(method, path).target)
    except RequestError:
        return otherwise
