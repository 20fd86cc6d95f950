"""Objects that arrive in parts through the server, as one object over the stores: what the gateway calls. The top of
`multipart`.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, Callable, Sequence

from lakebed_engine.operations import validation
from lakebed_engine.operations.context import Context
from lakebed_engine.operations.multipart import abort as multipart_abort
from lakebed_engine.operations.multipart import complete as multipart_complete
from lakebed_engine.operations.multipart import listing, upload
from lakebed_engine.operations.multipart.complete import Completed
from lakebed_engine.operations.multipart.listing import ListedUpload
from lakebed_engine.operations.multipart.part_selection import SentPart
from lakebed_engine.operations.multipart.records import Target, Upload, UploadedPart
from lakebed_engine.vocabulary.records import Entry, Page, UploadRequest

LIFETIME = 7 * 24 * 3600
"""Seconds after which an upload that nobody completes is given up."""


class Multiparts:
    """Uploads in parts of all repositories."""

    def __init__(self, ctx: Context, lifetime: float = LIFETIME) -> None:
        self._ctx = ctx
        self._lifetime = int(lifetime)

    async def create(
        self,
        repo: str,
        branch: str,
        request: UploadRequest,
        *,
        creator: str = "",
        checksum: str = "",
        whole: bool = False,
    ) -> Upload:
        """Begin an object in parts; its conditions count when it is completed. Raises BranchNotFoundError.

        `checksum`: the algorithm of its parts' sums, `whole` if the object's is to be that of its content.
        """
        return await upload.create(
            self._ctx, repo, branch, request, self._lifetime, creator=creator, checksum=checksum, whole=whole
        )

    async def get(self, repo: str, target: Target) -> Upload:
        """An upload that takes parts. Raises UploadNotFoundError."""
        return await upload.get(self._ctx, repo, target)

    async def put_part(
        self,
        repo: str,
        target: Target,
        number: int,
        size: int,
        chunks: AsyncIterable[bytes],
        checksum: Callable[[], str] = str,
    ) -> UploadedPart:
        """Write a part of exactly `size` bytes, with bounded memory; `checksum` is asked for when they have come.

        Raises what `chunks` raises: the part is not stored then. UploadNotFoundError, PartTooLargeError.
        """
        return await upload.put_part(self._ctx, repo, target, number, size, chunks, checksum)

    async def copy_part(
        self, repo: str, target: Target, number: int, source_repo: str, source: Entry, span: tuple[int, int]
    ) -> UploadedPart:
        """Make a part of bytes of an object: the first one, and how many. Raises InvalidRangeError, ObjectGoneError."""
        return await upload.copy_part(self._ctx, repo, target, number, source_repo, source, span)

    async def list_parts(
        self, repo: str, target: Target, *, after: int = 0, amount: int = 1000
    ) -> tuple[Upload, Page[UploadedPart]]:
        """An upload, and a page of its parts in order. Raises UploadNotFoundError."""
        validation.check_amount(amount)
        return await upload.list_parts(self._ctx, repo, target, after, amount)

    async def list_uploads(
        self,
        repo: str,
        *,
        prefix: str = "",
        delimiter: str = "",
        after: tuple[str, str] = ("", ""),
        amount: int = 1000,
    ) -> Page[ListedUpload]:
        """A page of open uploads and common prefixes; keys are `<branch>/<path>`. `after`: a key, and an id or ""."""
        validation.check_amount(amount)
        return await listing.list_uploads(self._ctx, repo, prefix, delimiter, after, amount)

    async def complete(
        self,
        repo: str,
        target: Target,
        parts: Sequence[SentPart],
        *,
        if_none_match: bool = False,
        if_match: str | None = None,
        checksum: str = "",
        size: int | None = None,
    ) -> Completed:
        """Make parts the object, if the path holds what the conditions say. Safe to repeat with the same parts.

        Raises UploadNotFoundError, InvalidPartError, PartOrderError, PartTooSmallError, PreconditionFailedError.
        """
        conditions = UploadRequest(path=target.path, if_none_match=if_none_match, if_match=if_match)
        return await multipart_complete.complete(
            self._ctx, repo, target, parts, conditions, checksum=checksum, size=size
        )

    async def abort(self, repo: str, target: Target) -> None:
        """Give an upload up. Raises UploadNotFoundError."""
        await multipart_abort.abort(self._ctx, repo, target)

    async def tidy(self) -> int:
        """Give up what has expired, and forget what ended long ago. How many that was."""
        return await multipart_abort.tidy(self._ctx)
