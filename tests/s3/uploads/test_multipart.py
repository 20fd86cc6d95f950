"""Multipart uploads through boto3: parts, lists, copies of parts, conditions, refusals, and a restart between."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import lakebed
import pytest
from boto3.s3.transfer import TransferConfig  # type: ignore[import-untyped]

from tests.s3.conftest import DOMAIN
from tests.s3.multipart import FIRST, MIB, SECOND, parted, upload
from tests.s3.refusals import refused
from tests.s3.target import Target
from tests.support.processes.server import RunningServer, running_server


def test_parts_become_an_object(target: Target) -> None:
    s3 = target.boto()
    where = {"Bucket": target.bucket, "Key": target.key("in parts")}
    begun, parts = upload(s3, where, FIRST, SECOND, ContentType="text/csv", Metadata={"kept": "1"})
    assert refused(s3.head_object, **where)[1] == 404  # nothing is visible before it is complete
    listed = s3.list_parts(**where, UploadId=begun)["Parts"]
    assert [(one["PartNumber"], one["ETag"], one["Size"]) for one in listed] == [
        (1, parts[0]["ETag"], len(FIRST)),
        (2, parts[1]["ETag"], len(SECOND)),
    ]
    uploads = s3.list_multipart_uploads(Bucket=target.bucket, Prefix=target.key(""))["Uploads"]
    assert [(one["Key"], one["UploadId"]) for one in uploads] == [(where["Key"], begun)]
    done = s3.complete_multipart_upload(**where, UploadId=begun, MultipartUpload={"Parts": parts})
    assert done["ETag"] == parted(FIRST, SECOND)
    fetched = s3.get_object(**where)
    assert fetched["Body"].read() == FIRST + SECOND
    assert (fetched["ETag"], fetched["ContentType"], fetched["Metadata"]) == (
        parted(FIRST, SECOND),
        "text/csv",
        {"kept": "1"},
    )
    assert "Uploads" not in s3.list_multipart_uploads(Bucket=target.bucket, Prefix=target.key(""))
    second = s3.get_object(**where, PartNumber=2)
    assert (second["Body"].read(), second["PartsCount"]) == (SECOND, 2)
    listed = s3.list_objects_v2(Bucket=target.bucket, Prefix=where["Key"])["Contents"]
    assert [(one["ETag"], one["Size"]) for one in listed] == [(parted(FIRST, SECOND), len(FIRST + SECOND))]


def test_a_part_is_sent_again_and_some_are_left_out(target: Target) -> None:
    s3 = target.boto()
    where = {"Bucket": target.bucket, "Key": target.key("again")}
    begun, parts = upload(s3, where, FIRST, FIRST, SECOND)
    etag = s3.upload_part(**where, UploadId=begun, PartNumber=1, Body=SECOND + FIRST)["ETag"]
    chosen = [{"PartNumber": 1, "ETag": etag}, parts[2]]
    done = s3.complete_multipart_upload(**where, UploadId=begun, MultipartUpload={"Parts": chosen})
    assert done["ETag"] == parted(SECOND + FIRST, SECOND)
    assert s3.get_object(**where)["Body"].read() == SECOND + FIRST + SECOND


def test_copied_parts(target: Target) -> None:
    s3 = target.boto()
    source = {"Bucket": target.bucket, "Key": target.key("source")}
    s3.put_object(**source, Body=FIRST + SECOND)
    where = {"Bucket": target.bucket, "Key": target.key("copied")}
    begun = s3.create_multipart_upload(**where)["UploadId"]
    part = {**where, "UploadId": begun}
    one = s3.upload_part_copy(**part, PartNumber=1, CopySource=source, CopySourceRange=f"bytes=0-{5 * MIB - 1}")
    two = s3.upload_part_copy(**part, PartNumber=2, CopySource=source)
    parts = [{"PartNumber": n, "ETag": each["CopyPartResult"]["ETag"]} for n, each in ((1, one), (2, two))]
    s3.complete_multipart_upload(**part, MultipartUpload={"Parts": parts})
    assert s3.get_object(**where)["Body"].read() == FIRST + FIRST + SECOND


def test_the_transfer_manager(target: Target, tmp_path: Path) -> None:
    """What boto3's users call: parts in threads, up and down."""
    s3 = target.boto()
    config = TransferConfig(multipart_threshold=8 * MIB, multipart_chunksize=8 * MIB, max_concurrency=4)
    body = os.urandom(3 * 8 * MIB + 12_345)
    (tmp_path / "up").write_bytes(body)
    key = target.key("large")
    s3.upload_file(str(tmp_path / "up"), target.bucket, key, Config=config, ExtraArgs={"Metadata": {"a": "b"}})
    s3.download_file(target.bucket, key, str(tmp_path / "down"), Config=config)
    assert (tmp_path / "down").read_bytes() == body
    fetched = s3.head_object(Bucket=target.bucket, Key=key)
    assert (fetched["Metadata"], fetched["ETag"][-3:]) == ({"a": "b"}, '-4"')
    s3.copy({"Bucket": target.bucket, "Key": key}, target.bucket, target.key("large2"), Config=config)
    assert s3.head_object(Bucket=target.bucket, Key=target.key("large2"))["ContentLength"] == len(body)


