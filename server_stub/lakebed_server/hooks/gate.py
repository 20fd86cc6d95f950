"""The hooks of a server, as the engine asks them: which there are for a change, and whether they agree."""

from __future__ import annotations

import asyncio
import hashlib
import time
import weakref
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import msgspec
from lakebed_engine.engine import Engine
from lakebed_engine.vocabulary.errors import EngineError, InvalidRequestError
from lakebed_engine.vocabulary.events import NewDelivery, current_actor
from lakebed_engine.vocabulary.hooks import Operation, Plan, Proposal, Run
from lakebed_engine.vocabulary.records import Commit, Repository
from lakebed_hooks import Action, ActionFile, ActionFileError
from lakebed_hooks.action_set import ActionSet
from lakebed_hooks.vocabulary import PREPARE_COMMIT

from lakebed_server.hooks.calling import HookCaller
from lakebed_server.hooks.occasions import manual_event, post_fields, pre_event
from lakebed_server.hooks.runner import Progress, Runner
from lakebed_server.hooks.sources import ActionSources
from lakebed_server.hooks.verdicts import Verdicts
from lakebed_server.settings.hooks import HookSettings

_MOST_ERRORS = 5


@dataclass(frozen=True, slots=True)
class NoHooks:
    """The plan where no action concerns a change."""

    checks: bool = False
    deliveries: Sequence[NewDelivery] = ()

    async def check(self) -> None:
        """Nothing to check."""


@dataclass(frozen=True, slots=True)
class HooksOfChange:
    """The hooks that a change meets. `errors`: of action files that block it."""

    hooks: Hooks
    proposal: Proposal
    actions: Sequence[Action]
    errors: Sequence[ActionFileError]
    deliveries: Sequence[NewDelivery]

    @property
    def checks(self) -> bool:
        """Whether anything must agree."""
        return bool(self.actions or self.errors)

    async def check(self) -> None:
        """Run the pre hooks. Raises HookRefusedError."""
        await self.hooks.check(self)


