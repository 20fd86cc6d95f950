"""The options of the cloud stores as plain values.

Missing options come from the environment, as obstore reads it: `AWS_*`, `GOOGLE_*`, `AZURE_*`, instance and container
credentials.
"""

from __future__ import annotations

import configparser
import os
from dataclasses import dataclass, field

from lakebed_format.keys import DATA, WORKSPACES

from lakebed_engine.vocabulary.errors import StoreUnavailableError

_CONTENT = (DATA, WORKSPACES)


@dataclass(frozen=True, slots=True, kw_only=True)
class CloudOptions:
    """The options of `s3://`. The times also apply to `gs://` and `az://`. Empty: from the environment.

    `retry_seconds` limits the retries of one request, `silence_seconds` the time without data from the server. `tags`:
    tag objects that clients write to presigned URLs with the parts of their path. `store_id`: that of a named store.
    `role_arn`: the role to assume, by a token of `web_identity_token_file` or by the other credentials. `encryption`:
    `AES256`, `aws:kms` with `kms_key`, or empty for the default of the bucket. `storage_class`: of the content of
    objects. From `service_account_file` on: options of `gs://`; from `account` on: of `az://`.
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
    role_arn: str = ""
    external_id: str = ""
    role_session_name: str = ""
    web_identity_token_file: str = ""
    sts_endpoint: str = ""
    encryption: str = ""
    kms_key: str = ""
    storage_class: str = ""
    requester_pays: bool = False
    service_account_file: str = ""
    account: str = ""
    account_key: str = field(default="", repr=False)
    sas_token: str = field(default="", repr=False)
    tenant_id: str = ""
    client_id: str = ""
    client_secret: str = field(default="", repr=False)
    federated_token_file: str = ""
    authority: str = ""
    retries: int = 8
    retry_seconds: float = 30.0
    silence_seconds: float = 30.0


def class_of(options: CloudOptions, key: str) -> str:
    """The storage class for a key. Empty for metadata, which is small and read often: the class of the bucket."""
    return options.storage_class if key.startswith(_CONTENT) else ""


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
