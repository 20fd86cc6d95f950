"""All operations of actors, by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tests.simulation.actors import actors, joining_verbs, multipart_verbs, task_verbs, workspace_verbs
from tests.simulation.actors.actors import Actor, Script

VERBS: Mapping[str, Script] = {
    "put": actors.put, "put_if": actors.put_if, "put_many": actors.put_many, "delete": actors.delete,
    "delete_if": actors.delete_if, "read": actors.read, "list": actors.list_page, "push": actors.push,
    "commit": actors.commit, "merge": actors.merge, "publish": actors.commit_and_merge,
    "compact": actors.compact, "at_once": actors.at_once,
    "reset": actors.reset, "reset_object": actors.reset_object, "reset_prefix": actors.reset_prefix,
    "delete_branch": actors.delete_branch, "create_branch": actors.create_branch, "clean": actors.clean,
    "ws_create": workspace_verbs.ws_create, "ws_write": workspace_verbs.ws_write,
    "ws_commit": workspace_verbs.ws_commit, "ws_whole": workspace_verbs.ws_whole, "ws_part": workspace_verbs.ws_part,
    "ws_crowd": workspace_verbs.ws_crowd, "intrude": workspace_verbs.intrude,
    "ws_rivals": workspace_verbs.ws_rivals,
    "ws_claim": workspace_verbs.ws_claim, "ws_revert": workspace_verbs.ws_revert, "ws_drop": workspace_verbs.ws_drop,
    "ws_scan": workspace_verbs.ws_scan, "stash": workspace_verbs.stash, "pop": workspace_verbs.pop,
    "revert": joining_verbs.revert, "pick": joining_verbs.pick, "hard_reset": joining_verbs.hard_reset,
    "merge_by_rules": joining_verbs.merge_by_rules, "task": joining_verbs.commit_task, "resume": joining_verbs.resume,
    "clash": joining_verbs.clash, "cancel": task_verbs.cancel,
    "merge_task": task_verbs.merge_task, "import": task_verbs.import_task,
    "mp_whole": multipart_verbs.whole, "mp_join": multipart_verbs.join,
    "drain": actors.drain, "deliver": actors.deliver, "events": actors.events,
    "feed": workspace_verbs.feed, "ingest": workspace_verbs.ingest,
}  # fmt: skip


async def act(actor: Actor, verbs: Sequence[str]) -> None:
    """One actor's life."""
    for verb in verbs:
        await VERBS[verb](actor)
