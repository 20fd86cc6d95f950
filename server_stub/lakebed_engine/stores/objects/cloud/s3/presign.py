"""Presigned URLs and multipart uploads of `s3://`, by botocore: obstore signs neither queries nor headers.

The signature of a PUT covers the content type, the tags, and the condition that nothing exists (`If-None-Match: *`). So
a second PUT to the URL replaces nothing. Signing sends no request and takes 0.1 ms.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar
from urllib.parse import quote, urlencode

from lakebed_engine.stores.objects.cloud.errors import error_of
from lakebed_engine.stores.objects.cloud.keys import PROBE
from lakebed_engine.stores.objects.cloud.s3.client import SERVICE, S3Client, s3_error, s3_fault
from lakebed_engine.stores.objects.presign import Part, SignedRequest, ToRead, ToWrite
from lakebed_engine.stores.objects.threads import Threads
from lakebed_engine.vocabulary.errors import BlobNotFound, InvalidRequestError, OutcomeUnknownError
from lakebed_engine.vocabulary.ports import Ids

T = TypeVar("T")

_PROBED = {"path.0": "probe"}
_NO_UPLOAD = "NoSuchUpload"
_LOOK = "look at"


class S3Signer:
    """Signs for one namespace."""

    any_name = True

    def __init__(self, client: S3Client, threads: Threads, ids: Ids, *, tags: bool) -> None:
        self._client = client
        self._threads = threads
        self._ids = ids
        self._tags = None if tags else False
        self.parts = S3Parts(client, threads)

    async def takes_tags(self) -> bool:
        """Whether objects can have tags. The first call writes a small object to find out."""
        if self._tags is None:
            self._tags = await self._threads.run(self._probe)
        return bool(self._tags)

    async def sign_writes(self, targets: Sequence[ToWrite], seconds: int) -> Sequence[SignedRequest]:
        """One PUT URL for each object. A guarded one works only when nothing exists there."""
        return await self._threads.run(self._sign_writes, targets, seconds)

    async def sign_reads(self, targets: Sequence[ToRead], seconds: int) -> Sequence[str]:
        """One GET URL for each object. The response has the given content type."""
        return await self._threads.run(self._sign_reads, targets, seconds)

    async def storage_class(self, key: str) -> str | None:
        """The storage class. None for the standard class, which S3 does not report. Raises BlobNotFound."""
        found = await self.parts.call(_LOOK, key, lambda calls, where: calls.head_object(**where))
        named = found.get("StorageClass")
        return None if named is None else str(named)

    def _sign_writes(self, targets: Sequence[ToWrite], seconds: int) -> list[SignedRequest]:
        sign = _signing(self._client, seconds)
        signed = []
        for target in targets:
            condition = {"If-None-Match": "*"} if target.guarded else {}
            headers = condition | _described(target) | self._client.write_headers(target.key)
            signed.append(SignedRequest(sign("PUT", target.key, {}, headers), headers))
        return signed

    def _sign_reads(self, targets: Sequence[ToRead], seconds: int) -> list[str]:
        sign = _signing(self._client, seconds)
        return [
            sign("GET", one.key, {"response-content-type": one.content_type} if one.content_type else {}, {})
            for one in targets
        ]

    def _probe(self) -> bool | None:
        """None when the store did not respond: the next call tests again."""
        from botocore.exceptions import BotoCoreError, ClientError  # type: ignore[import-untyped]

        calls, place = self._client.calls, self._client.place
        where = {"Bucket": place.bucket, "Key": f"{place.prefix}{PROBE}{self._ids.new()}", **self._client.payer}
        try:
            calls.put_object(**where, Body=b"", Tagging=urlencode(_PROBED), **self._client.write_arguments(""))
            found = calls.get_object_tagging(**where)["TagSet"]
            calls.delete_object(**where)
        except ClientError as error:
            return None if s3_fault(error).passing else False
        except BotoCoreError:
            return None
        return {tag["Key"]: tag["Value"] for tag in found} == _PROBED


class S3Parts:
    """Multipart uploads. The bucket's lifecycle rule must remove uploads that were neither completed nor aborted."""

    def __init__(self, client: S3Client, threads: Threads) -> None:
        self._client = client
        self._threads = threads

    async def create(self, target: ToWrite) -> str:
        """Begin an upload. Returns its id."""
        arguments: dict[str, Any] = {"ContentType": target.content_type} if target.content_type else {}
        arguments |= self._client.write_arguments(target.key)
        if target.tags:
            arguments["Tagging"] = urlencode(target.tags, quote_via=quote)
        answer = await self.call(
            "start an upload to", target.key, lambda calls, where: calls.create_multipart_upload(**where, **arguments)
        )
        return str(answer["UploadId"])

    async def sign(self, key: str, upload: str, numbers: Sequence[int], seconds: int) -> Sequence[SignedRequest]:
        """One PUT URL for each part. If a part is written twice before the completion, the last one counts."""

        def signed() -> list[SignedRequest]:
            sign = _signing(self._client, seconds)
            queries = [{"partNumber": str(number), "uploadId": upload} for number in numbers]
            return [SignedRequest(sign("PUT", key, query, {}), {}) for query in queries]

        return await self._threads.run(signed)

    async def complete(self, key: str, upload: str, parts: Sequence[Part]) -> None:
        """Complete an upload. One attempt. Raises BlobNotFound, InvalidRequestError, OutcomeUnknownError."""
        arguments = {"Parts": [{"PartNumber": part.number, "ETag": part.etag} for part in parts]}
        await self.call(
            "complete the upload to",
            key,
            lambda calls, where: calls.complete_multipart_upload(**where, UploadId=upload, MultipartUpload=arguments),
            writes=True,
        )

    async def copy(self, key: str, upload: str, number: int, source: str, start: int, length: int) -> str:
        """Copy bytes of an object of this namespace to a part, inside the store. Returns the ETag.

        Raises BlobNotFound.
        """
        place = self._client.place
        arguments = {
            "CopySource": {"Bucket": place.bucket, "Key": place.name(source)},
            "CopySourceRange": f"bytes={start}-{start + length - 1}",
        }
        answer = await self.call(
            "copy a part to",
            key,
            lambda calls, at: calls.upload_part_copy(**at, UploadId=upload, PartNumber=number, **arguments),
        )
        return str(answer["CopyPartResult"]["ETag"])

    async def abort(self, key: str, upload: str) -> None:
        """Abort an upload. Raises BlobNotFound."""
        await self.call(
            "abort an upload to", key, lambda calls, at: calls.abort_multipart_upload(**at, UploadId=upload)
        )

    async def call(
        self, doing: str, key: str, job: Callable[[Any, Mapping[str, str]], T], *, writes: bool = False
    ) -> T:
        """Send one request for one key. Raises BlobNotFound, StoreUnavailableError.

        Raises OutcomeUnknownError when `writes` is set and the response was lost.
        """
        return await self._threads.run(self._run, doing, key, job, writes)

    def _run(self, doing: str, key: str, job: Callable[[Any, Mapping[str, str]], T], writes: bool) -> T:
        from botocore.exceptions import BotoCoreError, ClientError

        place = self._client.place
        try:
            return job(self._client.calls, {"Bucket": place.bucket, "Key": place.name(key), **self._client.payer})
        except (ClientError, BotoCoreError) as error:
            fault = s3_fault(error)
            if fault.code == _NO_UPLOAD or (fault.status == 404 and doing == _LOOK):
                raise BlobNotFound(f"cannot {doing} {place.uri}/{key}: it is missing") from None
            if writes and not fault.certain:
                raise OutcomeUnknownError(
                    f"the answer was lost while trying to {doing} {place.uri}/{key}; check whether the object exists"
                ) from None
            if writes and fault.status == 400:
                raise InvalidRequestError(
                    f"cannot {doing} {place.uri}/{key}: the store refused its parts ({fault.code}): write them again"
                ) from None
            raise s3_error(error, doing, place, key) from None


