"""Action files of a repository that are not in its data, so that no change of the data can change them."""

from __future__ import annotations

from typing import Final

import msgspec

from lakebed_engine.operations.context import Context, decode_repository, encode, open_repo
from lakebed_engine.operations.events.rows import event_rows
from lakebed_engine.operations.keys import HOOK_SETTINGS, REPOSITORIES, text_key
from lakebed_engine.operations.retry import retry_on_conflict
from lakebed_engine.operations.validation import check_bounded
from lakebed_engine.stores.kv.base import Batch, Check, Put
from lakebed_engine.vocabulary.errors import (
    InvalidRequestError,
    OutcomeUnknownError,
    PreconditionFailedError,
    PredicateFailed,
    RepositoryNotFoundError,
)
from lakebed_engine.vocabulary.events import NewEvent
from lakebed_engine.vocabulary.hooks import MAX_ACTION_FILE, MOST_ACTION_FILES, HookSettings

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
    digest = settings.digest
    lost: OutcomeUnknownError | None = None

    async def attempt() -> bool | None:
        nonlocal lost
        found = await ctx.kv.get(REPOSITORIES, text_key(repo_name))
        record = None if found is None else decode_repository(found.value)
        if found is None or record is None or record.uid != repo.record.uid:
            raise lost or RepositoryNotFoundError(
                f"repository {repo_name!r} not found: it was deleted during the request"
            )
        if lost is None and if_match not in (None, record.hooks):
            raise PreconditionFailedError(
                f"hook settings of {repo_name!r}: they have changed (If-Match): nothing was set; read them again"
            )
        if record.hooks == digest:
            return True
        if lost is not None:  # the lost batch may be applied later
            raise lost
        event = NewEvent(type="hooks.changed", data={"actions": sorted(settings.actions)})
        puts = [
            Put(REPOSITORIES, text_key(repo_name), encode(msgspec.structs.replace(record, hooks=digest))),
            Put(repo.partition, HOOK_SETTINGS, content),
            *event_rows(ctx, repo, event),
        ]
        try:
            await ctx.kv.apply(Batch([Check(REPOSITORIES, text_key(repo_name), found.version)], puts))
        except PredicateFailed:
            return None
        except OutcomeUnknownError as error:
            lost = error
            return None
        return True

    await retry_on_conflict(f"repository {repo_name!r}", attempt)


def _check(settings: HookSettings) -> None:
    if len(settings.actions) > MOST_ACTION_FILES:
        raise InvalidRequestError(f"action files: {len(settings.actions)}, at most {MOST_ACTION_FILES}")
    for name, content in settings.actions.items():
        check_bounded("name of an action file", name, MAX_NAME, least=1)
        check_bounded(f"action file {name[:80]!r}", content, MAX_ACTION_FILE)
