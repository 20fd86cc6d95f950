import asyncio
import base64
import hmac
import logging
import os
import pickle
import re
import stat
import threading
from pathlib import Path
from typing import Any

import msgspec
import pytest
from lakebed_engine.stores.kv.memory import MemoryKV
from lakebed_server.auth import authenticate, records, secret_key, tokens
from lakebed_server.auth.authenticate import Authenticator, TtlCache
from lakebed_server.auth.credentials import CredentialStore
from lakebed_server.auth.key_file import KeyFile
from lakebed_server.auth.secret_key import KeyRing, SecretKey
from lakebed_server.vocabulary import RequestError, StartError

from tests.server.support import BASIC, KEY_ID, LOGIN, SECRET, Wire, ask, basic, make_app, serving

USER = "/api/v1/user"
KEY = SecretKey("a secret of the tests")
RING = KeyRing([KEY])


def log_in(app: Any, key_id: Any = KEY_ID, secret: Any = SECRET) -> Any:
    body = msgspec.json.encode({"access_key_id": key_id, "secret_access_key": secret})
    return ask(app, LOGIN, "POST", body, auth=False, content_type="application/json")


class CountingKV(MemoryKV):
    def __init__(self) -> None:
        super().__init__()
        self.gets = 0

    async def get(self, partition: Any, key: Any) -> Any:
        self.gets += 1
        return await super().get(partition, key)


async def a_store(kv: MemoryKV | None = None) -> CredentialStore:
    store = CredentialStore(kv or MemoryKV(), RING)
    await store.ensure_admin(KEY_ID, SECRET, 1)
    return store


def test_basic() -> None:
    assert ask(make_app(), USER).json["user"] == {
        "id": "admin",
        "creation_date": 1_700_000_000,
        "friendly_name": "admin",
    }


@pytest.mark.parametrize(
    "header",
    [
        basic(KEY_ID, "wrong"),
        basic(KEY_ID, ""),
        basic("AKIAJUNKNOWN", SECRET),
        basic("", ""),
        basic("é", "ü"),
        "Basic !!!",
        "Basic",
        "Basic " + base64.b64encode(b"\xff\xfe").decode(),
        "Bearer nope",
        "Bearer",
        "Digest x",
        "",
    ],
)
def test_wrong_credentials_are_401(header: str) -> None:
    answer = ask(make_app(), USER, authorization=header)
    assert (answer.status, answer.kind) == (401, "unauthenticated")
    assert answer.headers["www-authenticate"].startswith("Basic")


def test_unknown_key_and_wrong_secret_get_the_same_answer() -> None:
    app = make_app()
    answers = [ask(app, USER, authorization=basic(k, "wrong")).json["message"] for k in (KEY_ID, "AKIAJUNKNOWN")]
    assert answers[0] == answers[1]
    answers = [log_in(app, k, "wrong") for k in (KEY_ID, "AKIAJUNKNOWN")]
    assert [a.status for a in answers] == [401, 401]
    assert answers[0].json["message"] == answers[1].json["message"]


