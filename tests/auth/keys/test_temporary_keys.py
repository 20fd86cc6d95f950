"""Temporary access keys: what they may do, when they end, and what an altered token is worth."""

from __future__ import annotations

import base64
import hmac
import time
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from botocore.auth import S3SigV4QueryAuth  # type: ignore[import-untyped]
from botocore.awsrequest import AWSRequest  # type: ignore[import-untyped]
from botocore.credentials import Credentials  # type: ignore[import-untyped]
from lakebed_auth import arn, builtin, statements_to_json
from lakebed_server.auth import rotation, temporary_keys
from lakebed_server.auth.authenticate import Caller
from lakebed_server.auth.records import Credential
from lakebed_server.auth.secret_key import SecretKey
from lakebed_server.auth.temporary_keys import TemporaryKeys
from lakebed_server.auth.tokens import Source

from tests.auth.people import NOW, People, allow
from tests.server.support import Answer, ask

OBJECT = "/lake/main/a"
KEYS = "/auth/users/{}/credentials"


@pytest.fixture
def people() -> Iterator[People]:
    made = People()
    made.put("a")
    made.add("ana", groups=("Developers",))
    yield made
    made.close()


def temporary(people: People, by: str, body: Any = None, as_: str = "temporary", **headers: str) -> Answer:
    """Make a temporary key. It signs the S3 requests of `as_` from then on."""
    answer = people(by, "POST", "/auth/session", body, **headers)
    if answer.status == 201:
        given = answer.json
        people.keys[as_] = Credential(given["access_key_id"], given["secret_access_key"], by, NOW)
        people.tokens[as_] = given["session_token"]
    return answer


def code(answer: Answer) -> str:
    return answer.body.partition(b"<Code>")[2].partition(b"</Code>")[0].decode() if answer.status >= 400 else ""


def presigned(people: People, user: str) -> Answer:
    key = people.keys[user]
    request = AWSRequest("GET", f"http://s3.test{OBJECT}", headers={"host": "s3.test"})
    credentials = Credentials(key.access_key_id, key.secret_access_key, people.tokens[user])
    S3SigV4QueryAuth(credentials, "s3", "any", 60).add_auth(request)
    target = request.url.removeprefix("http://s3.test")
    return ask(people.app, target, auth=False, runner=people.runner, host="s3.test")


def test_a_temporary_key_signs_headers_and_addresses(people: People) -> None:
    before = int(time.time())
    given = temporary(people, "ana").json
    assert given["access_key_id"].startswith("LKBT")
    assert before + 3600 <= given["expiration"] <= time.time() + 3600
    assert people.s3("temporary", "GET", OBJECT).status == 200
    assert people.s3("temporary", "PUT", "/lake/main/b", b"x").status == 200
    assert presigned(people, "temporary").status == 200


def test_the_token_of_login_gives_temporary_keys_too(people: People) -> None:
    key = people.keys["ana"]
    body = {"access_key_id": key.access_key_id, "secret_access_key": key.secret_access_key}
    token = people("ana", "POST", "/auth/login", body).json["token"]
    assert temporary(people, "ana", authorization=f"Bearer {token}").status == 201
    assert people.s3("temporary", "GET", OBJECT).status == 200


def test_a_temporary_key_is_narrowed_by_both_policies(people: People) -> None:
    temporary(people, "ana", {"statement": statements_to_json(builtin.read_only("lake"))})
    assert people.s3("temporary", "GET", OBJECT).status == 200
    refused = people.s3("temporary", "PUT", "/lake/main/b", b"x")
    assert (refused.status, b"but the policy of the access key does not allow it" in refused.body) == (403, True)
    made = people("ana", "POST", KEYS.format("ana"), {"statement": [allow("fs:WriteObject")]}).json
    people.keys["narrow"] = Credential(made["access_key_id"], made["secret_access_key"], "ana", NOW)
    temporary(people, "narrow", {"statement": [allow("fs:*")]})
    assert people.s3("temporary", "PUT", "/lake/main/b", b"x").status == 200
    assert people.s3("temporary", "GET", OBJECT).status == 403


def test_a_right_of_the_user_that_ends_ends_for_temporary_keys(people: People) -> None:
    temporary(people, "ana")
    people.run(people.directory.remove_member("Developers", "ana"))
    people.permissions.forget()
    assert people.s3("temporary", "GET", OBJECT).status == 403


