"""Sample data for a new repository: a few small files, committed to a branch that is then protected."""

from __future__ import annotations

from collections.abc import AsyncIterator

from lakebed_engine.operations.branch import protection
from lakebed_engine.operations.commit import commit
from lakebed_engine.operations.context import Context
from lakebed_engine.operations.objects import stage
from lakebed_engine.vocabulary.records import Rule
from lakebed_engine.vocabulary.requests import CommitRequest, UploadRequest

_ORDERS = "id,day,product,quantity\n" + "".join(
    f"{number},2026-01-{1 + number % 28:02d},{('tea', 'coffee', 'milk')[number % 3]},{1 + number % 5}\n"
    for number in range(1, 101)
)
SAMPLES = {
    "README.md": "# Sample data\n\nOrders and products of a small shop. Branch off, change something, merge it back.\n",
    "orders/2026-01.csv": _ORDERS,
    "products.csv": "product,price\ntea,2.50\ncoffee,3.20\nmilk,1.10\n",
}
_TYPES = {".md": "text/markdown", ".csv": "text/csv"}


async def fill(ctx: Context, repo: str, branch: str, committer: str) -> None:
    """Write the samples to a branch, commit them and protect the branch."""
    for path, text in SAMPLES.items():
        request = UploadRequest(path=path, content_type=_TYPES[path[path.rindex(".") :]], force=True)
        await stage.upload(ctx, repo, branch, request, _once(text.encode()))
    await commit.commit(ctx, repo, branch, CommitRequest(message="Add sample data", committer=committer, force=True))
    await protection.add_rule(ctx, repo, Rule(branch))


async def _once(data: bytes) -> AsyncIterator[bytes]:
    yield data