async def test_an_unknown_key_costs_the_same_work(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[tuple[bytes, bytes]] = []
    opened: list[str] = []
    real = hmac.compare_digest

    def compare(a: bytes, b: bytes) -> bool:
        compared.append((a, b))
        return real(a, b)

    store = await a_store()
    real_open = store._open

    def reveal(key_id: str, stored: Any) -> Any:
        opened.append(key_id)
        return real_open(key_id, stored)

    monkeypatch.setattr(hmac, "compare_digest", compare)
    monkeypatch.setattr(store, "_open", reveal)
    door = Authenticator(store, 60)
    with pytest.raises(RequestError):
        await door.check_pair("AKIAJUNKNOWN", "x")
    with pytest.raises(RequestError):
        await door.check_pair(KEY_ID, "x")
    assert len(compared) == 2
    assert opened == ["", KEY_ID]


def test_everything_needs_credentials_but_health_login_and_setup() -> None:
    from lakebed_wire.operations import OPERATIONS

    open_operations = {op.operation_id for op in OPERATIONS if not op.security}
    assert open_operations == {
        *("healthCheck", "login", "exchangeSignInCode", "getSetupState", "setup", "setupCommPrefs"),
        "getAuthCapabilities",
    }
    app = make_app()
    for op in OPERATIONS:
        path = "/api/v1" + op.path.replace("{", "").replace("}", "")
        answer = ask(app, path + "?amount=nonsense", op.method, b"nonsense", auth=False)
        assert (answer.status == 401) == op.security or op.operation_id == "login", op.operation_id


def test_login_gives_a_token_and_a_cookie() -> None:
    app = make_app()
    answer = log_in(app)
    assert answer.status == 200
    token = answer.json["token"]
    assert ask(app, USER, authorization=f"Bearer {token}").json["user"]["id"] == "admin"
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith(f"internal_auth_session={token};")
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert "Path=/" in cookie
    assert "Secure" not in cookie
    value = cookie.partition(";")[0]
    assert ask(app, USER, auth=False, cookie=f"theme=dark; {value}; x=y").json["user"]["id"] == "admin"
    assert ask(app, USER, auth=False, cookie="theme=dark").status == 401
    assert ask(app, USER, auth=False, cookie="internal_auth_session=nope").status == 401


def test_the_cookie_is_secure_behind_tls() -> None:
    body = msgspec.json.encode({"access_key_id": KEY_ID, "secret_access_key": SECRET})
    trusting = make_app(proxies="192.0.2.1")
    answer = ask(trusting, LOGIN, "POST", body, auth=False, x_forwarded_proto="https")
    assert answer.headers["set-cookie"].startswith("__Host-")
    assert answer.headers["set-cookie"].endswith("; Secure")
    for app, client in ((trusting, "192.0.2.2"), (make_app(), "192.0.2.1"), (make_app(), "127.0.0.1")):
        answer = ask(app, LOGIN, "POST", body, auth=False, client=client, x_forwarded_proto="https")
        assert "Secure" not in answer.headers["set-cookie"]


def test_login_without_a_body_is_a_bad_request() -> None:
    assert ask(make_app(), LOGIN, "POST", auth=False).status == 400


def test_the_authorization_header_has_precedence_over_the_cookie() -> None:
    app = make_app()
    token = log_in(app).json["token"]
    answer = ask(app, USER, authorization=basic(KEY_ID, "wrong"), cookie=f"internal_auth_session={token}")
    assert answer.status == 401


async def test_tokens_end_and_are_ours() -> None:
    import time

    import jwt

    now = int(time.time())
    store = await a_store()
    opened, user = await store.find(KEY_ID), await store.find_user("admin")
    assert opened is not None
    assert user is not None
    text = tokens.issue(opened, user, now, 900).text
    session = tokens.read(text, opened)
    assert session is not None
    assert (session.user, session.expires, session.generation) == ("admin", now + 900, 0)
    assert tokens.key_id_of(text) == KEY_ID
    assert tokens.read(tokens.issue(opened, user, now - 901, 900).text, opened) is None
    for other in (
        opened._replace(key=SecretKey("another secret key")),
        opened._replace(credential=msgspec.structs.replace(opened.credential, secret_access_key="another")),
        opened._replace(credential=msgspec.structs.replace(opened.credential, created=2)),
        opened._replace(credential=msgspec.structs.replace(opened.credential, access_key_id="AKIAJOTHER")),
    ):
        assert tokens.read(text, other) is None
    head, claims, _ = text.split(".")
    assert tokens.read(f"{head}.{claims}.", opened) is None
    right = {"aud": "login", "iss": "auth", "sub": "admin", "iat": now, "exp": now + 900, "jti": "x", "gen": 0}
    key = opened.credential.token_key(KEY)
    assert tokens.read(jwt.encode(right, key, "HS256"), opened) is not None
    for name in right:
        fewer = {k: v for k, v in right.items() if k != name}
        assert tokens.read(jwt.encode(fewer, key, "HS256"), opened) is None, name
    for odd in ({**right, "aud": "other"}, {**right, "iss": "other"}):
        assert tokens.read(jwt.encode(odd, key, "HS256"), opened) is None
    assert tokens.read(jwt.PyJWT().encode(right, "", algorithm="none"), opened) is None
    for nonsense in ("", "x", "x.y.z", jwt.encode(right, key, "HS256")):
        assert tokens.key_id_of(nonsense) == ""


@pytest.mark.parametrize("kid", [None, b"null", b'"AKIAJUNKNOWN"', b'"%s"' % KEY_ID.encode(), b"7", b'"\\ud800"',
                                 b'"%s"' % (b"x" * 4096), b"[" * 20_000, b"9" * 5000])  # fmt: skip
def test_token_without_a_known_access_key_is_refused(kid: bytes | None) -> None:
    """Also the tokens of 0.1, which name no access key."""
    import jwt

    claims = {"aud": "login", "iss": "auth", "sub": "admin", "iat": 0, "exp": 1 << 40, "jti": "x", "gen": 0}
    text = jwt.encode(claims, KEY.derive("tokens"), "HS256")
    if kid is not None:
        head = base64.urlsafe_b64encode(b'{"alg":"HS256","typ":"JWT","kid":%s}' % kid).rstrip(b"=")
        text = ".".join([head.decode(), *text.split(".")[1:]])
    assert ask(make_app(), USER, authorization=f"Bearer {text}").status == 401


async def test_known_keys_cost_no_read_for_a_while_and_new_ones_are_seen_soon() -> None:
    kv = CountingKV()
    store = await a_store(kv)
    now = [0.0]
    door = Authenticator(store, 60, clock=lambda: now[0])
    await door.check_pair(KEY_ID, SECRET)
    before = kv.gets
    for _ in range(100):
        await door.check_pair(KEY_ID, SECRET)
        with pytest.raises(RequestError):
            await door.check_pair("AKIAJNEW", "new secret")
    assert kv.gets == before + 1
    await store.ensure_admin("AKIAJNEW", "new secret", 2)
    now[0] = authenticate.REMEMBER_SECONDS + 0.1
    assert (await door.check_pair("AKIAJNEW", "new secret")).user == "admin"


def test_ttl_cache_keeps_a_bounded_number_of_rows() -> None:
    rows: TtlCache[int] = TtlCache(lambda: 0.0, 5, 3)
    for number in range(10):
        rows.put(str(number), number)
    assert [rows.get(str(n)) for n in range(6, 10)] == [None, 7, 8, 9]


def test_ttl_cache_drops_expired_rows() -> None:
    now = [0.0]
    rows: TtlCache[int] = TtlCache(lambda: now[0], 5, 1000)
    for number in range(100):
        rows.put(str(number), number)
        now[0] += 0.1
    assert len(rows._rows) <= 51
    now[0] += 6
    rows.put("last", 1)
    assert list(rows._rows) == ["last"]


@pytest.mark.parametrize("length", [129, 3 << 20])
async def test_a_key_id_that_no_key_has_is_neither_looked_up_nor_remembered(length: int) -> None:
    kv = CountingKV()
    door = Authenticator(await a_store(kv), 60)
    before = kv.gets
    with pytest.raises(RequestError):
        await door.check_pair("A" * length, "x")
    assert kv.gets == before
    assert not door._unknown._rows


async def test_the_longest_key_id_works_and_a_longer_one_is_refused_at_start() -> None:
    store = await a_store()
    await store.ensure_admin("A" * 128, SECRET, 1)
    assert (await Authenticator(store, 60).check_pair("A" * 128, SECRET)).user == "admin"
    with pytest.raises(StartError, match="at most 128"):
        await store.ensure_admin("A" * 129, SECRET, 1)


async def test_secrets_are_stored_encrypted_and_bound_to_their_id() -> None:
    kv = MemoryKV()
    store = await a_store(kv)
    rows = await kv.scan(records.PARTITION)
    raw = b"".join(row.key + row.value for row in rows)
    assert SECRET.encode() not in raw
    assert base64.b64encode(SECRET.encode())[:20] not in raw
    stored = await store.find(KEY_ID)
    assert stored is not None
    assert stored.credential.secret_access_key == SECRET
    row = next(row for row in rows if row.key.startswith(b"credentials/"))
    from lakebed_engine.stores.kv.base import Batch, Put

    await kv.apply(Batch(puts=[Put(records.PARTITION, b"credentials/AKIAJOTHER", row.value)]))
    with pytest.raises(StartError, match="secret"):
        await store.find("AKIAJOTHER")


def test_the_secret_is_in_no_repr_and_no_log(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        store = asyncio.run(a_store())
        credential = asyncio.run(store.find(KEY_ID))
        app = make_app()
        log_in(app)
        ask(app, USER, authorization=basic(KEY_ID, "a wrong secret"))
    for text in (repr(credential), str(credential), repr(KEY), repr(RING), caplog.text):
        assert SECRET not in text
        assert "a wrong secret" not in text
        assert "a secret of the tests" not in text
    with pytest.raises(TypeError):
        pickle.dumps(KEY)


async def test_another_secret_key_is_noticed_at_start() -> None:
    kv = MemoryKV()
    await a_store(kv)
    with pytest.raises(StartError, match="restore the old one"):
        await CredentialStore(kv, KeyRing([SecretKey("not the same secret")])).check_secret()


async def test_one_of_two_first_starts_creates_the_administrator() -> None:
    kv = MemoryKV()
    made = [await CredentialStore(kv, RING).make_first_admin(1) for _ in range(2)]
    assert made[0] is not None
    assert made[1] is None
    found = await CredentialStore(kv, RING).find(made[0].access_key_id)
    assert found is not None
    assert found.credential == made[0]


async def test_a_given_pair_is_ensured_and_changed_when_it_differs() -> None:
    store = await a_store()
    await store.ensure_admin(KEY_ID, "a new secret", 5)
    found, user = await store.find(KEY_ID), await store.find_user("admin")
    assert found is not None
    assert user is not None
    assert (found.credential.secret_access_key, found.credential.created) == ("a new secret", 1)
    assert user.created == 1


def test_generated_keys_have_the_known_form() -> None:
    made, other = (records.new_credential("admin", 1) for _ in range(2))
    assert len(made.access_key_id) == 20
    assert re.fullmatch("LKBD[A-Z2-7]{16}", made.access_key_id)
    assert len(made.secret_access_key) == 40
    assert made.secret_access_key != other.secret_access_key


def test_the_key_file_is_private_and_made_once(tmp_path: Path) -> None:
    file = KeyFile(tmp_path / "secret.key")
    made = []
    threads = [threading.Thread(target=lambda: made.append(file.make()[0].derive("x"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(made)) == 1
    assert stat.S_IMODE(os.stat(file.path).st_mode) == 0o600
    assert [p.name for p in tmp_path.iterdir()] == ["secret.key"]
    (key,) = file.read()
    assert key.derive("x") == made[0]
    assert key.derive("y") != made[0]


def test_key_file_holds_a_new_key_next_to_the_old_one(tmp_path: Path) -> None:
    file = KeyFile(tmp_path / "secret.key")
    assert file.read() == []
    (old,) = file.make()
    os.chmod(file.path, 0o644)
    first, second = file.add()
    assert first.id == old.id != second.id
    assert stat.S_IMODE(os.stat(file.path).st_mode) == 0o600
    file.keep(second)
    assert [key.id for key in file.read()] == [second.id]
    assert [p.name for p in tmp_path.iterdir()] == ["secret.key"]
    with file.locked(), pytest.raises(StartError, match="another command"), KeyFile(file.path).locked():
        pass


def test_hand_written_key_file_holds_one_key_per_line(tmp_path: Path) -> None:
    file = KeyFile(tmp_path / "secret.key")
    file.path.write_text("\n  a pass phrase of 0.1  \r\n")
    assert [key.id for key in file.read()] == [SecretKey("a pass phrase of 0.1").id]
    assert file.add()[0].id == SecretKey("a pass phrase of 0.1").id


@pytest.mark.parametrize("text", [b"", b"\n", b"short\n", b"\xff\xfe" * 20])
def test_a_damaged_key_file_is_not_replaced(tmp_path: Path, text: bytes) -> None:
    file = KeyFile(tmp_path / "secret.key")
    file.path.write_bytes(text)
    for job in (file.read, file.make):
        with pytest.raises(StartError, match="is damaged; restore it from a backup"):
            job()
    assert file.path.read_bytes() == text


def test_short_secrets_are_refused_with_the_way_out() -> None:
    with pytest.raises(StartError, match=r"auth.previous_secret_key to the short one.*rotate-secret"):
        secret_key.configured("x" * 31, "")
    ring = secret_key.configured("x" * 32, "a short one of 0.1")
    assert ring.newest.id == SecretKey("x" * 32).id
    assert len(ring.keys) == 2
    with pytest.raises(StartError, match="too short"):
        SecretKey("short")


@pytest.mark.medium
@pytest.mark.parametrize("order", [(BASIC, "Basic bm86bm8="), ("Basic bm86bm8=", BASIC), (BASIC, BASIC)])
def test_a_request_has_one_authorization(order: tuple[str, str]) -> None:
    with serving(make_app()) as port, Wire(port) as wire:
        head = "".join(f"Authorization: {value}\r\n" for value in order)
        wire.send(f"GET {USER} HTTP/1.1\r\nHost: test\r\n{head}\r\n".encode())
        answer = wire.answer()
        assert (answer.status, answer.kind) == (400, "invalid_request")
        assert "two Authorization headers" in answer.json["message"]
        wire.send(f"GET {USER} HTTP/1.1\r\nHost: test\r\nX-A: 1\r\nX-A: 2\r\nAuthorization: {BASIC}\r\n\r\n".encode())
        assert wire.answer().status == 200
