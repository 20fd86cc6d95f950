"""The server of users' own tests speaks S3 as well, with everything in memory."""

from __future__ import annotations

import lakebed_testing

from tests.s3.multipart import FIRST, SECOND, upload
from tests.s3.target import Target


def test_an_s3_client_and_the_test_server() -> None:
    with lakebed_testing.server() as server:
        target = Target(server.endpoint, server.access_key_id, server.secret_access_key, "repo", "main/")
        with server.connect() as lake:
            main = lake.repository("repo").create("mem://repo").branch("main")
            s3 = target.boto()
            s3.put_object(Bucket="repo", Key="main/a", Body=b"1", IfNoneMatch="*")
            where = {"Bucket": "repo", "Key": "main/large"}
            begun, parts = upload(s3, where, FIRST, SECOND)
            s3.complete_multipart_upload(**where, UploadId=begun, MultipartUpload={"Parts": parts})
            assert main.get("large") == FIRST + SECOND
            listed = s3.list_objects_v2(Bucket="repo", Prefix="main/")["Contents"]
            assert [one["Key"] for one in listed] == ["main/a", "main/large"]
            server.reset()
            assert s3.list_buckets()["Buckets"] == []
