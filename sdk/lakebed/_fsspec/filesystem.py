"""The file system class: the remaining blocking methods of fsspec, over `_fsspec.blocking`."""

from __future__ import annotations

import hashlib
import io
from datetime import datetime
from typing import Any

import fsspec
from fsspec.asyn import sync_wrapper

from lakebed._fsspec.blocking import Blocking
from lakebed._fsspec.files import AsyncFile, Reader, Writer
from lakebed._fsspec.paths import Row, missing, object_place
from lakebed._fsspec.transaction import LakebedTransaction
from lakebed._integration.aio import signed_address
from lakebed._integration.values import TextObjectWriter
from lakebed.errors import InvalidRequestError, NotFoundError, UnsupportedOperationError

_MODES = ("rb", "wb", "xb")


class LakebedFileSystem(Blocking):
    """`lakebed://repository/ref/path`, for every library that supports fsspec.

    Any ref can be read: a branch with its uncommitted changes, `main@` without them, a tag, a commit, `main~2`, a
    workspace `main+id`. Branches and workspaces can be written to. A write to a branch is uncommitted until
    `branch.commit()`, and `with fs.transaction:` makes one commit. It caches only data of open files, and small files
    that pyarrow is about to open.

    Options: `endpoint`, `access_key_id`, `secret_access_key`, `timeout` (seconds), `retries`, and `data_path`
    (`direct`, `presigned` or `proxied`). Missing options come from `with lake.as_default():`, else from the environment
    and the configuration files, as for `lakebed.connect`.

    Errors are `LakebedError`s. They are also the builtin errors that users of fsspec expect: FileNotFoundError,
    FileExistsError, PermissionError.
    """

    __module__ = "lakebed.fsspec"
    transaction_type = LakebedTransaction

    def _open(
        self,
        path: str,
        mode: str = "rb",
        block_size: Any = None,
        autocommit: bool = True,
        cache_options: Any = None,
        **kwargs: Any,
    ) -> Reader | Writer:
        if mode == "rb":
            object_place(path)
            return Reader(self, path, block_size=block_size, cache_options=cache_options, **kwargs)
        _check_mode(mode, path)
        if mode == "xb":
            self._wait(self._refuse_taken, path)
        return Writer(self, path, mode, block_size=block_size, autocommit=autocommit, **kwargs)

    def open(self, path: Any, mode: str = "rb", **kwargs: Any) -> Any:
        """Open an object: `rb`, `wb`, `xb` (refuses to replace), and the same for text. `ab` is refused.

        A written object appears when the file is closed. An exception in the `with` block stores nothing. Raises
        ObjectNotFoundError, ObjectExistsError and InvalidRequestError.
        """
        if "b" in mode or "r" in mode or kwargs.get("compression"):
            return super().open(path, mode, **kwargs)
        text = {name: kwargs.pop(name) for name in ("encoding", "errors", "newline") if name in kwargs}
        writer = super().open(path, mode.replace("t", "") + "b", **kwargs)
        return _TextWriter(writer, **text)

    async def open_async(self, path: str, mode: str = "rb", **kwargs: Any) -> AsyncFile:
        """Open an object on the caller's event loop: `rb`, `wb` or `xb`."""
        path = self._strip_protocol(path)
        if mode == "rb":
            opened = await self._begin_reading(path)
            return AsyncFile(self, path, mode, opened=opened)
        _check_mode(mode, path)
        if mode == "xb":
            await self._refuse_taken(path)
        return AsyncFile(self, path, mode, **kwargs)

    # facts about objects

    async def _modified(self, path: str) -> datetime:
        row = await self._info(path)
        if row["type"] != "file":
            raise UnsupportedOperationError(f"lakebed://{row['name']} is a directory, and has no modification time")
        moment: datetime = row["mtime"]
        return moment

    modified = sync_wrapper(_modified)
    created = modified
    """Return when the object was written. An entry is never changed, only replaced."""

    async def _ukey(self, path: str) -> str:
        return _digest(await self._info(path))

    ukey = sync_wrapper(_ukey)

    async def _checksum(self, path: str) -> int:
        return int(_digest(await self._info(path)), 16)

    checksum = sync_wrapper(_checksum)

    async def _sign(self, path: str, expiration: int | None = None, **kwargs: Any) -> str:
        """Return an address from which anyone can read the object for a limited time, without credentials.

        The server sets the time (`objects.presign_expiry`) and ignores `expiration`. Raises
        UnsupportedOperationError where the server or its store does not sign.
        """
        place = object_place(self._strip_protocol(path))
        try:
            return await signed_address(self._ref(place), place.path)
        except InvalidRequestError as error:
            raise UnsupportedOperationError(
                f"{place}: the server does not presign URLs: its store cannot, or objects.presign is off; read "
                "through the file system",
                status=error.status,
                request_id=error.request_id,
                operation="sign",
                repository=place.repository,
                ref=place.ref,
                path=place.path,
            ) from error
        except NotFoundError as error:
            raise missing(place, error) from None

    sign = sync_wrapper(_sign)


class _TextWriter(TextObjectWriter):
    """Text over a writer: an exception in the block stores nothing."""

    def __init__(self, writer: Writer, encoding: str = "utf-8", errors: Any = None, newline: Any = None) -> None:
        io.TextIOWrapper.__init__(self, writer, encoding=encoding, errors=errors, newline=newline)
        self._writer = writer


def _check_mode(mode: str, path: str) -> None:
    if mode == "ab":
        raise UnsupportedOperationError(
            f"lakebed://{path} cannot be appended to: objects never change; read it and write it again, or write "
            "another object next to it"
        )
    if mode not in _MODES:
        raise InvalidRequestError(f"cannot open with mode {mode!r}: use one of {', '.join(_MODES)}")


def _digest(row: Row) -> str:
    """A digest of a file's content. For a directory only of its name."""
    parts = (row["type"], row.get("checksum", row["name"]), row["size"])
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def register_lakefs() -> None:
    """Make `lakefs://` open Lakebed in this process. Replaces another registration."""
    fsspec.register_implementation("lakefs", LakebedFileSystem, clobber=True)
