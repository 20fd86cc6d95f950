"""Actions, hooks, events and outcomes as values, and the errors of this package. Messages name file, hook and line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

FOLDERS: Final = ("_lakebed_actions/", "_lakefs_actions/")
"""Where a repository keeps its action files. Only files directly in these folders count."""

OPERATIONS: Final = (
    "commit", "merge", "create-branch", "delete-branch", "create-tag", "delete-tag", "revert", "cherry-pick", "reset",
)  # fmt: skip
"""Each has the events `pre-<operation>` and `post-<operation>`."""

PREPARE_COMMIT: Final = "prepare-commit"
EVENTS: Final = frozenset(
    [PREPARE_COMMIT, *(f"{when}-{operation}" for when in ("pre", "post") for operation in OPERATIONS)]
)

HookType = Literal["webhook", "airflow", "python", "contract"]
State = Literal["passed", "refused", "error", "pending", "skipped"]


@dataclass(frozen=True, slots=True)
class ActionFile:
    """The text of an action file. `origin`: `repository`, `settings` (of the repository) or `server`."""

    path: str
    digest: str
    """SHA-256 of the content, in hex."""
    content: bytes
    origin: str = "repository"


@dataclass(frozen=True, slots=True)
class BranchFilter:
    """The branches of an event, as shell patterns. None: all branches."""

    branches: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Hook:
    """One hook of an action. `properties` are as in the file, checked for its type. `line`: where it begins."""

    id: str
    type: HookType
    properties: Mapping[str, Any] = field(default_factory=dict)
    description: str = ""
    condition: str = ""
    """The text of `if`."""
    line: int = 0


@dataclass(frozen=True, slots=True)
class Action:
    """An action: when it runs (`on`: event to branches), and its hooks in order."""

    name: str
    on: Mapping[str, BranchFilter]
    hooks: tuple[Hook, ...]
    file: ActionFile
    description: str = ""


@dataclass(frozen=True, slots=True)
class Changes:
    """Paths that a change adds, changes and removes: the numbers, and the first 100 paths."""

    added: int = 0
    changed: int = 0
    removed: int = 0
    paths: tuple[str, ...] = ()
    truncated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class HookEvent:
    """The event that a hook receives. Existing receivers know the first group of fields. Only Lakebed has the second
    group.

    Fields that do not apply are empty. `event_time`: Unix seconds.
    """

    event_type: str
    event_time: int
    action_name: str
    hook_id: str
    repository_id: str
    branch_id: str = ""
    source_ref: str = ""
    tag_id: str = ""
    commit_id: str = ""
    commit_message: str = ""
    committer: str = ""
    commit_metadata: Mapping[str, str] = field(default_factory=dict)
    merge_source: str = ""

    run_id: str = ""
    user: str = ""
    base_commit_id: str = ""
    """The head of the branch before the change."""
    candidate_commit_id: str = ""
    """The commit that would be published. It can be read by this id before the change is made."""
    tree_id: str = ""
    changes: Changes | None = None
    links: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Refuse:
    """The answer of a check that refuses the change. `message` is one sentence for the user who made it."""

    message: str
    details: Sequence[Mapping[str, Any]] = ()
    """Rows for the table of results, such as a file, a check and bad values."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a hook ended. `message` is for the user. An `error` is a failure of the hook itself, not a refusal.

    `details`: the results of a contract, or what a Python check returned. `check`: for `pending`, the name of the
    check of the commit that will have the result. `retry_after`: seconds after which a receiver requests the next
    attempt; negative: it wants no further attempt. `status`: of the HTTP response; 0 without a response.
    """

    state: State
    message: str = ""
    details: Sequence[Mapping[str, Any]] = ()
    check: str = ""
    retry_after: float = 0.0
    status: int = 0


class HookError(Exception):
    """The root."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class ActionFileError(HookError):
    """An action file cannot be used. `events`: the events that it blocks. Empty: all, because it cannot be parsed."""

    def __init__(self, message: str, *, path: str, line: int = 0, events: frozenset[str] = frozenset()) -> None:
        super().__init__(message)
        self.path = path
        self.line = line
        self.events = events

    def __reduce__(self) -> tuple[object, ...]:
        return _action_file_error, (self.message, self.path, self.line, self.events)


def _action_file_error(message: str, path: str, line: int, events: frozenset[str]) -> ActionFileError:
    return ActionFileError(message, path=path, line=line, events=events)
