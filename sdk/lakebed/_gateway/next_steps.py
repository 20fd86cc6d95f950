"""The next step after an error, in words of Python. The command line has its own: `lakebed.cli.exits`."""

from __future__ import annotations

from typing import Any

from lakebed._values.wire import Call

_STEPS = {
    "repository_exists": "pass exist_ok=True to use it if it has this storage namespace, or choose another name",
    "branch_exists": "pass exist_ok=True to use it as it is, or choose another name",
    "tag_exists": "pass exist_ok=True to use it if it points to this commit; a tag never moves: drop() it first, or "
    "choose another name",
    "name_taken": "choose another name",
    "repository_not_found": "see lake.repositories(); repo.create(...) creates one",
    "tag_not_found": "see repo.tags(); tag.create(ref) creates one",
    "ref_not_found": "see repo.branches() and repo.tags()",
    "object_not_found": "paths are exact: see ref.list(prefix)",
    "user_not_found": "see lake.users.list()",
    "group_not_found": "see lake.groups.list()",
    "policy_not_found": "see lake.policies.list()",
    "workspace_not_found": "see repo.workspaces() for the open ones",
    "run_not_found": "see repo.runs.list() and repo.deliveries.list()",
    "pull_not_found": 'see repo.pulls.list("all")',
    "not_mergeable": "see repo.pulls.state(id) for what is missing",
    "parent_required": "pass parent=1 for the first parent",
    "namespace_not_empty": "choose an empty one, or pass allow_non_empty=True to keep its objects",
}
_REFUSED = "see repo.runs.hooks({run_id!r}).all()"
_BRANCH = 'see repo.branches(); repo.branch({name!r}).create("main") creates it'
_FIXED = '; a tag or a commit is read-only: repo.branch("fix").create({name!r}) creates a branch from it'


def next_step(call: Call[Any], kind: str | None, run_id: str = "") -> str:
    """The next step after an error of this kind, as the end of a sentence. Empty when the message already has it."""
    name = call.subject.ref
    if kind == "hook_refused" and run_id:
        return _REFUSED.format(run_id=run_id)
    if kind == "branch_not_found" and name is not None:
        return (_BRANCH + ("" if call.method == "GET" else _FIXED)).format(name=name)
    return _STEPS.get(kind or "", "")
