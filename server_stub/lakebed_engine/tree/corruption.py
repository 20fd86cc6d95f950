"""What is said of a metadata file that is damaged or gone: which one, why, and what to do. Nothing of this machine.

Clients are told the same as the log: a file's URI is the storage namespace, which they know, and a key in it.
"""

from __future__ import annotations

from lakebed_engine.vocabulary.errors import CorruptDataError, MissingFileError

_MEND = "restore that file from a backup, or from the bucket's versions; `lakebed fsck` names what needs it"


def damaged_file(name: str, why: object) -> CorruptDataError:
    """The file at this URI is not what was written."""
    return CorruptDataError(f"{name}: corrupt: {why}", told=f"stored data is damaged: {name}: {why}; {_MEND}")


def missing_file(name: str) -> MissingFileError:
    """The file at this URI is not there, though a record named it."""
    text = f"{name}: missing, though a commit or a branch needs it"
    return MissingFileError(f"{text}: run `lakebed fsck`", told=f"stored data is damaged: {text}; {_MEND}")
