"""Serializes the engine's records for the REST API. Pure functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final, TypeVar

from lakebed_engine.vocabulary import direct_writes, records
from lakebed_engine.vocabulary.checksums import shown
from lakebed_engine.vocabulary.errors import Conflict
from lakebed_engine.vocabulary.reports import PurgeReport
from lakebed_engine.vocabulary.tasks import Task
from lakebed_wire import models
from msgspec import UNSET, UnsetType

from lakebed_server.vocabulary import OUR_FAULT

T = TypeVar("T")

MAX_PER_PAGE: Final = 1000
DEFAULT_AMOUNT: Final = 100


def amount(sent: int | UnsetType) -> int:
    """The requested number of results. Absent, 0 and -1 mean 100, as existing clients expect."""
    return DEFAULT_AMOUNT if sent is UNSET or sent <= 0 else sent


def text(sent: str | UnsetType) -> str:
    """An optional text. Absent and empty mean the same."""
    return "" if sent is UNSET else sent


def pagination(page: records.Page[T], offset_of: Callable[[T], str]) -> models.Pagination:
    """The end of a page. `next_offset` names its last item when more follow."""
    return models.Pagination(
        has_more=page.has_more,
        next_offset=offset_of(page.items[-1]) if page.has_more and page.items else "",
        results=len(page.items),
        max_per_page=MAX_PER_PAGE,
    )


def pagination_before(after: str, results: int) -> models.Pagination:
    """The end of a page whose next page begins after `after`. Empty for the last page."""
    return models.Pagination(has_more=bool(after), next_offset=after, results=results, max_per_page=MAX_PER_PAGE)


def repository(record: records.Repository, directory: str = "") -> models.Repository:
    """A repository. `directory`: the directory of its data, for clients that may know it."""
    return models.Repository(
        id=record.name,
        creation_date=record.creation_date,
        default_branch=record.default_branch,
        storage_id=record.storage_id,
        storage_namespace=record.storage_namespace,
        read_only=record.read_only,
        local_path=directory or UNSET,
    )


def repository_statistics(record: records.RepositoryStatistics) -> models.RepositoryStatistics:
    """The objects of a repository."""
    return models.RepositoryStatistics(
        last_commit=UNSET if record.last_commit is None else commit(record.last_commit),
        objects=record.objects,
        bytes=UNSET if record.bytes is None else record.bytes,
    )


def repository_purge(report: PurgeReport) -> models.RepositoryPurge:
    """What a purge deleted."""
    return models.RepositoryPurge(
        repository=report.repository,
        storage_namespace=report.namespace,
        done=report.done,
        deleted=report.deleted,
        deleted_bytes=report.deleted_bytes,
        foreign=report.foreign,
        foreign_example=report.foreign_example or UNSET,
    )


def writer(record: records.Written) -> models.ObjectWriter:
    """An object, and the commit that wrote it."""
    return models.ObjectWriter(
        path=record.path,
        size_bytes=record.entry.size,
        mtime=record.entry.mtime,
        uncommitted=record.is_uncommitted,
        commit=UNSET if record.commit is None else commit(record.commit),
    )


def ref(record: records.Branch | records.Tag) -> models.Ref:
    """A branch or a tag."""
    return models.Ref(id=record.name, commit_id=record.commit_id)


def refs(page: records.Page[records.Branch] | records.Page[records.Tag]) -> models.RefList:
    """A page of branches or tags."""
    results = [ref(item) for item in page.items]
    more: records.Page[models.Ref] = records.Page(results, page.has_more)
    return models.RefList(pagination=pagination(more, lambda item: item.id), results=results)


def commit(record: records.Commit) -> models.Commit:
    """A commit."""
    return models.Commit(
        id=record.id,
        parents=list(record.parents),
        committer=record.committer,
        message=record.message,
        creation_date=record.creation_date,
        meta_range_id=record.metarange_id,
        metadata=record.metadata,
        generation=record.generation,
        version=record.version,
    )


def moment(seconds: int) -> datetime:
    """Unix seconds as a time."""
    return datetime.fromtimestamp(seconds, UTC)


def task_error(found: Task) -> models.Error | UnsetType:
    """The error of a failed task, or UNSET. A failure of the server itself has a fixed message."""
    if not found.kind:
        return UNSET
    message = OUR_FAULT.get(found.kind, found.message)
    error = models.Error(message=message, kind=found.kind, run_id=found.run_id or UNSET)
    if found.conflicts:
        error.conflicts, error.conflicts_has_more = conflicts(found.conflicts), found.more
    return error


def conflicts(found: Sequence[Conflict]) -> list[models.Conflict]:
    """Conflicting paths, with the checksums of base, source and destination."""

    def known(value: str | None) -> str | UnsetType:
        return UNSET if value is None else value

    return [
        models.Conflict(path=one.path, base=known(one.base), ours=known(one.ours), theirs=known(one.theirs))
        for one in found
    ]


def task(found: Task, made: records.Commit | None) -> models.Task:
    """A task, and the commit that it has made."""
    return models.Task(
        id=found.id,
        operation=found.what,
        completed=found.state != "running",
        update_time=moment(found.updated),
        commit=UNSET if made is None else commit(made),
        error=task_error(found),
    )


def refs_dump(parts: Mapping[str, str]) -> models.RefsDump:
    """The parts of a dump."""
    return models.RefsDump(
        commits_meta_range_id=parts["commits"],
        tags_meta_range_id=parts["tags"],
        branches_meta_range_id=parts["branches"],
    )


def refs_parts(sent: models.RefsRestore) -> dict[str, str]:
    """The parts of a dump to restore."""
    return {
        "commits": sent.commits_meta_range_id,
        "tags": sent.tags_meta_range_id,
        "branches": sent.branches_meta_range_id,
    }


def object_stats(path: str, entry: records.Entry, address: str, *, user_metadata: bool = True) -> models.ObjectStats:
    """One object, always with `metadata`, as `statObject` and the writing operations return it."""
    return models.ObjectStats(
        path=path,
        path_type="object",
        physical_address=address,
        checksum=entry.etag,
        size_bytes=entry.size,
        mtime=entry.mtime,
        metadata=dict(shown(entry.metadata)) if user_metadata else {},
        content_type=entry.content_type,
    )


def batch_result(
    made: Sequence[tuple[str, records.Located]], new: records.Commit | None = None
) -> models.ObjectBatchResult:
    """The objects of a batch, and their commit."""
    results = [object_stats(path, *found) for path, found in made]
    return models.ObjectBatchResult(results=results, commit=UNSET if new is None else commit(new))


def listed(
    rows: Sequence[records.Listed], address: Callable[[records.Entry], str], *, user_metadata: bool
) -> list[models.ObjectStats]:
    """Rows of a listing. Unlike in a stat, empty `metadata` is omitted."""
    results = []
    for row in rows:
        if row.entry is None:
            stats = models.ObjectStats(
                path=row.path, path_type="common_prefix", physical_address="", checksum="", mtime=0
            )
        else:
            stats = object_stats(row.path, row.entry, address(row.entry))
            if not (user_metadata and stats.metadata):
                stats.metadata = UNSET
        results.append(stats)
    return results


def diff(record: records.DiffEntry, *, right_stats: bool = False, uncommitted: bool = False) -> models.Diff:
    """One row of a diff. Its size is that of the right object, or of the left one if the path was removed.

    `uncommitted`: of diffBranch, where clients of lakeFS expect 0 for a removed path.
    """
    either, right = record.right or record.left, record.right
    size = UNSET if either is None else either.size
    return models.Diff(
        type=record.type,
        path=record.path,
        path_type="common_prefix" if either is None else "object",
        size_bytes=0 if uncommitted and record.type == "removed" and either is not None else size,
        former_size_bytes=size if record.type == "removed" else UNSET,
        right=UNSET
        if right is None or not right_stats
        else models.DiffObjectStat(
            checksum=right.etag,
            mtime=right.mtime,
            content_type=right.content_type,
            metadata=dict(shown(right.metadata)),
        ),
    )


def diffs(
    page: records.Page[records.DiffEntry], *, right_stats: bool = False, uncommitted: bool = False
) -> models.DiffList:
    """A page of a diff. `uncommitted`: of diffBranch."""
    results = [diff(item, right_stats=right_stats, uncommitted=uncommitted) for item in page.items]
    return models.DiffList(pagination=pagination(page, lambda item: item.path), results=results)


def data_paths(place: direct_writes.DataPlace, *, presign: bool, shared: bool) -> list[str]:
    """The ways to transfer the bytes of a workspace that a server offers, best first."""
    cloud = place.uri.startswith(("s3://", "gs://", "az://"))
    found = ["direct"] if cloud or (shared and place.directory) else []
    return [*found, *(["presigned"] if presign and place.signs else []), "proxied"]


def workspace(
    record: records.Workspace, place: direct_writes.DataPlace, *, presign: bool, shared: bool
) -> models.Workspace:
    """A workspace. `shared`: the client may know directories of this machine."""
    return models.Workspace(
        id=record.uid,
        name=record.name,
        branch=record.branch,
        base_commit_id=record.commit_id,
        state=record.state,
        storage_prefix=f"{place.uri}/{record.prefix}",
        local_path=f"{place.directory}/{record.prefix}" if shared and place.directory else UNSET,
        creator=record.creator,
        creation_date=record.creation_date,
        expires=record.expires,
        message=record.message,
        claims=list(record.claims),
        closed=record.closed or UNSET,
        commit_id=record.result or UNSET,
        data_paths=data_paths(place, presign=presign, shared=shared),
    )


def written(sent: models.WorkspaceObject) -> direct_writes.Written:
    """An object that a client has written, as it describes it."""
    return direct_writes.Written(
        path=sent.path,
        physical_address=sent.physical_address,
        checksum=sent.checksum,
        size=sent.size_bytes,
        mtime=None if sent.mtime is UNSET else sent.mtime,
        content_type=text(sent.content_type) or "application/octet-stream",
        metadata=sent.metadata or {},
    )


def upload_url(signed: direct_writes.SignedUpload) -> models.UploadUrl:
    """A presigned URL."""
    return models.UploadUrl(
        path=signed.path,
        physical_address=signed.physical_address,
        method="PUT",
        url=signed.url,
        headers=signed.headers,
        expires=signed.expires,
    )


def part_url(signed: direct_writes.SignedPart) -> models.PartUrl:
    """A presigned URL of a part."""
    return models.PartUrl(
        part=signed.number, method="PUT", url=signed.url, headers=signed.headers, expires=signed.expires
    )
