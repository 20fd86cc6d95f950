"""Calls about the files of the history. The generated client cannot return their bytes."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Literal

from lakebed._gateway import convert
from lakebed._gateway.calls import call, clean, reads, segment
from lakebed._values.wire import Call, Subject
from lakebed.model import RefsDump


def file(repository: str, kind: Literal["range", "meta_range"], id: str) -> Call[bytes]:
    """The bytes of a range or a metarange."""
    kwargs = {
        "method": "get",
        "url": f"/repositories/{segment(repository)}/metadata/object/{kind}/{segment(id)}",
        "headers": {"Accept": "*/*", "Accept-Encoding": "identity"},
    }
    return call("getMetadataObject", kwargs, lambda answer: answer.content, Subject(repository))


def access_history(
    repository: str | None,
    *,
    since: datetime | None,
    until: datetime | None,
    user: str,
    path: str,
    operation: str,
    refused: bool,
) -> Call[bytes]:
    """Read the access history of a repository as an Arrow IPC stream. Without a repository, that of the server."""
    filters = clean(
        since=None if since is None else since.astimezone(UTC).isoformat(),
        until=None if until is None else until.astimezone(UTC).isoformat(),
        user=user or None,
        path=path or None,
        operation=operation or None,
        refused="true" if refused else None,
    )
    kwargs = {
        "method": "get",
        "url": "/history" if repository is None else f"/repositories/{segment(repository)}/history",
        "params": filters,
        "headers": {"Accept": "*/*", "Accept-Encoding": "identity"},
    }
    if repository is None:
        return call("getServerAccessHistory", kwargs, lambda answer: answer.content, Subject())
    return call("getAccessHistory", kwargs, lambda answer: answer.content, Subject(repository))


def place(repository: str, kind: Literal["range", "meta_range"], id: str) -> Call[str]:
    """Return the path of the file of a range or a metarange inside the storage namespace."""
    from lakebed_api.api.metadata import get_meta_range, get_range
    from lakebed_api.models import StorageURI

    parse = reads(StorageURI.from_dict, lambda found: convert.text(found.location))
    if kind == "range":
        return call("getRange", get_range._get_kwargs(repository, id), parse, Subject(repository))
    return call("getMetaRange", get_meta_range._get_kwargs(repository, id), parse, Subject(repository))


def symlinks(repository: str, branch: str, location: str) -> Call[str]:
    """Write lists of the addresses of a branch's objects. Returns the address of the folder of these lists."""
    from lakebed_api.api.metadata import create_symlink_file
    from lakebed_api.models import StorageURI

    kwargs = create_symlink_file._get_kwargs(repository, branch, **clean(location=location))
    parse = reads(StorageURI.from_dict, lambda found: convert.text(found.location))
    return call("createSymlinkFile", kwargs, parse, Subject(repository, branch), success=201, repeat="safe", slow=True)


def submit_dump(repository: str) -> Call[str]:
    """Start to write all commits, branches and tags to the storage namespace. Returns the id of the task.

    A second call starts a second dump.
    """
    from lakebed_api.api.metadata import dump_submit
    from lakebed_api.models import TaskInfo

    parse = reads(TaskInfo.from_dict, lambda made: convert.text(made.id))
    return call(
        "dumpSubmit", dump_submit._get_kwargs(repository), parse, Subject(repository), success=202, repeat="safe"
    )


def dumped(repository: str, task_id: str) -> Call[RefsDump]:
    """Return the result of a finished dump."""
    from lakebed_api.api.metadata import dump_status
    from lakebed_api.models import RefsDump as WireDump
    from lakebed_api.models import RepositoryDumpStatus

    def read(status: RepositoryDumpStatus) -> RefsDump:
        refs = status.refs
        if not isinstance(refs, WireDump):
            raise TypeError(f"the dump {task_id} has no refs")
        return RefsDump(
            convert.text(refs.commits_meta_range_id),
            convert.text(refs.tags_meta_range_id),
            convert.text(refs.branches_meta_range_id),
        )

    kwargs = dump_status._get_kwargs(repository, task_id=task_id)
    return call("dumpStatus", kwargs, reads(RepositoryDumpStatus.from_dict, read), Subject(repository))


def submit_restore(repository: str, refs: RefsDump) -> Call[str]:
    """Start to read a dump into a repository without branches. Returns the id of the task."""
    from lakebed_api.api.metadata import restore_submit
    from lakebed_api.models import RefsRestore, TaskInfo

    body = RefsRestore(
        commits_meta_range_id=refs.commits, tags_meta_range_id=refs.tags, branches_meta_range_id=refs.branches
    )
    parse = reads(TaskInfo.from_dict, lambda made: convert.text(made.id))
    return call(
        "restoreSubmit", restore_submit._get_kwargs(repository, body=body), parse, Subject(repository), success=202
    )
