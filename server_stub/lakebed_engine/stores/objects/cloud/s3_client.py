"""The botocore client of one bucket, for what obstore cannot do: signed queries and multipart uploads.

Needs the package botocore (the extra `lakebed[s3]`), which is imported at the first use. It finds credentials and
endpoint as obstore does: given ones, a profile, `AWS_*`, the role of the machine.
"""

from __future__ import annotations

import importlib.util
import os
import threading
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from lakebed_engine.stores.objects.cloud.errors import Fault, error_of
from lakebed_engine.stores.objects.cloud.keys import Place
from lakebed_engine.stores.objects.cloud.options import CloudOptions, given_for_s3
from lakebed_engine.vocabulary.errors import StoreError, StoreUnavailableError

SERVICE = "s3"


def botocore_installed() -> bool:
    """Whether botocore is installed."""
    return importlib.util.find_spec("botocore") is not None


class S3Client:
    """The client and its credentials. Calls block. Safe to use from many threads. Made again after a fork."""

    def __init__(self, place: Place, options: CloudOptions) -> None:
        self.place = place
        self._options = options
        self._lock = threading.Lock()
        self._made: tuple[Any, Any] | None = None
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

    def credentials(self) -> Any:
        """The current keys. Keys of a role are renewed. Raises StoreUnavailableError when there are none."""
        found = self._opened()[1]
        if found is None:
            text = f"cannot sign for {self.place.uri}: there are no credentials; set them for the server"
            raise StoreUnavailableError(text, public_message=text, lasting=True)
        return found.get_frozen_credentials()

    def _opened(self) -> tuple[Any, Any]:
        with self._lock:
            if self._made is None or self._pid != os.getpid():
                self._made, self._pid = self._open(), os.getpid()
            return self._made

    def _open(self) -> tuple[Any, Any]:
        from botocore.config import Config  # type: ignore[import-untyped]
        from botocore.exceptions import BotoCoreError  # type: ignore[import-untyped]
        from botocore.session import Session  # type: ignore[import-untyped]

        given = given_for_s3(self._options)
        session = Session()
        found = session.get_component("config_store")
        for name, value in (("config_file", os.devnull), ("credentials_file", os.devnull), ("profile", None)):
            found.set_config_variable(name, value)  # given_for_s3 reads these files if the options name them
        region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION") or "us-east-1"
        if given.get("access_key_id"):
            session.set_credentials(given["access_key_id"], given.get("secret_access_key"), given.get("session_token"))
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
            return client, session.get_credentials()
        except (BotoCoreError, ValueError) as error:
            raise StoreUnavailableError(
                f"cannot set up {self.place.uri}: {type(error).__name__}; check the settings of the store"
            ) from None

    def _endpoint(self, given: str) -> str | None:
        """The endpoint for botocore, which adds the bucket to the host. obstore expects it with the bucket."""
        found = given or os.environ.get("AWS_ENDPOINT_URL") or os.environ.get("AWS_ENDPOINT") or None
        if found is not None and self._options.virtual_hosted:
            return found.replace(f"://{self.place.bucket}.", "://", 1)
        return found


def s3_fault(error: Exception) -> Fault:
    """The status and the code of a botocore error. No answer: status 0."""
    from botocore.exceptions import ClientError, ConnectTimeoutError, EndpointConnectionError

    if isinstance(error, ClientError):
        status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
        return Fault(int(status), str(error.response.get("Error", {}).get("Code", "")), False)
    return Fault(0, "", isinstance(error, ConnectTimeoutError | EndpointConnectionError))


def s3_error(error: Exception, doing: str, place: Place, key: str) -> StoreError:
    """The error of the engine for a botocore error."""
    return error_of(s3_fault(error), doing, place, key)
