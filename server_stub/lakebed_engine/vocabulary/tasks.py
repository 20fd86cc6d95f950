"""Tasks: their kinds, records, requests and states."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from lakebed_engine.vocabulary.errors import Conflict, EngineError, error_of
from lakebed_engine.vocabulary.records import Commit

COMMIT, MERGE, REVERT, CHERRY_PICK = "commit", "merge", "revert", "cherry-pick"
PUBLISH, WORKSPACE = "publish", "workspace-commit"
DUMP, RESTORE, IMPORT = "dump", "restore", "import"

State = Literal["running", "done", "failed", "cancelled"]


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """A task, as stored and as returned. Times are in Unix seconds. `progress` counts the steps of the task.

    `result` is the result of a task that is done. For a failed task, `kind` and `message` are those of its error, and
    `conflicts` are the first conflicting paths. `more`: there are others. `run_id`: the run of the hooks that refused
    it. `user` and `request_id` are those of the request that began it.
    """

    id: str
    what: str
    target: str
    request: dict[str, Any]
    created: int
    updated: int
    asked: str
    key: str = ""
    state: State = "running"
    progress: int = 0
    result: dict[str, str] = {}
    kind: str = ""
    message: str = ""
    conflicts: tuple[Conflict, ...] = ()
    more: bool = False
    run_id: str = ""
    user: str = ""
    request_id: str = ""

    @property
    def error(self) -> EngineError:
        """The error of a failed task: the same that the operation raises without a task."""
        return error_of(self.kind, self.message, self.conflicts, self.more, self.run_id)


class ImportPath(msgspec.Struct, frozen=True):
    """A source: a prefix of keys and its destination folder, or one object and its destination path.

    What follows the last slash of the prefix stays in the paths: `s3://a/sales/20` into `in/` gives `in/2026.csv`.
    """

    type: Literal["common_prefix", "object"]
    path: str
    destination: str


class ImportRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The sources of an import, and the commit that will contain them."""

    paths: tuple[ImportPath, ...]
    committer: str
    message: str = ""
    metadata: Mapping[str, str] = {}
    force: bool = False


class ImportStatus(msgspec.Struct, frozen=True):
    """An import, and its commit when it is done."""

    task: Task
    commit: Commit | None
