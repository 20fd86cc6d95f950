# Generated from sdk/lakebed/_async/integration.py by tools/unasync_sdk.py - do not edit.
# ruff: noqa: RUF100, UP028
"""Functions on handles for packages that build on the SDK: see `lakebed._integration`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakebed._bulk.progress import Report
from lakebed._compat.sync import blocking
from lakebed._direct.shared_directory import SharedDirectory
from lakebed._files import RangeRaw
from lakebed._gateway.operations import ingest, objects
from lakebed._gateway.operations.access import identities
from lakebed._http.object_frames import ObjectRead
from lakebed._settings.config import Settings
from lakebed._sync.bulk.download import fetch_items
from lakebed._sync.handles.ref import Ref
from lakebed._sync.handles.repository import Repository
from lakebed._sync.handles.workspace import Workspace
from lakebed._sync.http.target import Opening
from lakebed._sync.objects import download
from lakebed._sync.objects import shared_directory as objects_shared
from lakebed._sync.objects.read_many import Wanted, read_batches
from lakebed._sync.objects.sinks import Sink
from lakebed._values.ingest import Source
from lakebed.errors import UnsupportedOperationError
from lakebed.model import ObjectInfo, TransferResult, WorkspaceInfo

if TYPE_CHECKING:
    import pyarrow as pa


class ProxiedRef(Ref):
    """A ref whose bytes always come through the server, even if the store could send them."""

    def _reads_proxied(self) -> bool:
        return True


def settings_of(handle: Repository | Ref) -> Settings:
    """The settings of a handle's connection."""
    return handle._transport.settings


def reading_after(ref: Ref, step: Callable[[], Awaitable[None]]) -> Ref:
    """The ref, with `step` run before each of its requests."""
    ref._target = ref._target.over(Opening(ref._transport, step))
    return ref


def shared_directory(ref: Ref, data_path: str | None = None) -> SharedDirectory:
    """The files of the ref's repository on this machine. `data_path` is what the user asked for. Raises nothing.

    Asks the server once for each repository handle.
    """
    return objects_shared.shared_directory(ref._target, data_path)


def read_range(ref: Ref, path: str, start: int, length: int, checksum: str) -> bytes:
    """Exactly this range. Raises PreconditionFailedError when the object has another checksum now."""
    return ref._read_at(path, start, length, checksum)


def read_buffer(ref: Ref, path: str, start: int, length: int, checksum: str) -> pa.Buffer:
    """As `read_range`, in memory of Arrow's own."""
    return download.read_buffer(ref._download(path, start, length, checksum), length)


def read_tail(ref: Ref, path: str, length: int) -> tuple[ObjectInfo, bytes]:
    """The last bytes of an object, `length` at most, and what it is, in one request.

    Raises ObjectNotFoundError, and InvalidRequestError of the kind `invalid_range` for an empty object.
    """
    return ref._transport.call(objects.tail(ref.repository.id, ref.id, path, length))


def read_small(ref: Ref, paths: Sequence[str]) -> Iterator[ObjectRead]:
    """Read small objects in few requests. Omits large and unreadable objects.

    Raises UnsupportedOperationError when the server has no batches.
    """
    for read in read_batches(ref._target, Wanted(paths)):
        if not read.alone and read.error is None:
            yield read


def download_folder(ref: Ref, prefix: str, target: str, progress: Report) -> TransferResult:
    """As `download_tree`, without a journal. Objects whose path ends in a slash become directories.

    Raises PartialFailureError, after trying all, when some could not be downloaded or cannot be files.
    """
    return fetch_items(ref, prefix, Path(target), progress=progress, directories=True)


def signed_address(ref: Ref, path: str) -> str:
    """An address at which the object can be read for a while. Raises InvalidRequestError where the store signs none."""
    return ref._transport.call(objects.signed(ref.repository.id, ref.id, path))


def place_of(workspace: Workspace) -> WorkspaceInfo:
    """The server's description of a workspace, cached. It has no directory if that is on another machine."""
    return workspace._place()


def sink_of(workspace: Workspace) -> Sink | None:
    """The sink that stores objects for a workspace before they are registered. None if the server stores them."""
    return workspace._opened_sink()


def check_ingest(ref: Ref, source: Source, after: str) -> str:
    """Ask whether a branch may take these objects of a bucket. The commit that it would begin at."""
    page = ingest.page(ref.repository.id, ref.id, source, after=after, listed=0, write=False)
    return (ref._transport.call(page)).base_commit_id


def check_write(workspace: Workspace, path: str) -> None:
    """Check that the caller may write an object at this path. Raises PermissionDeniedError."""
    workspace._transport.call(objects.check_write(workspace.repository.id, workspace.id, path))


def may_commit(workspace: Workspace) -> bool:
    """Whether the caller may commit to the branch of a workspace, as far as the server says."""
    repository, branch = workspace.repository.id, workspace.branch
    resource = f"arn:lakefs:fs:::repository/{repository}/branch/{branch}"
    question = identities.simulate("fs:CreateCommit", resource, "", {"branch": branch})
    try:
        decision = workspace._transport.call(question)
    except UnsupportedOperationError:  # a server with `auth.mode: single`, or an older one
        return True
    return bool(decision)


def open_object(ref: Ref, info: ObjectInfo) -> Any:
    """An object as an Arrow file: from the shared directory, or else by range requests on exactly this object.

    Reading raises PreconditionFailedError or ObjectNotFoundError when a branch has changed since.
    """
    import pyarrow as pa

    path = (shared_directory(ref)).find(info.physical_address, info.size)
    if path is not None:
        return pa.memory_map(path)
    read = blocking(partial(read_buffer, ref, info.path))
    return pa.PythonFile(RangeRaw(info.path, info.size, info.checksum, read), mode="r")
