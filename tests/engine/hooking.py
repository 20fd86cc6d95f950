"""Hooks for tests of the engine: a port with a given answer, which records its questions."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from lakebed_engine.vocabulary.events import NewDelivery
from lakebed_engine.vocabulary.hooks import Plan, Proposal
from lakebed_engine.vocabulary.records import Repository

Answer = Callable[[Proposal], Awaitable[None]]


async def agrees(_: Proposal) -> None:
    """A hook that accepts every change."""


@dataclass
class PlanOfTest:
    """The plan of one proposal."""

    port: Hooks
    proposal: Proposal
    checks: bool
    deliveries: Sequence[NewDelivery]

    async def check(self) -> None:
        self.port.checked.append(self.proposal)
        await self.port.answer(self.proposal)


@dataclass
class Hooks:
    """A port with hooks on `operations`. `answer` checks a proposal: it raises to refuse."""

    operations: Sequence[str] = ("commit", "merge")
    answer: Answer = agrees
    after: Sequence[str] = ()
    """Operations that a call follows."""
    rounds: int = 5
    everywhere: bool = True
    ordered: bool = False
    asked: list[Proposal] = field(default_factory=list)
    checked: list[Proposal] = field(default_factory=list)

    def concern(self, repository: Repository) -> bool:
        return self.everywhere

    async def plan(self, proposal: Proposal) -> Plan:
        self.asked.append(proposal)
        deliveries = []
        if proposal.operation in self.after:
            event = f"post-{proposal.operation}"
            call = NewDelivery(
                action="a", event_type=event, origin="server", path="a", digest="d", ordered=self.ordered
            )
            deliveries = [call]
        return PlanOfTest(self, proposal, proposal.operation in self.operations, deliveries)