class Hooks:
    """Implements `HookPort`."""

    def __init__(
        self,
        engine: Engine,
        settings: HookSettings,
        of_server: Sequence[ActionFile] = (),
        environment: Mapping[str, str] | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        """`of_server`: the action files that all repositories have."""
        self.rounds = settings.rounds
        self._engine = engine
        self.settings = settings
        self._now = now
        self.sources = ActionSources(engine, of_server)
        self.caller = HookCaller(engine, settings, environment, now)
        self.runner = Runner(engine, self.caller, settings, now)
        self.on_delivery: Callable[[str, Sequence[NewDelivery]], None] = _no_dispatcher
        """Called with the uid of a repository when a change that deliveries follow is about to land."""
        self.deliveries: Counter[str] = Counter()
        """Attempts of deliveries since the start, by what became of them: delivered, retried or failed."""
        matter = (settings.python.allow, settings.webhook.allow, settings.env.prefixes)
        self._matter = hashlib.sha256(msgspec.json.encode(matter)).hexdigest()
        self._ends: weakref.WeakKeyDictionary[asyncio.Task[Any], tuple[object, float]] = weakref.WeakKeyDictionary()

    async def close(self) -> None:
        """Record the last runs, and close all connections to receivers."""
        await self.runner.close()
        await self.caller.close()

    def concern(self, repository: Repository) -> bool:
        """Whether the server has actions for all repositories."""
        return bool(self.sources.of_server)

    async def plan(self, proposal: Proposal) -> Plan:
        """The hooks for a proposal. A broken action file does not fail here, but when the change is checked: then
        a run records it, and it concerns this change alone.
        """
        if proposal.repository.read_only:
            return NoHooks()
        found = await self.sources.of_change(proposal)
        operation, branch = proposal.operation, proposal.branch
        if operation == PREPARE_COMMIT:
            # an action file that cannot be used is reported before the commit, where the files of the commit count:
            # else no commit could mend it
            return HooksOfChange(self, proposal, found.choose(PREPARE_COMMIT, branch).actions, (), ())
        chosen = found.choose(f"pre-{operation}", branch)
        errors = list(chosen.errors)
        if operation == "commit":
            errors += [error for error in found.choose(PREPARE_COMMIT, branch).errors if error not in errors]
        plan = HooksOfChange(self, proposal, chosen.actions, errors, self._deliveries(found, proposal))
        if plan.deliveries:
            self.on_delivery(proposal.repository.uid, plan.deliveries)
        return plan

    async def check(self, plan: HooksOfChange) -> None:
        """Run the hooks before a change. Raises HookRefusedError."""
        proposal = plan.proposal
        occasion = pre_event(proposal, self._now())
        if plan.errors:
            shown = "; ".join(error.message for error in plan.errors[:_MOST_ERRORS])
            await self.runner.refuse(occasion, shown)
        verdicts = Verdicts(self._engine, proposal, occasion.type, self._matter)
        await self.runner.check(occasion, plan.actions, verdicts, self._deadline(proposal))
        if plan.deliveries:
            self.on_delivery(proposal.repository.uid, plan.deliveries)

    async def run_now(
        self, repo: str, event_type: str, ref: str, action: str = "", branch: str = "", rerun_of: str = ""
    ) -> Run:
        """Run the actions of an event, or one of them, at a ref. It changes nothing, and uses no verdict.

        `branch`: run the actions for a change that brings the content of the ref to this branch. `rerun_of`: the run
        that this one repeats, on its branch. Raises InvalidRequestError, and NotFoundError.
        """
        engine = self._engine
        repeated = await engine.hooks.run(repo, rerun_of) if rerun_of else None
        commit = await engine.commits.get(repo, ref)
        is_of_tag = event_type.endswith("-tag")
        if branch and is_of_tag:
            raise InvalidRequestError(f"an event of a tag has no branch: run {event_type} without one")
        tag = (ref if repeated is None else repeated.tag) if is_of_tag else ""
        repository = await engine.repositories.get(repo)
        head: Commit | None = None
        if branch:
            head = await engine.commits.get(repo, (await engine.branches.get(repo, branch)).commit_id)
            found = await self._set_of_change(repository, event_type, branch, head, commit)
            place = branch
        else:
            place = await self._branch_of(repo, ref) if repeated is None else repeated.branch
            found = await self.sources.of_commit(repository, await engine.hooks.files(repo, commit.id))
        chosen = found.choose(event_type, place)
        actions = [one for one in chosen.actions if action in ("", one.name)]
        if not actions:
            errors = "; ".join(error.message for error in chosen.errors[:_MOST_ERRORS])
            of_name = f" of the name {action[:80]!r}" if action else ""
            where = f"at {ref[:80]!r}" + (f" by the rules of the branch {branch[:80]!r}" if branch else "")
            why = f"no action{of_name} runs for {event_type} {where} of {repo!r}"
            if place and any(action in ("", one.name) for one in found.choose(event_type).actions):
                why += ": it has rules for other branches; name the branch that the event is about"
            raise InvalidRequestError(errors or why)
        user = current_actor().user
        occasion = manual_event(event_type, repo, place, tag, commit, int(self._now()), user, head=head, source=ref)
        run = self.runner.begun(occasion, rerun_of=rerun_of, rules_of=branch)
        deadline = asyncio.get_running_loop().time() + self.settings.operation_timeout
        return await self.runner.run(Progress(occasion, run, deadline), actions)

    async def _set_of_change(
        self, repository: Repository, event_type: str, branch: str, head: Commit, commit: Commit
    ) -> ActionSet:
        """The actions that a change meets which brings the content of a commit to a branch."""
        files = self._engine.hooks.files
        proposal = Proposal(
            operation=cast(Operation, event_type.partition("-")[2]),
            repository=repository,
            branch=branch,
            commit=commit,
            before=head,
            is_protected=repository.protecting_rule(branch) is not None,
            before_files=await files(repository.name, head.id),
            files=await files(repository.name, commit.id),
            actor=current_actor(),
        )
        return await self.sources.of_change(proposal)

    async def _branch_of(self, repo: str, ref: str) -> str:
        try:
            return (await self._engine.branches.get(repo, ref)).name
        except EngineError:  # a tag, a commit or an expression
            return ""

    def _deadline(self, proposal: Proposal) -> float:
        """When the hooks of an operation must have ended, in the time of the event loop: in all rounds together."""
        task = asyncio.current_task()
        assert task is not None
        change = (proposal.repository.uid, proposal.operation, proposal.branch, proposal.tag, proposal.message)
        key = (*change, proposal.actor.request_id)
        known = self._ends.get(task)
        if known is None or known[0] != key:
            known = (key, asyncio.get_running_loop().time() + self.settings.operation_timeout)
            self._ends[task] = known
        return known[1]

    def _deliveries(self, found: ActionSet, proposal: Proposal) -> list[NewDelivery]:
        """The calls that follow a change. An action file that cannot be used has none: nothing is left to refuse."""
        event = f"post-{proposal.operation}"
        actions = found.choose(event, proposal.branch).actions
        fields = post_fields(proposal) if actions else {}
        return [
            NewDelivery(
                action=action.name,
                event_type=event,
                origin=action.file.origin,
                path=action.file.path,
                digest=action.file.digest,
                commit_id=_commit_with(action.file, proposal),
                ordered=any(hook.properties.get("ordered", False) for hook in action.hooks),
                payload=fields,
            )
            for action in actions
        ]


def _commit_with(file: ActionFile, proposal: Proposal) -> str:
    """The commit whose tree has an action file."""
    if file.origin != "repository":
        return ""
    is_new = any(one.path == file.path and one.digest == file.digest for one in proposal.files)
    commit = proposal.commit if is_new or proposal.before is None else proposal.before
    return "" if commit is None else commit.id


def _no_dispatcher(_: str, __: Sequence[NewDelivery]) -> None:
    """The default: no dispatcher runs."""
