"""The naming rules (`facts/rest_api.md` 3): repository, branch, tag, path, namespace. Each error names the rule.

This module also bounds pages of listings, in bytes as well as in rows: messages and user metadata have up to 64 KiB
each.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeVar

from lakebed_format.globs import GlobError, Globs

from lakebed_engine.vocabulary.errors import (
    InvalidNameError,
    InvalidNamespaceError,
    InvalidPathError,
    InvalidRequestError,
)
from lakebed_engine.vocabulary.records import Page

_REPOSITORY = re.compile(r"[a-z0-9][a-z0-9-]{2,62}", re.ASCII)
_BRANCH = re.compile(r"\w[-\w]*", re.ASCII)
_NAMESPACE = re.compile(r"(s3|gs|az|https?|mem|local|transient)://.*", re.ASCII)
_COMMIT = re.compile(r"[0-9a-f]{64}", re.ASCII)
_PULL = re.compile(r"[0-9a-v]{20}", re.ASCII)
MAX_NAME = 256
MAX_CHECK_NAME = 100
"""Bytes of the name of a check of a commit."""
MAX_PATH_BYTES = 1024
MAX_PAGE = 1000
MAX_TEXT_BYTES = 64 << 10
"""Bytes of a message, and of the keys and values of user metadata."""


def check_repository(name: str) -> None:
    """3 to 63 of a-z, 0-9 and `-`, not beginning with `-`."""
    if not _REPOSITORY.fullmatch(name):
        raise InvalidNameError(
            f"repository name {name[:80]!r}: must be 3 to 63 of a-z, 0-9 and '-', beginning with a letter or digit"
        )


def check_branch(name: str) -> None:
    """ASCII letters, digits, `_` and `-`, not beginning with `-`."""
    if not _BRANCH.fullmatch(name) or len(name) > MAX_NAME:
        near = re.sub(r"[^-\w]+", "-", name, flags=re.ASCII).strip("-")[:80]
        raise InvalidNameError(
            f"branch name {name[:80]!r}: must be 1 to {MAX_NAME} ASCII letters, digits, '_' and '-', "
            f"not beginning with '-' (no dot, no slash){f'; for example {near!r}' if near else ''}"
        )


def check_tag(name: str) -> None:
    """Git's rules for a ref, without slashes."""
    bad = next((word for word in ("..", "/", "@{", "^", ":", "?", "*", "[", "\\") if word in name), None)
    if bad is not None:
        raise InvalidNameError(f"tag name {name[:80]!r}: must not contain {bad!r}")
    if not name or name == "@" or name.endswith((".", ".lock")) or len(name) > MAX_NAME:
        raise InvalidNameError(
            f"tag name {name[:80]!r}: must be 1 to {MAX_NAME} characters, not '@', and not end in '.' or '.lock'"
        )
    if any(char <= " " or char == "\x7f" for char in name):
        raise InvalidNameError(f"tag name {name[:80]!r}: must not contain spaces or control characters")
    check_text("tag name", name)


def check_path(path: str) -> None:
    """1 to 1,024 bytes of UTF-8. Everything else is allowed, and nothing is normalised."""
    if path.isascii() and 0 < len(path) <= MAX_PATH_BYTES:
        return  # the fast path of nearly all paths
    if not path:
        raise InvalidPathError("object path: must not be empty")
    try:
        size = len(path.encode())
    except UnicodeEncodeError:
        raise InvalidPathError("object path: must be valid UTF-8 (it contains a lone surrogate)") from None
    if size > MAX_PATH_BYTES:
        raise InvalidPathError(f"object path {path[:40]!r}...: {size} bytes, at most {MAX_PATH_BYTES}")


def check_paths(paths: Sequence[str]) -> None:
    """As `check_path`, for many paths."""
    sizes = [*map(len, paths)]
    if all(map(str.isascii, paths)) and min(sizes, default=1) and max(sizes, default=1) <= MAX_PATH_BYTES:
        return  # the fast path of nearly all paths
    for path in paths:
        check_path(path)


def check_text(name: str, value: str) -> None:
    """Stored text must be valid UTF-8."""
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InvalidRequestError(f"{name}: must be valid UTF-8 (it contains a lone surrogate)") from None


def check_texts(**values: str) -> None:
    """As `check_text`, for several by name."""
    for name, value in values.items():
        check_text(name, value)


def check_bounded(name: str, value: str, most: int, *, least: int = 0) -> None:
    """UTF-8 of `least` to `most` bytes."""
    check_text(name, value)
    size = len(value.encode())
    if not least <= size <= most:
        raise InvalidRequestError(f"{name}: {size:,} bytes, must have {least} to {most:,}")


def check_pull_id(pull_id: str) -> None:
    """20 of the digits 0-9 and a-v."""
    if not _PULL.fullmatch(pull_id):
        raise InvalidRequestError(f"pull request {pull_id[:80]!r}: its id must be 20 of the digits 0-9 and a-v")


def check_message(message: str) -> None:
    """A commit message: UTF-8, at most 64 KiB. It is in the KV store and in each page of a log."""
    check_text("message", message)
    if len(message) > MAX_TEXT_BYTES or len(message.encode()) > MAX_TEXT_BYTES:
        raise InvalidRequestError(
            f"message: {len(message.encode()):,} bytes, at most {MAX_TEXT_BYTES:,}; put long text into an object"
        )


def check_metadata(metadata: Mapping[str, str]) -> None:
    """User metadata of a commit, an object or a repository: UTF-8, at most 64 KiB of keys and values."""
    size = 0
    for key, value in metadata.items():
        check_text("metadata key", key)
        check_text(f"metadata {key[:80]!r}", value)
        size += len(key.encode()) + len(value.encode())
    if size > MAX_TEXT_BYTES:
        raise InvalidRequestError(
            f"metadata: {size:,} bytes of keys and values, at most {MAX_TEXT_BYTES:,}; put more into an object"
        )


def read_globs(texts: Sequence[str]) -> Globs:
    """The globs of a request. Raises InvalidRequestError for too many globs, and for an invalid or too long glob."""
    for text in texts:
        check_text("glob", text)
    try:
        return Globs(texts)
    except GlobError as error:
        raise InvalidRequestError(str(error)) from None


def check_namespace(uri: str) -> None:
    """Check that the scheme is known. Whether the namespace can be opened is checked by the stores."""
    if not _NAMESPACE.fullmatch(uri):
        raise InvalidNamespaceError(
            f"storage namespace {uri[:80]!r}: must begin with local://, mem:// or another object store's scheme"
        )


def is_commit_id(text: str) -> bool:
    """64 lower-case hex characters."""
    return _COMMIT.fullmatch(text) is not None


def check_amount(amount: int) -> None:
    """1 to 1,000 rows a page."""
    if not 1 <= amount <= MAX_PAGE:
        raise InvalidRequestError(f"amount {amount}: must be 1 to {MAX_PAGE}")


PAGE_BYTES: Final = 8 << 20
"""Bytes of text in one page. A page that reaches this size ends there, and reports that more follows."""

T = TypeVar("T")


def bounded(page: Page[T], size_of: Callable[[T], int]) -> Page[T]:
    """The first items of the page whose sizes in bytes add up to at most `PAGE_BYTES`. At least one item."""
    total = 0
    for number, item in enumerate(page.items):
        total += size_of(item)
        if total > PAGE_BYTES and number:
            return Page(page.items[:number], has_more=True)
    return page


def metadata_size(metadata: Mapping[str, str]) -> int:
    """The approximate size of user metadata in bytes."""
    return sum(len(key) + len(value) for key, value in metadata.items()) if metadata else 0
