"""Access keys belong to users: the index by user, its upgrade, and the end of keys with their user."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import msgspec
import pytest
from lakebed_engine.stores.kv.base import Batch, Delete, Put, scan_rows
from lakebed_engine.stores.kv.memory import MemoryKV
from lakebed_server.access import opening
from lakebed_server.access.directory import Directory
from lakebed_server.auth import records
from lakebed_server.auth.credentials import CredentialStore
from lakebed_server.auth.records import PARTITION, Credential, User, put_user
from lakebed_server.auth.secret_key import KeyRing, SecretKey
from lakebed_server.signin.identity import GroupRules, Identity, resolve
from lakebed_server.vocabulary import RequestError

from tests.auth.people import NOW, People

RING = KeyRing([SecretKey("the secret of these tests")])


@pytest.fixture
def people() -> Iterator[People]:
    made = People()
    yield made
    made.close()


async def index_rows(kv: MemoryKV) -> list[str]:
    return [row.key.decode() async for row in scan_rows(kv, PARTITION, b"keys-of/", b"keys-of0")]


async def old_store(count: int) -> tuple[MemoryKV, CredentialStore]:
    """A store of 0.1: access keys of the administrator without an index."""
    kv = MemoryKV()
    rows = [
        records.seal(Credential(f"AKIAJ{number:04}", "the secret of this key", "admin", NOW), RING.newest)
        for number in range(count)
    ]
    puts = [Put(PARTITION, records.credential_key(row.access_key_id), msgspec.json.encode(row)) for row in rows]
    await kv.apply(Batch(puts=[put_user(User("admin", NOW)), *puts]))
    return kv, CredentialStore(kv, RING)


async def test_the_keys_of_an_older_store_are_indexed_once() -> None:
    kv, store = await old_store(250)
    await store.index_keys()
    assert len(await index_rows(kv)) == 250
    found, more = await store.list_of("admin", "", "", 1000)
    assert ([one.key.access_key_id for one in found], more) == ([f"AKIAJ{number:04}" for number in range(250)], False)
    await kv.apply(Batch(deletes=[Delete(PARTITION, b"keys-of/admin/AKIAJ0000")]))
    await store.index_keys()
    assert len(await index_rows(kv)) == 249  # a later start reads nothing again


async def test_servers_that_upgrade_together_index_no_key_that_was_removed() -> None:
    kv, store = await old_store(250)
    apply, removed = kv.apply, False

    async def remove_first(batch: Batch) -> int:
        nonlocal removed
        if not removed:
            removed = True
            await apply(Batch(deletes=records.delete_credential("AKIAJ0007", "admin")))
        return await apply(batch)

    kv.apply = remove_first  # type: ignore[method-assign]
    await asyncio.gather(store.index_keys(), CredentialStore(kv, RING).index_keys())
    assert len(await index_rows(kv)) == 249
    assert "keys-of/admin/AKIAJ0007" not in await index_rows(kv)


async def test_the_list_of_a_user_does_not_read_the_keys_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    kv = MemoryKV()
    store = CredentialStore(kv, RING)
    users = [User(f"user-{number:03}", NOW) for number in range(300)]
    await kv.apply(Batch(puts=[put_user(user) for user in users]))
    made = {user.id: [await store.add(user.id, NOW) for _ in range(2)] for user in users}
    reads = 0
    get, scan = kv.get, kv.scan

    async def counted_get(*args: object) -> object:
        nonlocal reads
        reads += 1
        return await get(*args)  # type: ignore[arg-type]

    async def counted_scan(*args: object) -> object:
        nonlocal reads
        rows = await scan(*args)  # type: ignore[arg-type]
        reads += 1 + len(rows)
        return rows

    monkeypatch.setattr(kv, "get", counted_get)
    monkeypatch.setattr(kv, "scan", counted_scan)
    found, _ = await store.list_of("user-150", "", "", 100)
    assert {one.key.access_key_id for one in found} == {key.access_key_id for key in made["user-150"]}
    assert reads < 10
    reads = 0
    await store.remove(found[0].key.access_key_id, "user-150")
    assert reads < 10


async def test_pages_of_a_list_continue_after_an_id() -> None:
    _, store = await old_store(5)
    await store.index_keys()
    first, more = await store.list_of("admin", "", "", 2)
    assert more
    rest, more = await store.list_of("admin", "", first[-1].key.access_key_id, 10)
    assert ([one.key.access_key_id[-1] for one in [*first, *rest]], more) == (list("01234"), False)
    assert [one.key.access_key_id for one in (await store.list_of("admin", "AKIAJ0003", "", 10))[0]] == ["AKIAJ0003"]
    assert (await store.list_of("adm", "", "", 10)) == ([], False)


async def test_a_configured_key_of_another_user_moves_to_the_administrator() -> None:
    kv = MemoryKV()
    store = CredentialStore(kv, RING)
    await kv.apply(Batch(puts=[put_user(User("ana", NOW))]))
    made = await store.add("ana", NOW)
    await store.ensure_admin(made.access_key_id, "another secret of it", NOW)
    assert await index_rows(kv) == [f"keys-of/admin/{made.access_key_id}"]


@pytest.mark.parametrize(
    ("user", "kind"),
    [(None, "user_not_found"), (User("ana", 1, deleting=True), "user_not_found"), (User("ana", 1, disabled=True), 401)],
)
async def test_only_a_user_that_may_sign_in_gets_a_key(user: User | None, kind: str | int) -> None:
    kv = MemoryKV()
    store = CredentialStore(kv, RING)
    if user is not None:
        await kv.apply(Batch(puts=[put_user(user)]))
    with pytest.raises(RequestError) as caught:
        await store.add("ana", NOW)
    assert caught.value.kind == ("unauthenticated" if kind == 401 else kind)
    assert await index_rows(kv) == []


async def test_a_key_that_is_made_during_the_deletion_of_its_user_does_not_remain() -> None:
    kv = MemoryKV()
    store, directory = CredentialStore(kv, RING), Directory(kv)
    await store.make_first_admin(NOW)
    await opening.prepare(kv, directory, "rbac", NOW)
    await directory.create_user(User("ana", NOW))
    apply, begun = kv.apply, False

    async def delete_first(batch: Batch) -> int:
        nonlocal begun
        if not begun:
            begun = True
            await directory.delete_user("ana")
        return await apply(batch)

    kv.apply = delete_first  # type: ignore[method-assign]
    with pytest.raises(RequestError, match="there is no user 'ana'"):
        await store.add("ana", NOW)
    assert await store.list_of("ana", "", "", 10) == ([], False)


def test_a_deleted_user_takes_its_keys_away(people: People) -> None:
    people.add("ana", groups=("Viewers",))
    ours = people.keys["ana"].access_key_id
    assert people("ana", "GET", "/repositories").status == 200
    people.run(people.directory.delete_user("ana"))
    people.run(people.directory.create_user(User("ana", NOW)))
    people.permissions.forget()
    assert people.run(people.store.find(ours)) is None
    assert people.run(people.store.list_of("ana", "", "", 10)) == ([], False)


async def test_a_deleted_administrator_is_not_made_again_at_the_next_start() -> None:
    kv = MemoryKV()
    store = CredentialStore(kv, RING)
    await kv.apply(Batch(puts=[put_user(User("ana", NOW))]))
    assert await store.make_first_admin(NOW) is None


def test_a_service_account_does_not_sign_in_with_a_provider(people: People) -> None:
    identity = Identity("https://issuer", "subject", "robot")
    assert people.run(resolve(people.kv, identity, GroupRules(), NOW)).id == "robot"
    service = User("robot", NOW, service=True)
    people.run(people.kv.apply(Batch(puts=[put_user(service)])))
    with pytest.raises(RequestError, match="'robot' is a service account: use its access key"):
        people.run(resolve(people.kv, identity, GroupRules(), NOW))
    made = people.run(people.store.add("robot", NOW))
    people.keys["robot"] = made
    body = {"access_key_id": made.access_key_id, "secret_access_key": made.secret_access_key}
    assert people("robot", "POST", "/auth/login", body).status == 200
    with pytest.raises(RequestError, match="there is a user 'robot' without this identity"):
        people.run(resolve(people.kv, Identity("https://issuer", "another", "robot"), GroupRules(), NOW))
