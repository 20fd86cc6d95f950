"""ListBuckets, HeadBucket, GetBucketLocation, CreateBucket, DeleteBucket.

A bucket is a repository. A bucket that is bound to a ref exists while the ref exists.
"""

from __future__ import annotations

from typing import Final

from lakebed_auth import arn
from lakebed_auth.actions import Fs
from lakebed_engine.vocabulary.errors import NotFoundError, RepositoryNotFoundError
from lakebed_engine.vocabulary.records import Repository

from lakebed_server.http.responses import Reply, empty
from lakebed_server.s3.requests import xml_parse
from lakebed_server.s3.requests.call import S3Call
from lakebed_server.s3.responses import xml
from lakebed_server.s3.responses.xml import OWNER, iso_date, tag
from lakebed_server.s3.vocabulary import S3Error, not_implemented

MOST: Final = 10_000
_PAGE: Final = 1000


async def list_buckets(call: S3Call) -> Reply:
    """ListBuckets: the repositories, in order of name."""
    amount = call.number("max-buckets", MOST, MOST) or MOST
    prefix = call.query.get("prefix", "")
    found: list[Repository] = []
    after, more = call.query.get("continuation-token", ""), True
    while more and len(found) < amount:
        page = await call.engine.repositories.list(prefix=prefix, after=after, amount=min(_PAGE, amount - len(found)))
        found += [one for one in page.items if _may_list(call, one.name)]
        more = page.has_more
        after = page.items[-1].name if page.items else after
    rows = "".join(
        f"<Bucket>{tag('Name', one.name)}<CreationDate>{iso_date(one.creation_date)}</CreationDate></Bucket>"
        for one in found
    )
    rest = tag("ContinuationToken", after) if more else ""
    return xml.xml("ListAllMyBucketsResult", f"{OWNER}<Buckets>{rows}</Buckets>{rest}")


def _may_list(call: S3Call, name: str) -> bool:
    rights = call.base.rights
    return rights is None or rights.allowed(Fs.LIST_REPOSITORIES, [arn.repository(name)])[0]


async def head_bucket(call: S3Call) -> Reply:
    """HeadBucket."""
    await require(call)
    return empty(200, ((b"x-amz-bucket-region", call.config.region.encode()),))


async def get_location(call: S3Call) -> Reply:
    """GetBucketLocation. The first region has an empty name, as in S3."""
    await require(call)
    region = "" if call.config.region == "us-east-1" else call.config.region
    return xml.xml("LocationConstraint", xml.text(region))


async def require(call: S3Call) -> None:
    """Raises S3Error: NoSuchBucket when the repository, or the ref of the bucket, does not exist."""
    if not call.address.bound:
        await call.engine.repositories.get(call.repo)
        return
    try:
        await call.engine.objects.list(call.repo, call.ref, amount=1)
    except RepositoryNotFoundError:
        raise
    except NotFoundError as error:
        raise S3Error("NoSuchBucket", error.message) from None


async def create_bucket(call: S3Call) -> Reply:
    """CreateBucket: a repository below the configured namespace."""
    body = await call.whole(xml_parse.LIMIT)
    if body:
        await xml_parse.read(body, "CreateBucketConfiguration", xml_parse.name_of)
    try:
        await require(call)
    except (RepositoryNotFoundError, S3Error):
        await _create(call)
        return empty(200, ((b"location", f"/{call.bucket}".encode()),))
    raise S3Error("BucketAlreadyOwnedByYou", "The bucket already exists and belongs to you.")


async def _create(call: S3Call) -> None:
    if not call.config.namespace:
        raise not_implemented(
            "This server creates no repositories for buckets (gateway.s3.namespace): use `lakebed repo create`."
        )
    if call.address.bound:
        raise S3Error("InvalidBucketName", "This name is a ref of a repository: create a branch instead.")
    await call.engine.repositories.create(call.repo, "", below=call.config.namespace)


async def delete_bucket(call: S3Call) -> Reply:
    """DeleteBucket. Refused while a branch holds an object or a workspace is open."""
    await require(call)
    if call.address.bound or not call.config.namespace:
        raise not_implemented("This server deletes no repositories for buckets (gateway.s3.namespace).")
    held = await call.engine.repositories.delete_empty(call.repo)
    if held:
        raise S3Error("BucketNotEmpty", f"The bucket you tried to delete is not empty: it has {held}.")
    return empty(204)
