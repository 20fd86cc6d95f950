"""Sample data for a new repository: a few small files, committed to a branch that is then protected."""

from __future__ import annotations

from collections.abc import AsyncIterator

from lakebed_engine.operations.branch import protection
from lakebed_engine.operations.commit import commit
from lakebed_engine.operations.context import Context
from lakebed_engine.operations.objects import stage
from lakebed_engine.operations.repository.sample_files import sample_files
from lakebed_engine.vocabulary.records import Rule
from lakebed_engine.vocabulary.requests import CommitRequest, UploadRequest


async def fill(ctx: Context, repo: str, branch: str, committer: str) -> None:
    """Write the samples to a branch, commit them and protect the branch."""
    for path, (kind, data) in (await ctx.runtime.cpu(sample_files)).items():
        request = UploadRequest(path=path, content_type=kind, force=True)
        await stage.upload(ctx, repo, branch, request, _once(data))
    await commit.commit(ctx, repo, branch, CommitRequest(message="Add sample data", committer=committer, force=True))
    await protection.add_rule(ctx, repo, Rule(branch))


async def _once(data: bytes) -> AsyncIterator[bytes]:
    yield data
