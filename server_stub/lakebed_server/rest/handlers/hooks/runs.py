"""Runs of hooks, and calls of actions after changes. One function per operation (`handlers`)."""

from __future__ import annotations

from bisect import bisect_right
from typing import Final

from lakebed_engine.vocabulary.errors import RunNotFoundError
from lakebed_engine.vocabulary.hooks import HookRun, Run
from lakebed_engine.vocabulary.records import Page
from lakebed_hooks.vocabulary import EVENTS
from lakebed_wire import models
from lakebed_wire import operations as ops

from lakebed_server.http import responses
from lakebed_server.http.request import Call, HookRuns
from lakebed_server.http.responses import Reply, json
from lakebed_server.rest import serializers
from lakebed_server.rest.handlers.hooks import serialized
from lakebed_server.vocabulary import Header, bad_request, not_implemented

_LOG: Final[tuple[Header, ...]] = (
    (b"content-type", b"application/octet-stream"),
    (b"cache-control", b"no-store"),  # it grows until the run ends
)


async def list_repository_runs(call: Call, p: ops.ListRepositoryRunsParams) -> Reply:
    """listRepositoryRuns."""
    page = await call.engine.hooks.runs(
        p.repository,
        branch=serializers.text(p.branch),
        commit=serializers.text(p.commit),
        after=serializers.text(p.after),
        amount=serializers.amount(p.amount),
    )
    end = serializers.pagination_before(page.after if page.has_more else "", len(page.items))
    return json(200, models.ActionRunList(pagination=end, results=[serialized.run(one) for one in page.items]))


async def get_run(call: Call, p: ops.GetRunParams) -> Reply:
    """getRun."""
    return json(200, serialized.run(await call.engine.hooks.run(p.repository, p.run_id)))


async def list_run_hooks(call: Call, p: ops.ListRunHooksParams) -> Reply:
    """listRunHooks."""
    run = await _run_or_empty(call, p.repository, p.run_id)
    shown = sorted((one for one in run.hooks if p.skipped is True or one.state != "skipped"), key=_id)
    first = bisect_right(shown, serializers.text(p.after), key=_id)
    amount = serializers.amount(p.amount)
    page = Page(shown[first : first + amount], has_more=len(shown) > first + amount)
    results = [serialized.hook_run(one, run) for one in page.items]
    return json(200, models.HookRunList(pagination=serializers.pagination(page, _id), results=results))


async def _run_or_empty(call: Call, repository: str, run_id: str) -> Run:
    """A run. Existing clients read the list of the hooks of an unknown run as empty."""
    try:
        return await call.engine.hooks.run(repository, run_id)
    except RunNotFoundError:
        return Run(id=run_id, event_type="", started=0)


def _id(hook: HookRun) -> str:
    return hook.id


async def get_run_hook_output(call: Call, p: ops.GetRunHookOutputParams) -> Reply:
    """getRunHookOutput."""
    content = await call.engine.hooks.log(p.repository, p.run_id, p.hook_run_id)
    name = responses.saved_as(f"{p.run_id}-{p.hook_run_id}.log")
    return Reply(200, content, (*_LOG, name))


async def start_action_run(call: Call, p: ops.StartActionRunParams, body: models.ActionRunCreation) -> Reply:
    """startActionRun."""
    if body.event not in EVENTS:
        raise bad_request(f"body event: unknown event {body.event!r}: events are {', '.join(sorted(EVENTS))}")
    action, branch = serializers.text(body.action), serializers.text(body.branch)
    made = await _hooks(call).run_now(p.repository, body.event, body.ref, action, branch)
    return json(201, serialized.run(made))


async def repeat_action_run(call: Call, p: ops.RepeatActionRunParams) -> Reply:
    """repeatActionRun."""
    run = await call.engine.hooks.run(p.repository, p.run_id)
    # a commit that was refused can be read by its id for a day
    ref = run.commit_id or run.source_ref
    made = await _hooks(call).run_now(p.repository, run.event_type, ref, branch=run.rules_of, rerun_of=run.id)
    return json(201, serialized.run(made))


def _hooks(call: Call) -> HookRuns:
    if call.services.hooks is None:
        raise not_implemented("this server runs no hooks: its operator can set hooks.enabled")
    return call.services.hooks


async def list_hook_deliveries(call: Call, p: ops.ListHookDeliveriesParams) -> Reply:
    """listHookDeliveries."""
    found = await call.engine.hooks.deliveries(
        p.repository, after=serializers.text(p.after), amount=serializers.amount(p.amount)
    )
    results = [serialized.delivery(one, "waiting") for one in found.waiting]
    results += [serialized.delivery(one, "failed") for one in found.failed]
    return json(
        200,
        models.HookDeliveryList(pagination=serializers.pagination_before(found.after, len(results)), results=results),
    )


async def redeliver_hook(call: Call, p: ops.RedeliverHookParams) -> Reply:
    """redeliverHook."""
    made = await call.engine.hooks.redeliver(p.repository, p.delivery_id)
    return json(200, serialized.delivery(made, "waiting"))