def test_it_ends_with_its_time(people: People, monkeypatch: pytest.MonkeyPatch) -> None:
    temporary(people, "ana", {"duration": 60})
    now = time.time() + 61
    monkeypatch.setattr(people.authenticator, "_now", lambda: now)
    answer = people.s3("temporary", "GET", OBJECT)
    assert (answer.status, code(answer)) == (400, "ExpiredToken")
    assert b"The temporary access key expired" in answer.body
    people.keys["guess"] = msgspec.structs.replace(people.keys["temporary"], secret_access_key="a wrong secret")
    people.tokens["guess"] = people.tokens["temporary"]
    assert code(people.s3("guess", "GET", OBJECT)) == "SignatureDoesNotMatch"


def test_it_ends_no_later_than_its_key(people: People) -> None:
    made = people("ana", "POST", KEYS.format("ana"), {"expires_in": 600}).json
    people.keys["short"] = Credential(made["access_key_id"], made["secret_access_key"], "ana", NOW)
    assert temporary(people, "short").json["expiration"] <= made["expiration"]


def test_it_ends_with_its_key(people: People) -> None:
    made = people("ana", "POST", KEYS.format("ana")).json
    people.keys["second"] = Credential(made["access_key_id"], made["secret_access_key"], "ana", NOW)
    temporary(people, "second")
    assert people.s3("temporary", "GET", OBJECT).status == 200
    assert people("ana", "DELETE", f"{KEYS.format('ana')}/{made['access_key_id']}").status == 204
    assert code(people.s3("temporary", "GET", OBJECT)) == "InvalidToken"


@pytest.mark.parametrize("source", ["oidc", "saml", "ldap", "workload"])
def test_it_ends_with_the_session_that_asked_for_it(people: People, source: Source) -> None:
    user = people.run(people.store.find_user("ana"))
    now = int(time.time())
    token = people.run(people.authenticator.sign_in(user, source, now, limit=1800))
    other = people.run(people.authenticator.sign_in(user, source, now, limit=1800))
    bearer = {"authorization": f"Bearer {token.text}"}
    given = temporary(people, "", {"duration": 7200}, as_="temporary", **bearer).json
    assert given["expiration"] <= now + 1800
    temporary(people, "", as_="other", authorization=f"Bearer {other.text}")
    assert people.s3("temporary", "GET", OBJECT).status == 200
    assert people("", "POST", "/auth/logout", **bearer).status == 204
    assert code(people.s3("temporary", "GET", OBJECT)) == "InvalidToken"
    assert people.s3("other", "GET", OBJECT).status == 200


def test_it_ends_with_all_tokens_of_its_user(people: People) -> None:
    temporary(people, "ana")
    assert people("ana", "POST", "/auth/logout?everywhere=true").status == 204
    assert code(people.s3("temporary", "GET", OBJECT)) == "InvalidToken"
    temporary(people, "ana")
    assert people.s3("temporary", "GET", OBJECT).status == 200


@pytest.mark.parametrize("end", ["delete", "disable"])
def test_it_ends_with_its_user(people: People, end: str) -> None:
    temporary(people, "ana")
    if end == "delete":
        people.run(people.directory.delete_user("ana"))
    else:
        people.run(people.directory.update_user("ana", disabled=True))
    people.permissions.forget()
    assert people.s3("temporary", "GET", OBJECT).status == 403


def altered(token: str, change: dict[str, Any]) -> str:
    """The token with other claims, as an attacker without the secret key can make it."""
    version, key_id, content = token.split(".")
    names = ("user", "parent", "expires", "generation", "source", "statement", "session")
    claims = dict(zip(names, msgspec.json.decode(base64.urlsafe_b64decode(content + "==")), strict=True))
    content = base64.urlsafe_b64encode(msgspec.json.encode([*(claims | change).values()])).rstrip(b"=").decode()
    return f"{version}.{key_id}.{content}"


@pytest.mark.parametrize(
    "change",
    [
        {"statement": ""},
        {"expires": 9_999_999_999},
        {"user": "admin"},
        {"parent": ""},
        {"user": "admin", "parent": ""},
        {"generation": 1},
        {"source": "oidc"},
        {"session": ["another", 9_999_999_999]},
    ],
)
def test_an_altered_token_is_worth_nothing(people: People, change: dict[str, Any]) -> None:
    temporary(people, "ana", {"statement": [allow("fs:ReadObject")]})
    assert people.s3("temporary", "GET", OBJECT).status == 200
    people.tokens["temporary"] = altered(people.tokens["temporary"], change)
    answer = people.s3("temporary", "GET", OBJECT)
    assert (answer.status, code(answer)) == (400, "InvalidToken")


