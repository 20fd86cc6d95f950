"""Form uploads (PostObject): boto3 signs the policy, and httpx and aiohttp send the form as a browser would."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import aiohttp
import httpx
import lakebed
import pytest

from tests.s3.target import REGION, Target
from tests.support.processes.server import RunningServer, running_server

SIGNED = pytest.mark.parametrize("signature", ["s3v4", "s3"])


def signed(target: Target, path: str, signature: str = "s3v4", **more: Any) -> dict[str, Any]:
    """The address and the fields of a form, by boto3."""
    made: dict[str, Any] = target.boto(signature_version=signature).generate_presigned_post(
        target.bucket, target.key(path), **more
    )
    return made


def send(form: dict[str, Any], content: Any = b"hello", name: str = "a.txt") -> httpx.Response:
    return httpx.post(form["url"], data=form["fields"], files={"file": (name, content)}, timeout=60)


def code_of(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.text.partition("<Code>")[2].partition("<")[0]


def stored(target: Target, path: str) -> bytes | None:
    s3 = target.boto()
    try:
        found: bytes = s3.get_object(Bucket=target.bucket, Key=target.key(path))["Body"].read()
    except s3.exceptions.NoSuchKey:
        return None
    return found


@SIGNED
def test_a_form_of_boto3_is_an_upload(target: Target, signature: str) -> None:
    fields = {"x-amz-meta-who": "ana", "Content-Type": "text/csv", "Cache-Control": "max-age=5"}
    conditions = [
        {"x-amz-meta-who": "ana"},
        ["starts-with", "$Content-Type", "text/"],
        ["eq", "$Cache-Control", "max-age=5"],
    ]
    form = signed(target, "up/${filename}", signature, Fields=fields, Conditions=conditions)
    answer = send(form, b"1,2", "C:\\tables\\a b.csv")
    assert (answer.status_code, answer.content) == (204, b"")
    found = target.boto().get_object(Bucket=target.bucket, Key=target.key("up/a b.csv"))
    assert found["Body"].read() == b"1,2"
    assert answer.headers["etag"] == found["ETag"] == f'"{hashlib.md5(b"1,2", usedforsecurity=False).hexdigest()}"'
    assert (found["ContentType"], found["Metadata"], found["CacheControl"]) == ("text/csv", {"who": "ana"}, "max-age=5")
    assert answer.headers["location"] == f"{target.endpoint}/{target.bucket}/{target.key('up/a%20b.csv')}"


def test_what_the_server_answers_is_a_field_of_the_form(branch: Target) -> None:
    for status in ("200", "201"):
        field = {"success_action_status": status}
        answer = send(signed(branch, "a", Fields=field, Conditions=[field]))
        assert answer.status_code == int(status)
    assert f"<Key>{branch.key('a')}</Key><ETag>" in answer.text
    field = {"success_action_redirect": "https://example.org/done?from=form"}
    answer = send(signed(branch, "a", Fields=field, Conditions=[field]))
    there = urlsplit(answer.headers["location"])
    assert (answer.status_code, there.netloc, there.path) == (303, "example.org", "/done")
    assert parse_qs(there.query) == {
        "from": ["form"], "bucket": [branch.bucket], "key": [branch.key("a")], "etag": [answer.headers["etag"]],
    }  # fmt: skip
    for unsafe in ("javascript:alert(1)", "//example.org", "http://[x"):
        field = {"success_action_redirect": unsafe}
        assert send(signed(branch, "a", Fields=field, Conditions=[field])).status_code == 204


def test_a_large_file_is_streamed(branch: Target) -> None:
    piece = b"x" * (1 << 20)

    async def upload() -> int:
        async def pieces() -> Any:
            for _ in range(40):
                yield piece

        form = signed(branch, "large")
        with aiohttp.MultipartWriter("form-data") as writer:
            for name, value in form["fields"].items():
                writer.append(value).set_content_disposition("form-data", name=name)
            writer.append(pieces()).set_content_disposition("form-data", name="file", filename="large.bin")
            writer.append("Upload").set_content_disposition("form-data", name="submit")  # the button of the form
            async with aiohttp.ClientSession() as session, session.post(form["url"], data=writer) as answer:
                return answer.status

    assert asyncio.run(upload()) == 204
    assert stored(branch, "large") == piece * 40


@pytest.mark.parametrize(
    ("content", "expected"), [(b"", (400, "EntityTooSmall")), (b"123456", (400, "EntityTooLarge")), (b"123", (204, ""))]
)
def test_the_policy_bounds_the_size(branch: Target, content: bytes, expected: tuple[int, str]) -> None:
    form = signed(branch, "sized", Conditions=[["content-length-range", 1, 5]])
    assert code_of(send(form, content)) == expected
    assert stored(branch, "sized") == (content if expected[0] == 204 else None)


@SIGNED
@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"key": "main/other"}, (403, "AccessDenied")),
        ({"x-amz-meta-extra": "1"}, (403, "AccessDenied")),
        ({"policy": base64.b64encode(b"{}").decode()}, (403, "SignatureDoesNotMatch")),
        ({"x-amz-signature": "0" * 64, "signature": "AAAA"}, (403, "SignatureDoesNotMatch")),
        ({"x-ignore-me": "1"}, (204, "")),
    ],
)
def test_a_form_that_was_changed(
    branch: Target, signature: str, change: dict[str, str], expected: tuple[int, str]
) -> None:
    form = signed(branch, "changed", signature)
    for name, value in change.items():
        other = {"x-amz-signature": "signature", "signature": "x-amz-signature"}.get(name)
        if other not in form["fields"]:
            form["fields"][name] = value
    assert code_of(send(form)) == expected
    assert stored(branch, "changed") == (b"hello" if expected[0] == 204 else None)


def test_a_form_of_another_bucket_or_without_a_file_or_policy(branch: Target, repo: lakebed.Repository) -> None:
    form = signed(branch, "a")
    other = {**form, "url": f"{branch.endpoint}/{repo.id}.main"}
    assert code_of(send(other)) == (403, "AccessDenied")
    without = httpx.post(form["url"], files={name: (None, value) for name, value in form["fields"].items()})
    assert code_of(without) == (400, "InvalidArgument")
    assert code_of(send({**form, "fields": {"key": "main/a"}})) == (403, "AccessDenied")
    late = signed(branch, "a", ExpiresIn=-10)
    assert code_of(send(late)) == (403, "AccessDenied")
    assert stored(branch, "a") is None


def by_hand(target: Target, conditions: Any, expiration: Any, fields: dict[str, str]) -> dict[str, Any]:
    """A form with any policy, rightly signed by Signature V2."""
    policy = base64.b64encode(json.dumps({"expiration": expiration, "conditions": conditions}).encode()).decode()
    signature = hmac.digest(target.secret_access_key.encode(), policy.encode(), "sha1")
    signing = {"policy": policy, "signature": base64.b64encode(signature).decode()}
    return {
        "url": f"{target.endpoint}/{target.bucket}",
        "fields": {"key": target.key("hand"), "AWSAccessKeyId": target.access_key_id, **signing, **fields},
    }


def test_invalid_policies_are_refused(branch: Target) -> None:
    soon = (datetime.now(UTC) + timedelta(minutes=5)).strftime("%Y-%m-%dT%H:%M:%S.000Z")
    right = [{"bucket": branch.bucket}, ["starts-with", "$key", "main/"]]
    assert code_of(send(by_hand(branch, right, soon, {}))) == (204, "")
    assert code_of(send(by_hand(branch, right[1:], soon, {}))) == (403, "AccessDenied")
    acl = [*right, ["starts-with", "$acl", ""]]
    assert code_of(send(by_hand(branch, acl, soon, {"acl": "private"}))) == (204, "")
    assert code_of(send(by_hand(branch, acl, soon, {"acl": "public-read"}))) == (400, "AccessControlListNotSupported")
    source = [*right, ["starts-with", "$x-amz-copy-source", ""]]
    fields = {"x-amz-copy-source": f"{branch.bucket}/main/hand"}
    assert code_of(send(by_hand(branch, source, soon, fields))) == (400, "InvalidArgument")
    for conditions, expiration in (
        (None, soon), ([["eq", "key"]], soon), (["x"], soon), ([{"key": 1}], soon), (right, "tomorrow"), (right, None),
        ([["content-length-range", 1, "x"]], soon), ([["like", "$key", "main/"]], soon),
    ):  # fmt: skip
        assert code_of(send(by_hand(branch, conditions, expiration, {}))) == (400, "InvalidPolicyDocument")
    assert code_of(send(by_hand(branch, right, soon, {"x-ignore-a": "x" * (65 << 10)})))[0] == 400
    many = {f"x-ignore-{number}": "1" for number in range(120)}
    assert code_of(send(by_hand(branch, right, soon, many)))[0] == 400


def test_the_owner_of_the_key_needs_the_right_to_write(server: RunningServer, branch: Target) -> None:
    with lakebed.connect(server.endpoint, branch.access_key_id, branch.secret_access_key) as lake:
        key = lake.keys.create(read=branch.bucket)
    reader = Target(branch.endpoint, key.id, key.secret, branch.bucket, branch.prefix)
    assert code_of(send(signed(reader, "a"))) == (403, "AccessDenied")
    assert stored(branch, "a") is None


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    environment = {"LAKEBED_GATEWAY_S3_SIGNATURE_V2": "false"}
    with running_server(tmp_path_factory, environment=environment) as started:
        yield started


def test_signature_v2_can_be_off(strict: RunningServer) -> None:
    with lakebed.connect(strict.endpoint, strict.access_key_id, strict.secret_access_key) as lake:
        lake.repository("forms").create()
    place = Target(strict.endpoint, strict.access_key_id, strict.secret_access_key, "forms", "main/")
    assert code_of(send(signed(place, "a", "s3"))) == (400, "InvalidRequest")
    assert code_of(send(signed(place, "a"))) == (204, "")
    assert REGION in signed(place, "a")["fields"]["x-amz-credential"]


@pytest.mark.parametrize(
    "field", ["x-amz-meta-who", "Content-Type", "Cache-Control", "Content-Disposition", "Content-Language", "Expires"]
)
def test_a_field_cannot_add_headers_to_later_responses(branch: Target, field: str) -> None:
    """A form may have values that no HTTP header has."""
    value = "a\r\nX-Planted: yes\r\n\r\n<script>"
    form = signed(branch, "planted", Fields={field: value}, Conditions=[["starts-with", f"${field}", ""]])
    assert code_of(send(form)) == (400, "InvalidArgument")
    assert stored(branch, "planted") is None
