"""The location of a table, for errors: each error names repository, ref and path. Imports no large library."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lakebed.errors import InvalidRequestError, SchemaDifference, SchemaMismatchError, TableFormatError

_LISTED = 5


@dataclass(frozen=True, slots=True)
class Place:
    """A table's path in a ref of a repository. A table may be a file or a folder of files."""

    repository: str
    ref: str
    path: str

    def __str__(self) -> str:
        return f"lakebed://{self.repository}/{self.ref}/{self.path}"

    def of(self, path: str) -> Place:
        """Another path of the same ref."""
        return Place(self.repository, self.ref, path)

    def about(self, operation: str) -> Mapping[str, Any]:
        """Return the arguments that every error carries."""
        return {"operation": operation, "repository": self.repository, "ref": self.ref, "path": self.path}

    def invalid(self, operation: str, problem: str, kind: str = "invalid_request") -> InvalidRequestError:
        """Return the error for an invalid request."""
        return InvalidRequestError(f"{operation} {self}: {problem}", kind=kind, **self.about(operation))

    def unreadable(self, operation: str, path: str, what: str, reason: object) -> TableFormatError:
        """Return the error for a file that is not of the expected format."""
        there = self.of(path)
        return TableFormatError(
            f"{there} is not a complete {what}: {reason}; write it again, or read it from an earlier commit",
            **there.about(operation),
        )

    def mismatch(self, operation: str, differences: list[SchemaDifference], advice: str) -> SchemaMismatchError:
        """Return the error for files, or data and files, with different schemas."""
        shown = "; ".join(str(one) for one in differences[:_LISTED])
        if len(differences) > _LISTED:
            shown += f"; and {len(differences) - _LISTED} more differences"
        error = SchemaMismatchError(
            f"{operation} {self}: the schemas differ: {shown}; {advice}",
            **self.about(operation),
        )
        error.differences = tuple(differences)
        return error
