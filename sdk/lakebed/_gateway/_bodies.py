"""Request bodies that two calls send: the call that waits for the result, and the call that starts a task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lakebed_api.models import CommitCreation, Merge


def commit_body(
    message: str, metadata: Mapping[str, str], date: int | None, *, allow_empty: bool, author: str = ""
) -> CommitCreation:
    """Return the body of a commit. Without a `date` the server sets it."""
    from lakebed_api.models import CommitCreation, CommitCreationMetadata
    from lakebed_api.types import UNSET

    return CommitCreation(
        message=message,
        metadata=CommitCreationMetadata.from_dict(metadata),
        date=UNSET if date is None else date,
        allow_empty=allow_empty,
        author=author or UNSET,
    )


def merge_body(
    message: str,
    metadata: Mapping[str, str],
    strategy: str,
    resolve: Sequence[tuple[str, str]],
    *,
    squash: bool,
    allow_empty: bool,
    author: str,
) -> Merge:
    """Return the body of a merge. It leaves out empty values, so the server's defaults apply."""
    from lakebed_api.models import Merge, MergeMetadata, MergeRule, MergeSide
    from lakebed_api.types import UNSET

    return Merge(
        message=message or UNSET,
        metadata=MergeMetadata.from_dict(metadata),
        strategy=strategy or UNSET,
        allow_empty=allow_empty,
        squash_merge=squash,
        author=author or UNSET,
        resolve=[MergeRule(pattern=glob, side=MergeSide(side)) for glob, side in resolve] or UNSET,
    )
