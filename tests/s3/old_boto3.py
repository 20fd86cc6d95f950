"""What an old boto3 does to a bucket: python old_boto3.py BUCKET PREFIX. Prints its version, and "well"."""

from __future__ import annotations

import io
import sys

import boto3  # type: ignore[import-untyped]
from botocore.config import Config  # type: ignore[import-untyped]


def main(bucket: str, prefix: str) -> None:
    s3 = boto3.client("s3", config=Config(s3={"addressing_style": "path"}, retries={"max_attempts": 1}))
    where = {"Bucket": bucket, "Key": f"{prefix}old/a b+ü"}
    s3.put_object(**where, Body=b"1", Metadata={"kept": "1"})
    answer = s3.get_object(**where)
    assert (answer["Body"].read(), answer["Metadata"]) == (b"1", {"kept": "1"})
    s3.put_object(**where, Body=b"2", ChecksumAlgorithm="SHA256")
    s3.upload_fileobj(io.BytesIO(bytes(9 << 20)), bucket, f"{prefix}old/large")
    keys = [one["Key"] for one in s3.list_objects_v2(Bucket=bucket, Prefix=f"{prefix}old/")["Contents"]]
    assert keys == [where["Key"], f"{prefix}old/large"], keys
    s3.delete_objects(Bucket=bucket, Delete={"Objects": [{"Key": where["Key"]}]})  # signs with Content-MD5
    assert s3.list_objects(Bucket=bucket, Prefix=f"{prefix}old/a")["ResponseMetadata"]["HTTPStatusCode"] == 200
    print(boto3.__version__, "well")


if __name__ == "__main__":
    main(*sys.argv[1:])
