"""Paths of the form `repository/ref/path`, and which operations they allow. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from lakebed.errors import (
    InvalidRequestError,
    NotFoundError,
    ObjectNotFoundError,
    PreconditionFailedError,
    ReadOnlyRefError,
)
from lakebed.model import ObjectInfo

Row = dict[str, Any]
"""fsspec's description of a file or directory: `name`, `size`, `type`, and more keys of Lakebed."""


@dataclass(frozen=True, slots=True)
class Place:
    """The parts of a path in fsspec's form, without the scheme. Parts after the end of the path are empty."""

    repository: str = ""
    ref: str = ""
    path: str = ""

    @classmethod
    def of(cls, name: str) -> Place:
        """`sales/main/orders/1.parquet` -> ("sales", "main", "orders/1.parquet")."""
        return cls(*name.split("/", 2))

    @property
    def name(self) -> str:
        """The path in fsspec's form."""
        return "/".join(part for part in (self.repository, self.ref, self.path) if part)

    @property
    def folder(self) -> str:
        """The prefix of everything below the path: `orders/`, or empty for the whole ref."""
        return f"{self.path}/" if self.path else ""

    def at(self, path: str) -> str:
        """Return the name of an object of the same ref."""
        return f"{self.repository}/{self.ref}/{path}"

    def below(self, ref: str) -> Place:
        """Return the same path in another ref."""
        return replace(self, ref=ref)

    def __str__(self) -> str:
        return f"lakebed://{self.name}"


def object_place(name: str) -> Place:
    """Return a place that can hold an object. Raises InvalidRequestError."""
    place = Place.of(name)
    if not place.path:
        raise InvalidRequestError(f"{place} is not an object: write lakebed://repository/ref/path", kind="invalid_path")
    return place


def writable_place(name: str) -> Place:
    """Return a place that can be written to, judged by its form alone. Raises InvalidRequestError."""
    place = object_place(name)
    if place.ref.endswith(("@", "$")) or "~" in place.ref or "^" in place.ref:
        raise fixed(place)
    return place


def fixed(place: Place) -> ReadOnlyRefError:
    """Return the error for a write to a ref that never changes."""
    return ReadOnlyRefError(
        f"{place} cannot be written: {place.ref!r} is a tag, a commit or another fixed state, and never changes; "
        "write to a branch (lakebed://repository/branch/path) or a workspace (branch+id), or make a branch of it: "
        f'repo.branch("fix").create({place.ref!r})',
        kind="invalid_ref",
        repository=place.repository,
        ref=place.ref,
        path=place.path,
    )


def missing(place: Place, error: NotFoundError | None = None) -> ObjectNotFoundError:
    """Return the FileNotFoundError for a missing path, as every user of fsspec expects it."""
    if isinstance(error, ObjectNotFoundError):
        return error
    text = f"{place}: there is no such object or directory" if error is None else error.message
    return ObjectNotFoundError(
        text,
        kind=None if error is None else error.kind,
        status=None if error is None else error.status,
        request_id=None if error is None else error.request_id,
        operation=None if error is None else error.operation,
        repository=place.repository or None,
        ref=place.ref or None,
        path=place.path or None,
    )


def replaced(place: Place) -> PreconditionFailedError:
    """Return the error for a file that was replaced after a data set listed it."""
    return PreconditionFailedError(
        f"{place} was replaced after this data set was created, and the data set has cached the file footers: "
        "create it again to read the current files, or create it at a commit, which never changes",
        operation="open",
        repository=place.repository,
        ref=place.ref,
        path=place.path,
    )


def directory(place: Place, inside: str, error: ObjectNotFoundError) -> ObjectNotFoundError:
    """Return the error for a directory where an object is expected. `inside` is one of its files."""
    return ObjectNotFoundError(
        f"{place}: this is a directory, and only objects have content: name an object in it, such as {inside!r}; "
        "ls() and find() list them",
        kind="is_a_directory",
        status=error.status,
        request_id=error.request_id,
        operation=error.operation,
        repository=place.repository,
        ref=place.ref,
        path=place.path,
    )


def file_row(name: str, info: ObjectInfo) -> Row:
    """Return the row of a file. An entry is never changed, only replaced, so its creation is its last modification."""
    return {
        "name": name,
        "size": info.size,
        "type": "file",
        "checksum": info.checksum,
        "mtime": info.mtime,
        "created": info.mtime,
        "content_type": info.content_type,
        "metadata": dict(info.metadata),
        "physical_address": info.physical_address,
    }


def folder_row(name: str) -> Row:
    """Return the row of a directory. A directory exists only as the beginning of paths."""
    return {"name": name, "size": 0, "type": "directory"}
