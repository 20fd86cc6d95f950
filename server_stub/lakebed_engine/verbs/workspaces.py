"""Workspaces. Part of the one door to the engine.

Whatever takes the name of a branch to stage, read, list or diff also takes `<branch>+<id>`.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from lakebed_engine.operations.direct_writes import bulk_register, dedupe, presign, register, scan
from lakebed_engine.operations.ingest import ingest
from lakebed_engine.operations.tasks.async_commit import LongWork
from lakebed_engine.operations.workspace import lifecycle
from lakebed_engine.operations.workspace import stash as workspace_stash
from lakebed_engine.verbs.base import Verbs
from lakebed_engine.vocabulary.records import (
    AdvanceRequest,
    Commit,
    CompletedUpload,
    DataPlace,
    Entry,
    IngestPage,
    IngestRequest,
    Layer,
    Page,
    PartUpload,
    ScanReport,
    SentPart,
    ShareReport,
    SignedPart,
    SignedUpload,
    Workspace,
    WorkspaceRequest,
    Written,
)


class WorkspaceVerbs(Verbs):
    """Workspaces, and what is written below their prefixes."""

    long_work: LongWork
    """Made by the engine, as it goes with its tasks."""

    async def create_workspace(self, repo: str, request: WorkspaceRequest) -> Workspace:
        """A workspace on the commit of a ref. Raises RefNotFoundError, BranchNotFoundError, InvalidRequestError."""
        return await lifecycle.create(self._ctx, repo, request)

    async def get_workspace(self, repo: str, workspace: str) -> Workspace:
        """By id, open or closed. Raises WorkspaceNotFoundError."""
        return await lifecycle.get(self._ctx, repo, workspace)

    async def list_workspaces(
        self, repo: str, *, branch: str = "", after: str = "", amount: int = 100, state: str = "open"
    ) -> Page[Workspace]:
        """A page in order of id, of those that are to be committed to `branch` or of all; `state` may be `all`."""
        return await lifecycle.list_page(self._ctx, repo, branch, after, amount, state)

    async def renew_workspace(self, repo: str, workspace: str, lifetime: int) -> Workspace:
        """Let it expire `lifetime` seconds from now. Raises WorkspaceClosedError."""
        return await lifecycle.renew(self._ctx, repo, workspace, lifetime)

    async def delete_workspace(self, repo: str, workspace: str, *, force: bool = False) -> None:
        """Close it without committing. Raises WorkspaceClosedError when it ended in another way."""
        await lifecycle.drop(self._ctx, repo, workspace, force)

    async def register_objects(
        self, repo: str, workspace: str, rows: Sequence[tuple[str, Entry | None]], *, force: bool = False
    ) -> None:
        """Register objects that were written below its prefix, or tombstones (None), all or nothing."""
        await scan.register(self._ctx, repo, workspace, rows, force)

    async def register_written(
        self, repo: str, workspace: str, objects: Sequence[Written], deletes: Sequence[str] = (), *, force: bool = False
    ) -> None:
        """As `register_objects`, of what clients say: it is looked at. InvalidAddressError, ChecksumMismatchError."""
        await register.register_written(self._ctx, repo, workspace, objects, deletes, force)

    async def push_written(self, repo: str, workspace: str, file: str, *, force: bool = False) -> Layer:
        """As `register_written`, for all rows of a Parquet file on this machine, as one layer."""
        return await bulk_register.push_written(self._ctx, repo, workspace, file, force)

    async def share_objects(
        self, repo: str, workspace: str, pairs: Sequence[tuple[str, str]], *, force: bool = False
    ) -> ShareReport:
        """Let the first path of each pair name the data of the second, where both show the same content."""
        return await dedupe.share(self._ctx, repo, workspace, pairs, force)

    async def sign_uploads(
        self,
        repo: str,
        workspace: str,
        paths: Sequence[str],
        *,
        size: int = 0,
        content_type: str = "",
        seconds: int = presign.SIGNED_SECONDS,
    ) -> list[SignedUpload]:
        """Signed addresses below its prefix, for one PUT each. Raises NotSupportedError."""
        return await presign.sign_uploads(self._ctx, repo, workspace, paths, size, content_type, seconds)

    async def begin_upload(self, repo: str, workspace: str, path: str, *, content_type: str = "") -> PartUpload:
        """Begin to write an object below its prefix in parts. Raises NotSupportedError."""
        return await presign.begin_upload(self._ctx, repo, workspace, path, content_type)

    async def sign_parts(
        self,
        repo: str,
        workspace: str,
        upload: PartUpload,
        numbers: Sequence[int],
        *,
        seconds: int = presign.SIGNED_SECONDS,
    ) -> list[SignedPart]:
        """Signed addresses, for one PUT of a part each. Raises InvalidAddressError."""
        return await presign.sign_parts(self._ctx, repo, workspace, upload, numbers, seconds)

    async def complete_upload(
        self, repo: str, workspace: str, upload: PartUpload, parts: Sequence[SentPart], size: int
    ) -> CompletedUpload:
        """Make parts one object of `size` bytes. Raises InvalidAddressError, ChecksumMismatchError."""
        return await presign.complete_upload(self._ctx, repo, workspace, upload, parts, size)

    async def abort_upload(self, repo: str, workspace: str, upload: PartUpload) -> None:
        """Give an upload up; one that is not there is no error."""
        await presign.abort_upload(self._ctx, repo, workspace, upload)

    async def place_of(self, repo: str) -> DataPlace:
        """Where a repository's data lies, and whether clients can write there."""
        return await register.place_of(self._ctx, repo)

    async def scan_workspace(self, repo: str, workspace: str, *, force: bool = False) -> ScanReport:
        """Register what other tools wrote below its prefix, changed or removed since the last scan."""
        return await scan.scan(self._ctx, repo, workspace, force)

    async def ingest_page(self, repo: str, workspace: str, request: IngestRequest) -> IngestPage:
        """Put a page of what objects elsewhere differ in into a workspace. Raises ForeignDeniedError."""
        return await ingest.ingest_page(self._ctx, repo, workspace, request)

    async def ingest_diff(self, repo: str, ref: str, request: IngestRequest) -> IngestPage:
        """A page of what an ingest would change of a commit. Raises ForeignDeniedError."""
        return await ingest.diff_page(self._ctx, repo, ref, request)

    async def commit_workspace(self, repo: str, workspace: str, request: AdvanceRequest) -> Commit:
        """Commit it to its branch. Raises ConcurrentCommitError, DirtyOverlapError, NoChangesError."""
        new = await self.long_work.advance(repo, workspace, request)
        await self._refs_changed(repo)
        return new

    async def revert_workspace(
        self, repo: str, workspace: str, globs: Sequence[str] = (), *, force: bool = False
    ) -> None:
        """Take back its changes, all or those that globs choose; it stays open."""
        await lifecycle.revert(self._ctx, repo, workspace, globs, force)

    async def stash(self, repo: str, branch: str, request: WorkspaceRequest) -> Workspace:
        """Move a branch's uncommitted changes into a new workspace. Raises NoChangesError."""
        return await workspace_stash.stash(self._ctx, repo, msgspec.structs.replace(request, ref=branch))

    async def pop(self, repo: str, workspace: str, *, branch: str = "", force: bool = False) -> Layer:
        """Put a workspace's changes on top of a branch's uncommitted ones, as one layer. Raises NoChangesError."""
        return await workspace_stash.pop(self._ctx, repo, workspace, branch, force)
