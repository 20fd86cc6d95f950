"""The obstore clients of one bucket, made at their first use.

obstore runs in its own threads, which a fork does not copy. A call in a forked child would wait without end. So a child
may use cloud stores only if its parent had not used one.
"""

from __future__ import annotations

import os
import threading
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from lakebed_engine.stores.objects.cloud.keys import Place
from lakebed_engine.stores.objects.cloud.options import CloudOptions, given_for_s3
from lakebed_engine.stores.objects.cloud.s3.credentials import botocore_installed, credentials_of
from lakebed_engine.vocabulary.errors import StoreUnavailableError

if TYPE_CHECKING:
    from obstore.store import ObjectStore as Handle


class _Process:
    """The process that started obstore's threads."""

    pid: int | None = None


class Client:
    """Two clients of one bucket: `store` retries, `once` does not, for writes that must not be repeated blindly."""

    def __init__(self, place: Place, options: CloudOptions) -> None:
        self.place = place
        self.options = options
        self._lock = threading.Lock()
        self._handles: dict[bool, Handle] = {}
        self._pid = 0

    @property
    def store(self) -> Handle:
        """The client that retries. Raises StoreUnavailableError in a forked child of a process that used one."""
        return self._handle(True)

    @property
    def once(self) -> Handle:
        """The client that sends every request once."""
        return self._handle(False)

    def _handle(self, retry: bool) -> Handle:
        pid = os.getpid()
        if _Process.pid not in (None, pid):
            raise StoreUnavailableError(
                f"cannot use {self.place.uri} in process {pid}: it was forked from process {_Process.pid}, which had "
                "used a cloud store before; fork first, or start processes with spawn"
            )
        with self._lock:
            if self._pid != pid:
                self._handles, self._pid = {}, pid
            if retry not in self._handles:
                self._handles[retry] = handle(self.place, self.options, retry)
            _Process.pid = pid
            return self._handles[retry]


def handle(place: Place, options: CloudOptions, retry: bool = True) -> Handle:
    """The obstore client of a bucket. Raises StoreUnavailableError for options that obstore refuses."""
    from obstore.exceptions import BaseError
    from obstore.store import AzureStore, GCSStore, S3Store

    common: dict[str, Any] = {
        "retry_config": {
            "max_retries": options.retries if retry else 0,
            "retry_timeout": timedelta(seconds=options.retry_seconds),
            "backoff": {
                "init_backoff": timedelta(milliseconds=100),
                "max_backoff": timedelta(seconds=5),
                "base": 2,
            },
        },
        "client_options": {
            "connect_timeout": timedelta(seconds=5),
            "read_timeout": timedelta(seconds=options.silence_seconds),
            "timeout": timedelta(days=1),  # for a whole response: streams may be slow, and read_timeout limits silence
            "allow_http": options.allow_http,
        },
    }
    try:
        if place.scheme == "gs":
            return GCSStore(place.bucket, **common, **_given(gcs_options(options)))
        if place.scheme == "az":
            return AzureStore(place.bucket, **common, **_given(azure_options(options)))
        return S3Store(place.bucket, **common, **_s3(options))
    except (BaseError, ValueError) as error:
        raise StoreUnavailableError(
            f"cannot set up {place.uri}{place.store}: {type(error).__name__}; check the settings of the store"
        ) from None


def gcs_options(options: CloudOptions) -> dict[str, str]:
    """The options of obstore for `gs://`. Empty ones come from the environment and the metadata server."""
    return {"service_account": options.service_account_file, "base_url": options.endpoint}


def azure_options(options: CloudOptions) -> dict[str, str]:
    """The options of obstore for `az://`. Empty ones come from the environment and the managed identity."""
    return {
        "account_name": options.account,
        "account_key": options.account_key,
        "sas_key": options.sas_token,
        "tenant_id": options.tenant_id,
        "client_id": options.client_id,
        "client_secret": options.client_secret,
        "federated_token_file": options.federated_token_file,
        "authority_host": options.authority,
        "endpoint": options.endpoint,
    }


def _given(values: dict[str, str]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value}


def _s3(options: CloudOptions) -> dict[str, Any]:
    fixed: dict[str, Any] = {
        "conditional_put": "etag",
        "copy_if_not_exists": "multipart",
        "virtual_hosted_style_request": options.virtual_hosted,
    }
    if options.encryption:
        fixed["server_side_encryption"] = options.encryption
    if options.kms_key:
        fixed["sse_kms_key_id"] = options.kms_key
    if options.requester_pays:
        fixed["request_payer"] = True
    given: dict[str, Any] = dict(given_for_s3(options))
    if botocore_installed() and os.environ.get("AWS_SKIP_SIGNATURE", "").lower() not in ("1", "true"):
        for name in ("access_key_id", "secret_access_key", "session_token"):
            given.pop(name, None)
        fixed["credential_provider"] = credentials_of(options)
    return given | fixed
