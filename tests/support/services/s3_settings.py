"""Settings and clients of servers whose objects are in an S3 bucket."""

from __future__ import annotations

import lakebed

from tests.support.processes.server import RunningServer
from tests.support.services.s3 import S3Server
from tests.support.waiting import PATIENCE

KEY = "arn:aws:kms:us-east-1:123456789012:key/lake"
SSE = "x-amz-server-side-encryption"
KMS = f"{SSE}-aws-kms-key-id"
CLASS = "x-amz-storage-class"
PAYER = "x-amz-request-payer"


def settings_of(bucket: S3Server, **more: str) -> dict[str, str]:
    """What names the bucket's server, in the environment."""
    return {
        "LAKEBED_OBJECTS_S3_ENDPOINT": bucket.endpoint,
        "LAKEBED_OBJECTS_S3_REGION": "us-east-1",
        "LAKEBED_OBJECTS_S3_ACCESS_KEY_ID": bucket.access_key_id,
        "LAKEBED_OBJECTS_S3_SECRET_ACCESS_KEY": bucket.secret_access_key,
        "LAKEBED_OBJECTS_S3_ALLOW_HTTP": "true",
        **more,
    }


def client_of(server: RunningServer) -> lakebed.Lake:
    return lakebed.connect(server.endpoint, server.access_key_id, server.secret_access_key, timeout=PATIENCE, retries=0)
