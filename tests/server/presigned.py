"""Presigned URLs of a server whose objects are in an S3 bucket."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from tests.server.workspacing import Api, Json, registration
from tests.support.processes.server import RunningServer
from tests.support.services.s3 import S3Server


def open_s3(server: RunningServer, bucket: S3Server) -> Api:
    """A new repository in the bucket."""
    api = Api(server, f"r-{uuid4().hex[:16]}")
    body = {"name": api.repo.rpartition("/")[2], "storage_namespace": bucket.namespace()}
    api.http.post("/repositories", json=body).raise_for_status()
    return api


def registered(made: Json, signed: Json, data: bytes, **more: Any) -> Json:
    """What registers an object that was written at a signed address."""
    assert signed["physical_address"].startswith(made["storage_prefix"] + "~/")
    row = registration(made, signed.get("path", "large"), data, **more)
    return {**row, "physical_address": signed["physical_address"]}
