"""Sends an OpenLineage run event for a change of a branch: its changed folders are the output datasets."""

from __future__ import annotations

import json
import urllib.request
import uuid
from datetime import UTC, datetime
from typing import Any

from lakebed_hooks import HookEvent, ReadOnlyRepo

_SCHEMA = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent"
_PRODUCER = "https://lakebed.example/hooks"


def emit(event: HookEvent, lake: ReadOnlyRepo, args: dict[str, Any]) -> None:
    """Post a COMPLETE event. A failure raises, so the server tries the delivery again later."""
    request = urllib.request.Request(
        args["url"],
        data=json.dumps(event_of(event, lake, args["namespace"])).encode(),
        headers={"content-type": "application/json"},
        method="POST",
    )
    with urllib.request.urlopen(request, timeout=10) as answer:
        answer.read(1024)


def event_of(event: HookEvent, lake: ReadOnlyRepo, namespace: str) -> dict[str, Any]:
    """The event. The id of the run comes from the commit, so a second delivery is the same run."""
    folders = sorted({change.path.rpartition("/")[0] for change in lake.changes()})
    when = datetime.fromtimestamp(event.event_time, UTC).isoformat()
    name = f"{event.repository_id}/{event.branch_id}"
    outputs = [{"namespace": namespace, "name": f"{event.repository_id}/{folder}"} for folder in folders]
    inputs = [{"namespace": namespace, "name": f"{event.repository_id}@{event.merge_source}"}]
    return {
        "eventType": "COMPLETE",
        "eventTime": when,
        "run": {"runId": str(uuid.uuid5(uuid.NAMESPACE_URL, f"{name}@{event.commit_id}"))},
        "job": {"namespace": namespace, "name": f"{event.event_type} {name}"},
        "inputs": inputs if event.merge_source else [],
        "outputs": outputs,
        "producer": _PRODUCER,
        "schemaURL": _SCHEMA,
    }
