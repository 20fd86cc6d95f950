"""Checksums of objects in parts, as current SDKs send them: of each part, over the parts, and of the whole content."""

from __future__ import annotations

import os
from typing import Any

import pytest

from tests.s3.algorithms import OF_BOTO3, SUMS, text
from tests.s3.refusals import refused
from tests.s3.target import Target

MIB = 1 << 20
BODIES = [os.urandom(5 * MIB), os.urandom(5 * MIB + 1), os.urandom(77)]


def over_parts(algorithm: str) -> str:
    return text(algorithm, b"".join(SUMS[algorithm](body) for body in BODIES)) + f"-{len(BODIES)}"


def begin(s3: Any, where: dict[str, str], algorithm: str, kind: str) -> dict[str, str]:
    begun = s3.create_multipart_upload(**where, ChecksumAlgorithm=algorithm, ChecksumType=kind)
    assert (begun["ChecksumAlgorithm"], begun["ChecksumType"]) == (algorithm, kind)
    return {**where, "UploadId": begun["UploadId"]}


def send(s3: Any, this: dict[str, str], algorithm: str, **reported: Any) -> list[dict[str, Any]]:
    parts = []
    for number, body in enumerate(BODIES, 1):
        answer = s3.upload_part(**this, PartNumber=number, Body=body, **reported)
        found = answer[f"Checksum{algorithm}"]
        assert found == text(algorithm, body)
        parts.append({"PartNumber": number, "ETag": answer["ETag"], f"Checksum{algorithm}": found})
    return parts


def where_of(branch: Target, key: str) -> dict[str, str]:
    return {"Bucket": branch.bucket, "Key": branch.key(key)}


@pytest.mark.parametrize("algorithm", [name for name in OF_BOTO3 if name != "CRC64NVME"])
def test_the_checksum_over_the_parts(branch: Target, algorithm: str) -> None:
    s3 = branch.boto()
    this = begin(s3, where_of(branch, "a"), algorithm, "COMPOSITE")
    parts = send(s3, this, algorithm, ChecksumAlgorithm=algorithm)
    listed = s3.list_parts(**this)["Parts"]
    assert [one[f"Checksum{algorithm}"] for one in listed] == [text(algorithm, body) for body in BODIES]
    wrong = [{**parts[0], f"Checksum{algorithm}": text(algorithm, b"other")}, *parts[1:]]
    assert refused(s3.complete_multipart_upload, **this, MultipartUpload={"Parts": wrong})[0] == "InvalidPart"
    done = s3.complete_multipart_upload(**this, MultipartUpload={"Parts": parts})
    assert (done[f"Checksum{algorithm}"], done["ChecksumType"]) == (over_parts(algorithm), "COMPOSITE")


@pytest.mark.parametrize("algorithm", ["CRC32", "CRC32C", "CRC64NVME"])
def test_the_checksum_of_the_whole_content(branch: Target, algorithm: str) -> None:
    """The server computes it from the sums of the parts, and reads no part again."""
    s3 = branch.boto()
    this = begin(s3, where_of(branch, "b"), algorithm, "FULL_OBJECT")
    parts = {"Parts": send(s3, this, algorithm, ChecksumAlgorithm=algorithm)}
    named = f"Checksum{algorithm}"
    wrong = {named: text(algorithm, b"other"), "ChecksumType": "FULL_OBJECT"}
    assert refused(s3.complete_multipart_upload, **this, MultipartUpload=parts, **wrong)[0] == "BadDigest"
    size = sum(map(len, BODIES))
    reported = refused(s3.complete_multipart_upload, **this, MultipartUpload=parts, MpuObjectSize=size - 1)
    assert reported[1] == 400
    right = {named: text(algorithm, b"".join(BODIES)), "ChecksumType": "FULL_OBJECT", "MpuObjectSize": size}
    done = s3.complete_multipart_upload(**this, MultipartUpload=parts, **right)
    assert (done[named], done["ChecksumType"]) == (right[named], "FULL_OBJECT")


def test_parts_without_a_checksum_are_summed_here(branch: Target) -> None:
    """Older SDKs send no checksum although the upload requires one."""
    s3 = branch.boto(request_checksum_calculation="when_required")
    this = begin(s3, where_of(branch, "c"), "CRC64NVME", "FULL_OBJECT")
    parts = send(s3, this, "CRC64NVME")
    done = s3.complete_multipart_upload(**this, MultipartUpload={"Parts": parts})
    assert done["ChecksumCRC64NVME"] == text("CRC64NVME", b"".join(BODIES))


def test_damaged_part_is_refused_and_not_stored(branch: Target) -> None:
    s3 = branch.boto(request_checksum_calculation="when_required")
    this = begin(s3, where_of(branch, "d"), "CRC32", "COMPOSITE")
    for reported in (
        {"ChecksumCRC32": text("CRC32", b"other")},
        {"ContentMD5": text("MD5", b"other")},
    ):
        assert refused(s3.upload_part, **this, PartNumber=1, Body=BODIES[0], **reported) == ("BadDigest", 400)
    assert "Parts" not in s3.list_parts(**this)


@pytest.mark.parametrize(
    ("algorithm", "kind"),
    [("SHA256", "FULL_OBJECT"), ("XXHASH3", "FULL_OBJECT"), ("SHA1", "FULL_OBJECT"), ("CRC64NVME", "COMPOSITE")],
)
def test_kinds_that_do_not_go_together(branch: Target, algorithm: str, kind: str) -> None:
    options = {"ChecksumAlgorithm": algorithm, "ChecksumType": kind}
    reported = refused(branch.boto().create_multipart_upload, **where_of(branch, "e"), **options)
    assert reported == ("InvalidRequest", 400)
