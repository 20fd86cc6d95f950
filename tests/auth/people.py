"""A server in this process with users who have different policies, and requests of each of them."""

from __future__ import annotations

import asyncio
import base64
import hashlib
from dataclasses import replace
from typing import Any

import msgspec
from botocore.auth import S3SigV4Auth  # type: ignore[import-untyped]
from botocore.awsrequest import AWSRequest  # type: ignore[import-untyped]
from botocore.credentials import Credentials  # type: ignore[import-untyped]
from lakebed_engine.engine import Engine
from lakebed_engine.stores.kv.memory import MemoryKV
from lakebed_engine.stores.objects.registry import Stores
from lakebed_server.access import opening
from lakebed_server.access.directory import Directory
from lakebed_server.access.permissions import Permissions
from lakebed_server.access.rows import Holder, StoredPolicy
from lakebed_server.auth.credentials import CredentialStore
from lakebed_server.auth.records import Credential, User
from lakebed_server.process.app import create_app

from tests.server.support import KEY_ID, SECRET, Answer, ask, services

REPO = "/repositories/lake"
NOW = 1_700_000_000


class People:
    """A server with repository `lake`, whose administrator is `admin`."""

    def __init__(self, kv: MemoryKV | None = None) -> None:
        kv = kv or MemoryKV()
        self.engine = Engine(kv, Stores(None, memory=True))
        made = services(self.engine, kv)
        self.kv = kv
        self.authenticator = made.authenticator
        self.store: CredentialStore = made.authenticator.store
        self.directory = Directory(kv)
        self.permissions = Permissions(self.directory)
        self.services = replace(made, permissions=self.permissions)
        self.app = create_app(self.services)
        self.runner = asyncio.Runner()
        self.keys: dict[str, Credential] = {}
        self.tokens: dict[str, str] = {}
        self.pull = ""  # the id of a pull request, if a test has opened one
        self.run(opening.prepare(kv, self.directory, "rbac", NOW))
        created = self("admin", "POST", "/repositories", {"name": "lake", "storage_namespace": "mem://lake"})
        assert created.status == 201, created.body

    def run(self, job: Any) -> Any:
        """Run a coroutine in the loop of the server."""
        return self.runner.run(job)

    def add(self, user: str, *statements: dict[str, Any], groups: tuple[str, ...] = ()) -> str:
        """Add a user with an access key, one policy of these statements, and groups. Returns the user's id."""
        self.run(self.directory.create_user(User(user, NOW)))
        made = self.run(self.store.add(user, NOW))
        self.keys[user] = made
        if statements:
            self.policy(f"{user}-policy", *statements)
            self.run(self.directory.attach(Holder("user", user), f"{user}-policy"))
        for group in groups:
            self.run(self.directory.add_member(group, user))
        self.permissions.forget()
        return user

    def policy(self, id: str, *statements: dict[str, Any]) -> None:
        """Add a policy."""
        raw = msgspec.Raw(msgspec.json.encode(list(statements)))
        self.run(self.directory.create_policy(StoredPolicy(id, NOW, raw)))

    def __call__(self, user: str, method: str, target: str, body: Any = None, **headers: Any) -> Answer:
        """One request of a user to the API. `admin` has the key of the tests."""
        if user in self.keys:
            pair = f"{self.keys[user].access_key_id}:{self.keys[user].secret_access_key}"
            headers.setdefault("authorization", "Basic " + base64.b64encode(pair.encode()).decode())
        raw = body if isinstance(body, bytes) else b"" if body is None else msgspec.json.encode(body)
        return ask(self.app, "/api/v1" + target, method, raw, runner=self.runner, **headers)

    def put(self, path: str, data: bytes = b"x", *, user: str = "admin", branch: str = "main") -> Answer:
        """Write an object."""
        return self(user, "POST", f"{REPO}/branches/{branch}/objects?path={path}", data, content_type="text/csv")

    def s3(self, user: str, method: str, target: str, body: bytes = b"", **headers: str) -> Answer:
        """One request of a user to the S3 gateway, signed by botocore, also with one of `tokens`."""
        key, secret = KEY_ID, SECRET
        if user in self.keys:
            key, secret = self.keys[user].access_key_id, self.keys[user].secret_access_key
        sent = {"host": "s3.test", **{name.replace("_", "-"): value for name, value in headers.items()}}
        sent["x-amz-content-sha256"] = hashlib.sha256(body).hexdigest()
        request = AWSRequest(method, f"http://s3.test{target}", headers=sent, data=body)
        S3SigV4Auth(Credentials(key, secret, self.tokens.get(user)), "s3", "us-east-1").add_auth(request)
        signed = {name.replace("-", "_").lower(): value for name, value in request.headers.items()}
        return ask(self.app, target, method, body, auth=False, runner=self.runner, **signed)

    def close(self) -> None:
        """Stop the server."""
        self.runner.run(self.engine.close())
        self.runner.close()


def ids(answer: Answer) -> list[str]:
    """The ids on a page, which must be one."""
    assert answer.status == 200, answer.body
    return [row["id"] for row in answer.json["results"]]


def allow(*actions: str, on: str | list[str] = "*", **condition: Any) -> dict[str, Any]:
    """A statement that allows."""
    return _statement("allow", actions, on, condition)


def deny(*actions: str, on: str | list[str] = "*", **condition: Any) -> dict[str, Any]:
    """A statement that denies."""
    return _statement("deny", actions, on, condition)


def _statement(effect: str, actions: tuple[str, ...], on: str | list[str], condition: dict[str, Any]) -> dict[str, Any]:
    made: dict[str, Any] = {"effect": effect, "action": list(actions), "resource": on}
    return made | ({"condition": condition} if condition else {})
