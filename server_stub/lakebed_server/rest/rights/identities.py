"""Users, groups and policies for the REST API: the directory of a call, and its records as bodies."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from typing import Any, TypeVar

import msgspec
from lakebed_auth import PolicyError, parse_document
from lakebed_auth.policy import MOST_INLINE_BYTES
from lakebed_engine.vocabulary.records import Page
from lakebed_wire import models
from msgspec import UNSET

from lakebed_server.access.directory import Directory
from lakebed_server.access.rows import Group, StoredPolicy
from lakebed_server.access.simulation import Explained
from lakebed_server.auth.credentials import Listed
from lakebed_server.auth.records import Change, Credential, StoredCredential, User
from lakebed_server.auth.sessions import OpenSession
from lakebed_server.http.request import Call
from lakebed_server.http.responses import Reply, json
from lakebed_server.rest import serializers
from lakebed_server.vocabulary import RequestError, not_implemented

T = TypeVar("T")
Entity = TypeVar("Entity", User, Group, StoredPolicy, OpenSession, Change)


def directory(call: Call) -> Directory:
    """The users, groups and policies. Raises RequestError (501) with `auth.mode: single`."""
    if call.services.permissions is None:
        raise not_implemented(
            "this server has no users, groups and policies, because its setting auth.mode is single: set it to rbac"
        )
    return call.services.permissions.directory


async def changed(call: Call, change: Coroutine[Any, Any, T]) -> T:
    """The result of a change of the directory. The next decision of this process reads the directory again."""
    try:
        return await change
    finally:  # after a lost answer of the store the change may have been made
        if call.services.permissions is not None:
            call.services.permissions.forget()


def page_of(sent: Any) -> tuple[str, str, int]:
    """The parameters of a page: prefix, after and amount."""
    return serializers.text(sent.prefix), serializers.text(sent.after), serializers.amount(sent.amount)


def listed(found: tuple[Sequence[Entity], bool], serialize: Callable[[Entity], object]) -> Reply:
    """A page of users, groups, policies or sessions."""
    items, more = found
    pagination = serializers.pagination(Page(list(items), more), lambda one: one.id)
    return json(200, {"pagination": pagination, "results": [serialize(one) for one in items]})


def rights_change(record: Change) -> models.RightsChange:
    """A change of users, groups or policies."""
    return models.RightsChange(id=record.id, time=record.time, by=record.by, what=record.what)


def user(record: User) -> models.User:
    """A user."""
    return models.User(
        id=record.id,
        creation_date=record.created,
        friendly_name=record.friendly_name or UNSET,
        email=record.email or UNSET,
        disabled=record.disabled or UNSET,
        service=record.service or UNSET,
    )


def session(record: OpenSession) -> models.UserSession:
    """A session."""
    return models.UserSession(
        id=record.id,
        creation_date=record.created,
        expiration=record.expires,
        source=record.source,
        address=record.address,
        user_agent=record.agent,
    )


def group(record: Group) -> models.Group:
    """A group."""
    return models.Group(
        id=record.id, name=record.id, description=record.description or UNSET, creation_date=record.created
    )


def policy(record: StoredPolicy) -> dict[str, object]:
    """A policy, with its statements as they were sent."""
    return {"id": record.id, "creation_date": record.created, "statement": record.statement}


def described(key: Credential | StoredCredential) -> dict[str, object]:
    """An access key, without its secret."""
    shown: dict[str, object] = {"access_key_id": key.access_key_id, "creation_date": key.created}
    if key.name:
        shown["name"] = key.name
    if key.expires:
        shown["expiration"] = key.expires
    if key.statement:
        shown["statement"] = msgspec.Raw(key.statement.encode())
    return shown


def access_key(found: Listed) -> dict[str, object]:
    """An access key with its last use, without its secret."""
    used = {"last_used": found.last_used} if found.last_used else {}
    return described(found.key) | used


def explained(found: Explained) -> models.SimulationResult:
    """A decision."""
    decision = found.decision
    statement = (
        None
        if decision.statement is None
        else models.StatementReference(policy=decision.statement[0], number=decision.statement[1])
    )
    return models.SimulationResult(
        allowed=decision.effect == "allowed", effect=decision.effect, statement=statement or UNSET, reason=found.reason
    )


class _Document(msgspec.Struct):
    statement: msgspec.Raw


def sent_statement_of_key(call: Call, most_bytes: int = MOST_INLINE_BYTES) -> str:
    """The statements of the body, for the policy of an access key. Raises RequestError: `invalid_policy`."""
    statement = bytes(msgspec.json.decode(call.body.content, type=_Document).statement)
    try:
        parse_document(b'{"statement":%s}' % statement, most_bytes=most_bytes)
    except PolicyError as error:
        raise RequestError("invalid_policy", str(error)) from None
    return statement.decode()


def sent_statements(call: Call) -> msgspec.Raw:
    """The statements of the body as they were sent. Raises RequestError: `invalid_policy`."""
    try:
        parse_document(call.body.content)
    except PolicyError as error:
        raise RequestError("invalid_policy", str(error)) from None
    return msgspec.json.decode(call.body.content, type=_Document).statement
