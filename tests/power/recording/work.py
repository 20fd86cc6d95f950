"""What recorded servers are asked for: a mix of everything that changes something, and chores.

Each path has one writer, so each has one history. What an operation leaves is in its `effects`.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any
from xml.etree import ElementTree

from lakebed_engine.vocabulary.reports import SweepOptions
from lakebed_server.auth.key_file import key_file
from lakebed_server.auth.rotation import rotate_file
from lakebed_server.process import wiring
from lakebed_server.settings.schema import Settings

from tests.power.record import Cell
from tests.power.recording.asking import Client, until
from tests.power.recording.lake import GRACE, REPO

_JOBS = 5
"""Clients of different kinds at one time: few, so that a recording is small and there can be many of them."""

_BIG = 1_100_000
"""Bytes that `local://` takes as a stream of its own."""


def of_object(branch: str, path: str) -> Cell:
    """The cell of an object."""
    return "object", branch, path


class Work:
    """The operations. `round_number` is part of each name, so that each round has its own."""

    def __init__(
        self,
        client: Client,
        parts: wiring.Components,
        settings: Settings,
        chance: random.Random,
        round_number: int,
    ) -> None:
        self._client = client
        self._parts = parts
        self._settings = settings
        self._chance = chance
        self._round = round_number
        self.unmerged: dict[str, bytes | None] = {}
        """What `dev` has that the next merge will bring to `release`."""

    def _bytes(self, size: int = 0) -> bytes:
        """Bytes that nothing else holds."""
        return self._chance.randbytes(size or self._chance.choice((20, 600, 3000)))

    async def prepare(self) -> None:
        """The repository, its first commit, and branches `dev` and `release`: `dev` is merged into that."""
        body = {"name": REPO, "storage_namespace": f"local://{REPO}"}
        await self._client.ask("POST", "/repositories", {("repository", REPO): b"", ("branch", "main"): b""}, json=body)
        base = {f"base/{number:02}": self._bytes() for number in range(8)}
        await self._put_many("main", base)
        await self._commit("main", "base")
        for name in ("dev", "release"):
            effects = {of_object(name, path): data for path, data in base.items()}
            body = {"name": name, "source": "main"}
            where = f"/repositories/{REPO}/branches"
            await self._client.ask("POST", where, {("branch", name): b"", **effects}, json=body)
        for number in range(3):
            await self._parts.stores.open("local://outside").put(f"x/{number}", b"outside %d" % number)

    async def together(self) -> None:
        """Some of everything, at the same time."""
        jobs: list[Callable[[], Awaitable[None]]] = [
            lambda: self._writer(0),
            lambda: self._writer(1),
            self._committer,
            self._developer,
            self._workspaces,
            self._in_parts,
            self._big,
            self._keys,
            self._imports,
            self._batches,
            self._names,
            self._copies,
        ]
        await asyncio.gather(*(job() for job in self._chance.sample(jobs, _JOBS)))

    async def chores(self) -> None:
        """What a server does by itself and a person by command: deletes what is dropped, compacts, changes the key."""
        engine = self._parts.engine
        await engine.maintenance.compact()
        await engine.maintenance.snapshot_refs()
        await asyncio.sleep(GRACE + 0.05)
        while await engine.maintenance.clean():
            pass
        swept = await engine.maintenance.sweep(REPO, SweepOptions(data=True, grace=0, age=0))
        assert not swept.failures
        await engine.branches.compact(REPO, "main", least=1)
        one = self._client.recorder.begin("lakebed keys rotate-secret")
        await rotate_file(self._parts.kv, key_file(self._settings))
        self._client.recorder.answer(one.number, True)

    async def _put(self, branch: str, path: str, data: bytes, **headers: str) -> None:
        await self._client.ask(
            "POST",
            f"/repositories/{REPO}/branches/{branch}/objects",
            {of_object(branch, path): data},
            params={"path": path},
            content=data,
            headers=headers,
        )

    async def _put_many(self, branch: str, objects: dict[str, bytes], message: str = "", *gone: str) -> None:
        """A batch, all or nothing; with a message it is a commit."""
        effects: dict[Cell, bytes | None] = {of_object(branch, path): data for path, data in objects.items()}
        effects |= {of_object(branch, path): None for path in gone}
        form: list[tuple[str, Any]] = [("content", (path, data)) for path, data in objects.items()]
        form += [("delete", (None, path.encode())) for path in gone]
        if message:
            form.insert(0, ("commit", (None, json.dumps({"message": message}).encode(), "application/json")))
        where = f"/repositories/{REPO}/branches/{branch}/objects/batch"
        one, answer = await self._client.ask("POST", where, effects, files=form)
        if message:
            one.effects["commit", branch, answer["commit"]["id"]] = b""

    async def _commit(self, branch: str, message: str) -> None:
        where = f"/repositories/{REPO}/branches/{branch}/commits"
        one, answer = await self._client.ask("POST", where, json={"message": message, "allow_empty": True})
        one.effects["commit", branch, answer["id"]] = b""

    async def _writer(self, number: int) -> None:
        for step in range(6):
            path = f"w{number}/{self._round}/{step % 4}"
            if step == 4 and self._chance.random() < 0.5:
                where = f"/repositories/{REPO}/branches/main/objects"
                await self._client.ask("DELETE", where, {of_object("main", path): None}, params={"path": path})
            else:
                await self._put("main", path, self._bytes())
        where, refused = f"/repositories/{REPO}/branches/main/objects", self._bytes()
        await self._client.ask(
            "POST",
            where,
            {of_object("main", f"w{number}/{self._round}/3"): refused},
            refused=True,
            params={"path": f"w{number}/{self._round}/3"},
            content=refused,
            headers={"if-none-match": "*"},
        )

    async def _committer(self) -> None:
        for number in range(3):
            await self._commit("main", f"round {self._round}, commit {number}")

    async def _developer(self) -> None:
        """On a branch of its own: objects, commits, merges, and a tag on each merge."""
        for number in range(2):
            objects = {f"dev/{self._round}/{number}/{one}": self._bytes() for one in range(2)}
            for path, data in objects.items():
                await self._put("dev", path, data)
            await self._commit("dev", f"dev {number}")
            self.unmerged |= objects
            effects = {of_object("release", path): data for path, data in self.unmerged.items()}
            self.unmerged = {}
            where = f"/repositories/{REPO}/refs/dev/merge/release"
            one, answer = await self._client.ask("POST", where, effects, json={})
            one.effects["commit", "release", answer["reference"]] = b""
            tag = f"v{self._round}.{number}"
            cell: dict[Cell, bytes | None] = {("tag", tag): answer["reference"].encode()}
            body = {"id": tag, "ref": answer["reference"]}
            await self._client.ask("POST", f"/repositories/{REPO}/tags", cell, json=body)

    async def _workspaces(self) -> None:
        for number in range(2):
            _, made = await self._client.ask("POST", f"/repositories/{REPO}/workspaces", json={"branch": "main"})
            objects = {f"ws/{self._round}/{number}/{one}": self._bytes() for one in range(2)}
            for path, data in objects.items():
                where = f"/repositories/{REPO}/branches/main%2B{made['id']}/objects"
                await self._client.ask("POST", where, params={"path": path}, content=data)
            effects = {of_object("main", path): data for path, data in objects.items()}
            where = f"/repositories/{REPO}/workspaces/{made['id']}/commit"
            one, answer = await self._client.ask("POST", where, effects, json={"message": f"workspace {number}"})
            one.effects["commit", "main", answer["id"]] = b""

    async def _in_parts(self) -> None:
        path = f"parts/{self._round}"
        target = f"/{REPO}/main/{path}"
        begun = await self._client.s3("POST", f"{target}?uploads=")
        upload = next(one.text for one in ElementTree.fromstring(begun.text).iter() if one.tag.endswith("UploadId"))
        parts = [self._bytes(2000), self._bytes(700), self._bytes(3000)]
        for number, data in enumerate(parts, 1):
            await self._client.s3("PUT", f"{target}?partNumber={number}&uploadId={upload}", data)
        reported = "".join(
            f'<Part><PartNumber>{number}</PartNumber><ETag>"{hashlib.md5(data).hexdigest()}"</ETag></Part>'
            for number, data in enumerate(parts, 1)
        )
        body = f"<CompleteMultipartUpload>{reported}</CompleteMultipartUpload>".encode()
        effects = {of_object("main", path): b"".join(parts)}
        await self._client.s3("POST", f"{target}?uploadId={upload}", body, effects)

    async def _big(self) -> None:
        data = self._bytes(1 << 12) * (_BIG >> 12)

        async def chunks() -> AsyncIterator[bytes]:
            for start in range(0, len(data), 1 << 18):
                yield data[start : start + (1 << 18)]

        path = f"big/{self._round}"
        where, headers = f"/repositories/{REPO}/branches/main/objects", {"content-length": str(len(data))}
        effects = {of_object("main", path): data}
        await self._client.ask("POST", where, effects, params={"path": path}, content=chunks(), headers=headers)

    async def _keys(self) -> None:
        made = []
        for _ in range(2):
            one, answer = await self._client.ask("POST", "/auth/users/admin/credentials")
            one.effects["key", answer["access_key_id"]] = answer["secret_access_key"].encode()
            made.append(answer["access_key_id"])
        await self._client.ask("DELETE", f"/auth/users/admin/credentials/{made[0]}", {("key", made[0]): None})

    async def _imports(self) -> None:
        folder = f"imported/{self._round}/"
        where = f"/repositories/{REPO}/branches/main/import"
        effects = {of_object("main", f"{folder}{number}"): b"outside %d" % number for number in range(3)}
        source = {"type": "common_prefix", "path": "local://outside/x/", "destination": folder}
        body, headers = {"paths": [source], "commit": {"message": "import"}}, until('"completed":true')
        one, started = await self._client.ask("POST", where, effects, json=body, headers=headers)
        while True:
            reported = await self._client.go_on(one, "GET", where, params={"id": started["id"]}, headers=headers)
            if reported["completed"]:
                break
            await asyncio.sleep(0.002)
        one.effects["commit", "main", reported["commit"]["id"]] = b""

    async def _batches(self) -> None:
        folder = f"many/{self._round}"
        await self._put_many("main", {f"{folder}/{number}": self._bytes() for number in range(3)})
        await self._put_many("main", {f"{folder}/one": self._bytes()}, "", f"{folder}/0")
        published = {f"published/{self._round}/{number}": self._bytes() for number in range(2)}
        await self._put_many("main", published, f"published {self._round}")

    async def _copies(self) -> None:
        for number in range(2):
            path = f"copies/{self._round}/{number}"
            data = self._bytes()
            await self._put("main", f"{path}/source", data)
            where = f"/repositories/{REPO}/branches/main/objects/copy"
            body, effects = {"src_path": f"{path}/source"}, {of_object("main", path): data}
            await self._client.ask("POST", where, effects, params={"dest_path": path}, json=body)

    async def _names(self) -> None:
        """Branches, tags and repositories that come and go."""
        names = f"/repositories/{REPO}/branches"
        for number in range(2):
            name = f"side-{self._round}-{number}"
            body = {"name": name, "source": "main"}
            await self._client.ask("POST", names, {("branch", name): b""}, json=body)
        await self._client.ask("DELETE", f"{names}/{name}", {("branch", name): None})
        other = f"other-{self._round}"
        body = {"name": other, "storage_namespace": f"local://{other}"}
        await self._client.ask("POST", "/repositories", {("repository", other): b""}, json=body)
        if self._round:
            await self._client.ask("DELETE", f"/repositories/{other}", {("repository", other): None})
