"""What the tests of pull requests share."""

from __future__ import annotations

from typing import Any

from lakebed_engine.engine import Engine
from lakebed_engine.vocabulary.pulls import (
    Check,
    CheckState,
    CommentRequest,
    Pull,
    PullCreation,
    PullEdit,
    PullEvent,
    PullMerge,
    ReviewRequest,
    Verdict,
)
from lakebed_engine.vocabulary.records import Commit, Requirements, Rule

from tests.engine.support import REPO, make_engine, put_commit


async def open_lake(**options: Any) -> Engine:
    """A repository with `main` and `dev`, which is one commit ahead."""
    engine = await make_engine(**options)
    await put_commit(engine, {"a": "1"})
    await engine.branches.create(REPO, "dev", "main")
    await put_commit(engine, {"b": "2"}, "dev")
    return engine


async def open_pull(engine: Engine, source: str = "dev", destination: str = "main", **options: Any) -> Pull:
    """A pull request by ann."""
    texts = {"title": "Add b", "author": "ann@example.org", "author_id": "ann", **options}
    return await engine.pulls.create(REPO, PullCreation(source_branch=source, destination_branch=destination, **texts))


async def edit(engine: Engine, pull: Pull, **changes: Any) -> Pull:
    """Change a pull request."""
    return await engine.pulls.update(REPO, pull.id, PullEdit(actor="ann", **changes))


async def merge_pull(engine: Engine, pull: Pull, **options: Any) -> Commit:
    """Merge a pull request."""
    return await engine.pulls.merge(REPO, pull.id, PullMerge(actor="bob", committer="bob@example.org", **options))


async def rows(engine: Engine, prefix: bytes) -> list[bytes]:
    """The keys of the repository that begin with a prefix."""
    repo = await engine.repositories.get(REPO)
    found = await engine.context.kv.scan(f"repo/{repo.uid}", prefix, prefix + b"\xff")
    return [row.key for row in found]


async def review(engine: Engine, pull: Pull, actor: str, verdict: Verdict = "approve", **options: Any) -> PullEvent:
    """Review a pull request."""
    return await engine.pulls.add_review(REPO, pull.id, ReviewRequest(actor=actor, verdict=verdict, **options))


async def comment(engine: Engine, pull: Pull, actor: str, text: str = "hm", **options: Any) -> PullEvent:
    """Comment on a pull request."""
    return await engine.pulls.add_comment(REPO, pull.id, CommentRequest(actor=actor, text=text, **options))


async def check(engine: Engine, ref: str, name: str = "tests", state: CheckState = "success") -> Check:
    """Report a check of a commit."""
    return await engine.pulls.report_check(REPO, ref, Check(name=name, state=state, user="ci", date=0))


async def require(engine: Engine, pattern: str = "main", approvals: int = 1, *checks: str) -> None:
    """Let pull requests into a branch require approvals and checks."""
    await engine.protection.add(REPO, Rule(pattern, Requirements(approvals, checks)))


async def mergeable(engine: Engine, pull: Pull) -> str:
    """What the state of a pull request says."""
    return (await engine.pulls.state(REPO, pull.id)).mergeable
