"""Verdicts: what a hook said about a tree, so that it need not check an equal tree again.

A key covers all that the answer depends on: the file of the hook, the settings, the event, both trees, and what the
user wrote. Errors are never stored. Refusals are stored only of hooks whose answer depends on nothing else.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import msgspec
from lakebed_engine.engine import Engine
from lakebed_engine.vocabulary.errors import NotFoundError
from lakebed_engine.vocabulary.hooks import Proposal, Verdict
from lakebed_hooks import Action, Hook, Outcome

from lakebed_server.hooks.occasions import MOVING

_DETERMINISTIC: Final = frozenset({"contract", "python"})
_ANSWERS: Final = {"success": "passed", "failure": "refused", "error": "refused"}


@dataclass(frozen=True, slots=True)
class Known:
    """An outcome that a hook had before, in another run."""

    outcome: Outcome
    run_id: str


class Verdicts:
    """The verdicts about one proposal. None are kept where an operation makes no commit: it is never tried again."""

    def __init__(self, engine: Engine, proposal: Proposal, event_type: str, settings: str) -> None:
        """`settings`: what else the answers of hooks depend on."""
        self._engine = engine
        self._proposal = proposal
        self._event_type = event_type
        self._settings = settings

    @property
    def _applies(self) -> bool:
        return self._proposal.operation in MOVING and self._proposal.commit is not None

    async def find(self, action: Action, hook: Hook) -> Known | None:
        """What the hook said about this tree before."""
        if not self._applies:
            return None
        name = self._proposal.repository.name
        found = await self._engine.hooks.verdict(name, self._key(action, hook))
        if found is None:
            return None
        outcome = await self._outcome(found)
        return None if outcome is None else Known(outcome, found.run_id)

    async def keep(self, action: Action, hook: Hook, outcome: Outcome, run_id: str, now: Callable[[], float]) -> None:
        """Store what the hook said, if it may be used again."""
        is_final = outcome.state == "refused" and hook.type in _DETERMINISTIC
        commit = self._proposal.commit
        if not self._applies or commit is None or not (outcome.state in ("passed", "pending") or is_final):
            return
        verdict = Verdict(
            state=outcome.state,
            run_id=run_id,
            at=int(now()),
            message=outcome.message,
            details=[dict(row) for row in outcome.details],
            check=outcome.check,
            commit_id=commit.id if outcome.check else "",
        )
        await self._engine.hooks.put_verdict(self._proposal.repository.name, self._key(action, hook), verdict)

    async def _outcome(self, found: Verdict) -> Outcome | None:
        if found.state == "pending":
            return await self._checked(found)
        if found.state in ("passed", "refused"):
            return Outcome("passed" if found.state == "passed" else "refused", found.message, tuple(found.details))
        return None

    async def _checked(self, found: Verdict) -> Outcome | None:
        """What the check says that a receiver promised. None: ask the receiver again."""
        try:
            checks = await self._engine.pulls.checks(self._proposal.repository.name, found.commit_id)
        except NotFoundError:  # the candidate has expired
            return None
        check = next((one for one in checks if one.name == found.check), None)
        name = f"the check {found.check!r} of commit {found.commit_id[:16]}"
        if check is None or check.state not in _ANSWERS:
            return Outcome("pending", f"{name} is not finished", check=found.check)
        if _ANSWERS[check.state] == "passed":
            return Outcome("passed", f"{name} succeeded")
        return Outcome("refused", f"{name} failed" + (f": {check.description}" if check.description else ""))

    def _key(self, action: Action, hook: Hook) -> str:
        proposal = self._proposal
        commit, before = proposal.commit, proposal.before
        parts = (
            1,
            action.file.origin,
            action.file.path,
            action.file.digest,
            hook.id,
            self._settings,
            self._event_type,
            proposal.branch,
            None if commit is None else commit.metarange_id,
            None if before is None else before.metarange_id,
            proposal.message,
            proposal.committer,
            sorted(proposal.metadata.items()),
            proposal.merge_source,
            proposal.actor.user,
        )
        return hashlib.sha256(msgspec.json.encode(parts)).hexdigest()
