"""Values of a branch record: what is staged, how a reset changes it, and notes about what a swap drops."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from lakebed_engine.operations.context import Context, Repo, encode
from lakebed_engine.operations.keys import DROPS, scan_token
from lakebed_engine.stores.kv.base import Put
from lakebed_engine.tree.layers import layer_tree
from lakebed_engine.vocabulary.records import Branch, Layer, Workspace


def emptied(record: Branch, token: str) -> Branch:
    """The record with nothing staged."""
    return msgspec.structs.replace(record, gen=record.gen + 1, staging_token=token, layers=())


def after_reset(record: Branch) -> Branch:
    """The record after the reset of a path or a prefix. The count makes a running commit fold again."""
    return msgspec.structs.replace(record, gen=record.gen + 1, resets=record.resets + 1)


def staged_of(record: Branch) -> list[Layer]:
    """Everything staged: the live token as a layer, and the sealed layers."""
    return [Layer(record.staging_token), *record.layers]


def everything_of(record: Branch) -> list[Layer]:
    """All layers that belong to a record: what is staged, and the scan ledger of a workspace."""
    seen = [Layer(scan_token(record.uid))] if isinstance(record, Workspace) else []
    return [*staged_of(record), *seen]


class Note(msgspec.Struct, frozen=True):
    """What the cleaner must remove: the rows of a token, or files of a namespace. `at` is in Unix seconds."""

    at: int
    namespace: str = ""
    files: tuple[str, ...] = ()


def notes(ctx: Context, repo: Repo, dropped: Sequence[Layer]) -> list[Put]:
    """The cleaner's notes about layers that a swap drops."""
    rows = []
    for layer in dropped:
        files = tuple(info.file for info in layer_tree(layer).ranges)
        rows.append(Put(DROPS, layer.id.encode(), encode(Note(ctx.now(), repo.store.uri, files))))
    return rows
