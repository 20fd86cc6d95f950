"""An access key may have an end and a policy that narrows it, in every interface and in the tokens made with it."""

from __future__ import annotations

import base64
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import lakebed
import msgspec
import pytest
from lakebed_auth import arn, builtin, statements_to_json
from lakebed_engine.stores.kv.base import Batch, Put
from lakebed_server.auth import last_use, records
from lakebed_server.auth.records import PARTITION, Credential, StoredCredential
from lakebed_server.process.app import create_app
from lakebed_server.vocabulary import StartError

from tests.auth.people import NOW, People, allow, deny
from tests.server.support import Answer
from tests.support.processes.server import RunningServer, running_server

KEYS = "/auth/users/{}/credentials"
READ_LAKE = statements_to_json(builtin.read_only("lake"))
OBJECT = "/repositories/lake/refs/main/objects?path=a"


@pytest.fixture
def people() -> Iterator[People]:
    made = People()
    made.put("a")
    made("admin", "POST", "/repositories", {"name": "other", "storage_namespace": "mem://other"})
    yield made
    made.close()


def make(people: People, by: str, body: Any = None, *, user: str = "", as_: str = "") -> Answer:
    """Make a key. It is the key of requests of `as_` from then on."""
    answer = people(by, "POST", KEYS.format(user or by), body)
    if answer.status == 201:
        made = answer.json
        people.keys[as_ or "key"] = Credential(made["access_key_id"], made["secret_access_key"], user or by, NOW)
    return answer


def bearer(people: People, user: str) -> dict[str, str]:
    key = people.keys[user]
    answer = people(
        user,
        "POST",
        "/auth/login",
        {"access_key_id": key.access_key_id, "secret_access_key": key.secret_access_key},
    )
    assert answer.status == 200, answer.body
    return {"authorization": f"Bearer {answer.json['token']}"}


def test_a_key_without_a_body_has_no_limits(people: People) -> None:
    people.add("ana", groups=("Developers",))
    answer = make(people, "ana")
    assert set(answer.json) == {"access_key_id", "secret_access_key", "creation_date"}
    [row] = [one for one in people("ana", "GET", KEYS.format("ana")).json["results"] if one == answer.json] or [{}]
    assert row == {}
    assert people("key", "GET", OBJECT).status == 200


def test_name_end_and_policy_are_shown(people: People) -> None:
    people.add("ana", groups=("Developers",))
    body = {"name": "nightly", "expires_in": 3600, "statement": READ_LAKE}
    before = int(time.time())
    made = make(people, "ana", body).json
    assert (made["name"], made["statement"]) == ("nightly", READ_LAKE)
    assert before + 3600 <= made["expiration"] <= time.time() + 3600
    shown = people("ana", "GET", f"{KEYS.format('ana')}/{made['access_key_id']}").json
    assert shown == {name: value for name, value in made.items() if name != "secret_access_key"}
    assert shown in people("ana", "GET", KEYS.format("ana")).json["results"]


def test_a_policy_narrows_basic_tokens_and_s3(people: People) -> None:
    people.add("ana", groups=("Developers",))
    make(people, "ana", {"statement": READ_LAKE})
    token = bearer(people, "key")
    assert people("key", "GET", OBJECT).status == 200
    assert people("key", "GET", OBJECT, **token).status == 200
    assert people.s3("key", "GET", "/lake/main/a").status == 200
    write = "/repositories/lake/branches/main/objects?path=b"
    refused = [
        people("key", "POST", write, b"x"),
        people("key", "POST", write, b"x", **token),
        people.s3("key", "PUT", "/lake/main/b", b"x"),
        people("key", "GET", "/repositories/other"),
        people.s3("key", "GET", "/other?list-type=2&prefix=main%2F"),
        people("key", "POST", "/auth/users/ana/credentials"),
    ]
    assert {answer.status for answer in refused} == {403}
    for answer in refused:
        assert b"but the policy of the access key does not allow it" in answer.body, answer.body
    assert people("ana", "POST", write, b"x").status == 201


def test_a_policy_gives_nothing_that_the_user_does_not_have(people: People) -> None:
    people.add("ana", allow("fs:Read*", on=arn.object_("lake", "*")))
    people.add("boss", allow("auth:CreateCredentials"))
    make(people, "boss", {"statement": [allow("fs:*", "auth:*")]}, user="ana")
    assert people("key", "GET", OBJECT).status == 200
    assert people("key", "DELETE", "/repositories/lake/branches/main/objects?path=a").status == 403
    assert people("key", "GET", "/auth/users").status == 403


def test_a_denial_in_the_policy_of_a_key_wins(people: People) -> None:
    people.add("ana", groups=("Viewers",))
    make(people, "ana", {"statement": [allow("fs:*"), deny("fs:ReadObject", on=arn.object_("lake", "a"))]})
    assert people("key", "GET", "/repositories/lake").status == 200
    assert people("key", "GET", OBJECT).status == 403
    assert make(people, "ana", {"statement": []}).status == 400


