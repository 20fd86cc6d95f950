"""A slow completion: the answer begins before its end, and can still report an error."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import lakebed_testing
import pytest
from lakebed_engine.operations.multipart import complete
from lakebed_engine.vocabulary.errors import PreconditionFailedError
from lakebed_server.s3.responses import keep_alive

from tests.s3.multipart import FIRST, SECOND, parted, upload
from tests.s3.refusals import refused
from tests.s3.target import Target


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Iterator[Target]:
    """A server in this process, that puts parts together in a while, and sends a space more often than others."""
    assemble = complete._assemble

    async def slowly(*what: Any) -> None:
        for _ in range(20):  # iterations of the loop, not time: a machine that pauses takes one of them
            await asyncio.sleep(0.01)
        await assemble(*what)

    monkeypatch.setattr(complete, "_assemble", slowly)
    monkeypatch.setattr(keep_alive, "SOON", 0.01)
    monkeypatch.setattr(keep_alive, "PAUSE", 0.01)
    with lakebed_testing.server() as server, server.connect() as lake:
        lake.repository("slow").create("mem://slow")
        yield Target(server.endpoint, server.access_key_id, server.secret_access_key, "slow", "main/")


def test_spaces_come_before_the_answer(slow: Target) -> None:
    s3 = slow.boto()
    bodies: list[bytes] = []

    def keep(response_dict: dict[str, Any], **_: Any) -> None:
        bodies.append(response_dict["body"])

    s3.meta.events.register("before-parse.s3.CompleteMultipartUpload", keep)
    where = {"Bucket": slow.bucket, "Key": slow.key("large")}
    begun, parts = upload(s3, where, FIRST, SECOND)
    done = s3.complete_multipart_upload(**where, UploadId=begun, MultipartUpload={"Parts": parts})
    assert done["ETag"] == parted(FIRST, SECOND)
    assert s3.get_object(**where)["Body"].read() == FIRST + SECOND
    assert b"?>\n  " in bodies[0], bodies[0][:200]


def test_late_error_is_in_the_body_of_the_answer(slow: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    s3 = slow.boto()
    where = {"Bucket": slow.bucket, "Key": slow.key("taken")}
    begun, parts = upload(s3, where, FIRST, SECOND)

    async def refuse(*_: Any) -> None:
        await asyncio.sleep(0.1)
        raise PreconditionFailedError("somebody was faster")

    monkeypatch.setattr(complete, "_stage_object", refuse)
    reported = refused(s3.complete_multipart_upload, **where, UploadId=begun, MultipartUpload={"Parts": parts})
    assert reported[0] == "PreconditionFailed"
    assert refused(s3.head_object, **where)[1] == 404
