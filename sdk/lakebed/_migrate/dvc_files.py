"""What DVC tracks in a commit, from its `.dvc` files and `dvc.lock`. Pure."""

from __future__ import annotations

import json
import posixpath
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from lakebed.errors import InvalidRequestError


@dataclass(frozen=True, slots=True)
class Content:
    """The name of content in a cache or remote. `legacy`: the MD5 of DVC 2, which reads CR LF in texts as LF."""

    md5: str
    legacy: bool = False


@dataclass(frozen=True, slots=True)
class Out:
    """A tracked file or, when `content.md5` ends in `.dir`, a tracked directory. `path` is below the DVC repository.

    `size` in bytes, None when unknown. `in_git`: `content` is the id of a file in Git.
    """

    path: str
    content: Content
    size: int | None = None
    in_git: bool = False

    @property
    def is_directory(self) -> bool:
        """Whether it is a directory, whose files are listed in an object of the cache."""
        return self.content.md5.endswith(".dir")


@dataclass(frozen=True, slots=True)
class Unsupported:
    """A tracked path that cannot be migrated, with the reason."""

    path: str
    why: str


def tracked(paths: Mapping[str, str], read: Callable[[str], bytes]) -> Iterator[Out | Unsupported]:
    """What a commit tracks. `paths`: ids of all files of the commit; `read` returns the content of an id."""
    for path, blob in paths.items():
        folder, name = posixpath.split(path)
        if name.endswith(".dvc") and name != ".dvc":
            body = _mapping(path, read(blob))
            yield from _outs(body, posixpath.join(folder, str(body.get("wdir", "."))), paths)
        elif name == "dvc.lock":
            stages = paths.get(posixpath.join(folder, "dvc.yaml"))
            yield from _of_lock(path, folder, read(blob), read(stages) if stages else b"", paths)


def _of_lock(
    path: str, folder: str, text: bytes, pipeline: bytes, paths: Mapping[str, str]
) -> Iterator[Out | Unsupported]:
    body = _mapping(path, text)
    stages = body.get("stages", body) if "schema" in body else body  # DVC 1 had no schema
    known = _mapping(path, pipeline).get("stages") or {}
    for name, stage in (stages or {}).items():
        definition = known.get(name) or known.get(str(name).partition("@")[0]) or {}
        definition = definition.get("do", definition)  # of `foreach` and `matrix`
        directory = str(definition.get("wdir", "."))
        if "${" in directory:
            yield Unsupported(f"{path}: stage {name}", f"its directory {directory!r} has variables")
            continue
        yield from _outs(stage, posixpath.join(folder, directory), paths)


def _outs(owner: Mapping[str, Any], folder: str, paths: Mapping[str, str]) -> Iterator[Out | Unsupported]:
    for row in owner.get("outs") or ():
        path = str(row["path"])
        full = posixpath.normpath(posixpath.join(folder, path))
        if "://" in path or path.startswith(("/", "\\")) or full.startswith(".."):
            yield Unsupported(path, "it is outside of the repository")
        elif not row.get("md5"):
            yield Unsupported(full, "it has no MD5: a file with the versions of a cloud store, or never added")
        else:
            size = row.get("size")
            content = Content(str(row["md5"]), legacy=row.get("hash") != "md5")
            yield from _of_path(Out(full, content, None if size is None else int(size)), paths)


def _of_path(out: Out, paths: Mapping[str, str]) -> Iterator[Out]:
    """What DVC does not cache, such as a metric, is in Git. `dvc.lock` does not say so."""
    names = [out.path] if out.path in paths else [path for path in paths if path.startswith(out.path + "/")]
    if out.is_directory and names:
        yield from (Out(path, Content(paths[path]), in_git=True) for path in names)
    elif out.path in paths:
        yield Out(out.path, Content(paths[out.path]), in_git=True)
    else:
        yield out


def directory_files(out: Out, listing: bytes) -> Iterator[Out]:
    """The files of a tracked directory, from its object in the cache. Raises InvalidRequestError."""
    try:
        rows = json.loads(listing)
        found = [(str(row["relpath"]), str(row["md5"])) for row in rows]
    except (ValueError, KeyError, TypeError):
        raise InvalidRequestError(f"the list of the files of {out.path!r} ({out.content.md5}) cannot be read") from None
    for name, md5 in found:
        path = posixpath.normpath(posixpath.join(out.path, name))
        if not path.startswith(out.path + "/"):
            raise InvalidRequestError(f"the directory {out.path!r} lists a file outside of it: {name!r}")
        yield Out(path, Content(md5, out.content.legacy))


def _mapping(path: str, text: bytes) -> dict[str, Any]:
    try:
        body = yaml.safe_load(text) or {}
    except yaml.YAMLError as error:
        raise InvalidRequestError(f"cannot read {path}: {error}") from None
    if not isinstance(body, dict):
        raise InvalidRequestError(f"cannot read {path}: it is not a mapping")
    return body
