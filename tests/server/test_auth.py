import base64
import hmac
import logging
import os
import pickle
import stat
import threading
from pathlib import Path
from typing import Any

import msgspec
import pytest
from lakebed_engine.stores.kv.memory import MemoryKV
from lakebed_server.auth import authenticate, credentials, secret_key
from lakebed_server.auth.authenticate import Authenticator, Remembered
from lakebed_server.auth.credentials import CredentialStore
from lakebed_server.auth.secret_key import SecretKey, load_or_make
from lakebed_server.auth.tokens import Tokens
from lakebed_server.vocabulary import RequestError, StartError

from tests.server.support import KEY_ID, SECRET, ask, make_app, run

USER = "/api/v1/user"
LOGIN = "/api/v1/auth/login"
KEY = SecretKey("a secret of the tests")


def basic(key_id: Any, secret: Any) -> Any:
    return "Basic " + base64.b64encode(f"{key_id}:{secret}".encode()).decode()


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


def a_store(kv: MemoryKV | None = None) -> CredentialStore:
    store = CredentialStore(kv or MemoryKV(), KEY)
    run(store.ensure_admin(KEY_ID, SECRET, 1))
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


def test_an_unknown_key_and_a_wrong_secret_are_told_apart_by_nothing() -> None:
    app = make_app()
    answers = [ask(app, USER, authorization=basic(k, "wrong")).json["message"] for k in (KEY_ID, "AKIAJUNKNOWN")]
    assert answers[0] == answers[1]
    answers = [log_in(app, k, "wrong") for k in (KEY_ID, "AKIAJUNKNOWN")]
    assert [a.status for a in answers] == [401, 401]
    assert answers[0].json["message"] == answers[1].json["message"]


