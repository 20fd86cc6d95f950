"""The files that a commit is made of: for engines that read them straight from the store (`docs/formats.md`).

A metarange is fetched whole: it has one row for about a megabyte of entries.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lakebed_format.keys import metarange_file, range_file

from lakebed._async.http.target import Target
from lakebed._async.objects.shared_directory import trusted
from lakebed._compat.aio import run_in_thread
from lakebed._gateway.operations import commits, metadata, repositories
from lakebed.errors import ProtocolError
from lakebed.model import RangeInfo


async def ranges_of(target: Target) -> list[RangeInfo]:
    """The ranges of the commit that a ref names, and the patches over them."""
    transport = target.transport
    commit = await transport.call(commits.get(target.repository, target.ref))
    if not commit.metarange_id:
        return []
    place = await trusted(transport, await transport.call(repositories.get(target.repository)))
    content = await transport.call(metadata.file(target.repository, "meta_range", commit.metarange_id))
    try:
        return await run_in_thread(_decoded, content, commit.metarange_id, place.storage_namespace, place.local_path)
    except ValueError as error:
        raise ProtocolError(
            f"cannot read metarange {commit.metarange_id} of repository {target.repository}: {error}",
            operation="getMetadataObject",
            repository=target.repository,
        ) from None


def _decoded(content: bytes, metarange_id: str, namespace: str, directory: str) -> list[RangeInfo]:
    from lakebed_format.tree.metaranges import decode_tree  # brings pyarrow along, which only some users need

    rows, carried = decode_tree(content, metarange_id)
    carriers = [""] * rows.num_rows
    if carried is not None:
        carriers[-1] = metarange_id
    return [_shown(row, one, namespace, directory) for row, one in zip(rows.to_pylist(), carriers, strict=True)]


def _shown(row: Mapping[str, Any], carrier: str, namespace: str, directory: str) -> RangeInfo:
    key = metarange_file(carrier) if carrier else range_file(row["range_id"])
    return RangeInfo(
        id=row["range_id"],
        min_path=row["min_path"],
        max_path=row["max_path"],
        count=row["count"],
        size=row["size_bytes"],
        level=row.get("level", 0),
        physical_address=f"{namespace}/{key}",
        local_path=f"{directory}/{key}" if directory else "",
        carrier=carrier,
    )
