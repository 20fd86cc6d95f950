"""Maps failures of a cloud store to errors of the engine.

obstore's error types are coarse, so this module reads the HTTP status and the store's code from its text. Messages do
not contain that text, because it quotes the request.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from lakebed_engine.stores.objects.cloud.keys import Place
from lakebed_engine.vocabulary.errors import (
    BlobNotFound,
    EngineError,
    NoStoreError,
    StoreDeniedError,
    StoreError,
    StoreFullError,
    StoreUnavailableError,
)

_STATUS = re.compile(r"status code: (\d{3})")
_CODE = re.compile(r"<Code>(\w+)</Code>|\"reason\": \"(\w+)\"")
_NOWHERE = re.compile(r"kind: Connect\b|ConnectionRefused")
_NO_BUCKET = {"NoSuchBucket", "ContainerNotFound"}
_FULL = {"QuotaExceeded", "XMinioStorageFull", "InsufficientStorage", "storageQuotaExceeded"}
_BUSY = {429, 503}
_DENIED = {401, 403}

CREDENTIALS = "lakebed-credentials: "
"""The beginning of our own error about credentials inside the text of an obstore error. The line ends our error."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A failure: HTTP status (0: no response), the store's code, and whether the request never reached a server."""

    status: int
    code: str
    unreached: bool

    @property
    def certain(self) -> bool:
        """Whether the request certainly had no effect: the store refused it, or did not receive it."""
        return self.unreached or self.status in _BUSY or 400 <= self.status < 500 or self.status == 507

    @property
    def passing(self) -> bool:
        """Whether a retry may succeed."""
        if self.code in _FULL:
            return False
        return self.status in _BUSY | {0, 408, 409} or (self.status >= 500 and self.status not in {501, 507})

    @property
    def conflict(self) -> bool:
        """S3's 409: two conditional writes met, and neither may have won. (Azure's 409 means that the blob exists.)"""
        return self.status == 409 and self.code in {"ConditionalRequestConflict", "OperationAborted"}


_NO_KEYS = Fault(403, "NoCredentials", False)
"""There were no credentials, so nothing was sent."""


def starts_beyond(error: BaseException) -> bool:
    """Whether the request was for a part that starts at or after the end of the object."""
    return fault_of(error).status == 416 or "StartTooLarge" in str(error)


def fault_of(error: BaseException) -> Fault:
    """Read the status and the code from an obstore error."""
    text = str(error)
    if CREDENTIALS in text:
        return _NO_KEYS
    status, code = _STATUS.search(text), _CODE.search(text)
    return Fault(
        int(status[1]) if status else 0,
        (code[1] or code[2]) if code else "",
        not status and bool(_NOWHERE.search(text)),
    )


def store_error(error: BaseException, doing: str, place: Place, key: str) -> StoreError:
    """The error for an obstore error. It names bucket and key, never credentials, so clients may read it."""
    _, found, cause = str(error).partition(CREDENTIALS)
    if found:
        text = f"cannot {doing} {place.uri}/{key}{place.store}: {cause.partition(chr(10))[0]}"
        return StoreDeniedError(text, public_message=text, lasting=True)
    return error_of(fault_of(error), doing, place, key)


def error_of(fault: Fault, doing: str, place: Place, key: str) -> StoreError:
    """The error for a failure."""
    kind, why, lasting = _meaning(fault, place.bucket)
    text = f"cannot {doing} {place.uri}/{key}{place.store}: {why}"
    return kind(text, public_message=text, lasting=lasting)


def _meaning(fault: Fault, bucket: str) -> tuple[type[StoreError], str, bool]:
    """The class of the error, the reason with the next step, and whether an administrator must repair it."""
    if fault.code in _NO_BUCKET:
        return NoStoreError, f"the bucket {bucket!r} does not exist; create it, or correct the namespace", True
    answer = " ".join(filter(None, (str(fault.status), fault.code)))
    if fault.code in _FULL or fault.status == 507:
        return StoreFullError, f"the store has no space left ({answer}); free space, or raise the quota", True
    if fault.status in _DENIED:
        why = f"the store denied access ({answer}); check the credentials and their rights to {bucket!r}"
        return StoreDeniedError, why, True
    if fault.status:
        return StoreUnavailableError, f"the store answered {answer}; try again later", False
    if fault.unreached:
        return StoreUnavailableError, "the store cannot be reached; check the endpoint and the network", False
    why = (
        "the store did not answer, or the connection broke; check the endpoint and the credentials, or try again later"
    )
    return StoreUnavailableError, why, False


@contextmanager
def store_errors(doing: str, place: Place, key: str, *, absent: bool = False) -> Iterator[None]:
    """Turn obstore's errors into errors of the engine. With `absent`, a missing object is BlobNotFound."""
    from obstore.exceptions import BaseError

    try:
        yield
    except EngineError:
        raise
    except FileNotFoundError as error:
        if absent and fault_of(error).code not in _NO_BUCKET:
            raise BlobNotFound(f"nothing is stored at {place.uri}/{key}") from None
        raise store_error(error, doing, place, key) from None
    except (BaseError, ValueError) as error:
        raise store_error(error, doing, place, key) from None
