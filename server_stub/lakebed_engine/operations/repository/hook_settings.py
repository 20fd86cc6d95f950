"""Action files of a repository that are not in its data, so that no change of the data can change them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from lakebed_engine.operations.context import Context, encode, open_repo
from lakebed_engine.operations.events.rows import event_rows
from lakebed_engine.operations.keys import HOOK_SETTINGS
from lakebed_engine.operations.retry import change_record
from lakebed_engine.operations.validation import check_bounded
from lakebed_engine.stores.kv.base import Put
from lakebed_engine.vocabulary.errors import (
    InvalidRequestError,
    PreconditionFailedError,
)
from lakebed_engine.vocabulary.events import NewEvent
from lakebed_engine.vocabulary.hooks import MAX_ACTION_FILE, MOST_ACTION_FILES, HookSettings
from lakebed_engine.vocabulary.records import Repository

MAX_NAME: Final = 256
_settings = msgspec.json.Decoder(HookSettings)


async def get_hook_settings(ctx: Context, repo_name: str) -> HookSettings:
    """The action files of the settings of a repository."""
    repo = await open_repo(ctx, repo_name)
    if not repo.record.hooks:
        return HookSettings()
    found = await ctx.kv.get(repo.partition, HOOK_SETTINGS)
    return HookSettings() if found is None else _settings.decode(found.value)


async def set_hook_settings(
    ctx: Context, repo_name: str, settings: HookSettings, *, if_match: str | None = None
) -> None:
    """Replace the action files of the settings. The caller has parsed them.

    `if_match`: only if the current settings have this digest, `""` for none. Raises PreconditionFailedError and
    InvalidRequestError.
    """
    _check(settings)
    repo = await open_repo(ctx, repo_name)
    content = encode(HookSettings(dict(sorted(settings.actions.items()))))

    def changed(record: Repository) -> Repository:
        if if_match not in (None, record.hooks):
            raise PreconditionFailedError(
                f"hook settings of {repo_name!r}: they have changed (If-Match): nothing was set; read them again"
            )
        return msgspec.structs.replace(record, hooks=settings.digest)

    def rows(_before: Repository, _after: Repository) -> Sequence[Put]:
        event = NewEvent(type="hooks.changed", data={"actions": sorted(settings.actions)})
        return [Put(repo.partition, HOOK_SETTINGS, content), *event_rows(ctx, repo, event)]

    await change_record(ctx, repo, changed, lambda one, other: one.hooks == other.hooks, rows)


def _check(settings: HookSettings) -> None:
    if len(settings.actions) > MOST_ACTION_FILES:
        raise InvalidRequestError(f"action files: {len(settings.actions)}, at most {MOST_ACTION_FILES}")
    for name, content in settings.actions.items():
        check_bounded("name of an action file", name, MAX_NAME, least=1)
        check_bounded(f"action file {name[:80]!r}", content, MAX_ACTION_FILE)
