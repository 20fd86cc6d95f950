"""Every operation is refused without its permissions, and not refused with exactly them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from lakebed_server.rest.operation_handlers import HANDLERS
from lakebed_server.rest.rights import permission_table
from lakebed_server.vocabulary import StartError
from lakebed_wire.operations import OPERATIONS

from tests.auth.people import People, allow, deny
from tests.auth.requests_of import BY_HANDLER, SAMPLES, WORKSPACE, Sample, resource
from tests.server.support import Answer

pytestmark = pytest.mark.medium  # about 900 requests

NAMES = {
    "repository": "lake",
    "branch": "main",
    "ref": "main",
    "accessKeyId": "AKIA",
    "sessionId": "none",
    "groupId": "Viewers",
    "policyId": "FSReadAll",
    "tag": "v1",
    "commitId": "main",
    "sourceRef": "main",
    "destinationBranch": "main",
    "leftRef": "main",
    "rightRef": "main",
    "meta_range": "0" * 64,
    "range": "0" * 64,
    "type": "range",
    "object_id": "0" * 64,
    "uploadId": "u",
    "partNumber": "1",
    "taskId": "t",
    "workspace": WORKSPACE,
    "review": "1",
    "comment": "1",
    "run_id": "none",
    "hook_run_id": "0000_0000",
    "delivery_id": "none",
}
SECURED = {operation.operation_id: operation for operation in OPERATIONS if operation.security}
WITH_NEEDS = sorted(name for name, sample in SAMPLES.items() if sample.needs)
WITH_ACTIONS = sorted(name for name, row in permission_table.PERMISSIONS.items() if row.actions)
LAKE = ["arn:lakefs:fs:::repository/lake", "arn:lakefs:fs:::repository/lake/*"]


@contextmanager
def lake_of_people() -> Iterator[People]:
    """A server with something for every operation to read or change."""
    made = People()
    made("admin", "POST", "/repositories/lake/workspaces", {"branch": "main", "id": WORKSPACE})
    made("admin", "POST", "/repositories/lake/branches", {"name": "dev", "source": "main"})
    pull = {"title": "t", "source_branch": "dev", "destination_branch": "main"}
    made.pull = made("admin", "POST", "/repositories/lake/pulls", pull).json["id"]
    made.put("a")
    yield made
    made.close()


@pytest.fixture
def people() -> Iterator[People]:
    """For operations that may succeed: each test has a lake of its own."""
    with lake_of_people() as made:
        yield made


@pytest.fixture(scope="module")
def crowd() -> Iterator[People]:
    """For operations that are refused, which change nothing: each test adds users of its own."""
    with lake_of_people() as made:
        yield made


def send(people: People, user: str, name: str, sample: Sample) -> Answer:
    """The request of an operation."""
    operation = SECURED[name]
    path = operation.path
    for part, value in {**NAMES, "pull_request": people.pull, "userId": user}.items():
        path = path.replace(f"{{{part}}}", value)
    assert "{" not in path
    target = f"{path}?{sample.query}" if sample.query else path
    return people(user, operation.method, target, sample.body)


def named(need: str, user: str) -> tuple[str, str]:
    """The action and the resource of a permission. An operation about a user is about the user who asks."""
    action, _, rest = need.partition("@")
    return action, resource(rest).replace("user/ana", f"user/{user}")


def grants(sample: Sample, user: str) -> list[dict[str, object]]:
    """A statement for each permission."""
    made = []
    for one in sample.needs:
        action, on = named(one, user)
        made.append(allow(action, on=on))
    return made


def test_every_operation_has_a_sample() -> None:
    assert SAMPLES.keys() | BY_HANDLER == SECURED.keys()


def test_the_server_does_not_start_with_an_operation_without_permissions() -> None:
    rows = dict(permission_table.PERMISSIONS)
    del rows["getObject"]
    with pytest.raises(StartError, match="operations without permissions: getObject"):
        permission_table.check(OPERATIONS, rows)
    with pytest.raises(StartError, match="permissions without an operation: getNothing"):
        permission_table.check(OPERATIONS, {**permission_table.PERMISSIONS, "getNothing": permission_table.ANYBODY})
    assert permission_table.PERMISSIONS.keys() <= HANDLERS.keys()


@pytest.mark.parametrize("name", WITH_NEEDS)
def test_a_user_without_policies_is_refused(crowd: People, name: str) -> None:
    answer = send(crowd, crowd.add(f"without-{name}"), name, SAMPLES[name])
    assert answer.status == 403, answer.body
    if SECURED[name].method != "HEAD":
        assert answer.json["kind"] == "permission_denied"
        assert answer.json["message"].startswith("needs ")


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_exactly_the_permissions_of_the_table_suffice(people: People, name: str) -> None:
    people.add("ana", *grants(SAMPLES[name], "ana"))
    answer = send(people, "ana", name, SAMPLES[name])
    assert answer.status != 401
    assert answer.status != 403 or not answer.json["message"].startswith("needs "), answer.body


@pytest.mark.parametrize("name", WITH_NEEDS)
def test_operation_is_denied_without_each_of_its_permissions(crowd: People, name: str) -> None:
    sample = SAMPLES[name]
    for left_out in range(len(sample.needs)):
        needs = (*sample.needs[:left_out], *sample.needs[left_out + 1 :])
        user = f"without-{left_out}-{name}"
        crowd.add(user, *grants(sample._replace(needs=needs), user))
        assert send(crowd, user, name, sample).status == 403, sample.needs[left_out]


@pytest.mark.parametrize("name", WITH_ACTIONS)
def test_a_row_with_actions_has_all_that_its_operation_needs_in_the_repository(people: People, name: str) -> None:
    sample, actions = SAMPLES[name], permission_table.PERMISSIONS[name].actions
    assert {one.partition("@")[0] for one in sample.needs} == set(actions)
    assert all(resource(one.partition("@")[2]).startswith(LAKE[0]) for one in sample.needs)
    people.add("ana", allow(*actions, on=LAKE))
    answer = send(people, "ana", name, sample)
    assert answer.status != 403 or not answer.json["message"].startswith("needs "), answer.body
    for left_out in actions:
        others = [allow(action, on=LAKE) for action in actions if action != left_out]
        user = people.add(f"not-{left_out.partition(':')[2]}", *others)
        assert send(people, user, name, sample).status == 403


@pytest.mark.parametrize("name", WITH_NEEDS)
def test_a_denial_wins_and_another_resource_does_not_help(crowd: People, name: str) -> None:
    sample = SAMPLES[name]
    user = f"denied-{name}"
    action, on = named(sample.needs[0], user)
    crowd.add(user, *grants(sample, user), deny(action, on=on))
    assert send(crowd, user, name, sample).status == 403
    others = (allow(one.partition("@")[0], on="arn:lakefs:fs:::repository/other/*") for one in sample.needs)
    user = crowd.add(f"elsewhere-{name}", *others)
    assert send(crowd, user, name, sample).status == 403


@pytest.mark.parametrize("name", WITH_NEEDS)
def test_a_false_condition_refuses(crowd: People, name: str) -> None:
    sample = SAMPLES[name]
    elsewhere = {"IpAddress": {"SourceIp": ["203.0.113.7"]}}
    user = f"away-{name}"
    crowd.add(user, *({**one, "condition": elsewhere} for one in grants(sample, user)))
    assert send(crowd, user, name, sample).status == 403
