"""What to do next, for errors of which the server only says what is so: a name is taken, or there is none.

Pure. Words of Python: the command line has its own (`lakebed.cli.exits`).
"""

from __future__ import annotations

from typing import Any

from lakebed._values.wire import Call

_STEPS = {
    "repository_exists": "exist_ok=True takes it if it is over this storage namespace; or choose another name",
    "branch_exists": "exist_ok=True takes it where it stands; or choose another name",
    "tag_exists": "exist_ok=True takes it if it stands at this commit; a tag never moves: drop() it first, or choose "
    "another name",
    "name_taken": "choose another name",
    "repository_not_found": "lake.repositories() lists those that there are, repo.create(...) makes one",
    "tag_not_found": "repo.tags() lists those that there are, tag.create(ref) makes one",
    "ref_not_found": "repo.branches() and repo.tags() list those that there are",
    "object_not_found": "paths are exact: ref.list(prefix) shows what is there",
    "workspace_not_found": "repo.workspaces() lists those that are open",
}
_BRANCH = 'repo.branches() lists those that there are, repo.branch({name!r}).create("main") makes it'
_FIXED = '; a tag or a commit cannot be written to: repo.branch("fix").create({name!r}) makes a branch of it'


def next_step(call: Call[Any], kind: str | None) -> str:
    """The next step after an error of this kind, as the end of a sentence; empty where the server says it itself."""
    name = call.subject.ref
    if kind == "branch_not_found" and name is not None:
        return (_BRANCH + ("" if call.method == "GET" else _FIXED)).format(name=name)
    return _STEPS.get(kind or "", "")
