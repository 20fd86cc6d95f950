"""The options of the cloud stores as plain values, and the obstore client that they configure.

Missing options come from the environment, as obstore reads it: `AWS_*`, `GOOGLE_*`, `AZURE_*`, instance and container
credentials.
"""

from __future__ import annotations

import configparser
import os
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from lakebed_engine.stores.objects.cloud.keys import Place
from lakebed_engine.vocabulary.errors import StoreUnavailableError

if TYPE_CHECKING:
    from obstore.store import ObjectStore as Handle


@dataclass(frozen=True, slots=True, kw_only=True)
class CloudOptions:
    """The options of `s3://`. The times also apply to `gs://` and `az://`. Empty: from the environment.

    `retry_seconds` limits the retries of one request, `silence_seconds` the time without data from the server. `tags`:
    tag objects that clients write to presigned URLs with the parts of their path. `store_id`: that of a named store.
    """

    store_id: str = ""
    endpoint: str = ""
    region: str = ""
    access_key_id: str = ""
    secret_access_key: str = field(default="", repr=False)
    session_token: str = field(default="", repr=False)
    profile: str = ""
    credentials_file: str = ""
    allow_http: bool = False
    virtual_hosted: bool = False
    tags: bool = True
    retries: int = 8
    retry_seconds: float = 30.0
    silence_seconds: float = 30.0


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
            "timeout": timedelta(days=1),  # for a whole answer: streams may be slow, read_timeout limits silence
            "allow_http": options.allow_http,
        },
    }
    try:
        if place.scheme == "gs":
            return GCSStore(place.bucket, **common)
        if place.scheme == "az":
            return AzureStore(place.bucket, **common)
        return S3Store(place.bucket, **common, **_s3(options))
    except (BaseError, ValueError) as error:
        raise StoreUnavailableError(
            f"cannot set up {place.uri}{place.store}: {type(error).__name__}; check the settings of the store"
        ) from None


def _s3(options: CloudOptions) -> dict[str, Any]:
    fixed = {
        "conditional_put": "etag",
        "copy_if_not_exists": "multipart",
        "virtual_hosted_style_request": options.virtual_hosted,
    }
    return given_for_s3(options) | fixed


def given_for_s3(options: CloudOptions) -> dict[str, str]:
    """The given endpoint, region and keys. Reads the file of a profile. Raises StoreUnavailableError."""
    given = {
        "endpoint": options.endpoint,
        "region": options.region,
        **(_from_file(options) if options.profile or options.credentials_file else {}),
    }
    for name in ("access_key_id", "secret_access_key", "session_token"):
        given[name] = getattr(options, name) or given.get(name, "")
    return {name: value for name, value in given.items() if value}


def _from_file(options: CloudOptions) -> dict[str, str]:
    """The keys of a profile in a file such as ~/.aws/credentials."""
    path = options.credentials_file or os.environ.get("AWS_SHARED_CREDENTIALS_FILE") or "~/.aws/credentials"
    profile = options.profile or "default"
    parser = configparser.ConfigParser(interpolation=None)
    try:
        with open(os.path.expanduser(path)) as file:
            parser.read_file(file)
    except (OSError, UnicodeDecodeError, configparser.Error) as error:
        raise StoreUnavailableError(f"cannot read the credentials file {path}: {type(error).__name__}") from None
    if not parser.has_section(profile):
        raise StoreUnavailableError(f"the credentials file {path} has no profile {profile!r}")
    section = parser[profile]
    names = ("access_key_id", "secret_access_key", "session_token")
    return {name: section.get(f"aws_{name}", "") for name in names}
