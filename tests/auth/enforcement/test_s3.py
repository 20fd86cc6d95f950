"""The S3 gateway refuses what the policies of a user do not allow, with S3's AccessDenied."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from lakebed_auth import arn
from lakebed_server.s3 import permission_table
from lakebed_server.vocabulary import StartError

from tests.auth.people import People, allow, deny
from tests.auth.requests_of import resource
from tests.server.support import Answer

DELETE_BODY = b"<Delete><Object><Key>main/a</Key></Object><Object><Key>main/b</Key></Object></Delete>"
COMPLETE = b"<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>e</ETag></Part></CompleteMultipartUpload>"

REQUESTS: dict[str, tuple[str, str, bytes, tuple[str, ...]]] = {
    "HeadBucket": ("HEAD", "/lake", b"", ("fs:ReadRepository@@repository/lake",)),
    "GetBucketLocation": ("GET", "/lake?location=", b"", ("fs:ReadRepository@@repository/lake",)),
    "GetBucket:versioning": ("GET", "/lake?versioning=", b"", ("fs:ReadRepository@@repository/lake",)),
    "CreateBucket": (
        "PUT",
        "/new",
        b"",
        ("fs:CreateRepository@@repository/new", "fs:AttachStorageNamespace@@namespace//new"),
    ),
    "DeleteBucket": ("DELETE", "/lake", b"", ("fs:DeleteRepository@@repository/lake",)),
    "ListObjects": ("GET", "/lake?prefix=main%2F", b"", ("fs:ListObjects@@repository/lake",)),
    "ListObjectsV2": ("GET", "/lake?list-type=2&prefix=main%2F", b"", ("fs:ListObjects@@repository/lake",)),
    "ListObjectsV2 of branches": ("GET", "/lake?delimiter=%2F&list-type=2", b"", ("fs:ListBranches@@repository/lake",)),
    "ListObjectsV2 of all": ("GET", "/lake?list-type=2", b"", ("fs:ListObjects@@repository/lake",)),
    "ListObjectVersions": ("GET", "/lake?versions=", b"", ("fs:ListObjects@@repository/lake",)),
    "ListMultipartUploads": ("GET", "/lake?uploads=", b"", ("fs:ListObjects@@repository/lake",)),
    "GetObject": ("GET", "/lake/main/a", b"", ("fs:ReadObject@object/a",)),
    "HeadObject": ("HEAD", "/lake/main/a", b"", ("fs:ReadObject@object/a",)),
    "GetObjectAttributes": ("GET", "/lake/main/a?attributes=", b"", ("fs:ReadObject@object/a",)),
    "GetObject:tagging": ("GET", "/lake/main/a?tagging=", b"", ("fs:ReadObject@object/a",)),
    "PutObject": ("PUT", "/lake/main/a", b"x", ("fs:WriteObject@object/a",)),
    "DeleteObject": ("DELETE", "/lake/main/a", b"", ("fs:DeleteObject@object/a",)),
    "CreateMultipartUpload": ("POST", "/lake/main/a?uploads=", b"", ("fs:WriteObject@object/a",)),
    "UploadPart": ("PUT", "/lake/main/a?partNumber=1&uploadId=u", b"x", ("fs:WriteObject@object/a",)),
    "ListParts": ("GET", "/lake/main/a?uploadId=u", b"", ("fs:WriteObject@object/a",)),
    "CompleteMultipartUpload": ("POST", "/lake/main/a?uploadId=u", COMPLETE, ("fs:WriteObject@object/a",)),
    "AbortMultipartUpload": ("DELETE", "/lake/main/a?uploadId=u", b"", ("fs:WriteObject@object/a",)),
}


@pytest.fixture
def people() -> Iterator[People]:
    made = People()
    made.put("a")
    made.put("b")
    yield made
    made.close()


def send(people: People, user: str, name: str) -> Answer:
    method, target, body, _ = REQUESTS[name]
    return people.s3(user, method, target, body)


def is_refused(answer: Answer) -> bool:
    """Whether the user lacks a permission. The answer to HEAD has no body: its reason is in a header."""
    return answer.status == 403 and b"needs " in (answer.body or answer.headers["x-lakebed-error"].encode())


def grants(needs: tuple[str, ...]) -> list[dict[str, object]]:
    return [allow(one.partition("@")[0], on=resource(one.partition("@")[2])) for one in needs]


def test_the_gateway_does_not_start_with_an_operation_without_permissions() -> None:
    with pytest.raises(StartError, match="S3 operations without permissions: PutNothing"):
        permission_table.check([*permission_table.PERMISSIONS, "PutNothing", "GetBucket:acl"])


def test_every_operation_has_a_request() -> None:
    own = {"ListBuckets", "DeleteObjects", "CopyObject", "PostObject"}  # the last one: tests/s3/uploads/test_forms.py
    assert permission_table.PERMISSIONS.keys() <= REQUESTS.keys() | own


@pytest.mark.parametrize("name", sorted(REQUESTS))
def test_exactly_the_permissions_of_the_table_suffice(people: People, name: str) -> None:
    needs = REQUESTS[name][3]
    people.add("ana")
    people.add("ben", *grants(needs))
    assert is_refused(send(people, "ana", name))
    answer = send(people, "ben", name)
    assert not is_refused(answer), answer.body


@pytest.mark.parametrize("name", sorted(REQUESTS))
def test_a_denial_wins(people: People, name: str) -> None:
    needs = REQUESTS[name][3]
    action, _, rest = needs[0].partition("@")
    people.add("ana", *grants(needs), deny(action, on=resource(rest)))
    assert is_refused(send(people, "ana", name))


def test_a_refusal_names_the_permission_and_the_resource(people: People) -> None:
    people.add("ana")
    body = people.s3("ana", "GET", "/lake/main/a").body.decode()
    assert "<Code>AccessDenied</Code>" in body
    assert "<Message>needs fs:ReadObject on repository/lake/object/a</Message>" in body


@pytest.mark.parametrize(
    ("path", "shown"),
    [("a b.csv", "a b.csv"), ("caf%C3%A9%25", "caf%C3%A9%25"), ("a%0D%0Ax-b%3A%20c", "a%0D%0Ax-b: c")],
)
def test_a_refusal_of_head_has_its_reason_in_a_header(people: People, path: str, shown: str) -> None:
    people.add("ana")
    target = f"/repositories/lake/refs/main/objects?path={path}"
    answers = [people.s3("ana", "HEAD", f"/lake/main/{path.replace(' ', '%20')}")]
    answers.append(people("ana", "HEAD", target.replace(" ", "%20")))
    for answer in answers:
        assert (answer.status, answer.body) == (403, b"")
        assert answer.headers["x-lakebed-error"] == f"needs fs:ReadObject on repository/lake/object/{shown}"
    assert answers[1].headers["x-lakebed-error-kind"] == "permission_denied"


def test_a_long_reason_in_a_header_is_cut(people: People) -> None:
    people.add("ana")
    for more in range(6):
        path = "a" * more + "%C3%A9" * 400
        error = people.s3("ana", "HEAD", f"/lake/main/{path}").headers["x-lakebed-error"]
        assert 1998 <= len(error) <= 2000
        assert f"needs fs:ReadObject on repository/lake/object/{path}".startswith(error)
        assert error[-3] == "%"


def test_a_copy_needs_both_permissions(people: People) -> None:
    source: dict[str, Any] = {"x_amz_copy_source": "/lake/main/a"}
    people.add("ana", allow("fs:WriteObject", on=arn.object_("lake", "c")))
    assert b"needs fs:ReadObject on repository/lake/object/a" in people.s3("ana", "PUT", "/lake/main/c", **source).body
    people.add("ben", allow("fs:ReadObject", on=arn.object_("lake", "a")))
    assert b"needs fs:WriteObject on repository/lake/object/c" in people.s3("ben", "PUT", "/lake/main/c", **source).body
    people.add("cas", allow("fs:ReadObject", "fs:WriteObject"))
    assert people.s3("cas", "PUT", "/lake/main/c", **source).status == 200


def test_a_delete_of_several_keys_answers_for_each(people: People) -> None:
    people.add("ana", allow("fs:DeleteObject", on=arn.object_("lake", "a")))
    answer = people.s3("ana", "POST", "/lake?delete=", DELETE_BODY)
    assert answer.status == 200
    assert re.findall(rb"<Deleted><Key>(.*?)</Key>", answer.body) == [b"main/a"]
    assert re.findall(rb"<Error><Key>(.*?)</Key>.*?<Code>(.*?)</Code>", answer.body) == [(b"main/b", b"AccessDenied")]
    assert people("admin", "HEAD", "/repositories/lake/refs/main/objects?path=b").status == 200


def test_buckets_that_a_user_may_not_list_are_left_out(people: People) -> None:
    people("admin", "POST", "/repositories", {"name": "other", "storage_namespace": "mem://other"})
    people.add("ana", allow("fs:ListRepositories", on=arn.repository("lake")))
    assert re.findall(rb"<Name>(.*?)</Name>", people.s3("ana", "GET", "/").body) == [b"lake"]


def test_rules_of_branches_hold(people: People) -> None:
    people("admin", "POST", "/repositories/lake/branches", {"name": "dev-1", "source": "main"})
    people.add("ana", allow("fs:WriteObject", "fs:DeleteObject", StringLike={"fs:Branch": ["dev-*"]}))
    assert people.s3("ana", "PUT", "/lake/dev-1/a", b"x").status == 200
    assert people.s3("ana", "PUT", "/lake/main/a", b"x").status == 403
    refused = people.s3("ana", "POST", "/lake?delete=", DELETE_BODY)
    assert refused.body.count(b"AccessDenied") == 2
