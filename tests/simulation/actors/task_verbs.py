"""Merges and imports as tasks, and actors that cancel tasks."""

from __future__ import annotations

from lakebed_engine.operations.keys import RUNNING, TASKS
from lakebed_engine.operations.tasks.records import decode_task
from lakebed_engine.vocabulary.records import Commit
from lakebed_engine.vocabulary.requests import CommitRequest, MergeRequest, UploadRequest
from lakebed_engine.vocabulary.tasks import ImportPath, ImportRequest, Task

from tests.simulation.actors.actors import Actor, chunks
from tests.simulation.actors.joining_verbs import submitted
from tests.simulation.actors.outside import INTO, SOURCE
from tests.simulation.actors.workspace_verbs import feed
from tests.simulation.checks.history import content_identity
from tests.simulation.world.scheduler import TICK, park
from tests.simulation.world.world import REPO


async def merge_task(actor: Actor) -> None:
    """A merge as a task. With a key one asks again when the answer is lost, and gets the same."""
    source = "dev" if actor.branch == "main" else "main"
    if actor.rng.random() < 0.7:
        await _commit_something(actor, source)
    message, strategy = f"{actor.name}-{actor._calls}", actor.rng.choice(["", "", "source-wins"])
    key = message if actor.rng.random() < 0.6 else ""
    request = MergeRequest(committer=actor.name, message=message, strategy=strategy)

    async def begin() -> tuple[Task, Commit | None]:
        return await actor.engine.tasks.begin_merge(REPO, source, actor.branch, request, key=key, wait=0.2)

    await actor.call("merge_task", submitted(begin, bool(key)), source=source, strategy=strategy, message=message)


async def _commit_something(actor: Actor, branch: str) -> None:
    path = actor.path()
    text = actor.text(path)
    job = actor.engine.objects.upload(REPO, branch, UploadRequest(path=path), chunks(text))
    await actor.call("put", job, {path: content_identity(text)}, branch, path=path)
    request = CommitRequest(message=f"{actor.name}-{actor._calls}", committer=actor.name)
    made = actor.engine.commits.create(REPO, branch, request)
    await actor.call("commit", made, branch=branch, empty=False, message=request.message)


async def import_task(actor: Actor) -> None:
    """What another tool has written appears below a folder, as one commit."""
    await feed(actor)
    message = f"{actor.name}-{actor._calls}"
    folder = ImportPath("common_prefix", SOURCE, INTO)
    request = ImportRequest(paths=(folder,), committer=actor.name, message=message)

    async def begin() -> tuple[Task, Commit | None]:
        imports = actor.engine.imports
        task = await imports.start(REPO, actor.branch, request)
        for _ in range(3):
            status = await imports.status(REPO, actor.branch, task.id)
            if status.task.state != "running":
                break
            await park(actor.world.scheduler.time + 0.1)
        return status.task, status.commit

    await actor.call("import", submitted(begin, False), message=message, removals=True)


def _at_work(actor: Actor) -> list[Task]:
    contents = actor.world.contents
    rows = contents.rows(contents.partition)
    return [decode_task(rows[TASKS + key.removeprefix(RUNNING)].value) for key in rows if key.startswith(RUNNING)]


def _message(task: Task) -> str:
    message: str = task.request.get("merge", task.request)["message"]
    return message


def _has_landed(actor: Actor, running: list[Task]) -> bool:
    made = {one.message for one in actor.world.contents.commits()}
    return any(_message(task) in made for task in running)


async def cancel(actor: Actor) -> None:
    """Cancel a running or upcoming task, often just after its commit, which should have ended it."""
    patience, late = actor.rng.choice([1, 10, 40]), actor.rng.random() < 0.5
    for _ in range(patience):
        running = _at_work(actor)
        if running and (not late or _has_landed(actor, running)):
            break
        await park(actor.world.scheduler.time + TICK)
    if running:
        task = actor.rng.choice(running)
        job = actor.engine.tasks.cancel(REPO, task.what, task.target, task.id)
        await actor.call("cancel", job, branch=task.target, message=_message(task))
