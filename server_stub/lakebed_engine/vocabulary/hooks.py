"""The interface between engine and hooks: a proposed change, the result of the hooks, and the calls that follow.

The engine runs no hook. It calls a `HookPort` before each batch that changes history, and stores runs, verdicts and
deliveries.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Literal, NamedTuple, Protocol

import msgspec

from lakebed_engine.vocabulary.events import Actor, Event, NewDelivery
from lakebed_engine.vocabulary.records import Commit, Repository

ACTION_FOLDERS: Final = ("_lakebed_actions/", "_lakefs_actions/")
"""Where a repository keeps its action files: directly in these folders."""

MOST_ACTION_FILES: Final = 100
MAX_ACTION_FILE: Final = 1 << 20
"""Bytes of one action file."""

RunState = Literal["running", "passed", "refused", "error", "pending", "skipped"]
Operation = Literal[
    "prepare-commit", "commit", "merge", "revert", "cherry-pick", "reset",
    "create-branch", "delete-branch", "create-tag", "delete-tag",
]  # fmt: skip


class StoredFile(msgspec.Struct, frozen=True):
    """An action file of a tree. `digest`: SHA-256 of the content. `problem`: why it was not read, else empty."""

    path: str
    digest: str
    content: bytes
    problem: str = ""


class Proposal(msgspec.Struct, frozen=True, kw_only=True):
    """A change that is not made yet. Fields that do not apply are empty or None.

    `commit`: the commit that the branch would get, or that a branch or tag is created on or deleted from. `before`: the
    head of the branch. `source_ref` and `merge_source` as receivers know them. `is_protected`: a protection rule
    matches the branch. `before_files` and `files`: the action files of both commits.
    """

    operation: Operation
    repository: Repository
    branch: str = ""
    tag: str = ""
    source_ref: str = ""
    merge_source: str = ""
    commit: Commit | None = None
    before: Commit | None = None
    is_protected: bool = False
    is_new_commit: bool = False
    """`commit` is in no history yet: it can only be read by its id."""
    before_files: Sequence[StoredFile] = ()
    files: Sequence[StoredFile] = ()
    message: str = ""
    """Of the request, where there is no commit yet (`prepare-commit`)."""
    committer: str = ""
    metadata: Mapping[str, str] = {}
    actor: Actor


class Plan(Protocol):
    """The hooks that apply to a proposal."""

    @property
    def checks(self) -> bool:
        """Whether hooks must agree before the change is made."""
        ...

    @property
    def deliveries(self) -> Sequence[NewDelivery]:
        """The calls that follow the change."""
        ...

    async def check(self) -> None:
        """Run the pre hooks. Raises HookRefusedError."""
        ...


class HookPort(Protocol):
    """Runs hooks. The server implements it."""

    rounds: int
    """Maximum number of times that the hooks of one operation run, each time for another tree."""

    def concern(self, repository: Repository) -> bool:
        """Whether there are actions outside of the repository's data: in its settings, or of the server."""
        ...

    async def plan(self, proposal: Proposal) -> Plan:
        """The hooks for a proposal. Raises HookRefusedError for an action file that cannot be used."""
        ...


class HookRun(msgspec.Struct, frozen=True, kw_only=True):
    """One hook of a run. Times in Unix seconds; `ended` is 0 until then. `details`: rows of results, plain JSON."""

    id: str
    """`0000_0001`: the number of the action and of the hook."""
    action: str
    hook_id: str
    type: str
    state: RunState = "running"
    started: float = 0.0
    ended: float = 0.0
    message: str = ""
    details: list[dict[str, Any]] = []


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """A run of the actions of one event. `id` sorts the newest run first. Times in Unix seconds."""

    id: str
    event_type: str
    branch: str = ""
    source_ref: str = ""
    commit_id: str = ""
    tag: str = ""
    user: str = ""
    started: float
    ends_by: float = 0.0
    """The time by which its hooks have ended, unless their server died. 0: not known."""
    ended: float = 0.0
    state: RunState = "running"
    message: str = ""
    delivery_id: str = ""
    """For a post event: the delivery that this run is an attempt of."""
    rerun_of: str = ""
    rules_of: str = ""
    """For a manual run: the branch whose rules it used, if they are not those of the commit itself."""
    hooks: list[HookRun] = []


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict of a hook about a tree. `at` in Unix seconds. `check` and `commit_id`: of a pending verdict."""

    state: RunState
    run_id: str
    at: int
    message: str = ""
    details: list[dict[str, Any]] = []
    check: str = ""
    commit_id: str = ""


class Attempt(msgspec.Struct, frozen=True):
    """An attempt of a delivery."""

    at: float
    state: RunState
    message: str
    run_id: str


class Delivery(msgspec.Struct, frozen=True, kw_only=True):
    """A call of one action after a change, which is waiting or has failed permanently.

    `id` is the same for all attempts. `due` in Unix seconds. `hook`: the number of the next hook. `tries`: how often it
    was called. `ended`: the states of the hooks before it.
    """

    id: str
    event: Event
    call: NewDelivery
    due: float
    hook: int = 0
    tries: int = 0
    ended: tuple[RunState, ...] = ()
    attempts: list[Attempt] = []

    @property
    def order(self) -> tuple[str, str, str, str]:
        """The key of ordered calls: repository, branch and action."""
        return self.event.repository_uid, self.event.branch, self.call.origin, self.call.action


@dataclass(frozen=True)
class SeenDelivery:
    """The row of a delivery. It is decoded only when needed, because many rows may wait for a dead receiver."""

    key: bytes
    version: int
    value: bytes

    @cached_property
    def delivery(self) -> Delivery:
        """The decoded row."""
        return _delivery.decode(self.value)


_delivery: Final = msgspec.json.Decoder(Delivery)


class RunPage(NamedTuple):
    """A page of runs, the newest first. `after`: where the next page begins. A page may be short though more exist."""

    items: list[Run]
    after: str
    has_more: bool


class HookSettings(msgspec.Struct, frozen=True):
    """Action files of a repository that are not in its data: by name, as YAML text."""

    actions: dict[str, str] = {}

    @property
    def digest(self) -> str:
        """SHA-256 of the files, in any order, in hex. Empty: there are none."""
        if not self.actions:
            return ""
        return hashlib.sha256(msgspec.json.encode(sorted(self.actions.items()))).hexdigest()
