"""boto3 checks each download by the checksum that the server kept."""

from __future__ import annotations

import io

import pytest
from boto3.s3.transfer import TransferConfig  # type: ignore[import-untyped]
from botocore.exceptions import FlexibleChecksumError  # type: ignore[import-untyped]

from tests.s3.algorithms import OF_BOTO3
from tests.s3.target import Target
from tests.support.processes.server import RunningServer

DATA = b"id,price\n1,2.5\n" * 1000


def damage(server: RunningServer, data: bytes) -> None:
    """Change a byte of the stored object with this content."""
    for file in (server.data_dir / "objects").rglob("*"):
        if file.is_file() and file.stat().st_size == len(data) and file.read_bytes() == data:
            file.write_bytes(b"X" + data[1:])
            return
    raise AssertionError("no stored object has this content")


@pytest.mark.parametrize("algorithm", OF_BOTO3)
def test_a_changed_object_fails_the_check_of_boto3(target: Target, server: RunningServer, algorithm: str) -> None:
    s3 = target.boto()
    where = {"Bucket": target.bucket, "Key": target.key(f"checked/{algorithm}")}
    data = DATA + target.bucket.encode() + algorithm.encode()
    put = s3.put_object(**where, Body=data, ChecksumAlgorithm=algorithm)
    got = s3.get_object(**where)
    assert got["Body"].read() == data
    assert got[f"Checksum{algorithm}"] == put[f"Checksum{algorithm}"]
    assert got["ChecksumType"] == "FULL_OBJECT"
    (listed,) = s3.list_objects_v2(Bucket=target.bucket, Prefix=where["Key"])["Contents"]
    assert listed["ChecksumAlgorithm"] == [algorithm]
    damage(server, data)
    with pytest.raises(FlexibleChecksumError):
        s3.get_object(**where)["Body"].read()


def test_the_parts_of_an_upload_of_boto3(target: Target) -> None:
    s3 = target.boto()
    where = {"Bucket": target.bucket, "Key": target.key("parts")}
    part = 5 << 20
    s3.upload_fileobj(
        io.BytesIO(b"x" * (2 * part + 1)),
        where["Bucket"],
        where["Key"],
        Config=TransferConfig(multipart_threshold=part, multipart_chunksize=part),
    )
    found = s3.get_object_attributes(**where, ObjectAttributes=["Checksum", "ObjectParts", "ObjectSize", "ETag"])
    parts = found["ObjectParts"]
    assert (found["ObjectSize"], parts["TotalPartsCount"], parts["IsTruncated"]) == (2 * part + 1, 3, False)
    assert [one["Size"] for one in parts["Parts"]] == [part, part, 1]
    assert found["Checksum"]["ChecksumCRC32"] == s3.head_object(**where, ChecksumMode="ENABLED")["ChecksumCRC32"]
    last = s3.get_object(**where, PartNumber=3)
    assert (last["Body"].read(), last["ChecksumCRC32"]) == (b"x", parts["Parts"][2]["ChecksumCRC32"])
