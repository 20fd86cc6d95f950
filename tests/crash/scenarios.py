"""A small repository with history, layers and staged rows, and the operations that are killed in it."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

from lakebed_engine.engine import Engine
from lakebed_engine.operations.context import open_repo
from lakebed_engine.operations.keys import ENDED
from lakebed_engine.operations.layers import push
from lakebed_engine.operations.multipart.records import decode_ended, target_of
from lakebed_engine.operations.objects.stage import new_entry
from lakebed_engine.operations.tuning import Tuning
from lakebed_engine.stores.kv.base import KVStore
from lakebed_engine.stores.kv.postgres.store import PostgresKV
from lakebed_engine.stores.kv.sqlite.store import SqliteKV
from lakebed_engine.stores.objects.base import ObjectStores
from lakebed_engine.stores.objects.registry import Stores
from lakebed_engine.tree.manifest import Limits
from lakebed_engine.tree.rows import delta_table
from lakebed_engine.vocabulary import errors
from lakebed_engine.vocabulary.direct_writes import SentPart
from lakebed_engine.vocabulary.multipart import Upload
from lakebed_engine.vocabulary.pulls import PullCreation, PullMerge, ReviewRequest
from lakebed_engine.vocabulary.records import Entry
from lakebed_engine.vocabulary.requests import CommitRequest, Deletion, MergeRequest, PickRequest, UploadRequest

from tests.crash.store_calls import Doom, DoomedKV, DoomedStores
from tests.engine.support import REPO, FakeClock, chunked, once

NAMESPACE = "local://lake"
REWRITE = Limits(400, 1200, patch_rows=0)
"""The trees of these few rows have several ranges, and every change rewrites some of them."""
PATCH = Limits(400, 1200, share=0)
"""The same ranges, and every change becomes a patch over them."""


def small_files(limits: Limits) -> Tuning:
    """Trees of several ranges and layers of several parts, from a handful of rows."""
    return Tuning(trees=limits, layer_bytes=500, least_part=1)


Change = Mapping[str, str | None]

PREPARING, KILLED, LOOKING = 1, 2, 3
"""The phases in which a scenario opens the lake."""


class Place(NamedTuple):
    """Where a lake is stored: its directory, and the database when its KV store is PostgreSQL."""

    directory: Path
    dsn: str = ""

    def kv(self) -> KVStore:
        """A fresh KV store."""
        return PostgresKV(self.dsn, pool=2) if self.dsn else SqliteKV(self.directory / "kv.sqlite")


class _Ids:
    """Ids in order, others in each process."""

    def __init__(self, process: int) -> None:
        self._numbers = itertools.count()
        self._process = process

    def new(self) -> str:
        return f"{self._process:08x}{next(self._numbers):024x}"


@asynccontextmanager
async def opened(
    place: Place, process: int, doom: Doom | None = None, *, snapshots: bool = False, limits: Limits = REWRITE
) -> AsyncIterator[Engine]:
    """A fresh engine over the stored lake, without grace for dropped objects, with a stopped clock.

    Its ids come in order and differ from those of other `process`es: what one does leaves the same bytes each time.
    """
    kv = place.kv()
    stores = Stores(place.directory / "objects")
    seen_kv: KVStore = kv
    seen_stores: ObjectStores = stores
    if doom is not None:
        seen_kv, seen_stores = DoomedKV(kv, doom), DoomedStores(stores, doom)
    engine = Engine(
        seen_kv,
        seen_stores,
        clock=FakeClock(),
        ids=_Ids(process),
        cache_bytes=1 << 22,
        cleanup_grace=0,
        snapshot_always=snapshots,
        tuning=small_files(limits),
    )
    try:
        yield engine
    finally:
        await engine.close()
        await kv.close()
        stores.close()


class Scenario(NamedTuple):
    """One operation to be killed.

    `again` are the errors with which a repetition may say that it has happened; without any it succeeds once more.
    `branch` is used afterwards, to see that it still works. With `exact` the layers of every branch, too, are as
    before or as after: the operation moves a branch in a single step. `quiet`: nothing that a reader sees changes.
    """

    act: Callable[[Engine], Awaitable[object]]
    branch: str = "work"
    again: tuple[type[errors.EngineError], ...] = ()
    exact: bool = True
    quiet: bool = False
    snapshots: bool = False
    limits: Limits = REWRITE


def _committing(branch: str) -> Callable[[Engine], Awaitable[object]]:
    return lambda engine: commit(engine, branch, "killed commit")


def _merging(source: str, destination: str) -> Callable[[Engine], Awaitable[object]]:
    request = MergeRequest(committer="kim", message="killed merge")
    return lambda engine: engine.commits.merge(REPO, source, destination, request)


def _reverting(branch: str, key: str) -> Callable[[Engine], Awaitable[object]]:
    request = PickRequest(ref=branch, committer="kim")
    return lambda engine: engine.commits.revert(REPO, branch, request, key)


def _picking(source: str, branch: str, key: str) -> Callable[[Engine], Awaitable[object]]:
    request = PickRequest(ref=source, committer="kim")
    return lambda engine: engine.commits.cherry_pick(REPO, branch, request, key)


async def _pull(engine: Engine, title: str) -> str:
    """The id of a pull request that was opened when the lake was prepared."""
    (found,) = [one.id for one in (await engine.pulls.list(REPO)).items if one.title == title]
    return found


async def _open_pull(engine: Engine, source: str, title: str) -> None:
    creation = PullCreation(title=title, source_branch=source, destination_branch="main", author="kim", author_id="kim")
    await engine.pulls.create(REPO, creation)


async def _merge_pull(engine: Engine) -> None:
    request = PullMerge(actor="kim", committer="kim", message="killed pull")
    await engine.pulls.merge(REPO, await _pull(engine, "dev to main"), request)


async def _review_pull(engine: Engine) -> None:
    request = ReviewRequest(actor="lee", verdict="approve", text="yes")
    await engine.pulls.add_review(REPO, await _pull(engine, "many to main"), request)


async def _push(engine: Engine) -> None:
    ctx = engine.context
    rows = sorted(rows_of(PUSHED), key=lambda row: row[0])
    tables = [delta_table(rows[start : start + 5]) for start in range(0, len(rows), 5)]
    layer = await push.push(ctx, await open_repo(ctx, REPO), "work", chunked(tables))
    assert len(layer.parts) > 1, "the push must be of several parts"


async def _upload_many(engine: Engine) -> None:
    await stage(engine, "work", {"t/07": "many", "t/41": None, "n/3": "many"})


async def _overwrite(engine: Engine) -> None:
    now = await engine.objects.stat(REPO, "work", "t/25")
    request = UploadRequest(path="t/25", if_match=now.checksum)
    await engine.objects.upload(REPO, "work", request, once(b"overwritten"))


async def _uploads(engine: Engine) -> list[Upload]:
    """The uploads in parts that were begun when the lake was prepared, also when they have ended."""
    repo = await open_repo(engine.context, REPO)
    ended = await engine.context.kv.scan(repo.partition, ENDED, ENDED[:-1] + b"0")
    listed = [one.upload for one in (await engine.multipart.list(REPO)).items if one.upload]
    return sorted([*listed, *(decode_ended(row.value).upload for row in ended)], key=lambda one: one.path)


async def _complete_upload(engine: Engine) -> None:
    done, _ = await _uploads(engine)
    sent = [SentPart(number, hashlib.md5(text.encode()).hexdigest()) for number, text in SENT.items()]
    assert (await engine.multipart.complete(REPO, target_of(done), sent)).entry.parts == len(SENT)


async def _send_part(engine: Engine) -> None:
    upload, _ = await _uploads(engine)
    await engine.multipart.put_part(REPO, target_of(upload), 2, 5, once(b"again"))


async def _abort_upload(engine: Engine) -> None:
    _, given_up = await _uploads(engine)
    await engine.multipart.abort(REPO, target_of(given_up))


SENT = {1: "first ", 2: "second ", 9: "last"}
"""Parts of an upload, by number."""

PUSHED: Change = {f"p/{n:02}": f"pushed {n % 2}" for n in range(12)} | {"t/03": "layered", "t/04": None}
BASE: Change = {f"t/{n:02}": f"base {n % 5}" for n in range(60)}

_NO_CHANGES = (errors.NoChangesError,)

SCENARIOS: Mapping[str, Scenario] = {
    "commit": Scenario(_committing("work"), again=_NO_CHANGES, exact=False),
    "commit-patch": Scenario(_committing("many"), "many", again=_NO_CHANGES, exact=False, limits=PATCH),
    "merge": Scenario(_merging("dev", "main"), "main", again=_NO_CHANGES),
    "merge-patch": Scenario(_merging("dev", "main"), "main", again=_NO_CHANGES, limits=PATCH),
    "merge-into-staged": Scenario(_merging("dev", "same"), "same", again=_NO_CHANGES, exact=False),
    "revert-with-key": Scenario(_reverting("main", "k"), "main"),
    "cherry-pick-with-key": Scenario(_picking("dev", "main", "k"), "main"),
    "push": Scenario(_push),
    "reset-prefix": Scenario(lambda engine: engine.branches.reset_prefix(REPO, "work", "t/2"), exact=False),
    "reset-branch": Scenario(lambda engine: engine.branches.reset(REPO, "work")),
    "reset-object": Scenario(lambda engine: engine.branches.reset_object(REPO, "work", "t/03")),
    "compact": Scenario(lambda engine: engine.branches.compact(REPO, "many", least=2), "many", quiet=True),
    "upload-many": Scenario(_upload_many),
    "overwrite": Scenario(_overwrite),
    "complete-upload": Scenario(_complete_upload),
    "send-part": Scenario(_send_part, quiet=True),
    "abort-upload": Scenario(_abort_upload, quiet=True),
    "drain-events": Scenario(lambda engine: engine.events.drain(REPO, most=7), quiet=True),
    "clean": Scenario(lambda engine: engine.maintenance.clean(), quiet=True),
    "create-branch": Scenario(
        lambda engine: engine.branches.create(REPO, "new", "work"),
        "new",
        again=(errors.BranchExistsError,),
        snapshots=True,
    ),
    "delete-branch": Scenario(
        lambda engine: engine.branches.delete(REPO, "many"), "main", again=(errors.BranchNotFoundError,)
    ),
    "open-pull": Scenario(lambda engine: _open_pull(engine, "work", "work to main"), snapshots=True),
    "review-pull": Scenario(_review_pull),
    "merge-pull": Scenario(_merge_pull, "main", again=(errors.PullClosedError,)),
    "create-tag": Scenario(lambda engine: engine.tags.create(REPO, "v2", "dev"), "dev", again=(errors.TagExistsError,)),
    "delete-tag": Scenario(lambda engine: engine.tags.delete(REPO, "v1"), "main", again=(errors.TagNotFoundError,)),
}


async def prepare(engine: Engine) -> None:
    """The lake that every operation is killed in: three lines of history, layers of both kinds, staged rows, notes."""
    await engine.repositories.create(REPO, NAMESPACE)
    store = engine.context.stores.open(NAMESPACE)
    for text in {*PUSHED.values(), *BASE.values(), "old"}:
        if text is not None:
            await store.put(_address(text), text.encode())
    await engine.branches.push(REPO, "main", rows_of(BASE))  # its layer will be there for the cleaner, with many tokens
    await commit(engine, "main", "base")
    assert len([blob async for blob in store.list("_lakebed/ranges/")]) >= 4, "the tree must have several ranges"
    await engine.tags.create(REPO, "v1", "main")
    for branch in ("dev", "work", "many"):
        await engine.branches.create(REPO, branch, "main")
    await stage(engine, "dev", {"t/05": "dev", "t/05a": "dev", "t/30": None, "u/1": "dev", "t/58": "dev"})
    await commit(engine, "dev", "on dev")
    await stage(engine, "main", {"t/50": "main", "t/55a": "main", "t/10": None, "a/1": "main"})
    await commit(engine, "main", "on main")
    await engine.branches.create(REPO, "same", "main")
    await stage(engine, "same", {"t/11": BASE["t/11"], "nothing": None})  # which says what is
    await stage(engine, "work", {"t/03": "old", "t/04": "old", "t/25": "old", "t/26": None, "q/1": "old"})
    await engine.branches.push(REPO, "work", rows_of({f"t/{n}": "layered" for n in range(20, 30)} | {"t/31": None}))
    await stage(engine, "work", {"t/03": "new", "t/21": "new", "t/48": None, "z/1": "new", "t/59": BASE["t/59"]})
    for number in range(4):
        await stage(
            engine, "many", {f"t/{number:02}": f"many {number}", "t/40": f"many {number}", f"t/5{number}": None}
        )
        await engine.branches.push(
            REPO, "many", rows_of({"t/45": "old", f"t/1{number}": "layered", f"t/{number:02}": None})
        )
    for branch in ("dev", "many"):
        await _open_pull(engine, branch, f"{branch} to main")
    for path in ("t/25", "up/1"):
        upload = target_of(await engine.multipart.create(REPO, "work", UploadRequest(path=path)))
        for number, text in SENT.items():
            await engine.multipart.put_part(REPO, upload, number, len(text), once(text.encode()))


async def commit(engine: Engine, branch: str, message: str) -> object:
    """Commit what is staged."""
    return await engine.commits.create(REPO, branch, CommitRequest(message=message, committer="kim"))


async def stage(engine: Engine, branch: str, changes: Change) -> None:
    """Upload, or delete (None), in one batch."""
    items: list[Any] = [
        Deletion(path) if text is None else (UploadRequest(path=path, content_type="text/plain"), once(text.encode()))
        for path, text in changes.items()
    ]
    await engine.objects.upload_many(REPO, branch, chunked(items))


def rows_of(changes: Change) -> list[tuple[str, Entry | None]]:
    """Rows to push. The data was uploaded before."""
    return [(path, None if text is None else _entry(text)) for path, text in changes.items()]


def _entry(text: str) -> Entry:
    data = text.encode()
    return new_entry(_address(text), hashlib.md5(data).hexdigest(), len(data), 7, "text/plain", {})


def _address(text: str) -> str:
    return f"data/{text.replace(' ', '-')}"
