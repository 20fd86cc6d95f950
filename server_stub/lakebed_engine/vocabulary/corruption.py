"""Errors about a metadata file that is damaged or missing. They name the file, and what to do.

Clients get the same text as the log. It has no data about the machine: the URI of a file consists of the storage
namespace, which clients know, and a key.
"""

from __future__ import annotations

from lakebed_format.keys import largest

from lakebed_engine.vocabulary.errors import CorruptDataError, MissingFileError

_MEND = "restore that file from a backup, or from the bucket's versions; `lakebed fsck` names what needs it"


def damaged_file(name: str, why: object) -> CorruptDataError:
    """The error for a file at this URI whose content differs from the written content."""
    return CorruptDataError(f"{name}: corrupt: {why}", public_message=f"stored data is damaged: {name}: {why}; {_MEND}")


def missing_file(name: str) -> MissingFileError:
    """The error for a missing file at this URI that a record names."""
    text = f"{name}: missing, though a commit or a branch needs it"
    return MissingFileError(f"{text}: run `lakebed fsck`", public_message=f"stored data is damaged: {text}; {_MEND}")


def refuse_larger(uri: str, key: str, size: int) -> None:
    """Raises CorruptDataError for a file that is too large for its kind, so that it is not read into memory."""
    most = largest(key)
    if size > most:
        raise damaged_file(f"{uri}/{key}", f"it has {size:,} bytes, at most {most:,} are read")