def test_an_attacker_without_the_secret_key_cannot_derive_a_key(people: People) -> None:
    """The attacker knows an own access key and this program, but not the secret key of the server."""
    temporary(people, "ana", {"statement": [allow("fs:ReadObject")]})
    token = altered(people.tokens["temporary"], {"statement": ""})
    found = people.run(people.store.find(people.keys["ana"].access_key_id))
    id, secret = temporary_keys._derived(SecretKey("a guess of the secret key"), found.credential, token)
    people.keys["forged"], people.tokens["forged"] = Credential(id, secret, "ana", NOW), token
    assert code(people.s3("forged", "GET", OBJECT)) == "InvalidToken"
    real = temporary_keys._derived(people.store.ring.newest, found.credential, token)
    people.keys["forged"] = Credential(*real, "ana", NOW)
    assert people.s3("forged", "GET", OBJECT).status == 200  # the attack fails for the reason that it should


def test_a_token_works_only_with_its_own_key(people: People) -> None:
    temporary(people, "ana", as_="one")
    temporary(people, "ana", {"duration": 100}, as_="two")
    people.tokens["one"] = people.tokens["two"]
    assert code(people.s3("one", "GET", OBJECT)) == "InvalidToken"
    people.tokens["ana"] = people.tokens["two"]
    assert code(people.s3("ana", "GET", OBJECT)) == "InvalidToken"
    del people.tokens["two"]
    assert code(people.s3("two", "GET", OBJECT)) == "InvalidAccessKeyId"


@pytest.mark.parametrize(
    "token", ["x", "1", "1..", "1.x.x", "2.x.x", "." * 5000, "1.%2e.é", "1.x.bnVsbA", "1.x." + "W1tb" * 900]
)
def test_tokens_that_say_nothing(people: People, token: str) -> None:
    people.tokens["ana"] = token
    answer = people.s3("ana", "GET", OBJECT)
    assert (answer.status, code(answer)) == (400, "InvalidToken")


def test_the_id_is_compared_in_constant_time(people: People, monkeypatch: pytest.MonkeyPatch) -> None:
    temporary(people, "ana")
    compared: list[tuple[bytes, bytes]] = []

    def compare(one: bytes, other: bytes) -> bool:
        compared.append((one, other))
        return hmac.compare_digest(one, other)

    digest = hmac.digest
    monkeypatch.setattr(temporary_keys, "hmac", type("Hmac", (), {"compare_digest": compare, "digest": digest}))
    assert people.s3("temporary", "GET", OBJECT).status == 200
    id = people.keys["temporary"].access_key_id.encode()
    assert compared == [(id, id)]


def test_bad_requests_are_refused(people: People) -> None:
    for body in ({"duration": 59}, {"duration": 129_601}, {"statement": [allow("fs:*", on=["*" * 2100])]}):
        assert temporary(people, "ana", body).status == 400
    assert people("nobody", "POST", "/auth/session", authorization="Basic bm86bm8=").status == 401


def test_the_longest_policy_fits_into_a_token(people: People) -> None:
    resources = [arn.object_("lake", "x" * 180 + str(number)) for number in range(8)]
    assert temporary(people, "ana", {"statement": [allow("fs:ReadObject", on=[*resources, "*"])]}).status == 201
    assert len(people.tokens["temporary"]) <= temporary_keys.LONGEST_TOKEN
    assert people.s3("temporary", "GET", OBJECT).status == 200


def test_a_person_who_signed_in_without_a_key_gets_one(people: People) -> None:
    keys = TemporaryKeys(people.authenticator)
    made = people.run(keys.issue(Caller("ana", "", "oidc"), 600, "", int(time.time())))
    people.keys["browser"] = Credential(made.access_key_id, made.secret_access_key, "ana", NOW)
    people.tokens["browser"] = made.token
    assert people.s3("browser", "GET", OBJECT).status == 200


def test_it_survives_the_encryption_of_its_key_with_a_new_secret(people: People) -> None:
    """As long as the server knows the old secret key."""
    temporary(people, "ana")
    ring = people.store.ring
    ring.keys = (*ring.keys, SecretKey("the new secret key of this server"))
    people.run(rotation.rotate(people.kv, ring))
    people.authenticator._known.forget(people.keys["ana"].access_key_id)
    assert people.s3("temporary", "GET", OBJECT).status == 200
    ring.keys = ring.keys[1:]
    assert code(people.s3("temporary", "GET", OBJECT)) == "InvalidToken"
