"""Credentials of `s3://`, by botocore: from the settings, or from the whole chain of AWS. They are renewed in time.

obstore and the signer of a store share them. So a role is assumed once for each store, whatever the number of its
namespaces. An error names the store and the source, and never has a secret.
"""

from __future__ import annotations

import importlib.util
import os
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from lakebed_engine.stores.objects.cloud.errors import CREDENTIALS
from lakebed_engine.stores.objects.cloud.options import CloudOptions, given_for_s3
from lakebed_engine.vocabulary.errors import StoreDeniedError
from lakebed_engine.vocabulary.ports import Clock, SystemClock

if TYPE_CHECKING:
    from obstore.store import S3Credential

_ASKED_AGAIN = 60.0
"""Seconds after which obstore requests credentials again. botocore then decides whether to renew them."""

_FAILURE_KEPT = 2.0
"""The longest time in seconds for which a failure is cached. It is cached for as long as the attempt took, so that
requests do not all wait for a source that does not respond.
"""


def botocore_installed() -> bool:
    """Whether botocore is installed."""
    return importlib.util.find_spec("botocore") is not None


class CredentialsError(Exception):
    """Raised inside obstore, which keeps only the text."""


class S3Credentials:
    """The credentials of one store in one process."""

    def __init__(self, options: CloudOptions, clock: Clock | None = None) -> None:
        self._options = options
        self._clock = clock or SystemClock()
        self._lock = threading.Lock()
        self._found: Any = None
        self._failure: tuple[float, str] = (0.0, "")

    def __call__(self) -> S3Credential:
        """The current keys for obstore. Raises CredentialsError."""
        try:
            keys = self.current()
        except StoreDeniedError as error:
            raise CredentialsError(CREDENTIALS + error.message + "\n") from None
        return {
            "access_key_id": keys.access_key,
            "secret_access_key": keys.secret_key,
            "token": keys.token,
            "expires_at": datetime.fromtimestamp(self._clock.now() + _ASKED_AGAIN, UTC) if self._renewed else None,
        }

    def current(self) -> Any:
        """The current keys as botocore has them. Raises StoreDeniedError."""
        from botocore.exceptions import BotoCoreError, ClientError  # type: ignore[import-untyped]

        with self._lock:
            until, why = self._failure
            begun = self._clock.monotonic()
            if begun < until:
                raise self._error(why)
            try:
                if self._found is None:
                    self._found = self._open()
                if self._found is None:
                    why = "there are none: set them, or give the machine a role"
                else:
                    return self._found.get_frozen_credentials()
            except ClientError as error:
                answer = error.response.get("Error", {}).get("Code", "an error")
                why = f"{error.operation_name} answered {answer}"
            except (BotoCoreError, OSError, RuntimeError, ValueError, KeyError) as error:
                why = type(error).__name__
            ended = self._clock.monotonic()
            self._failure = (ended + min(ended - begun, _FAILURE_KEPT), why)
        raise self._error(why)

    @property
    def _renewed(self) -> bool:
        from botocore.credentials import RefreshableCredentials  # type: ignore[import-untyped]

        return isinstance(self._found, RefreshableCredentials)

    def _error(self, why: str) -> StoreDeniedError:
        store = f"the store {self._options.store_id!r}" if self._options.store_id else "the default store"
        text = f"no credentials of {store} from {self._source()}: {why}; correct the settings, or try again later"
        return StoreDeniedError(text, public_message=text, lasting=True)

    def _source(self) -> str:
        """The source of the credentials, for messages."""
        given = self._options
        if given.role_arn:
            how = f"the token file {given.web_identity_token_file}" if given.web_identity_token_file else "AssumeRole"
            return f"{how} of the role {given.role_arn}"
        method = getattr(self._found, "method", "")
        if method:
            return f"the source {method}"
        return "the environment, web identity, container and instance"

    def _open(self) -> Any:
        session, given = botocore_session(self._options), self._options
        keys = given_for_s3(given)
        if keys.get("access_key_id"):
            session.set_credentials(keys["access_key_id"], keys.get("secret_access_key"), keys.get("session_token"))
        if not given.role_arn:
            return session.get_credentials()
        if given.web_identity_token_file:
            return _by_token(session, given)
        source = session.get_credentials()
        return None if source is None else _by_role(session, given, source)