def _described(target: ToWrite) -> dict[str, str]:
    headers = {"Content-Type": target.content_type} if target.content_type else {}
    if target.tags:
        headers["x-amz-tagging"] = urlencode(target.tags, quote_via=quote)
    return headers


def _signing(client: S3Client, seconds: int) -> Callable[[str, str, Mapping[str, str], Mapping[str, str]], str]:
    """Returns a function that signs a URL from method, key, query and headers."""
    from botocore.auth import S3SigV4QueryAuth  # type: ignore[import-untyped]
    from botocore.awsrequest import AWSRequest  # type: ignore[import-untyped]
    from botocore.exceptions import BotoCoreError

    try:
        auth = S3SigV4QueryAuth(client.credentials(), SERVICE, client.region, seconds)
        base = client.base
    except BotoCoreError as error:
        raise error_of(s3_fault(error), "sign an address in", client.place, "") from None

    def sign(method: str, key: str, query: Mapping[str, str], headers: Mapping[str, str]) -> str:
        url = base + quote(client.place.name(key), safe="/~")
        query = {**query, **({"x-amz-request-payer": "requester"} if client.payer else {})}
        if query:
            url += "?" + urlencode(query, quote_via=quote, safe="")
        request = AWSRequest(method, url, headers=dict(headers))
        auth.add_auth(request)
        return str(request.url)

    return sign