def test_an_expired_key_is_refused_and_says_so(people: People, monkeypatch: pytest.MonkeyPatch) -> None:
    people.add("ana", groups=("Viewers",))
    make(people, "ana", {"expires_in": 600})
    token = bearer(people, "key")
    assert people("key", "GET", OBJECT).status == 200
    now = time.time() + 601
    monkeypatch.setattr(people.authenticator, "_now", lambda: now)
    answer = people("key", "GET", OBJECT)
    assert answer.status == 401
    assert "expired at" in answer.json["message"]
    s3 = people.s3("key", "GET", "/lake/main/a")
    assert (s3.status, b"<Code>ExpiredToken</Code>" in s3.body) == (400, True)
    key = people.keys["key"]
    people.keys["guess"] = msgspec.structs.replace(key, secret_access_key="a wrong secret of this key")
    assert b"expired" not in people("guess", "GET", OBJECT).body
    assert b"SignatureDoesNotMatch" in people.s3("guess", "GET", "/lake/main/a").body
    assert people("key", "GET", OBJECT, **token).status in (200, 401)  # pyjwt reads the clock of the machine


def test_a_token_ends_no_later_than_its_key(people: People) -> None:
    people.add("ana", groups=("Viewers",))
    made = make(people, "ana", {"expires_in": 600}).json
    key = people.keys["key"]
    body = {"access_key_id": key.access_key_id, "secret_access_key": key.secret_access_key}
    answer = people("key", "POST", "/auth/login", body).json
    assert answer["token_expiration"] <= made["expiration"]


def test_a_key_makes_no_key_that_may_do_more_or_lives_longer(people: People) -> None:
    people.add("ana", groups=("Developers",))
    people.add("boss", allow("auth:*", "fs:*"))
    policy = [allow("auth:*"), allow("fs:Read*")]
    made = make(people, "boss", {"statement": policy, "expires_in": 600}).json
    for how in ({}, bearer(people, "key")):
        again = people("key", "POST", KEYS.format("boss"), {"expires_in": 10_000_000}, **how).json
        assert (again["statement"], again["expiration"]) == (policy, made["expiration"])
        assert people("key", "POST", KEYS.format("boss"), {"statement": [allow("fs:*")]}, **how).status == 403
        assert people("key", "POST", KEYS.format("ana"), **how).status == 403
    make(people, "ana", {"expires_in": 600}, as_="short")
    again = make(people, "short", user="ana", as_="next").json
    assert again["expiration"] - time.time() <= 600


def test_bad_policies_are_refused(people: People) -> None:
    people.add("ana", groups=("Developers",))
    for statement in ([allow("fs:Nonsense")], [allow("fs:*", on="nonsense")], [allow("fs:*", on=["*" * 11_000])]):
        answer = make(people, "ana", {"statement": statement})
        assert (answer.status, answer.json["kind"]) == (400, "invalid_policy")
    for body in ({"expires_in": 0}, {"expires_in": -5}, {"expires_in": "1"}, {"name": "x" * 257}):
        assert make(people, "ana", body).status == 400


def test_a_policy_holds_where_every_user_is_the_administrator(people: People) -> None:
    make(people, "admin", {"statement": READ_LAKE})
    people.app = create_app(replace(people.services, permissions=None))
    assert people("key", "GET", OBJECT).status == 200
    assert people("key", "GET", "/repositories/other").status == 403
    assert people.s3("key", "PUT", "/lake/main/b", b"x").status == 403
    assert people("admin", "GET", "/repositories/other").status == 200


def test_a_policy_also_narrows_what_belongs_to_the_user(people: People) -> None:
    """The creator of a workspace needs no permission for it, and a user none to end its tokens."""
    people.add("ana", groups=("Developers",))
    make(people, "ana", {"statement": [allow("fs:ReadRepository")]})
    workspace = people("ana", "POST", "/repositories/lake/workspaces", {"branch": "main"}).json["id"]
    target = f"/repositories/lake/workspaces/{workspace}"
    assert people("key", "GET", target).status == 403
    assert people("key", "DELETE", target).status == 403
    assert people("key", "GET", "/repositories/lake/workspaces").status in (200, 403)
    assert workspace.encode() not in people("key", "GET", "/repositories/lake/workspaces").body
    assert workspace.encode() in people("ana", "GET", "/repositories/lake/workspaces").body
    assert people("key", "POST", "/auth/logout?everywhere=true").status == 403
    assert people("ana", "DELETE", target).status == 204


def test_a_simulation_of_the_own_user_includes_the_policy_of_the_key(people: People) -> None:
    people.add("ana", groups=("Developers",))
    make(people, "ana", {"statement": READ_LAKE})
    question = {"action": "fs:WriteObject", "resource": arn.object_("lake", "x")}
    answer = people("key", "POST", "/auth/simulate", question).json
    assert (answer["allowed"], answer["effect"]) == (False, "neutral")
    assert answer["reason"].endswith("but the policy of this access key does not allow it")
    assert people("ana", "POST", "/auth/simulate", question).json["allowed"]
    question["action"] = "fs:ReadObject"
    assert people("key", "POST", "/auth/simulate", question).json["allowed"]


