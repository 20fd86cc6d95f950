"""A new commit: its id, its file and its KV row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from lakebed_format import CommitRecord, commit_id, encode_commit
from lakebed_format.keys import COMMITS

from lakebed_engine.operations.context import Context, Repo, encode
from lakebed_engine.operations.keys import commit_key
from lakebed_engine.stores.kv.base import Put
from lakebed_engine.tree.changed_paths import ChangedPathsBuilder
from lakebed_engine.tree.trees import Tree, Write
from lakebed_engine.vocabulary.records import Commit


class NewCommit(NamedTuple):
    """The content of a new commit. `parents`: by default the commit below it. `changed_paths`: its changed paths, if
    known."""

    tree: Tree
    changed_paths: ChangedPathsBuilder | None
    committer: str
    message: str
    metadata: Mapping[str, str]
    date: int | None = None
    parents: Sequence[Commit] = ()


def commit_file(ctx: Context, repo: Repo, new: NewCommit, parents: Sequence[Commit]) -> tuple[Commit, Write]:
    """A commit, and the task that writes its file durably. The commit is not in any branch's history yet."""
    record = CommitRecord(
        parents=tuple(parent.id for parent in parents),
        committer=new.committer,
        message=new.message,
        creation_date=ctx.now() if new.date is None else new.date,
        metarange_id=new.tree.id,
        metadata=dict(new.metadata),
        generation=max((parent.generation for parent in parents), default=0) + 1,
    )
    new_id = commit_id(record)
    made = Commit(
        id=new_id,
        parents=record.parents,
        committer=record.committer,
        message=record.message,
        creation_date=record.creation_date,
        metarange_id=record.metarange_id,
        metadata=dict(new.metadata),
        generation=record.generation,
    )
    content = encode_commit(record, new_id)
    return made, Write(lambda: repo.store.put(f"{COMMITS}{new_id}.json", content, by_content=True))


def commit_row(repo: Repo, commit: Commit) -> Put:
    """The KV row of a commit: it goes into the batch of the swap that puts it into history."""
    return Put(repo.partition, commit_key(commit.id), encode(commit))