class Current:
    """The credentials of a botocore client, which reads the keys before each request."""

    method = "lakebed"

    def __init__(self, credentials: S3Credentials) -> None:
        self._credentials = credentials

    def load_credentials(self) -> Current:
        """Itself, for a session of botocore."""
        return self

    def get_frozen_credentials(self) -> Any:
        """The current keys. Raises StoreDeniedError."""
        return self._credentials.current()

    def get_deferred_property(self, name: str) -> Callable[[], Any]:
        """A function that returns a property of the current keys."""
        return lambda: getattr(self._credentials.current(), name, None)


_shared: WeakValueDictionary[tuple[CloudOptions, int], S3Credentials] = WeakValueDictionary()
_sharing = threading.Lock()


def credentials_of(options: CloudOptions) -> S3Credentials:
    """The credentials of a store, shared by all of its open namespaces in this process. The caller keeps them."""
    with _sharing:
        found = _shared.get((options, os.getpid()))
        if found is None:
            found = _shared[options, os.getpid()] = S3Credentials(options)
        return found


def botocore_session(options: CloudOptions) -> Any:
    """A botocore session that finds credentials with the chain of AWS, but reads no files of AWS on its own."""
    from botocore.session import Session  # type: ignore[import-untyped]

    given = given_for_s3(options)
    session = Session()
    found = session.get_component("config_store")
    for name, value in (("config_file", os.devnull), ("credentials_file", os.devnull), ("profile", None)):
        found.set_config_variable(name, value)  # given_for_s3 reads these files if the options name them
    if given.get("region"):
        found.set_config_variable("region", given["region"])
    return session


def _sts(session: Any, options: CloudOptions) -> Any:
    """A function that makes clients of STS, at the endpoint of the settings."""
    region = options.region or os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION") or "us-east-1"
    more = {"endpoint_url": options.sts_endpoint} if options.sts_endpoint else {}

    def make(service: str, **arguments: Any) -> Any:
        from botocore.config import Config  # type: ignore[import-untyped]

        limits = Config(connect_timeout=5, read_timeout=options.silence_seconds, retries={"total_max_attempts": 3})
        config = limits.merge(arguments.pop("config")) if arguments.get("config") else limits
        return session.create_client(service, **{"region_name": region, **more, **arguments, "config": config})

    return make


def _extra(options: CloudOptions) -> dict[str, str]:
    extra = {"RoleSessionName": options.role_session_name or "lakebed"}
    return extra | {"ExternalId": options.external_id} if options.external_id else extra


def _by_role(session: Any, options: CloudOptions, source: Any) -> Any:
    from botocore.credentials import AssumeRoleCredentialFetcher, DeferredRefreshableCredentials

    fetcher = AssumeRoleCredentialFetcher(_sts(session, options), source, options.role_arn, extra_args=_extra(options))
    return DeferredRefreshableCredentials(fetcher.fetch_credentials, "assume-role")


def _by_token(session: Any, options: CloudOptions) -> Any:
    from botocore.credentials import AssumeRoleWithWebIdentityCredentialFetcher, DeferredRefreshableCredentials

    def token() -> str:  # read again each time: clusters replace the file
        with open(options.web_identity_token_file) as file:
            return file.read().strip()

    extra = {"RoleSessionName": options.role_session_name or "lakebed"}
    fetcher = AssumeRoleWithWebIdentityCredentialFetcher(
        _sts(session, options), token, options.role_arn, extra_args=extra
    )
    return DeferredRefreshableCredentials(fetcher.fetch_credentials, "assume-role-with-web-identity")
