"""The destination of an export: a directory, or a folder of a bucket. Frozen values that go to executors.

A destination lists itself as a source does. So existing objects are found without a request for each object.
"""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol

import attrs
import lakebed
from lakebed._integration.values import is_plain
from lakebed.errors import CorruptTransferError, InvalidRequestError, ServerUnavailableError

from lakebed_spark.pipelines._sources.base import Source
from lakebed_spark.pipelines._sources.bucket import CloudFolder
from lakebed_spark.pipelines._sources.directory import LocalFolder

_CHUNK = 1 << 20
_MD5 = re.compile(r"[0-9a-f]{32}")


class Place(Protocol):
    """A folder that an export writes to. Keys are relative to it."""

    @property
    def source(self) -> Source:
        """Return a source of the existing objects."""
        ...

    def copy(self, ref: lakebed.Ref, path: str, key: str) -> str:
        """Write an object, which appears when it is complete. Returns the MD5. Raises CorruptTransferError."""
        ...

    def holds(self, key: str, version: str, md5: str) -> bool:
        """Whether the object at a key, listed as `version`, has this MD5."""
        ...

    def write(self, key: str, data: bytes) -> None:
        """Write a small file of the export itself."""
        ...

    def remove(self, key: str) -> None:
        """Remove the object at a key, if there is one."""
        ...


def open_place(to: str | os.PathLike[str]) -> Place:
    """Open a local path, `file:///...`, or `s3://bucket/folder/`. Raises InvalidRequestError."""
    text = os.fspath(to)
    scheme, found, rest = text.partition("://")
    if not found:
        return Directory(os.path.abspath(text))
    if scheme == "file" and rest.startswith("/"):
        return Directory(rest.rstrip("/") or "/")
    if scheme in ("s3", "gs", "az") and rest.strip("/"):
        elsewhere = scheme == "s3" and any(name.startswith("AWS_ENDPOINT") for name in os.environ)
        return Bucket(text.rstrip("/") + "/", not elsewhere)
    raise InvalidRequestError(f"cannot export to {text!r}: expected the path of a directory, or s3://BUCKET/FOLDER/")


@attrs.frozen
class Directory:
    """A directory that this machine and the executors see."""

    path: str

    @property
    def source(self) -> Source:
        """As of `Place`."""
        return LocalFolder(f"file://{self.path}/", self.path.rstrip("/") + "/")

    def copy(self, ref: lakebed.Ref, path: str, key: str) -> str:
        """As of `Place`. The content is checked against its checksum while it is written."""
        if not is_plain(key):
            raise InvalidRequestError(f"cannot create a file at {key!r}: export to a bucket, or export another folder")
        target = Path(self.path, key)
        target.parent.mkdir(parents=True, exist_ok=True)
        ref.download(path, target)
        return _md5(target)

    def holds(self, key: str, version: str, md5: str) -> bool:
        """As of `Place`: the file is read."""
        return _md5(Path(self.path, key)) == md5

    def write(self, key: str, data: bytes) -> None:
        """As of `Place`."""
        target = Path(self.path, key)
        target.parent.mkdir(parents=True, exist_ok=True)
        part = target.with_name(f".{target.name}.{os.getpid()}.part")
        part.write_bytes(data)
        os.replace(part, target)

    def remove(self, key: str) -> None:
        """As of `Place`. Also removes directories that become empty."""
        target = Path(self.path, key)
        target.unlink(missing_ok=True)
        for above in target.parents:
            if above == Path(self.path):
                return
            try:
                above.rmdir()
            except OSError:  # it contains something else
                return


@attrs.frozen
class Bucket:
    """A folder of a bucket, with the credentials that each machine has."""

    uri: str
    divides: bool = True

    @property
    def source(self) -> Source:
        """As of `Place`."""
        return CloudFolder(self.uri, self.divides)

    def copy(self, ref: lakebed.Ref, path: str, key: str) -> str:
        """As of `Place`. The content was checked before. The store's ETag, if it is an MD5, must match it."""
        with TemporaryDirectory(prefix="lakebed-export-", ignore_cleanup_errors=True) as folder:
            file = Path(folder, "object")
            ref.download(path, file)
            md5 = _md5(file)
            tag = self._put(key, file)
        if _MD5.fullmatch(tag) and tag != md5:
            raise CorruptTransferError(f"{self.uri}{key} was stored with ETag {tag}, but MD5 {md5} was sent")
        return md5

    def holds(self, key: str, version: str, md5: str) -> bool:
        """As of `Place`, by the ETag. The ETag of a multipart upload is no MD5, so it never matches."""
        return version == f"etag:{md5}"

    def write(self, key: str, data: bytes) -> None:
        """As of `Place`."""
        self._put(key, data)

    def remove(self, key: str) -> None:
        """As of `Place`."""
        import obstore

        store, top = CloudFolder(self.uri).open()
        obstore.delete(store, top + key)

    def _put(self, key: str, data: Any) -> str:
        import obstore
        from obstore.exceptions import BaseError

        store, top = CloudFolder(self.uri).open()
        try:
            stored = obstore.put(store, top + key, data)
        except BaseError as error:
            first = str(error).strip().split("\n", 1)[0]
            raise ServerUnavailableError(
                f"cannot write {self.uri}{key} with the credentials of this machine: {first}; set them "
                "(AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY)",
                operation="put",
                path=key,
            ) from error
        return (stored.get("e_tag") or "").strip('"')


def _md5(file: Path) -> str:
    digest = hashlib.md5(usedforsecurity=False)
    with file.open("rb") as content:
        while chunk := content.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()
