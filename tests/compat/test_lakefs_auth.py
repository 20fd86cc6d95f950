"""All calls of the generated lakeFS client about users, groups, policies and access keys (`facts/rbac.md` 7)."""

# mypy: disable-error-code="attr-defined, call-arg, arg-type"
# what lakefs_sdk exports and leaves out, it does not say to mypy
from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import lakefs_sdk
import pytest
from lakefs.client import Client

from tests.support.processes.server import RunningServer


@pytest.fixture
def auth(client: Client) -> Any:
    return lakefs_sdk.AuthApi(client.sdk_client._api)


@pytest.fixture
def name() -> str:
    return f"x{uuid4().hex[:12]}"


def refused(call: Callable[..., object], *arguments: Any) -> int:
    with pytest.raises(lakefs_sdk.ApiException) as caught:
        call(*arguments)
    return int(caught.value.status)


def ids(page: Any) -> list[str]:
    return [row.id for row in page.results]


def test_users_and_their_keys(auth: Any, name: str, server: RunningServer) -> None:
    made = auth.create_user(user_creation=lakefs_sdk.UserCreation(id=name))
    assert made.id == name
    assert refused(lambda: auth.create_user(user_creation=lakefs_sdk.UserCreation(id=name))) == 409
    assert refused(lambda: auth.create_user(user_creation=lakefs_sdk.UserCreation(id=f"{name}%"))) == 400
    assert auth.get_user(name) == made
    assert ids(auth.list_users(prefix=name)) == [name]
    key = auth.create_credentials(name)
    assert [one.access_key_id for one in auth.list_user_credentials(name).results] == [key.access_key_id]
    own = Client(host=server.endpoint, username=key.access_key_id, password=key.secret_access_key)  # type: ignore[no-untyped-call]
    own_auth = lakefs_sdk.AuthApi(own.sdk_client._api)
    assert own_auth.get_current_user().user.id == name
    assert refused(own_auth.list_users) == 403
    login = lakefs_sdk.LoginInformation(access_key_id=key.access_key_id, secret_access_key=key.secret_access_key)
    assert own_auth.login(login_information=login).token
    auth.delete_credentials(name, key.access_key_id)
    assert refused(auth.get_credentials, name, key.access_key_id) == 404
    auth.delete_user(name)
    for call in (auth.get_user, auth.delete_user, auth.list_user_groups, auth.list_user_policies):
        assert refused(call, name) == 404


def test_groups(auth: Any, name: str) -> None:
    made = auth.create_group(group_creation=lakefs_sdk.GroupCreation(id=name, description="readers"))
    assert (made.id, made.name, made.description) == (name, name, "readers")
    assert refused(lambda: auth.create_group(group_creation=lakefs_sdk.GroupCreation(id=name))) == 409
    assert auth.get_group(name).id == name
    assert ids(auth.list_groups(prefix=name)) == [name]
    auth.create_user(user_creation=lakefs_sdk.UserCreation(id=name))
    auth.add_group_membership(name, name)
    assert refused(auth.add_group_membership, name, name) == 409
    assert ids(auth.list_group_members(name)) == [name]
    assert ids(auth.list_user_groups(name)) == [name]
    auth.attach_policy_to_group(name, "FSReadAll")
    assert refused(auth.attach_policy_to_group, name, "FSReadAll") == 409
    assert ids(auth.list_group_policies(name)) == ["FSReadAll"]
    assert ids(auth.list_user_policies(name)) == []
    assert ids(auth.list_user_policies(name, effective=True)) == ["FSReadAll"]
    auth.detach_policy_from_group(name, "FSReadAll")
    assert refused(auth.detach_policy_from_group, name, "FSReadAll") == 404
    auth.delete_group_membership(name, name)
    assert refused(auth.delete_group_membership, name, name) == 404
    auth.delete_group(name)
    assert refused(auth.delete_group, name) == 404
    auth.delete_user(name)


def test_policies(auth: Any, name: str) -> None:
    resource = '["arn:lakefs:fs:::repository/sales","arn:lakefs:fs:::repository/sales/*"]'
    statement = lakefs_sdk.Statement(effect="allow", action=["fs:Read*"], resource=resource)
    wanted = lakefs_sdk.Policy(id=name, statement=[statement])
    made = auth.create_policy(policy=wanted)
    assert (made.id, made.statement) == (name, [statement])
    assert refused(lambda: auth.create_policy(policy=wanted)) == 409
    bad = lakefs_sdk.Policy(id=name, statement=[statement.copy(update={"action": ["*"]})])
    assert refused(lambda: auth.create_policy(policy=bad)) == 400
    assert auth.get_policy(name) == made
    condition = {"IpAddress": {"SourceIp": ["10.0.0.0/8"]}}
    changed = lakefs_sdk.Policy(id=name, statement=[statement.copy(update={"condition": condition})])
    assert auth.update_policy(name, policy=changed).statement[0].condition == condition
    assert refused(lambda: auth.update_policy("FSReadAll", policy=changed)) == 400
    assert ids(auth.list_policies(prefix=name)) == [name]
    auth.create_user(user_creation=lakefs_sdk.UserCreation(id=name))
    auth.attach_policy_to_user(name, name)
    assert refused(auth.attach_policy_to_user, name, name) == 409
    auth.detach_policy_from_user(name, name)
    assert refused(auth.detach_policy_from_user, name, name) == 404
    auth.delete_policy(name)
    for call in (auth.get_policy, auth.delete_policy):
        assert refused(call, name) == 404
    auth.delete_user(name)
