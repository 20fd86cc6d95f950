"""Idempotency keys: what a key remembers, and how a second call with it is answered.

The row of a key goes into the batch of the swap that it stands for: it is there if and only if that has landed.
"""

from __future__ import annotations

import msgspec

from lakebed_engine.operations.context import Context, Repo, load_commit
from lakebed_engine.vocabulary.errors import KeyReusedError
from lakebed_engine.vocabulary.records import Commit


class Done(msgspec.Struct, frozen=True):
    """What an idempotency key remembers: the commit, and what was asked for."""

    commit_id: str
    asked: str


async def remembered(ctx: Context, repo: Repo, row: bytes, asked: str, refusal: str) -> Commit | None:
    """The commit of an earlier call whose key has this row; KeyReusedError if that asked for something else."""
    found = await ctx.kv.get(repo.partition, row)
    if found is None:
        return None
    done = msgspec.json.decode(found.value, type=Done)
    if done.asked != asked:
        raise KeyReusedError(f"{refusal}: nothing was done; take a new key")
    return await load_commit(ctx, repo, done.commit_id)
