"""A rotation of the secret key that is broken off anywhere, rows of 0.1, and two servers that remove the last keys."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from lakebed_engine.stores.kv.base import Batch, Put
from lakebed_engine.stores.kv.memory import MemoryKV
from lakebed_server.auth import rotation
from lakebed_server.auth.credentials import CredentialStore
from lakebed_server.auth.key_file import KeyFile
from lakebed_server.auth.records import Credential, User, put_user
from lakebed_server.auth.secret_key import KeyRing, SecretKey
from lakebed_server.vocabulary import RequestError, StartError

from tests.server.support import run

COUNT = 5


class Stopped(BaseException):
    """The process is killed."""


class Steps:
    """Kills the process before its step of one number, or after it."""

    def __init__(self, last: int = -1) -> None:
        self.left = last
        self.done = 0

    def before(self) -> None:
        self._count()

    def after(self) -> None:
        self.done += 1
        self._count()

    def _count(self) -> None:
        if self.left == 0:
            raise Stopped
        self.left -= 1


class BreakingKV(MemoryKV):
    steps = Steps()

    async def apply(self, batch: Batch) -> int:
        self.steps.before()
        version = await super().apply(batch)
        self.steps.after()
        return version


class BreakingFile(KeyFile):
    steps = Steps()

    def _replace(self, lines: Sequence[str]) -> None:
        self.steps.before()
        super()._replace(lines)
        self.steps.after()


def row_of_0_1(access_key_id: str, secret: str, secret_key: str) -> Put:
    """As 0.1 stored an access key: one secret key, and no word which."""
    derived = hmac.new(secret_key.encode(), b"lakebed credentials", hashlib.sha256).digest()
    nonce = b"n" * 12
    sealed = nonce + AESGCM(derived).encrypt(nonce, secret.encode(), access_key_id.encode())
    row = {
        "access_key_id": access_key_id,
        "user": "admin",
        "created": 7,
        "secret": base64.b64encode(sealed).decode(),
    }
    return Put("auth", b"credentials/" + access_key_id.encode(), json.dumps(row).encode())


class World:
    """A store with access keys, one of them of 0.1, and a server that knows the first secret key."""

    def __init__(self, directory: Path) -> None:
        directory.mkdir()
        self.kv = BreakingKV()
        self.file = BreakingFile(directory / "secret.key")
        self.steps(Steps())
        self.running = CredentialStore(self.kv, KeyRing(self.file.make(), self.file.read))
        run(
            self.kv.apply(Batch(puts=[row_of_0_1("AKIAJOLD", "the secret of 0.1", self.file.path.read_text().strip())]))
        )
        run(self.running.check_secret())
        run(self.kv.apply(Batch(puts=[put_user(User("admin", 7))])))
        self.keys = [run(self.running.add("admin", 7)) for _ in range(COUNT)]
        self.keys.append(Credential("AKIAJOLD", "the secret of 0.1", "admin", 7))

    def steps(self, steps: Steps) -> None:
        self.kv.steps = self.file.steps = steps

    def rotate(self) -> int:
        return run(rotation.rotate_file(self.kv, self.file))

    def started(self) -> CredentialStore:
        """The store of a server that starts now."""
        store = CredentialStore(self.kv, KeyRing(self.file.read(), self.file.read))
        run(store.check_secret())
        return store

    def check(self) -> None:
        """Every access key works on the running server and on a new server, and both can create another key."""
        for store in (self.running, self.started()):
            for key in self.keys:
                found = run(store.find(key.access_key_id))
                assert found is not None
                assert found.credential == key
            self.keys.append(run(store.add("admin", 8)))


def test_a_rotation_that_is_broken_off_anywhere_goes_on(tmp_path: Path) -> None:
    whole = World(tmp_path / "whole")
    counted = Steps()
    whole.steps(counted)
    assert whole.rotate() == COUNT + 1
    assert counted.done == 2 + 1 + COUNT + 1  # the file twice, the current key, and each access key
    for last in range(2 * counted.done):
        world = World(tmp_path / str(last))
        (old,) = world.file.read()
        world.steps(Steps(last))
        with pytest.raises(Stopped):
            world.rotate()
        world.steps(Steps())
        world.check()
        world.rotate()
        world.check()
        (new,) = world.file.read()
        assert new.id != old.id
        ring = KeyRing([new])
        assert all(run(CredentialStore(world.kv, ring).find(key.access_key_id)) for key in world.keys)
        rows = run(world.kv.scan("auth", b"credentials/", b"credentials0"))
        assert {json.loads(row.value)["key"] for row in rows} == {new.id}


def test_a_server_that_makes_a_key_during_a_rotation_uses_the_new_secret(tmp_path: Path) -> None:
    """Its check of the current secret key fails once the rotation has said that another encrypts."""
    world = World(tmp_path / "world")
    rotated: list[int] = []

    class Late(MemoryKV):
        async def apply(self, batch: Batch) -> int:
            if not rotated:
                rotated.append(await rotation.rotate_file(world.kv, world.file))
            return await world.kv.apply(batch)

        def __getattribute__(self, name: str) -> Any:
            return object.__getattribute__(self, name) if name == "apply" else getattr(world.kv, name)

    late = CredentialStore(Late(), world.running._ring)
    made = run(late.add("admin", 9))
    assert rotated == [COUNT + 1]
    (new,) = world.file.read()
    found = run(CredentialStore(world.kv, KeyRing([new])).find(made.access_key_id))
    assert found is not None
    assert found.credential == made


def test_a_rotation_needs_every_secret_and_changes_nothing_without(tmp_path: Path) -> None:
    world = World(tmp_path / "world")
    run(world.kv.apply(Batch(puts=[row_of_0_1("AKIAZ", "another secret", "another secret key altogether")])))
    before = run(world.kv.scan("auth"))
    with pytest.raises(StartError, match="cannot be decrypted"):
        world.rotate()
    assert run(world.kv.scan("auth")) == before


async def test_two_servers_cannot_remove_the_last_two_keys() -> None:
    class Meeting(MemoryKV):
        """Both have looked before either removes."""

        barrier: asyncio.Barrier | None = None

        async def apply(self, batch: Batch) -> int:
            if batch.deletes and self.barrier is not None:
                barrier, self.barrier = self.barrier, self.barrier if self.barrier.n_waiting == 0 else None
                await barrier.wait()
            return await super().apply(batch)

    async def race() -> list[object]:
        kv = Meeting()
        ring = KeyRing([SecretKey("the secret that both share")])
        await kv.apply(Batch(puts=[put_user(User("admin", 1))]))
        stores = [CredentialStore(kv, ring) for _ in range(2)]
        made = [await store.add("admin", 1) for store in stores]
        kv.barrier = asyncio.Barrier(2)
        answers = await asyncio.gather(
            *(store.remove(key.access_key_id, "admin") for store, key in zip(stores, made, strict=True)),
            return_exceptions=True,
        )
        left = [key for key in made if await stores[0].find(key.access_key_id)]
        assert len(left) == 1
        return sorted(answers, key=repr)

    refused = [answer for answer in await race() if answer is not None]
    assert len(refused) == 1
    assert isinstance(refused[0], RequestError)
    assert refused[0].kind == "last_credential"


async def test_a_key_that_no_secret_opens_gives_no_access() -> None:
    kv = MemoryKV()
    store = CredentialStore(kv, KeyRing([SecretKey("the secret of this server")]))
    await kv.apply(Batch(puts=[put_user(User("admin", 1))]))
    made = await store.add("admin", 1)
    await kv.apply(Batch(puts=[row_of_0_1("AKIAZ", "another secret", "another secret key altogether")]))
    with pytest.raises(RequestError, match="is the last one"):
        await store.remove(made.access_key_id, "admin")


def test_sessions_that_are_over_are_forgotten() -> None:
    kv = MemoryKV()
    store = CredentialStore(kv, KeyRing([SecretKey("the secret of this server")]))
    for number in range(5):
        run(store.sessions.end("ana", f"s{number}", 100 + number, now=100))
    assert all(run(store.sessions.is_ended(f"s{number}", 100 + number)) for number in range(5))
    month = 30 * 24 * 3600
    # a clock that is a month ahead, and comes back
    run(store.sessions.end("ana", "during", 200 + month, now=100 + month))
    assert all(run(store.sessions.is_ended(f"s{number}", 100 + number)) for number in range(5))
    run(store.sessions.end("ana", "last", 300 + month, now=200 + month))
    found = [row.key.rpartition(b"/")[2] for row in run(kv.scan("auth", b"revoked/", b"revoked0"))]
    assert found == [b"during", b"last"]
