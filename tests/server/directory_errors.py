"""Provokes the documented errors of users, groups and policies. For the table of errors."""

from __future__ import annotations

import base64
from collections.abc import Callable

from lakebed_server.access.rows import Holder
from lakebed_server.process.app import App

from tests.auth.people import People, allow, deny
from tests.server.error_scenes import FAULTS, TABLE, FaultyKV, Request
from tests.server.support import DOCUMENTED, Answer, ask, make_app

OF_DIRECTORY = {
    name
    for name, status in DOCUMENTED
    if status == 501 and TABLE[name].security and TABLE[name].path.startswith("/auth/")
}
"""The operations on users, groups and policies."""

CONFLICTS: dict[str, Callable[[Request], Request]] = {
    "createUser": lambda one: one.says(id="admin"),
    "createGroup": lambda one: one.says(id="Admins"),
    "createPolicy": lambda one: one.says(id="FSReadAll"),
    "updateUser": lambda one: one.says(disabled=True),
    "updatePolicy": lambda one: one.at(policyId="AuthFullAccess").says(id="AuthFullAccess"),
    "deletePolicy": lambda one: one.at(policyId="AuthFullAccess"),
    "detachPolicyFromGroup": lambda one: one.at(policyId="AuthFullAccess"),
    "attachPolicyToGroup": lambda one: one.at(policyId="AuthFullAccess"),
    "attachPolicyToUser": lambda one: one.at(policyId="lakebed.reader.nothing"),
    "grantRepositoryToUser": lambda one: one.at(repository="nothing"),
    "grantRepositoryToGroup": lambda one: one.at(repository="nothing"),
    "detachPolicyFromUser": lambda one: one.at(policyId="lakebed.admin.power"),
    "revokeRepositoryFromUser": lambda one: one.at(repository="power"),
    "revokeRepositoryFromGroup": lambda one: one.at(repository="power"),
}
"""What is wrong in a request that is refused with 409; the request as it is for other operations."""

HOLDERS = {
    "detachPolicyFromUser": Holder("user", "admin"),
    "revokeRepositoryFromUser": Holder("user", "admin"),
    "revokeRepositoryFromGroup": Holder("group", "Admins"),
}
"""What has the only policy that makes an administrator."""


def provoke(request: Request, status: int) -> Answer:
    """The answer to a request of an operation on users, groups and policies, with the cause of a status."""
    if status == 501:
        return _ask(make_app(), request)  # auth.mode: single
    kv = FaultyKV()
    people = People(kv)
    try:
        people.add("powerless")
        people.policy("lakebed.reader.nothing", deny("auth:*"))
        if status == 409 and request.operation in HOLDERS:
            _only(people, HOLDERS[request.operation])
        return _send(people, kv, request, status)
    finally:
        kv.fault = None
        people.close()


def _only(people: People, holder: Holder) -> None:
    people.policy("lakebed.admin.power", allow("auth:*", on="*"))
    people.run(people.directory.attach(holder, "lakebed.admin.power"))
    people.run(people.directory.detach(Holder("group", "Admins"), "AuthFullAccess"))
    people.permissions.forget()


def _send(people: People, kv: FaultyKV, request: Request, status: int) -> Answer:
    if status == 403:
        key = people.keys["powerless"]
        pair = base64.b64encode(f"{key.access_key_id}:{key.secret_access_key}".encode()).decode()
        request = request.with_headers(authorization=f"Basic {pair}")
    elif status == 404 and request.operation == "simulate":
        request = request.says(user="none")
    elif status == 404:
        first = next(name for name in ("groupId", "userId", "policyId") if name in request.names)
        request = request.at(**{first: "none"})
        if request.operation == "updatePolicy":
            request = request.says(id="none")
    elif status == 409 and request.operation in CONFLICTS:
        request = CONFLICTS[request.operation](request)
    kv.fault = FAULTS.get(status)
    return _ask(people.app, request, people)


def _ask(app: App, request: Request, people: People | None = None) -> Answer:
    body, headers = request.raw()
    runner = None if people is None else people.runner
    method = TABLE[request.operation].method
    return ask(app, request.target(), method, body, auth=request.auth, runner=runner, **headers)
