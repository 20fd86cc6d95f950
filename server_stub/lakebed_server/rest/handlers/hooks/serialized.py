"""Serializes runs of hooks and deliveries. Pure functions."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Literal

from lakebed_engine.vocabulary.hooks import Delivery, HookRun, Run, RunState
from lakebed_wire import models
from msgspec import UNSET, UnsetType


def run(found: Run) -> models.ActionRun:
    """A run. Existing clients know two words for its status: `completed`, and `failed` also until it ends."""
    return models.ActionRun(
        run_id=found.id,
        branch=found.branch,
        start_time=_moment(found.started),
        end_time=_ended(found.ended),
        event_type=found.event_type,
        status="completed" if found.state in ("passed", "skipped") else "failed",
        commit_id=found.commit_id,
        state=found.state,
        message=found.message or UNSET,
        tag=found.tag or UNSET,
        source_ref=found.source_ref or UNSET,
        user=found.user or UNSET,
        delivery_id=found.delivery_id or UNSET,
        rerun_of=found.rerun_of or UNSET,
    )


def hook_run(found: HookRun, of: Run) -> models.HookRun:
    """A hook of a run. A skipped hook has no times, but existing clients need one: it gets the time of the run."""
    return models.HookRun(
        hook_run_id=found.id,
        action=found.action,
        hook_id=found.hook_id,
        start_time=_moment(found.started or of.started),
        end_time=_ended(found.ended),
        status=_status(found.state),
        type=found.type,
        state=found.state,
        message=found.message or UNSET,
        details=found.details or UNSET,
    )


def _status(state: RunState) -> str:
    return {"passed": "completed", "skipped": "skipped"}.get(state, "failed")


def delivery(found: Delivery, state: Literal["waiting", "failed"]) -> models.HookDelivery:
    """A delivery."""
    event = found.event
    return models.HookDelivery(
        id=found.id,
        state=state,
        action=found.call.action,
        event_type=found.call.event_type,
        event_id=event.id,
        branch=event.branch or UNSET,
        commit_id=found.call.commit_id or event.commit_id or UNSET,
        due=_moment(found.due) if state == "waiting" else UNSET,
        attempts=[
            models.HookDeliveryAttempt(time=_moment(one.at), state=one.state, message=one.message, run_id=one.run_id)
            for one in found.attempts
        ],
    )


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def _ended(seconds: float) -> datetime | UnsetType:
    return _moment(seconds) if seconds else UNSET