def test_an_unknown_key_costs_the_same_work(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[tuple[bytes, bytes]] = []
    opened: list[str] = []
    real = hmac.compare_digest

    def compare(a: bytes, b: bytes) -> bool:
        compared.append((a, b))
        return real(a, b)

    store = a_store()
    real_open = store._open

    def reveal(key_id: str, sealed: bytes) -> str:
        opened.append(key_id)
        return real_open(key_id, sealed)

    monkeypatch.setattr(hmac, "compare_digest", compare)
    monkeypatch.setattr(store, "_open", reveal)
    door = Authenticator(store, Tokens(KEY, 60))
    with pytest.raises(RequestError):
        run(door.check_pair("AKIAJUNKNOWN", "x"))
    with pytest.raises(RequestError):
        run(door.check_pair(KEY_ID, "x"))
    assert len(compared) == 2
    assert opened == ["", KEY_ID]


def test_everything_needs_credentials_but_health_login_and_setup() -> None:
    from lakebed_wire.operations import OPERATIONS

    open_operations = {op.operation_id for op in OPERATIONS if not op.security}
    assert open_operations == {
        *("healthCheck", "login", "getSetupState", "setup", "setupCommPrefs", "getAuthCapabilities")
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
    answer = ask(make_app(), LOGIN, "POST", body, auth=False, x_forwarded_proto="https")
    assert answer.headers["set-cookie"].endswith("; Secure")


def test_login_without_a_body_is_a_bad_request() -> None:
    assert ask(make_app(), LOGIN, "POST", auth=False).status == 400


def test_the_first_carrier_decides() -> None:
    app = make_app()
    token = log_in(app).json["token"]
    answer = ask(app, USER, authorization=basic(KEY_ID, "wrong"), cookie=f"internal_auth_session={token}")
    assert answer.status == 401


def test_tokens_end_and_are_ours() -> None:
    import time

    now = int(time.time())
    tokens = Tokens(KEY, 900)
    assert tokens.user_of(tokens.issue("admin", now).text) == "admin"
    assert tokens.user_of(tokens.issue("admin", now - 901).text) is None
    assert tokens.user_of(Tokens(SecretKey("another secret key"), 900).issue("admin", now).text) is None
    head, claims, _ = tokens.issue("admin", now).text.split(".")
    assert tokens.user_of(f"{head}.{claims}.") is None
    import jwt

    odd: list[dict[str, Any]] = [
        {"aud": "login", "iss": "auth", "sub": "admin", "iat": now},  # no end
        {"aud": "other", "iss": "auth", "sub": "admin", "iat": now, "exp": now + 900},
        {"aud": "login", "iss": "other", "sub": "admin", "iat": now, "exp": now + 900},
    ]
    for one in odd:
        assert tokens.user_of(jwt.encode(one, KEY.derive("tokens"), algorithm="HS256")) is None
    unsigned = jwt.PyJWT().encode({**odd[1], "aud": "login"}, "", algorithm="none")
    assert tokens.user_of(unsigned) is None


def test_a_token_of_a_user_that_is_not_there() -> None:
    app = make_app()
    import time

    token = Tokens(KEY, 60).issue("nobody", int(time.time())).text
    assert ask(app, USER, authorization=f"Bearer {token}").status == 401


def test_known_keys_cost_no_read_for_a_while_and_new_ones_are_seen_soon() -> None:
    kv = CountingKV()
    store = a_store(kv)
    now = [0.0]
    door = Authenticator(store, Tokens(KEY, 60), clock=lambda: now[0])
    run(door.check_pair(KEY_ID, SECRET))
    before = kv.gets
    for _ in range(100):
        run(door.check_pair(KEY_ID, SECRET))
        with pytest.raises(RequestError):
            run(door.check_pair("AKIAJNEW", "new secret"))
    assert kv.gets == before + 1
    run(store.ensure_admin("AKIAJNEW", "new secret", 2))
    now[0] = authenticate.REMEMBER_SECONDS + 0.1
    assert run(door.check_pair("AKIAJNEW", "new secret")).user == "admin"


def test_what_is_remembered_is_bounded() -> None:
    rows: Remembered[int] = Remembered(lambda: 0.0, 5, 3)
    for number in range(10):
        rows.put(str(number), number)
    assert [rows.get(str(n)) for n in range(6, 10)] == [None, 7, 8, 9]


def test_what_is_remembered_is_dropped_by_time() -> None:
    now = [0.0]
    rows: Remembered[int] = Remembered(lambda: now[0], 5, 1000)
    for number in range(100):
        rows.put(str(number), number)
        now[0] += 0.1
    assert len(rows._rows) <= 51
    now[0] += 6
    rows.put("last", 1)
    assert list(rows._rows) == ["last"]


@pytest.mark.parametrize("length", [129, 3 << 20])
def test_a_key_id_that_no_key_has_is_neither_looked_up_nor_remembered(length: int) -> None:
    kv = CountingKV()
    door = Authenticator(a_store(kv), Tokens(KEY, 60))
    before = kv.gets
    with pytest.raises(RequestError):
        run(door.check_pair("A" * length, "x"))
    assert kv.gets == before
    assert not door._unknown._rows


def test_the_longest_key_id_works_and_a_longer_one_is_refused_at_start() -> None:
    store = a_store()
    run(store.ensure_admin("A" * 128, SECRET, 1))
    assert run(Authenticator(store, Tokens(KEY, 60)).check_pair("A" * 128, SECRET)).user == "admin"
    with pytest.raises(StartError, match="at most 128"):
        run(store.ensure_admin("A" * 129, SECRET, 1))


def test_secrets_are_stored_encrypted_and_bound_to_their_id() -> None:
    kv = MemoryKV()
    store = a_store(kv)
    rows = run(kv.scan(credentials.PARTITION))
    raw = b"".join(row.key + row.value for row in rows)
    assert SECRET.encode() not in raw
    assert base64.b64encode(SECRET.encode())[:20] not in raw
    stored = run(store.find(KEY_ID))
    assert stored is not None
    assert stored.secret_access_key == SECRET
    row = next(row for row in rows if row.key.startswith(b"credentials/"))
    from lakebed_engine.stores.kv.base import Batch, Put

    run(kv.apply(Batch(puts=[Put(credentials.PARTITION, b"credentials/AKIAJOTHER", row.value)])))
    with pytest.raises(StartError, match="secret"):
        run(store.find("AKIAJOTHER"))


def test_the_secret_is_in_no_repr_and_no_log(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        store = a_store()
        credential = run(store.find(KEY_ID))
        app = make_app()
        log_in(app)
        ask(app, USER, authorization=basic(KEY_ID, "a wrong secret"))
    for text in (repr(credential), str(credential), repr(KEY), caplog.text):
        assert SECRET not in text
        assert "a wrong secret" not in text
        assert "a secret of the tests" not in text
    with pytest.raises(TypeError):
        pickle.dumps(KEY)


def test_another_secret_key_is_noticed_at_start() -> None:
    kv = MemoryKV()
    a_store(kv)
    with pytest.raises(StartError, match="put the old one back"):
        run(CredentialStore(kv, SecretKey("not the same secret")).check_key())


def test_of_two_first_starts_one_makes_the_admin() -> None:
    kv = MemoryKV()
    made = [run(CredentialStore(kv, KEY).make_first_admin(1)) for _ in range(2)]
    assert made[0] is not None
    assert made[1] is None
    found = run(CredentialStore(kv, KEY).find(made[0].access_key_id))
    assert found == made[0]


def test_a_given_pair_is_ensured_and_changed_when_it_differs() -> None:
    store = a_store()
    run(store.ensure_admin(KEY_ID, "a new secret", 5))
    found, user = run(store.find(KEY_ID)), run(store.find_user("admin"))
    assert found is not None
    assert user is not None
    assert (found.secret_access_key, found.created) == ("a new secret", 1)
    assert user.created == 1


def test_generated_keys_have_the_known_form() -> None:
    key_id, secret = credentials.new_access_key_id(), credentials.new_secret_access_key()
    assert len(key_id) == 20
    assert key_id.startswith("AKIAJ")
    assert key_id.endswith("Q")
    assert len(secret) == 40
    assert credentials.new_secret_access_key() != secret


def test_the_key_file_is_private_and_made_once(tmp_path: Path) -> None:
    path = tmp_path / "secret.key"
    made = []
    threads = [threading.Thread(target=lambda: made.append(load_or_make(path).derive("x"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(made)) == 1
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    assert [p.name for p in tmp_path.iterdir()] == ["secret.key"]
    assert load_or_make(path).derive("x") == made[0]
    assert load_or_make(path).derive("y") != made[0]


def test_a_short_secret_is_refused() -> None:
    with pytest.raises(StartError, match="too short"):
        secret_key.SecretKey("short")
