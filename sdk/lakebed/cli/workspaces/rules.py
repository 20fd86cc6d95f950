"""`lakebed workspace rules`: what the owner of a bucket sets up for a prefix that others write to.

Pure, but for the question which prefix a workspace has.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import click

from lakebed._values.uri import SCHEMES
from lakebed.cli import output
from lakebed.cli.app import App, Verb, pass_app
from lakebed.cli.targets import Target

_OBJECTS = ("s3:PutObject", "s3:PutObjectTagging", "s3:GetObject", "s3:AbortMultipartUpload")


@click.command(cls=Verb)
@click.argument("prefix", metavar="S3_PREFIX|REPO/WORKSPACE")
@click.option("--abort-days", type=click.IntRange(min=1), default=7, show_default=True, metavar="N",
              help="Abort multipart uploads that are unfinished after N days.")  # fmt: skip
@click.option("--expire-days", type=click.IntRange(min=1), metavar="N",
              help="Also delete objects after N days: COMMITTED OBJECTS TOO. Required with --path.")  # fmt: skip
@click.option("--path", "path", default="", metavar="PATH",
              help="Limit --expire-days to objects whose tags path.0, path.1 and so on match PATH.")  # fmt: skip
@pass_app
def rules(app: App, prefix: str, abort_days: int, expire_days: int | None, path: str) -> None:
    """Print the S3 lifecycle configuration and the IAM policy that fit a workspace's prefix, as JSON.

    The policy lets a writer write and list there, and gives no rights elsewhere. Committed objects stay below the
    prefix: a lifecycle rule that deletes them breaks their commits.

    \b
    Example: lakebed workspace rules s3://bucket/lake/workspaces/
    """
    if path and expire_days is None:
        raise click.UsageError("--path chooses what expires: give --expire-days as well.")
    foreign = "://" in prefix and not prefix.startswith(SCHEMES)
    address = prefix if foreign else _asked(app, prefix)
    bucket, key = _split(address)
    if expire_days is not None:
        output.note(app, "This rule also deletes objects of committed workspaces. Reading them will then fail.")
    found = {"lifecycle": _lifecycle(key, abort_days, expire_days, path), "iam": _policy(bucket, key)}
    output.show(app, output.dumps(found), found)


def _asked(app: App, prefix: str) -> str:
    target = Target("REPO/WORKSPACE").convert(prefix, None, None)
    with app.lake() as lake:
        return lake.repository(target.repository).workspace(target.ref).info().storage_prefix


def _split(address: str) -> tuple[str, str]:
    place = urlsplit(address)
    if place.scheme != "s3" or not place.netloc:
        raise click.UsageError(f"Only s3:// prefixes have such rules, not {address}.")
    key = place.path.lstrip("/")
    return place.netloc, key if not key or key.endswith("/") else key + "/"


def _lifecycle(key: str, abort_days: int, expire_days: int | None, path: str) -> dict[str, Any]:
    found: list[dict[str, Any]] = [
        {
            "ID": "lakebed-unfinished-uploads",
            "Status": "Enabled",
            "Filter": {"Prefix": key},
            "AbortIncompleteMultipartUpload": {"DaysAfterInitiation": abort_days},
        }
    ]
    if expire_days is not None:
        tags = [{"Key": name, "Value": part} for name, part in _tags(path).items()]
        found.append(
            {
                "ID": "lakebed-expire",
                "Status": "Enabled",
                "Filter": {"And": {"Prefix": key, "Tags": tags}} if tags else {"Prefix": key},
                "Expiration": {"Days": expire_days},
            }
        )
    return {"Rules": found}


def _tags(path: str) -> dict[str, str]:
    """The tags that writers give. Raises UsageError for a path of which no tag can hold a part."""
    from lakebed_format.tags import path_tags

    found, parts = path_tags(path), [part for part in path.strip("/").split("/") if part]
    if len(found) != len(parts):
        raise click.UsageError(
            "--path has a part that no tag can hold: at most 10, of up to 256 letters, digits, spaces and +-=._:/@."
        )
    return found


def _policy(bucket: str, key: str) -> dict[str, Any]:
    return {
        "Version": "2012-10-17",
        "Statement": [
            {
                "Sid": "WriteObjects",
                "Effect": "Allow",
                "Action": list(_OBJECTS),
                "Resource": f"arn:aws:s3:::{bucket}/{key}*",
            },
            {
                "Sid": "ListThem",
                "Effect": "Allow",
                "Action": "s3:ListBucket",
                "Resource": f"arn:aws:s3:::{bucket}",
                "Condition": {"StringLike": {"s3:prefix": [f"{key}*"]}},
            },
        ],
    }
