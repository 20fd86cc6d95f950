"""Calls of actions after changes. One function per operation (`handlers`)."""

from __future__ import annotations

from lakebed_wire import models
from lakebed_wire import operations as ops

from lakebed_server.http.request import Call
from lakebed_server.http.responses import Reply, json
from lakebed_server.rest import serializers
from lakebed_server.rest.handlers.hooks import serialized


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
