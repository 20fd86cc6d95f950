"""Hooks in a simulated world: a port whose checks take time and refuse some trees, and a dispatcher of the calls.

No commit lands that the hooks have not seen and accepted, on the head that they saw. Each change has the row of its
call in its batch, the call is made at least once, and no call is made for a change that did not land.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
from lakebed_engine.operations.hooks.proposals import OPERATION_OF
from lakebed_engine.operations.keys import DELIVERIES_DUE, HOOK_DELIVERIES
from lakebed_engine.stores.kv.base import Batch
from lakebed_engine.vocabulary.errors import HookRefusedError
from lakebed_engine.vocabulary.events import Event, NewDelivery
from lakebed_engine.vocabulary.hooks import Delivery, Plan, Proposal
from lakebed_engine.vocabulary.ports import Runtime
from lakebed_engine.vocabulary.records import Repository

from tests.simulation.checks.history import Op, Violation

_delivery = msgspec.json.Decoder(Delivery).decode


def accepts(tree_id: str) -> bool:
    """Whether the hooks accept a tree. They refuse a fifth."""
    return not tree_id or int(tree_id[:8], 16) % 5 != 0


class HookLog:
    """Follows what hooks checked and what was called."""

    def __init__(self) -> None:
        self.on = False
        self.accepted: set[tuple[str, str]] = set()  # (head, commit)
        self.refused: dict[str, int] = {}  # message of a refusal -> step
        self.due: set[str] = set()
        self.called: Counter[str] = Counter()

    def applied(self, batch: Batch, events: Sequence[Event], op: Op | None) -> None:
        """A KV batch took effect, which records `events`."""
        if not self.on:
            return
        due = {
            found.id: found
            for part, key, value in batch.puts
            if part == HOOK_DELIVERIES and key.startswith(DELIVERIES_DUE)
            for found in [_delivery(value)]
        }
        self.due |= due.keys()
        of_events = {found.event.id for found in due.values()}
        head = ""
        for event in events:
            if event.type not in OPERATION_OF or event.before == event.after:
                continue
            head = head or event.before
            if (head, event.after) not in self.accepted:
                raise Violation(f"{op} lands commit {event.after[:8]} on {head[:8]}, which no hook accepted there")
            if event.id not in of_events:
                raise Violation(f"{op} lands commit {event.after[:8]} without the call that follows it")
        gone = [key for part, key in batch.deletes if part == HOOK_DELIVERIES and key.startswith(DELIVERIES_DUE)]
        for key in gone:
            found_id = key.rpartition(b"/")[2].decode()
            if not self.called[found_id]:
                raise Violation(f"{op} removes call {found_id}, which was not made")

    def call(self, delivery: Delivery) -> None:
        """A call is made."""
        if delivery.id not in self.due:
            raise Violation(f"call {delivery.id} is made, and no change has landed with it")
        self.called[delivery.id] += 1

    def check_end(self) -> None:
        """After the last dispatcher: every call was made."""
        missed = self.due - self.called.keys()
        if missed:
            raise Violation(f"{len(missed)} calls were never made")


@dataclass
class SimPlan:
    """The hooks of one proposal."""

    port: SimHooks
    proposal: Proposal
    checks: bool
    deliveries: Sequence[NewDelivery]

    async def check(self) -> None:
        """Wait for some steps, then accept or refuse the tree of the commit."""
        proposal, log = self.proposal, self.port.log
        assert proposal.commit is not None
        for _ in range(3):
            await self.port.runtime.sleep(0.001)
        if not accepts(proposal.commit.metarange_id):
            raise HookRefusedError(f"tree {proposal.commit.metarange_id[:8]} was refused")
        before = "" if proposal.before is None else proposal.before.id
        log.accepted.add((before, proposal.commit.id))


@dataclass
class SimHooks:
    """The port of every engine of a world."""

    log: HookLog
    runtime: Runtime
    rounds: int = 1_000

    def concern(self, repository: Repository) -> bool:
        """Always."""
        return True

    async def plan(self, proposal: Proposal) -> Plan:
        """Hooks check every change that moves a branch, and a call follows it."""
        moves = proposal.operation in OPERATION_OF.values()
        event = f"post-{proposal.operation}"
        call = NewDelivery(action="a", event_type=event, origin="server", path="a", digest="d", ordered=True)
        return SimPlan(self, proposal, moves, [call] if moves else [])
