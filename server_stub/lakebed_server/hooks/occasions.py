"""Events for which hooks run: what their payloads contain, and which two commits their hooks read.

A pre event is made of a proposal, before a change lands. A post event is made of a delivery, which has the fields of
the payload that only the proposal knew.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote, urlencode

from lakebed_engine.vocabulary.hooks import Delivery, Proposal
from lakebed_engine.vocabulary.records import Commit
from lakebed_hooks import Action, Changes, Hook, HookEvent
from lakebed_hooks.vocabulary import PREPARE_COMMIT

COMMITTING: Final = frozenset({"commit", "merge", "revert", "cherry-pick"})
"""Operations that make a commit."""
MOVING: Final = COMMITTING | {"reset"}
"""Operations that move the head of a branch."""
_WITH_COMMIT_ID: Final = frozenset({"merge", "reset", "create-branch", "create-tag", "delete-tag"})
"""Operations whose pre event has a commit id: receivers know it from there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Occasion:
    """An event for which hooks run. `time`: Unix seconds. `fields`: those of the payload, as HookEvent names them.

    `candidate` and `base`: refs of the trees that hooks read. `base` may be empty: hooks then see no file in it.
    """

    type: str
    time: int
    repository: str
    fields: Mapping[str, Any]
    candidate: str
    base: str

    @property
    def moves_branch(self) -> bool:
        """Whether it is about a change of the head of a branch, so that there are changes to report."""
        return self.type == PREPARE_COMMIT or self.type.partition("-")[2] in MOVING

    def text(self, name: str) -> str:
        """A field of the payload, or the empty string."""
        value = self.fields.get(name, "")
        return value if isinstance(value, str) else ""

    def event(self, action: Action, hook: Hook, run_id: str, changes: Changes | None, root: str = "") -> HookEvent:
        """What one hook receives. `root`: the address of the server for people; empty: the event has no links."""
        return HookEvent(
            event_type=self.type,
            event_time=self.time,
            action_name=action.name,
            hook_id=hook.id,
            repository_id=self.repository,
            run_id=run_id,
            changes=changes,
            links=self._links(root, run_id) if root else {},
            **self.fields,
        )

    def _links(self, root: str, run_id: str) -> dict[str, str]:
        """The pages of the web page that show the event. ui/src/routes.ts has their paths."""
        pages = f"{root}/repositories/{quote(self.repository, safe='')}"
        found = {"run": f"{pages}/actions/{quote(run_id, safe='')}"}
        if commit := self.text("candidate_commit_id") or self.text("commit_id"):
            found["commit"] = f"{pages}/commits/{quote(commit, safe='')}"
        if branch := self.text("branch_id"):
            found["branch"] = f"{pages}/objects?{urlencode({'ref': branch})}"
        return found


def pre_event(proposal: Proposal, now: float) -> Occasion:
    """The event before a change."""
    operation = proposal.operation
    commit = proposal.commit
    kind = PREPARE_COMMIT if operation == PREPARE_COMMIT else f"pre-{operation}"
    fields = _fields(proposal)
    fields["source_ref"] = proposal.source_ref
    if operation == "reset" and proposal.before is not None:
        fields["source_ref"] = proposal.before.id
    if commit is not None and operation in _WITH_COMMIT_ID:
        fields["commit_id"] = commit.id
    if commit is not None and proposal.is_new_commit:
        fields["candidate_commit_id"] = commit.id
    return Occasion(
        type=kind,
        time=int(now),
        repository=proposal.repository.name,
        fields=_present(fields),
        candidate=proposal.branch if commit is None else commit.id,
        base=_base(proposal.before, commit),
    )


def post_fields(proposal: Proposal) -> dict[str, Any]:
    """The payload of the event after a change, as a delivery stores it."""
    operation = proposal.operation
    commit = proposal.commit
    fields = _fields(proposal)
    fields["source_ref"] = proposal.source_ref
    if commit is not None:
        if operation in MOVING:
            fields["source_ref"] = commit.id
        if operation != "delete-branch":
            fields["commit_id"] = commit.id
    return _present(fields)


def post_event(delivery: Delivery) -> Occasion:
    """The event after a change. It is the same for all attempts."""
    call = delivery.call
    fields = dict(call.payload)
    base = fields.get("base_commit_id", "")
    return Occasion(
        type=call.event_type,
        time=delivery.event.time // 1000,
        repository=delivery.event.repository,
        fields=fields,
        candidate=delivery.event.after or delivery.event.commit_id or delivery.event.before or call.commit_id,
        base=base if isinstance(base, str) else "",
    )


def manual_event(
    event_type: str,
    repository: str,
    branch: str,
    tag: str,
    commit: Commit,
    now: int,
    user: str,
    *,
    head: Commit | None = None,
    source: str = "",
) -> Occasion:
    """The event of a run that a user orders: for a commit, compared with its first parent, or with `head` if given.

    `source`: the ref as the user wrote it. It is the source of a merge into the branch of `head`.
    """
    base = _base(head, commit)
    fields = {
        "branch_id": branch,
        "tag_id": tag,
        "merge_source": source if head is not None and event_type.endswith("-merge") else "",
        "source_ref": commit.id,
        "commit_id": commit.id,
        "commit_message": commit.message,
        "committer": commit.committer,
        "commit_metadata": dict(commit.metadata),
        "user": user,
        "base_commit_id": base,
        "tree_id": commit.metarange_id,
    }
    return Occasion(
        type=event_type, time=now, repository=repository, fields=_present(fields), candidate=commit.id, base=base
    )


def _fields(proposal: Proposal) -> dict[str, Any]:
    """The fields that the events before and after a change have in common."""
    commit, before = proposal.commit, proposal.before
    fields: dict[str, Any] = {
        "branch_id": proposal.branch,
        "tag_id": proposal.tag,
        "merge_source": proposal.merge_source,
        "user": proposal.actor.user,
        "base_commit_id": "" if before is None else before.id,
        "tree_id": commit.metarange_id if commit is not None and proposal.operation in MOVING else "",
    }
    if proposal.operation in COMMITTING or proposal.operation == PREPARE_COMMIT:
        fields["commit_message"] = proposal.message
        fields["committer"] = proposal.committer
        fields["commit_metadata"] = dict(proposal.metadata)
    return fields


def _base(before: Commit | None, commit: Commit | None) -> str:
    """What a change is compared with: the head before it, or else the parent of the commit that it is about."""
    if before is not None:
        return before.id
    return commit.parents[0] if commit is not None and commit.parents else ""


def _present(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value}
