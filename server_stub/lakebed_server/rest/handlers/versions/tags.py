"""Tags. One function per operation (`handlers`)."""

from __future__ import annotations

from lakebed_wire import models
from lakebed_wire import operations as ops

from lakebed_server.http.request import Call
from lakebed_server.http.responses import Reply, empty, json
from lakebed_server.rest import serializers


async def list_tags(call: Call, p: ops.ListTagsParams) -> Reply:
    """listTags."""
    page = await call.engine.tags.list(
        p.repository,
        prefix=serializers.text(p.prefix),
        after=serializers.text(p.after),
        amount=serializers.amount(p.amount),
    )
    return json(200, serializers.refs(page))


async def create_tag(call: Call, p: ops.CreateTagParams, body: models.TagCreation) -> Reply:
    """createTag."""
    return json(
        201, serializers.ref(await call.engine.tags.create(p.repository, body.id, body.ref, force=bool(body.force)))
    )


async def get_tag(call: Call, p: ops.GetTagParams) -> Reply:
    """getTag."""
    return json(200, serializers.ref(await call.engine.tags.get(p.repository, p.tag)))


async def delete_tag(call: Call, p: ops.DeleteTagParams) -> Reply:
    """deleteTag."""
    await call.engine.tags.delete(p.repository, p.tag, force=bool(p.force))
    return empty()
