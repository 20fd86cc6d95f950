"""Listings V1 and V2 through boto3: pages, delimiters, tokens, and names that XML cannot hold."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.s3.refusals import refused
from tests.s3.target import Target

FOLDERS = 1_050


@pytest.fixture
def many(branch: Target) -> Target:
    """More folders than a page holds, with a file in each, and some files next to them."""
    s3 = branch.boto(max_pool_connections=8)
    names = [f"t/day={n:04d}/part.parquet" for n in range(FOLDERS)] + [f"t/z{n}" for n in range(5)]
    with ThreadPoolExecutor(8) as threads:
        for _ in threads.map(lambda name: s3.put_object(Bucket=branch.bucket, Key=branch.key(name), Body=b"1"), names):
            pass
    return branch


def test_more_than_a_page(many: Target) -> None:
    s3 = many.boto()
    place = {"Bucket": many.bucket, "Prefix": many.key("t/")}
    folders = [many.key(f"t/day={n:04d}/") for n in range(FOLDERS)]
    files = [many.key(f"t/z{n}") for n in range(5)]
    first = s3.list_objects_v2(**place)
    assert (first["KeyCount"], first["IsTruncated"], first["MaxKeys"]) == (1000, True, 1000)
    for name in ("list_objects_v2", "list_objects"):
        pages = list(s3.get_paginator(name).paginate(**place))
        keys = [one["Key"] for page in pages for one in page["Contents"]]
        assert keys == [f"{folder}part.parquet" for folder in folders] + files, name
        assert len(pages) == 2
        pages = list(s3.get_paginator(name).paginate(**place, Delimiter="/"))
        assert [one["Prefix"] for page in pages for one in page.get("CommonPrefixes", [])] == folders, name
        assert [one["Key"] for page in pages for one in page.get("Contents", [])] == files, name
        assert len(pages) == 2


def test_small_pages_cut_anywhere(target: Target) -> None:
    """Every page size finds the same, with keys and folders mixed."""
    s3 = target.boto()
    names = ["a", "b/1", "b/2", "b!", "b0", "c/d/1", "c/d/2", "c/e", "d"]
    for name in names:
        s3.put_object(Bucket=target.bucket, Key=target.key(f"cut/{name}"), Body=b"")
    place: dict[str, Any] = {"Bucket": target.bucket, "Prefix": target.key("cut/")}
    for size in (1, 2, 3, 4):
        for call in ("list_objects_v2", "list_objects"):
            pages = s3.get_paginator(call).paginate(**place, PaginationConfig={"PageSize": size})
            found = [one["Key"] for page in pages for one in page.get("Contents", [])]
            assert found == sorted(target.key(f"cut/{name}") for name in names), (size, call)
            pages = s3.get_paginator(call).paginate(**place, Delimiter="/", PaginationConfig={"PageSize": size})
            rows = [
                one.get("Key") or one["Prefix"]
                for page in pages
                for one in [*page.get("Contents", []), *page.get("CommonPrefixes", [])]
            ]
            assert sorted(rows) == sorted(target.key(f"cut/{name}") for name in ["a", "b/", "b!", "b0", "c/", "d"])


def test_listing_start_and_fields(target: Target) -> None:
    s3 = target.boto()
    for name in ("1", "2", "3"):
        s3.put_object(Bucket=target.bucket, Key=target.key(f"s/{name}"), Body=b"12345")
    place = {"Bucket": target.bucket, "Prefix": target.key("s/")}
    found = s3.list_objects_v2(**place, StartAfter=target.key("s/1"), FetchOwner=True)["Contents"]
    assert [one["Key"] for one in found] == [target.key("s/2"), target.key("s/3")]
    assert all(one["Size"] == 5 and one["StorageClass"] == "STANDARD" and one["Owner"]["ID"] for one in found)
    assert "Owner" not in s3.list_objects_v2(**place)["Contents"][0]
    found = s3.list_objects(**place, Marker=target.key("s/2"))["Contents"]
    assert [one["Key"] for one in found] == [target.key("s/3")]
    assert s3.list_objects_v2(**place, MaxKeys=0)["KeyCount"] == 0
    assert refused(s3.list_objects_v2, **place, ContinuationToken="not a token of ours")[1] == 400


def test_any_delimiter_and_encoded_names(target: Target) -> None:
    s3 = target.boto()
    for name in ("x-1", "x-2", "y z-1", "plus+sign", "w"):
        s3.put_object(Bucket=target.bucket, Key=target.key(f"d/{name}"), Body=b"")
    place = {"Bucket": target.bucket, "Prefix": target.key("d/")}
    found = s3.list_objects_v2(**place, Delimiter="-")
    assert [one["Prefix"] for one in found["CommonPrefixes"]] == [target.key("d/x-"), target.key("d/y z-")]
    assert [one["Key"] for one in found["Contents"]] == [target.key("d/plus+sign"), target.key("d/w")]
    # boto3 does not decode when the caller asks for the encoding: this is the text of the answer
    raw = s3.list_objects_v2(**place, EncodingType="url")
    names = [one["Key"].rpartition("/")[2] for one in raw["Contents"]]
    assert sorted(names) == sorted(["x-1", "x-2", "y+z-1", "plus%2Bsign", "w"]) or "y%20z-1" in names


def test_answers_where_servers_differ_are_those_of_amazon(branch: Target) -> None:
    s3, bucket = branch.boto(), branch.bucket
    s3.put_object(Bucket=bucket, Key=branch.key("five"), Body=b"12345")
    begun = {"Bucket": bucket, "Key": branch.key("copy")}
    upload = s3.create_multipart_upload(**begun)["UploadId"]
    part = {**begun, "UploadId": upload, "PartNumber": 1, "CopySource": f"{bucket}/{branch.key('five')}"}
    assert refused(s3.upload_part_copy, **part, CopySourceRange="bytes=0-21") == ("InvalidArgument", 400)
    assert s3.upload_part_copy(**part, CopySourceRange="bytes=0-4")["CopyPartResult"]["ETag"]
    s3.abort_multipart_upload(**begun, UploadId=upload)
    prefix = branch.key("a\n")  # boto3 asks for encoding-type=url, and decodes the prefix in version 2 only
    assert s3.list_objects(Bucket=bucket, Prefix=prefix)["Prefix"] == "main/a%0A"
    assert s3.list_objects_v2(Bucket=bucket, Prefix=prefix)["Prefix"] == prefix
