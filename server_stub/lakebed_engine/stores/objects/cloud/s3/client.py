"""The botocore client of one bucket, for operations that obstore lacks: signed queries and multipart uploads.

Needs the package botocore (the extra `lakebed[s3]`), which is imported at the first use. It finds the endpoint as
obstore does, and has the same credentials.
"""

from __future__ import annotations

import os
import threading
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from lakebed_engine.stores.objects.cloud.errors import Fault, error_of
from lakebed_engine.stores.objects.cloud.keys import Place
from lakebed_engine.stores.objects.cloud.options import CloudOptions, class_of, given_for_s3
from lakebed_engine.stores.objects.cloud.s3.credentials import Current, S3Credentials, botocore_session, credentials_of
from lakebed_engine.vocabulary.errors import StoreError, StoreUnavailableError

SERVICE = "s3"
_HEADERS = {
    "ServerSideEncryption": "x-amz-server-side-encryption",
    "SSEKMSKeyId": "x-amz-server-side-encryption-aws-kms-key-id",
    "StorageClass": "x-amz-storage-class",
}


class S3Client:
    """The client and its credentials. Calls block. Safe to use from many threads. Made again after a fork."""

    def __init__(self, place: Place, options: CloudOptions) -> None:
        self.place = place
        self._options = options
        self._lock = threading.Lock()
        self._made: tuple[Any, S3Credentials] | None = None
        self._pid = 0

    @property
    def calls(self) -> Any:
        """The client. It sends each request once. The callers decide what to repeat."""
        return self._opened()[0]

    @property
    def region(self) -> str:
        """The region of the signatures."""
        return str(self._opened()[0].meta.region_name)

    @property
    def base(self) -> str:
        """The part of a URL before the object's name, with a final slash."""
        endpoint = str(self._opened()[0].meta.endpoint_url).rstrip("/")
        if not self._options.virtual_hosted:
            return f"{endpoint}/{self.place.bucket}/"
        scheme, host, *_ = urlsplit(endpoint)
        return urlunsplit((scheme, f"{self.place.bucket}.{host}", "/", "", ""))

    @property
    def payer(self) -> dict[str, str]:
        """The argument that each call needs for a requester-pays bucket."""
        return {"RequestPayer": "requester"} if self._options.requester_pays else {}

    def write_arguments(self, key: str) -> dict[str, str]:
        """The arguments of a call that begins an object: encryption and storage class."""
        given, kind = self._options, class_of(self._options, key)
        arguments = {"ServerSideEncryption": given.encryption, "SSEKMSKeyId": given.kms_key, "StorageClass": kind}
        return {name: value for name, value in arguments.items() if value}

    def write_headers(self, key: str) -> dict[str, str]:
        """The encryption and storage class as headers, which a client of a presigned PUT must send."""
        return {_HEADERS[name]: value for name, value in self.write_arguments(key).items()}

    def credentials(self) -> Any:
        """The current keys. Keys of a role are renewed. Raises StoreDeniedError when there are none."""
        return self._opened()[1].current()

    def _opened(self) -> tuple[Any, S3Credentials]:
        with self._lock:
            if self._made is None or self._pid != os.getpid():
                self._made, self._pid = self._open(), os.getpid()
            return self._made

    def _open(self) -> tuple[Any, S3Credentials]:
        from botocore.config import Config  # type: ignore[import-untyped]
        from botocore.exceptions import BotoCoreError  # type: ignore[import-untyped]

        given = given_for_s3(self._options)
        session = botocore_session(self._options)
        keys = credentials_of(self._options)
        session.register_component("credential_provider", Current(keys))
        region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION") or "us-east-1"
        config = Config(
            signature_version="s3v4",
            s3={"addressing_style": "virtual" if self._options.virtual_hosted else "path"},
            connect_timeout=5,
            read_timeout=self._options.silence_seconds,
            retries={"total_max_attempts": 1},
            request_checksum_calculation="when_required",
            response_checksum_validation="when_required",
        )
        try:
            client = session.create_client(
                SERVICE,
                region_name=given.get("region") or region,
                endpoint_url=self._endpoint(given.get("endpoint", "")),
                config=config,
            )
            return client, keys
        except (BotoCoreError, ValueError) as error:
            raise StoreUnavailableError(
                f"cannot set up {self.place.uri}{self.place.store}: {type(error).__name__}; check its settings"
            ) from None

    def _endpoint(self, given: str) -> str | None:
        """The endpoint for botocore, which adds the bucket to the host. obstore expects it with the bucket."""
        found = given or os.environ.get("AWS_ENDPOINT_URL") or os.environ.get("AWS_ENDPOINT") or None
        if found is not None and self._options.virtual_hosted:
            return found.replace(f"://{self.place.bucket}.", "://", 1)
        return found


def s3_fault(error: Exception) -> Fault:
    """The status and the code of a botocore error. No response: status 0."""
    from botocore.exceptions import ClientError, ConnectTimeoutError, EndpointConnectionError

    if isinstance(error, ClientError):
        status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
        return Fault(int(status), str(error.response.get("Error", {}).get("Code", "")), False)
    return Fault(0, "", isinstance(error, ConnectTimeoutError | EndpointConnectionError))


def s3_error(error: Exception, doing: str, place: Place, key: str) -> StoreError:
    """The error of the engine for a botocore error."""
    return error_of(s3_fault(error), doing, place, key)
