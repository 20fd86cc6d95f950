"""Reads a repository of a server that speaks the lakeFS API, by the operations that every such server has.

It has a small HTTP client of its own. The SDK's client uses parameters and headers of Lakebed, and the source may be a
server of any version.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Self
from urllib.parse import quote

import httpx

from lakebed._http import trust
from lakebed._migrate.values import SourceCommit, SourceObject
from lakebed._settings.config import API_PREFIX, Settings
from lakebed.errors import (
    AuthenticationError,
    CorruptTransferError,
    LakebedError,
    NotFoundError,
    ObjectGoneError,
    PermissionDeniedError,
    ProtocolError,
    ServerError,
    ServerUnavailableError,
)

PAGE = 1000
ATTEMPTS = 5
CHUNK = 1 << 20
_BUSY = (429, 500, 502, 503, 504)
_ERRORS: Mapping[int, type[LakebedError]] = {
    401: AuthenticationError,
    403: PermissionDeniedError,
    404: NotFoundError,
    410: ObjectGoneError,
}


class LakefsRepository:
    """One repository of the source. Use it as a context manager.

    Every method raises LakebedError: NotFoundError, AuthenticationError, ServerUnavailableError, ProtocolError.
    """

    def __init__(self, settings: Settings, name: str, *, sleep: Callable[[float], None] | None = None) -> None:
        self.settings = settings
        self.name = name
        self._sleep = sleep or time.sleep
        self._url = f"{settings.api_url}/repositories/{_segment(name)}"
        self._http = httpx.Client(
            auth=(settings.access_key_id, settings.secret_access_key),
            headers={"Accept-Encoding": "identity"},  # content is stored as it is, not as it travels
            timeout=settings.timeout,
            verify=trust.ssl_context(settings) or True,
        )
        trust.warn_of_clear_text(settings)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._http.close()

    # refs and history

    def default_branch(self) -> str:
        """The name of the default branch."""
        return str(self._json("").get("default_branch") or "main")

    def branches(self) -> dict[str, str]:
        """The commit ids of the branches, by name."""
        return {row["id"]: row["commit_id"] for row in self._rows("/branches")}

    def tags(self) -> dict[str, str]:
        """The commit ids of the tags, by name."""
        return {row["id"]: row["commit_id"] for row in self._rows("/tags")}

    def log(self, ref: str) -> Iterator[SourceCommit]:
        """The history of a ref, newest first."""
        return map(_commit, self._rows(f"/refs/{_segment(ref)}/commits"))

    def changes(self, left: str, right: str) -> Iterator[tuple[str, str]]:
        """What differs between two commits: types (added, changed, removed) and paths."""
        for row in self._rows(f"/refs/{_segment(left)}/diff/{_segment(right)}", type="two_dot"):
            yield row["type"], row["path"]

    def uncommitted(self, branch: str) -> Iterator[tuple[str, str]]:
        """What is uncommitted on a branch."""
        for row in self._rows(f"/branches/{_segment(branch)}/diff"):
            yield row["type"], row["path"]

    # objects

    def objects(self, ref: str) -> Iterator[SourceObject]:
        """Every object of a ref."""
        for row in self._rows(f"/refs/{_segment(ref)}/objects/ls"):
            if row.get("path_type", "object") == "object":
                yield self._object(ref, row)

    def stat(self, ref: str, path: str) -> SourceObject:
        """One object of a ref. If its data was deleted, reading it raises ObjectGoneError."""
        answer = self._get(f"/refs/{_segment(ref)}/objects/stat", {"path": path}, accepted=(410,))
        row = _body(answer)
        if answer.status_code == 410 and "checksum" not in row:
            # a server may also answer the usual error
            row = {"path": path, "checksum": "", "size_bytes": None}
        return self._object(ref, row)

    def _object(self, ref: str, row: Mapping[str, Any]) -> SourceObject:
        path = row["path"]
        size = row.get("size_bytes")
        return SourceObject(
            path=path,
            size=None if size is None else int(size),
            checksum=str(row.get("checksum", "")).strip('"'),
            open=lambda: self._content(ref, path),
            address=str(row.get("physical_address") or ""),
            content_type=row.get("content_type") or None,
            metadata=row.get("metadata") or {},
        )

    def _content(self, ref: str, path: str) -> Iterator[bytes]:
        """The content in pieces. Raises CorruptTransferError when the answer is shorter than announced."""
        read = 0
        try:
            with self._http.stream("GET", f"{self._url}/refs/{_segment(ref)}/objects", params={"path": path}) as answer:
                if answer.status_code != 200:
                    answer.read()
                    raise self._error(answer, path)
                for chunk in answer.iter_raw(CHUNK):
                    read += len(chunk)
                    yield chunk
                announced = answer.headers.get("content-length")
        except httpx.HTTPError as error:
            raise ServerUnavailableError(f"the content of {path!r} could not be read from {self}: {error}") from None
        if announced is not None and int(announced) != read:
            raise CorruptTransferError(f"{self} sent {read} bytes of {path!r}, and announced {announced}")

    # settings that a migration does not bring

    def settings_present(self) -> Iterator[tuple[str, str]]:
        """Names of settings of the repository, and how many there are."""
        for name, path, params in (
            ("branch protection", "/settings/branch_protection", {}),
            ("rules of garbage collection", "/settings/gc_rules", {}),
            ("metadata of the repository", "/metadata", {}),
            ("open pull requests", "/pulls", {"status": "open"}),
        ):
            try:
                answer = self._get(path, params, accepted=(400, 401, 403, 404, 501))
                found = answer.json() if answer.status_code == 200 else None
            except (LakebedError, ValueError):
                continue  # an older server, or one without this operation
            found = found.get("results", found) if isinstance(found, dict) else found
            if found:
                yield name, str(len(found))

    # requests

    def _rows(self, path: str, **params: str) -> Iterator[dict[str, Any]]:
        after = ""
        while True:
            page = self._json(path, {**params, "amount": str(PAGE), **({"after": after} if after else {})})
            try:
                rows, more = page["results"], page["pagination"]
                next_after = str(more["next_offset"]) if more["has_more"] else ""
            except (KeyError, TypeError):
                raise ProtocolError(f"the response of {self} to {path} has no rows or no pagination") from None
            yield from rows
            if not next_after:
                return
            if next_after == after:
                raise ProtocolError(f"{self} returned the same page of {path} twice")
            after = next_after

    def _json(self, path: str, params: Mapping[str, str] | None = None) -> dict[str, Any]:
        return _body(self._get(path, params or {}))

    def _get(self, path: str, params: Mapping[str, str], accepted: tuple[int, ...] = ()) -> httpx.Response:
        for attempt in range(ATTEMPTS):
            last = attempt == ATTEMPTS - 1
            try:
                answer = self._http.get(self._url + path, params=params or None)
            except httpx.HTTPError as error:
                if last:
                    raise ServerUnavailableError(
                        f"{self} could not be reached: {error or type(error).__name__}"
                    ) from None
            else:
                if answer.status_code == 200 or answer.status_code in accepted:
                    return answer
                if last or answer.status_code not in _BUSY:
                    raise self._error(answer)
            self._sleep(min(2.0**attempt, 10.0))
        raise AssertionError("unreachable")

    def _error(self, answer: httpx.Response, path: str = "") -> LakebedError:
        try:
            said = str(answer.json()["message"])
        except (ValueError, KeyError, TypeError):
            said = answer.text[:200]
        status = answer.status_code
        kind = _ERRORS.get(status, ServerUnavailableError if status in _BUSY else ServerError)
        return kind(
            f"{self} refused to read{f' {path!r}' if path else ''}: {said or f'status {status}'}", status=status
        )

    def __str__(self) -> str:
        return f"repository {self.name!r} of {self.settings.endpoint}"


def _segment(text: str) -> str:
    return quote(text, safe="")


def _body(answer: httpx.Response) -> dict[str, Any]:
    try:
        body = answer.json()
    except ValueError:
        body = None
    if not isinstance(body, dict):
        raise ProtocolError(f"{answer.request.url} returned no JSON object; does {API_PREFIX} of the source exist?")
    return body


def _commit(row: Mapping[str, Any]) -> SourceCommit:
    return SourceCommit(
        id=row["id"],
        parents=tuple(row.get("parents") or ()),
        message=row.get("message") or "",
        committer=row.get("committer") or "",
        created=int(row["creation_date"]),
        metadata=row.get("metadata") or {},
        is_empty=row.get("meta_range_id") == "",
    )
