"""Which source a URI is, seen from this machine."""

from __future__ import annotations

import os
from pathlib import Path

import lakebed
from lakebed.errors import InvalidRequestError, UnsupportedOperationError

from lakebed_spark.pipelines._sources.base import Source
from lakebed_spark.pipelines._sources.bucket import CloudFolder
from lakebed_spark.pipelines._sources.directory import LocalFolder


def open_source(repository: lakebed.Repository, uri: str, *, ordered: bool | None = None) -> Source:
    """The folder that a URI names, seen from this machine.

    `ordered` says whether a bucket lists in byte order; by default S3 itself, GCS and Azure are taken to.
    Raises InvalidRequestError, UnsupportedOperationError for what only the server can reach.
    """
    uri = uri if uri.endswith("/") else uri + "/"
    scheme, found, rest = uri.partition("://")
    if not found:
        raise InvalidRequestError(f"the source {uri!r} must be a URI such as s3://bucket/folder/")
    if scheme == "local":
        return _directory(repository, uri, rest)
    if scheme not in ("s3", "gs", "az"):
        raise InvalidRequestError(
            f"the source {uri!r}: write s3://BUCKET/FOLDER/, gs://, az:// or local://NAME/FOLDER/"
        )
    elsewhere = scheme == "s3" and any(name.startswith("AWS_ENDPOINT") for name in os.environ)
    express = rest.partition("/")[0].endswith("--x-s3")
    return CloudFolder(uri, not (elsewhere or express) if ordered is None else ordered)


def _directory(repository: lakebed.Repository, uri: str, rest: str) -> Source:
    info = repository.info()
    name = info.storage_namespace.removeprefix("local://")
    if name == info.storage_namespace or not info.local_path.endswith(name):
        raise UnsupportedOperationError(
            f"{uri} is in a directory of the server, which this machine cannot read: run `lakebed ingest commit`, "
            "so that the server lists it"
        )
    root = info.local_path.removesuffix(name)
    if Path(root, rest.partition("/")[0], ".lakebed-keys").exists():
        raise UnsupportedOperationError(f"{uri} has names that only the server can read: run `lakebed ingest commit`")
    return LocalFolder(uri, os.path.join(root, rest))
