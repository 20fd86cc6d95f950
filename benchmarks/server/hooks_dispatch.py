"""How many post events per second the dispatcher delivers, rows and runs included, and what a dead receiver costs.

    python -m benchmarks.server.hooks_dispatch [--events 10000] [--profile]
    python -m benchmarks.server.hooks_dispatch --dead [--commits 1000]

The receiver is another process. The store is SQLite on disk. Prints JSON.
"""

from __future__ import annotations

import argparse
import asyncio
import cProfile
import json
import pstats
import socket
import statistics
import tempfile
import time
from pathlib import Path

from lakebed_engine.engine import Engine
from lakebed_engine.stores.kv.sqlite.store import SqliteKV
from lakebed_engine.stores.objects.registry import Stores
from lakebed_engine.vocabulary.hooks import HookSettings
from lakebed_engine.vocabulary.requests import CommitRequest
from lakebed_server.hooks.dispatcher import Dispatcher
from lakebed_server.hooks.gate import Hooks
from lakebed_server.settings.hooks import HookSettings as Settings
from lakebed_server.settings.hooks import WebhookSettings

from benchmarks.server.hooks_delivery import receiver

_ACTION = """name: notify
on:
  post-{event}:
hooks:
  - id: notify
    type: webhook
    properties:
      url: {url}
"""
_SETTINGS = Settings(webhook=WebhookSettings(allow="127.0.0.1"))


async def deliver(folder: Path, url: str, events: int) -> dict[str, float]:
    """Make the events, then deliver all."""
    engine, kv, stores = await _engine(folder)
    hooks = Hooks(engine, _SETTINGS)
    engine.hooks.use(hooks)
    await _use(engine, "create-tag", url)
    for start in range(0, events, 200):
        numbers = range(start, min(start + 200, events))
        await asyncio.gather(*(engine.tags.create("lake", f"v{number}", "main") for number in numbers))
    began, cpu = time.perf_counter(), time.process_time()
    running = asyncio.create_task(Dispatcher(engine, hooks).run())
    while await engine.hooks.due(1):
        await asyncio.sleep(0.05)
    took, cpu = time.perf_counter() - began, time.process_time() - cpu
    await _end(running, hooks)
    assert await _passed(engine) == events
    await engine.close()
    await kv.close()
    stores.close()
    return {"events per second": events / took, "CPU ms per event": cpu / events * 1000}


async def _passed(engine: Engine) -> int:
    """How many runs there are. All must have passed."""
    found, after, more = 0, "", True
    while more:
        page = await engine.hooks.runs("lake", amount=1000, after=after)
        assert all(run.state == "passed" for run in page.items)
        found, after, more = found + len(page.items), page.after, page.has_more
    return found


async def commits(folder: Path, url: str, count: int) -> tuple[float, float]:
    """Seconds and seconds of processor time of a commit, with a dispatcher that calls `url` after each.

    Empty: no action.
    """
    engine, kv, stores = await _engine(folder)
    hooks = Hooks(engine, _SETTINGS)
    engine.hooks.use(hooks)
    running = asyncio.create_task(Dispatcher(engine, hooks).run())
    if url:
        await _use(engine, "commit", url)
    began, cpu = time.perf_counter(), time.process_time()
    for number in range(count):
        request = CommitRequest(message=f"{number}", committer="ann", allow_empty=True)
        await engine.commits.create("lake", "main", request)
    took, cpu = time.perf_counter() - began, time.process_time() - cpu
    await _end(running, hooks)
    await engine.close()
    await kv.close()
    stores.close()
    return took / count, cpu / count


async def _engine(folder: Path) -> tuple[Engine, SqliteKV, Stores]:
    folder.mkdir(parents=True)
    kv, stores = SqliteKV(folder / "kv.sqlite"), Stores(folder / "objects")
    engine = Engine(kv, stores)
    await engine.repositories.create("lake", "local://lake")
    return engine, kv, stores


async def _use(engine: Engine, event: str, url: str) -> None:
    await engine.hooks.replace_settings("lake", HookSettings({"notify": _ACTION.format(event=event, url=url)}))


async def _end(running: asyncio.Task[None], hooks: Hooks) -> None:
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    await hooks.close()


def _dead_url() -> str:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{one.getsockname()[1]}/nobody"


def _dead(folder: Path, count: int) -> dict[str, float]:
    """Pairs in turn, so that a slow moment of the machine meets both sides. 1: a dead receiver costs nothing."""
    url = _dead_url()
    rates: list[dict[str, tuple[float, float]]] = []
    with receiver() as alive:
        for number in range(5):
            sides = [(alive, "alive"), (url, "dead"), ("", "none")]
            found = {
                name: asyncio.run(commits(folder / f"{name}{number}", side, count))
                for side, name in (sides if number % 2 else sides[::-1])
            }
            rates.append(found)
    shown = {f"{name}: commits per second": 1 / statistics.median(one[name][0] for one in rates) for name in rates[0]}
    for kind, what in enumerate(("rate", "processor time, inverse")):
        for other in ("none", "alive"):
            ratios = [one[other][kind] / one["dead"][kind] for one in rates]
            shown[f"dead / {other}, {what}"] = statistics.median(ratios)
    return shown


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=10_000)
    parser.add_argument("--commits", type=int, default=1000)
    parser.add_argument("--dead", action="store_true")
    parser.add_argument("--profile", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if options.dead:
            print(json.dumps(_dead(Path(folder), options.commits)))
            return
        profile = cProfile.Profile()
        with receiver() as url:
            if options.profile:
                profile.enable()
            print(json.dumps(asyncio.run(deliver(Path(folder) / "lake", url, options.events))))
            profile.disable()
        if options.profile:
            pstats.Stats(profile).sort_stats("tottime").print_stats(35)


if __name__ == "__main__":
    main()
