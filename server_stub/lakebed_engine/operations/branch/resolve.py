"""Ref expressions: finds the commit or branch of a name, a commit id or `main~2` (`facts/rest_api.md` 3).

Resolution order of a base: full commit id, branch, workspace (`main+<id>`), tag, unique prefix of a commit id. A
workspace works like a branch: `@` is its base, `$` is its current content.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import msgspec

from lakebed_engine.operations.context import (
    Context,
    Repo,
    Seen,
    decode_branch,
    find_workspace,
    load_commit,
    read_candidate,
    refuse_closed,
)
from lakebed_engine.operations.keys import COMMIT_ROWS, branch_key, commit_key, commits_from, tag_key, workspace_id
from lakebed_engine.operations.validation import is_commit_id
from lakebed_engine.vocabulary.errors import InvalidRefError, RefNotFoundError
from lakebed_engine.vocabulary.observer import ref_resolved
from lakebed_engine.vocabulary.records import Commit, Tag

_MODIFIER = re.compile(r"([~^@$])([0-9]*)")
_BASE = re.compile(r"[^\s~^@$]+", re.ASCII)
_HEX = re.compile(r"[0-9a-f]{1,63}")
_MAX_DIGITS = 9
_tag = msgspec.json.Decoder(Tag)


@dataclass(frozen=True, slots=True)
class Expression:
    """A parsed ref expression. `staged`: True for `$`, False for `@`, None for neither."""

    base: str
    steps: tuple[tuple[str, int], ...] = ()
    staged: bool | None = None


@dataclass(frozen=True, slots=True)
class Resolved:
    """The result of an expression: a commit, and the branch or workspace if the expression names one directly."""

    commit_id: str
    branch: Seen | None = None
    staged: bool | None = None
    is_candidate: bool = False
    """The commit is in no history yet, because hooks still check it. It can be read, but no branch, tag or commit can
    use it.
    """


def parse(text: str) -> Expression:
    """Split an expression. Raises InvalidRefError, which names the broken rule."""
    base = _BASE.match(text)
    if base is None:
        raise InvalidRefError(f"ref {text[:80]!r}: must begin with a branch, tag or commit id, without spaces")
    steps: list[tuple[str, int]] = []
    staged: bool | None = None
    at = base.end()
    while at < len(text):
        found = _MODIFIER.match(text, at)
        if found is None:
            raise InvalidRefError(f"ref {text[:80]!r}: {text[at : at + 10]!r} is not a modifier (~N, ^N, @ or $)")
        sign, digits = found[1], found[2]
        if sign in "@$":
            if digits or steps or found.end() != len(text):
                raise InvalidRefError(f"ref {text[:80]!r}: {sign!r} must be alone, directly after a branch")
            staged = sign == "$"
        else:
            if len(digits) > _MAX_DIGITS:
                raise InvalidRefError(f"ref {text[:80]!r}: {digits[:20]}... is too large")
            count = int(digits) if digits else 1
            steps.append((sign, count))
        at = found.end()
    return Expression(base[0], tuple(steps), staged)


async def resolve(ctx: Context, repo: Repo, text: str) -> Resolved:
    """Resolve an expression now. Raises InvalidRefError, RefNotFoundError, WorkspaceClosedError."""
    expression = parse(text)
    found = await _base(ctx, repo, expression.base)
    if expression.staged is not None:
        if found.branch is None:
            raise InvalidRefError(f"ref {text[:80]!r}: '@' and '$' can only follow a branch")
        found = Resolved(found.commit_id, found.branch, expression.staged)
    elif expression.steps:
        commit_id = found.commit_id
        for sign, count in expression.steps:
            commit_id = await _step(ctx, repo, commit_id, sign, count, text)
        found = Resolved(commit_id)
    ref_resolved(text, found.commit_id)
    return found


async def resolve_commit(ctx: Context, repo: Repo, text: str, *, candidates: bool = False) -> Commit:
    """The commit of an expression. A branch means its head. Raises InvalidRefError for `$`, which names no commit.

    `candidates`: also a commit that hooks check, which is in no history yet. Only for reads.
    """
    found = await resolve(ctx, repo, text)
    if found.is_candidate and not candidates:
        raise candidate_refused(text)
    if found.staged:
        raise InvalidRefError(f"ref {text[:80]!r}: refers to uncommitted changes, but a commit is needed")
    return await load_commit(ctx, repo, found.commit_id)


def candidate_refused(text: str) -> RefNotFoundError:
    """The error of an operation that would use a commit that is in no history yet."""
    return RefNotFoundError(
        f"ref {text[:80]!r}: this commit is not on a branch: hooks are checking it, or refused it; it is read-only"
    )


async def _step(ctx: Context, repo: Repo, commit_id: str, sign: str, count: int, text: str) -> str:
    if sign == "^":
        if count == 0:
            return commit_id
        parents = (await load_commit(ctx, repo, commit_id)).parents
        if count > len(parents):
            raise InvalidRefError(f"ref {text[:80]!r}: commit {commit_id[:16]} has {len(parents)} parents, not {count}")
        return parents[count - 1]
    for _ in range(count):
        parents = (await load_commit(ctx, repo, commit_id)).parents
        if not parents:
            raise RefNotFoundError(f"ref {text[:80]!r}: goes back past the first commit")
        commit_id = parents[0]
    return commit_id


async def _base(ctx: Context, repo: Repo, name: str) -> Resolved:
    if is_commit_id(name):
        if await ctx.kv.get(repo.partition, commit_key(name)) is not None:
            return Resolved(name)
        if await read_candidate(ctx, repo, name) is not None:
            return Resolved(name, is_candidate=True)
    found = await ctx.kv.get(repo.partition, branch_key(name))
    if found is not None:
        seen = Seen(decode_branch(found.value), found.version)
        return Resolved(seen.record.commit_id, seen)
    found_id = workspace_id(name)
    workspace = await find_workspace(ctx, repo, found_id) if found_id is not None else None
    if workspace is not None and workspace.record.name == name:
        refuse_closed(workspace.record)
        return Resolved(workspace.record.commit_id, workspace)
    tagged = await ctx.kv.get(repo.partition, tag_key(name))
    if tagged is not None:
        return Resolved(_tag.decode(tagged.value).commit_id)
    if _HEX.fullmatch(name):
        rows = await ctx.kv.scan(repo.partition, *commits_from(name), 2)
        if len(rows) == 1:
            return Resolved(rows[0].key.removeprefix(COMMIT_ROWS).decode())
        if rows:
            raise RefNotFoundError(f"ref {name!r}: is the beginning of more than one commit id; give more characters")
    raise RefNotFoundError(
        f"commit not found: {name[:80]!r} is not a branch, tag or commit of repository {repo.name!r}"
    )


def decode_tag(value: bytes) -> Tag:
    """Decode a stored tag."""
    return _tag.decode(value)
