"""Where the content of a DVC repository is: its cache, and its remote."""

from __future__ import annotations

import configparser
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from lakebed._migrate.dvc_files import Content
from lakebed.errors import ConfigurationError, InvalidRequestError, ObjectGoneError

CHUNK = 1 << 20
_REMOTE = re.compile(r"""'?remote ['"](.+?)['"]'?""")
_S3_OPTIONS = {
    "endpointurl": "endpoint_url",
    "access_key_id": "key",
    "secret_access_key": "secret",
    "session_token": "token",
    "profile": "profile",
}
"""Options of DVC's S3 remotes, and the arguments of s3fs with the same meaning."""


class Place(Protocol):
    """A cache or a remote."""

    def open(self, path: str) -> Iterator[bytes]:
        """The content of a file. Raises FileNotFoundError at the first piece."""
        ...

    def size(self, path: str) -> int:
        """Its length in bytes. Raises FileNotFoundError."""
        ...


class LocalPlace:
    """A cache, or a remote that is a directory."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def open(self, path: str) -> Iterator[bytes]:
        """The content of a file."""
        with (self._root / path).open("rb") as file:
            while chunk := file.read(CHUNK):
                yield chunk

    def size(self, path: str) -> int:
        """Its length in bytes."""
        return (self._root / path).stat().st_size

    def __str__(self) -> str:
        return str(self._root)


class FsspecPlace:
    """A remote of any kind that fsspec reads. Raises ConfigurationError when its package is missing."""

    def __init__(self, url: str, options: Mapping[str, Any]) -> None:
        import fsspec

        self._url = url.rstrip("/")
        try:
            self._fs, self._root = fsspec.core.url_to_fs(self._url, **options)
        except ImportError as error:
            raise ConfigurationError(f"the remote {url} needs another package: {error}") from None
        except ValueError as error:
            raise ConfigurationError(
                f"the remote {url} cannot be read: {error}; run `dvc fetch --all-commits`, and migrate from the cache"
            ) from None

    def open(self, path: str) -> Iterator[bytes]:
        """The content of a file."""
        with self._fs.open(f"{self._root}/{path}", "rb") as file:
            while chunk := file.read(CHUNK):
                yield chunk

    def size(self, path: str) -> int:
        """Its length in bytes."""
        return int(self._fs.size(f"{self._root}/{path}"))

    def __str__(self) -> str:
        return self._url


class ContentStore:
    """Finds content in the first place that has it, in the layouts of DVC 3 and of DVC 2."""

    def __init__(self, places: Sequence[Place]) -> None:
        self._places = places

    def open(self, content: Content, path: str) -> Iterator[bytes]:
        """The content of a tracked file. `path` is for the message. Raises ObjectGoneError."""
        for place, name in self._candidates(content):
            try:
                chunks = place.open(name)
                first = next(chunks, b"")
            except FileNotFoundError:
                continue
            yield first
            yield from chunks
            return
        where = " and ".join(map(str, self._places))
        raise ObjectGoneError(
            f"the content of {path!r} (MD5 {content.md5}) is missing in {where}; "
            "`dvc fetch --all-commits` may restore it, and --skip-missing skips such files",
            path=path,
        )

    def size(self, content: Content) -> int | None:
        """The length in bytes; None when the content is missing."""
        for place, name in self._candidates(content):
            try:
                return place.size(name)
            except FileNotFoundError:
                continue
        return None

    def _candidates(self, content: Content) -> Iterator[tuple[Place, str]]:
        old = f"{content.md5[:2]}/{content.md5[2:]}"
        names = [f"files/md5/{old}", old]
        for place in self._places:
            for name in reversed(names) if content.legacy else names:
                yield place, name


def content_store(top: Path, remote: str = "") -> ContentStore:
    """The cache and the remote of the DVC repository at `top`. `remote`: its name; by default the default remote.

    Raises InvalidRequestError for a folder that is not a DVC repository, or a remote that does not exist.
    """
    folder = top / ".dvc"
    if not folder.is_dir():
        raise InvalidRequestError(f"{top} is not a DVC repository: it has no directory .dvc")
    sections = _config(folder)
    cache = sections.get("cache", {}).get("dir", "cache")
    places: list[Place] = [LocalPlace(folder / os.path.expanduser(cache))]
    wanted = remote or sections.get("core", {}).get("remote", "")
    if wanted:
        found = sections.get(f"remote {wanted}")
        if not found or "url" not in found:
            raise InvalidRequestError(f"the configuration of {folder} has no remote {wanted!r}; see `dvc remote list`")
        places.append(_remote(folder, found))
    return ContentStore(places)


def _config(folder: Path) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    home = Path(os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config"))
    for file in (home / "dvc/config", folder / "config", folder / "config.local"):  # of the user, project, clone
        parser = configparser.ConfigParser(interpolation=None, strict=False)
        try:
            parser.read(file, "utf-8")
        except configparser.Error as error:
            raise InvalidRequestError(f"cannot read {file}: {error}") from None
        for section in parser.sections():
            remote = _REMOTE.fullmatch(section)
            found.setdefault(f"remote {remote[1]}" if remote else section, {}).update(parser[section])
    return found


def _remote(folder: Path, options: Mapping[str, str]) -> Place:
    url = options["url"]
    if "://" not in url:
        return LocalPlace(folder / os.path.expanduser(url))
    if not url.startswith("s3://"):
        return FsspecPlace(url, {})
    given: dict[str, Any] = {new: options[old] for old, new in _S3_OPTIONS.items() if old in options}
    if "region" in options:
        given["client_kwargs"] = {"region_name": options["region"]}
    if options.get("ssl_verify", "").lower() == "false":
        given.setdefault("client_kwargs", {})["verify"] = False
    return FsspecPlace(url, given)