def test_invalid_completions_are_refused(target: Target) -> None:
    s3 = target.boto()
    where = {"Bucket": target.bucket, "Key": target.key("bad")}
    begun, parts = upload(s3, where, SECOND, SECOND)
    this = {**where, "UploadId": begun}

    def completing(*parts: dict[str, Any]) -> tuple[str, int]:
        return refused(s3.complete_multipart_upload, **this, MultipartUpload={"Parts": list(parts)})

    assert completing(*parts) == ("EntityTooSmall", 400)
    assert completing(parts[1], parts[0]) == ("InvalidPartOrder", 400)
    assert completing({"PartNumber": 1, "ETag": f'"{"0" * 32}"'}) == ("InvalidPart", 400)
    assert completing({"PartNumber": 9, "ETag": parts[0]["ETag"]}) == ("InvalidPart", 400)
    assert completing()[1] == 400
    assert refused(s3.upload_part, **this, PartNumber=10_001, Body=b"1") == ("InvalidArgument", 400)
    unknown = {**where, "UploadId": "0123456789abcdef0123456789abcdef"}
    assert refused(s3.upload_part, **unknown, PartNumber=1, Body=b"1") == ("NoSuchUpload", 404)
    assert refused(s3.list_parts, **unknown) == ("NoSuchUpload", 404)
    assert refused(s3.head_object, **where)[1] == 404
    s3.abort_multipart_upload(**this)
    assert completing(parts[0]) == ("NoSuchUpload", 404)
    assert refused(s3.upload_part, **this, PartNumber=1, Body=b"1") == ("NoSuchUpload", 404)
    assert refused(s3.head_object, **where)[1] == 404


def test_a_large_part_takes_no_more_memory_than_a_small_one(
    branch: Target, server: RunningServer, tmp_path: Path
) -> None:
    s3 = branch.boto()
    where = {"Bucket": branch.bucket, "Key": branch.key("huge")}
    begun, _ = upload(s3, where, b"small")
    size = 160 * MIB
    with (tmp_path / "hole").open("wb+") as hole:
        hole.truncate(size)
        before = peak(server, afresh=True)
        etag = s3.upload_part(**where, UploadId=begun, PartNumber=2, Body=hole)["ETag"]
        assert s3.complete_multipart_upload(
            **where, UploadId=begun, MultipartUpload={"Parts": [{"PartNumber": 2, "ETag": etag}]}
        )
        assert peak(server) - before < 48 * MIB
    assert s3.head_object(**where)["ContentLength"] == size


def peak(server: RunningServer, *, afresh: bool = False) -> int:
    """Bytes of memory that the server had at most, since it was last asked for it `afresh`."""
    process = Path("/proc", str(server.process.pid))
    if afresh:
        (process / "clear_refs").write_text("5")
    found = re.search(r"VmHWM:\s+(\d+) kB", (process / "status").read_text())
    assert found is not None
    return int(found[1]) << 10


def test_an_empty_object_in_parts(target: Target) -> None:
    """Tools do this when they stream data of unknown length that turns out to be empty."""
    s3 = target.boto()
    where = {"Bucket": target.bucket, "Key": target.key("nothing")}
    begun, parts = upload(s3, where, b"")
    s3.complete_multipart_upload(**where, UploadId=begun, MultipartUpload={"Parts": parts})
    assert s3.get_object(**where)["Body"].read() == b""


def test_the_answer_of_completing_was_lost(branch: Target, repo: lakebed.Repository) -> None:
    """The client sends the request again and gets the same response: one object."""
    s3 = branch.boto()
    where = {"Bucket": branch.bucket, "Key": branch.key("once")}
    begun, parts = upload(s3, where, FIRST, SECOND)
    this = {**where, "UploadId": begun, "MultipartUpload": {"Parts": parts}}
    first = s3.complete_multipart_upload(**this)
    assert s3.complete_multipart_upload(**this)["ETag"] == first["ETag"]
    assert [entry.path for entry in repo.branch("main").list()] == ["once"]


@pytest.mark.parametrize("killed", [False, True], ids=["stopped", "killed"])
def test_the_server_is_restarted_within_an_upload(tmp_path: Path, killed: bool) -> None:
    where = {"Bucket": "restarted", "Key": "main/large"}
    flags = {"environment": {"LAKEBED_GATEWAY_S3_DOMAIN": DOMAIN}}
    with running_server(tmp_path / "data", **flags) as server:  # type: ignore[arg-type]
        target = Target(server.endpoint, server.access_key_id, server.secret_access_key, "restarted", "main/")
        with lakebed.connect(server.endpoint, server.access_key_id, server.secret_access_key) as lake:
            lake.repository("restarted").create("local://restarted")
        begun, parts = upload(target.boto(), where, FIRST)
        if killed:
            server.process.kill()
            server.process.wait()
    with running_server(tmp_path / "data", **flags) as server:  # type: ignore[arg-type]
        s3 = Target(server.endpoint, server.access_key_id, server.secret_access_key, "restarted", "main/").boto()
        this = {**where, "UploadId": begun}
        assert [one["PartNumber"] for one in s3.list_parts(**this)["Parts"]] == [1]
        etag = s3.upload_part(**this, PartNumber=2, Body=SECOND)["ETag"]
        parts.append({"PartNumber": 2, "ETag": etag})
        s3.complete_multipart_upload(**this, MultipartUpload={"Parts": parts})
        assert s3.get_object(**where)["Body"].read() == FIRST + SECOND