def test_the_last_key_without_limits_stays(people: People) -> None:
    people.add("ana", groups=("Developers",))
    first = people.keys["ana"].access_key_id
    make(people, "ana", {"expires_in": 600}, as_="short")
    make(people, "ana", {"statement": [allow("auth:*", "fs:*")]}, as_="narrow")
    for key in ("short", "narrow"):
        answer = people(key, "DELETE", f"{KEYS.format('ana')}/{first}")
        assert (answer.status, answer.json["kind"]) == (409, "last_credential")
    assert people("ana", "DELETE", f"{KEYS.format('ana')}/{people.keys['narrow'].access_key_id}").status == 204


@pytest.mark.parametrize(
    "change", [{"statement": ""}, {"expires": 0}, {"user": "admin"}, {"statement": "", "envelope": 1}]
)
def test_limits_cannot_be_removed_from_a_stored_key(people: People, change: dict[str, Any]) -> None:
    people.add("ana", groups=("Viewers",))
    make(people, "ana", {"expires_in": 600, "statement": READ_LAKE})
    id = people.keys["key"].access_key_id
    kv = people.kv
    row = people.run(kv.get(PARTITION, records.credential_key(id)))
    altered = msgspec.structs.replace(msgspec.json.decode(row.value, type=StoredCredential), **change)
    people.run(kv.apply(Batch(puts=[Put(PARTITION, records.credential_key(id), msgspec.json.encode(altered))])))
    with pytest.raises(StartError):
        people.run(people.store.find(id))


def test_keys_with_limits_need_a_server_that_knows_them(people: People) -> None:
    people.add("ana", groups=("Viewers",))
    for body, envelope in (({}, 1), ({"name": "x"}, 1), ({"expires_in": 5}, 2), ({"statement": READ_LAKE}, 2)):
        make(people, "ana", body)
        row = people.run(people.kv.get(PARTITION, records.credential_key(people.keys["key"].access_key_id)))
        assert msgspec.json.decode(row.value, type=StoredCredential).envelope == envelope


def test_the_last_use_is_recorded_later_and_coarsely(people: People) -> None:
    people.add("ana", groups=("Developers",))
    key = f"{KEYS.format('ana')}/{people.keys['ana'].access_key_id}"
    clock = [1_800_000_000.0]
    uses = people.authenticator.uses
    uses._clock = lambda: clock[0]

    def shown() -> int | None:
        found: int | None = people("admin", "GET", key).json.get("last_used")
        return found

    people.s3("ana", "GET", "/lake/main/a")
    assert shown() is None
    people.run(uses.write(people.kv))
    assert shown() == 1_800_000_000
    for later, expected in ((60, 0), (last_use.COARSE_SECONDS - 1, 0), (last_use.COARSE_SECONDS + 1, 901)):
        clock[0] = 1_800_000_000 + later
        people("ana", "GET", OBJECT)
        people.run(uses.write(people.kv))
        assert shown() == 1_800_000_000 + expected
    clock[0] += 10_000
    people("ana", "GET", OBJECT, **bearer(people, "ana"))
    people.run(uses.write(people.kv))
    assert shown() == clock[0]


def test_a_removed_key_does_not_come_back_by_its_last_use(people: People) -> None:
    people.add("ana", groups=("Viewers",))
    people("ana", "GET", OBJECT)
    people.run(people.directory.delete_user("ana"))
    people.run(people.authenticator.uses.write(people.kv))
    assert people.run(people.store.list_of("ana", "", "", 10)) == ([], False)


def test_an_unknown_key_gets_the_answer_of_a_wrong_secret(people: People) -> None:
    pair = base64.b64encode(b"LKBDNOSUCHKEYNOSUCHK:secret").decode()
    answer = people("admin", "GET", OBJECT, authorization=f"Basic {pair}")
    assert (answer.status, "wrong" in answer.json["message"]) == (401, True)


@pytest.mark.slow
def test_a_server_that_stops_records_the_last_uses(tmp_path: Path) -> None:
    before = int(time.time())
    with running_server(tmp_path) as server, connect(server) as lake:
        made = lake.keys.create()
        with lakebed.connect(server.endpoint, made.id, made.secret) as other:
            assert other.user().id == "admin"
        assert lake.keys.get(made.id).last_used is None
    with running_server(tmp_path) as server, connect(server) as lake:
        used = lake.keys.get(made.id).last_used
        assert used is not None
        assert before <= used.timestamp() <= time.time()


def connect(server: RunningServer) -> lakebed.Lake:
    return lakebed.connect(server.endpoint, server.access_key_id, server.secret_access_key)
