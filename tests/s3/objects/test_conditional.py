"""If-None-Match and If-Match on writes, with many concurrent writers: one wins, and no update is lost."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

from botocore.exceptions import ClientError  # type: ignore[import-untyped]

from tests.s3.multipart import FIRST, SECOND, upload
from tests.s3.refusals import refused
from tests.s3.target import Target

RACERS = 8
LOST = {"PreconditionFailed", "ConditionalRequestConflict"}


def test_sequential_conditional_requests(target: Target) -> None:
    s3 = target.boto()
    where = {"Bucket": target.bucket, "Key": target.key("guarded")}
    first = s3.put_object(**where, Body=b"1", IfNoneMatch="*")["ETag"]
    assert refused(s3.put_object, **where, Body=b"2", IfNoneMatch="*") == ("PreconditionFailed", 412)
    second = s3.put_object(**where, Body=b"2", IfMatch=first)["ETag"]
    assert refused(s3.put_object, **where, Body=b"3", IfMatch=first) == ("PreconditionFailed", 412)
    assert s3.get_object(**where)["Body"].read() == b"2"
    missing = {"Bucket": target.bucket, "Key": target.key("missing")}
    assert refused(s3.put_object, **missing, Body=b"3", IfMatch=second) == ("NoSuchKey", 404)
    s3.delete_object(**where)
    s3.put_object(**where, Body=b"4", IfNoneMatch="*")
    assert s3.get_object(**where)["Body"].read() == b"4"


def _attempt(call: Any, **named: Any) -> bool:
    try:
        call(**named)
    except ClientError as error:
        if error.response["Error"]["Code"] in LOST:
            return False
        raise
    return True


def test_racers_create_one_object(target: Target) -> None:
    s3 = target.boto(max_pool_connections=RACERS)
    for turn in range(5):
        where = {"Bucket": target.bucket, "Key": target.key(f"race/{turn}")}

        def put(number: int, where: dict[str, str] = where) -> bool:
            return _attempt(s3.put_object, **where, Body=str(number).encode(), IfNoneMatch="*")

        with ThreadPoolExecutor(RACERS) as threads:
            won = list(threads.map(put, range(RACERS)))
        assert won.count(True) == 1, f"turn {turn}"
        assert s3.get_object(**where)["Body"].read() == str(won.index(True)).encode()


def test_a_counter_loses_no_update(target: Target) -> None:
    """Compare-and-swap by ETag: as many increments as were acknowledged."""
    s3 = target.boto(max_pool_connections=RACERS)
    where = {"Bucket": target.bucket, "Key": target.key("counter")}
    s3.put_object(**where, Body=b"0")

    def increment(_: int) -> int:
        done = 0
        while done < 5:
            read = s3.get_object(**where)
            after = str(int(read["Body"].read()) + 1).encode()
            done += _attempt(s3.put_object, **where, Body=after, IfMatch=read["ETag"])
        return done

    with ThreadPoolExecutor(RACERS) as threads:
        total = sum(threads.map(increment, range(RACERS)))
    assert int(s3.get_object(**where)["Body"].read()) == total == RACERS * 5


def test_completing_is_conditional(target: Target) -> None:
    s3 = target.boto()
    where = {"Bucket": target.bucket, "Key": target.key("parts")}
    mine, my_parts = upload(s3, where, FIRST)
    theirs, their_parts = upload(s3, where, SECOND)
    third, third_parts = upload(s3, where, SECOND)

    def complete(begun: str, parts: list[dict[str, Any]], **condition: str) -> Any:
        return s3.complete_multipart_upload(**where, UploadId=begun, MultipartUpload={"Parts": parts}, **condition)

    etag = complete(mine, my_parts, IfNoneMatch="*")["ETag"]
    assert refused(complete, theirs, their_parts, IfNoneMatch="*") == ("PreconditionFailed", 412)
    assert s3.get_object(**where)["Body"].read() == FIRST
    complete(third, third_parts, IfMatch=etag)
    assert s3.get_object(**where)["Body"].read() == SECOND


def test_uploads_race_to_complete(target: Target) -> None:
    s3 = target.boto(max_pool_connections=RACERS)
    where = {"Bucket": target.bucket, "Key": target.key("raced")}
    bodies = [bytes([number]) * 1000 for number in range(RACERS)]
    begun = [upload(s3, where, body) for body in bodies]

    def complete(one: tuple[str, list[dict[str, Any]]]) -> bool:
        parts = {"UploadId": one[0], "MultipartUpload": {"Parts": one[1]}}
        return _attempt(s3.complete_multipart_upload, **where, **parts, IfNoneMatch="*")

    with ThreadPoolExecutor(RACERS) as threads:
        won = list(threads.map(complete, begun))
    assert won.count(True) == 1
    assert s3.get_object(**where)["Body"].read() == bodies[won.index(True)]
