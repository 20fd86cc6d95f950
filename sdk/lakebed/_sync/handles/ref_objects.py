# Generated from sdk/lakebed/_async/handles/ref_objects.py by tools/unasync_sdk.py - do not edit.
# ruff: noqa: RUF100, UP028
"""Reading objects of a ref, their content and their properties. `Ref` inherits it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import IO, TYPE_CHECKING, Any, Literal

from lakebed import _checks, _files
from lakebed._compat.sync import ByPath, Shown, blocking, collect
from lakebed._compat.sync_files import OpenFile, open_file
from lakebed._gateway.operations import objects, physical_addresses
from lakebed._sync import bulk
from lakebed._sync import objects as transfers
from lakebed._sync.http.pagination import Listing
from lakebed._sync.http.target import Target
from lakebed._sync.http.transport import Transport
from lakebed._values.signed import PROXIED, wanted_path
from lakebed.errors import LakebedError, NotFoundError, ObjectNotFoundError, ReadOnlyRefError
from lakebed.model import CommonPrefix, ObjectInfo, ObjectWriter, RangeInfo

if TYPE_CHECKING:
    from lakebed._sync.handles.repository_base import Repository
    from lakebed._sync.objects.download import Download

_WRITES = frozenset(
    [
        "put",
        "put_many",
        "delete",
        "delete_many",
        "copy",
        "commit",
        "revert",
        "cherry_pick",
        "reset",
        "hard_reset",
        "link",
        "replace_metadata",
        "write_symlinks",
        "uncommitted",
        "workspace",
        "stash",
        "stashes",
        "pop",
        "undo",
        "ingest",
        "upload_tree",
        "write_parquet",
        "write_csv",
        "write_json",
        "write_feather",
    ]
)
"""Methods of a branch that users also try on tags and commits."""


class RefObjects(Shown, ByPath):
    """The objects of one state of a repository."""

    __module__ = "lakebed"
    _read_only = True

    def __init__(self, repository: Repository, id: str) -> None:
        self.repository = repository
        self.id = _checks.check_name(id, "ref")
        self._target = Target(repository._transport, repository._storage, repository.id, self.id)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.repository.id}/{self.id}>"

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self.repository == other.repository and self.id == other.id

    def __hash__(self) -> int:
        return hash((type(self).__name__, self.repository, self.id))

    @property
    def _transport(self) -> Transport:
        return self._target.transport

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if self._read_only and name in _WRITES:
                raise _refused(self, name)
            from lakebed._values.foreign_names import unknown_attribute

            raise unknown_attribute(self, name)

    def get(self, path: str, start: int = 0, length: int | None = None) -> bytes:
        """Return the content of an object, or of a range of it (`start` and `length` in bytes).

        The SDK compares a whole object with its checksum.

            data = main.get("raw/a.csv")

        Raises ObjectNotFoundError, InvalidRequestError (a range behind the end) and CorruptTransferError.
        """
        try:
            return self._download(path, start, length).read()
        except NotFoundError as error:
            self._transport.advise(error)
            raise

    def chunks(self, path: str, start: int = 0, length: int | None = None) -> Iterator[bytes]:
        """Return the content as chunks, in the sizes in which they arrive.

        Continues when the connection breaks. Raises what `get` raises.

            for chunk in main.chunks("video.mp4"):
                print(len(chunk))
        """
        for chunk in self._download(path, start, length):
            yield chunk

    def get_many(
        self,
        paths: Iterable[str] | None = None,
        *,
        prefix: str | None = None,
        on_error: Callable[[str, LakebedError], None] | None = None,
    ) -> dict[str, bytes]:
        """Return the contents of many objects by their paths, or of all objects with a prefix.

        Small objects come in few requests. The SDK compares each object with its checksum.

            tiles = main.get_many(["tiles/1.png", "tiles/2.png"])
            tiles = main.get_many(prefix="tiles/")

        Without `on_error`, objects that cannot be read raise PartialFailureError after all others were read: its
        `failures` name them. With it, the SDK calls `on_error` with the path and the error of each.
        """
        return dict(collect(self.iter_many(paths, prefix=prefix, on_error=on_error)))

    def iter_many(
        self,
        paths: Iterable[str] | None = None,
        *,
        prefix: str | None = None,
        on_error: Callable[[str, LakebedError], None] | None = None,
    ) -> Iterator[tuple[str, bytes]]:
        """As `get_many`, as an iterator of paths and contents, in order. Holds one object in memory.

        Example:

            for path, data in main.iter_many(prefix="raw/"):
                print(path, len(data))
        """
        for path, data in transfers.read_many.read_many(self, paths, prefix, on_error):
            yield path, data

    def download(
        self,
        path: str,
        target: str | os.PathLike[str] | IO[bytes],
        *,
        progress: Callable[[int], None] | None = None,
    ) -> ObjectInfo:
        """Write an object to a local path or into an open binary file. A path appears only when the file is complete.

        The SDK calls `progress` with the number of bytes that just arrived. The result contains what the headers of the
        answer said: its `metadata` and `physical_address` are empty.

        Raises ObjectNotFoundError and CorruptTransferError. When the target is a directory, or its directory is
        missing, it raises before the transfer begins.

            main.download("raw/a.csv", "a.csv")
        """
        try:
            return transfers.download.save(self._download(path, 0, None), target, progress)
        except NotFoundError as error:
            self._transport.advise(error)
            raise

    def archive(
        self,
        prefix: str,
        target: str | os.PathLike[str] | IO[bytes],
        *,
        format: Literal["tar", "tar.gz", "zip"] = "tar",
    ) -> int:
        """Write the objects with a prefix as one archive to a local path or into an open binary file. Returns its size.

        A path appears only when the archive is complete. The archive has the objects of one commit: of a branch, those
        of its last commit. Names are relative to the folder of the prefix, and none leaves the directory in which the
        archive is unpacked.

            repo.ref("v1").archive("orders/", "orders.zip", format="zip")

        Raises ObjectNotFoundError when there is nothing to write, and ServerUnavailableError when the answer breaks
        off, for example because the server cannot read an object.
        """
        _checks.check_text(prefix, "prefix")
        return transfers.read_many.save_archive(self._target, prefix, format, target)

    def open(self, path: str, mode: str = "rb", *, encoding: str = "utf-8", newline: str | None = None) -> OpenFile:
        """Open an object as a seekable file: `rb` for bytes, `r` for text. Reads fetch ranges through a buffer.

        Raises ObjectNotFoundError. A read raises PreconditionFailedError when the object has changed since it was
        opened.

            with main.open("raw/a.csv") as file:
                header = file.readline()
        """
        plain = _files.check_mode(mode, writable=False)
        return self._open_to_read(path, plain, encoding, newline)

    def stat(self, path: str) -> ObjectInfo:
        """Return size, checksum, time, content type and metadata of an object. Raises ObjectNotFoundError.

        Example:

            info = main.stat("raw/a.csv")
            print(info.size, info.checksum)
        """
        return self._transport.call(objects.stat(self.repository.id, self.id, _checks.check_path(path)))

    def storage_class(self, path: str) -> str | None:
        """Return the storage class of an object in the store, or None. Raises ObjectNotFoundError."""
        return self._transport.call(
            physical_addresses.storage_class(self.repository.id, self.id, _checks.check_path(path))
        )

    def exists(self, path: str) -> bool:
        """Return whether there is an object at exactly this path. Raises NotFoundError when the ref does not exist.

        Example:

            if main.exists("raw/a.csv"):
                print(main.get("raw/a.csv"))
        """
        try:
            self.stat(path)
        except ObjectNotFoundError:
            return False
        return True

    def list(
        self, prefix: str = "", delimiter: str = "", after: str = "", limit: int | None = None
    ) -> Listing[ObjectInfo | CommonPrefix]:
        """List objects in the byte order of their paths. With a delimiter, each folder is one CommonPrefix.

        Example:

            for entry in main.list("raw/", delimiter="/"):
                print(entry.path)
        """
        _checks.check_text(prefix + delimiter + after, "prefix, delimiter or after")
        return Listing(
            self._transport,
            lambda after, amount: objects.list_page(
                self.repository.id, self.id, prefix=prefix, delimiter=delimiter, after=after, amount=amount
            ),
            ObjectInfo.COLUMNS,
            f"lakebed://{self.repository.id}/{self.id}/{prefix}",
            after=after,
            limit=limit,
        )

    def find(
        self, text: str, prefix: str = "", after: str = "", limit: int | None = None
    ) -> Listing[ObjectInfo | CommonPrefix]:
        """List the objects whose path contains a text after `prefix`. The search ignores case.

            for entry in main.find("2026-11", "orders/"):
                print(entry.path)

        The server reads all paths below the prefix, a bounded number in each request. So a search in a large
        repository takes many requests, also when it finds little.
        """
        _checks.check_text(text + prefix + after, "text, prefix or after")
        return Listing(
            self._transport,
            lambda after, amount: objects.search_page(
                self.repository.id, self.id, text, prefix=prefix, after=after, amount=amount
            ),
            ObjectInfo.COLUMNS,
            f"{text!r} in lakebed://{self.repository.id}/{self.id}/{prefix}",
            after=after,
            limit=limit,
        )

    def writers(self, prefix: str = "", after: str = "", limit: int | None = None) -> Listing[ObjectWriter]:
        """List objects in the order of their paths, with the commits that wrote their present content.

            for file in main.writers("orders/"):
                print(file.path, file.commit.committer if file.commit else "?")

        The server reads the history for a bounded time in each request, so a commit that is far back may be missing.
        """
        _checks.check_text(prefix + after, "prefix or after")
        return Listing(
            self._transport,
            lambda after, amount: objects.writers_page(
                self.repository.id, self.id, prefix=prefix, after=after, amount=min(amount, 100)
            ),
            ObjectWriter.COLUMNS,
            f"writers of lakebed://{self.repository.id}/{self.id}/{prefix}",
            after=after,
            limit=limit,
        )

    def ranges(self) -> Sequence[RangeInfo]:
        """Return the Parquet files that contain the committed entries, for engines that read them directly.

        The ranges come first, in the order of paths, then the patches. Uncommitted entries of a branch are in none of
        them.
        """
        return bulk.ranges.ranges_of(self._target)

    # what the verbs share

    def _download(
        self, path: str, start: int, length: int | None, checksum: str | None = None, known: str | None = None
    ) -> Download:
        _checks.check_path(path)
        return transfers.download.Download(
            self._target,
            path,
            start=start,
            length=length,
            checksum=checksum,
            known=known,
            proxied=self._reads_proxied(),
        )

    def _reads_proxied(self) -> bool:
        """Return whether all bytes must come through the server. The variable LAKEBED_DATA_PATH can demand it."""
        return wanted_path(None) == PROXIED

    def _read_at(self, path: str, start: int, length: int, checksum: str) -> bytes:
        """Return exactly this range of the object that has this checksum."""
        return self._download(path, start, length, checksum).read()

    def _open_to_read(self, path: str, mode: str, encoding: str, newline: str | None) -> OpenFile:
        _checks.check_path(path)
        stat, read_at = blocking(partial(self.stat, path)), blocking(partial(self._read_at, path))
        return open_file(lambda: _files.open_reader(mode, stat, read_at, encoding, newline))


def _refused(ref: RefObjects, verb: str) -> ReadOnlyRefError:
    where = f"lakebed://{ref.repository.id}/{ref.id}"
    kind = type(ref).__name__.lower()
    itself = f"; `drop` deletes the {kind} itself" if verb == "delete" and hasattr(type(ref), "drop") else ""
    return ReadOnlyRefError(
        f"{verb} {where}: {kind} {ref.id!r} cannot be written to, only branches and workspaces "
        f"can: use repo.branch({ref.id!r}) if it is a branch, or create a branch from it: "
        f'repo.branch("fix").create({ref.id!r})'
        f"{itself}",
        operation=verb,
        repository=ref.repository.id,
        ref=ref.id,
    )
