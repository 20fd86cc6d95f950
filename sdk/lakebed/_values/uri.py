"""`lakebed://repository/ref/path`: one object, prefix, ref or repository in one string.

A pure module over `errors`. Nothing is percent-decoded: a path is written as it is.
"""

from __future__ import annotations

from dataclasses import dataclass

from lakebed.errors import InvalidRequestError

SCHEMES = ("lakebed://", "lakefs://")


@dataclass(frozen=True, slots=True)
class Location:
    """The parts of a URI. `ref` and `path` are empty when the URI ends before them."""

    repository: str
    ref: str = ""
    path: str = ""

    def __str__(self) -> str:
        parts = [self.repository, self.ref, self.path] if self.path else [self.repository, self.ref]
        return SCHEMES[0] + "/".join(parts).rstrip("/" if not self.path else "")


def parse_uri(uri: str) -> Location:
    """Split a URI. Example: `lakebed://sales/main/orders/1.parquet`.

    Raises InvalidRequestError when the scheme is neither `lakebed` nor `lakefs`, or the repository is missing.
    """
    for scheme in SCHEMES:
        if uri.startswith(scheme):
            repository, _, rest = uri[len(scheme) :].partition("/")
            ref, _, path = rest.partition("/")
            if repository and (ref or not path):
                return Location(repository, ref, path)
    raise InvalidRequestError(f"not a Lakebed URI: {uri!r}; write lakebed://repository/ref/path")
