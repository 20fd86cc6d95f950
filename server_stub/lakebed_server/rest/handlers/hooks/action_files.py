"""Action files that clients send: to be checked, as settings of a repository, or as objects."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Mapping
from typing import Final

from lakebed_engine.vocabulary.hooks import MAX_ACTION_FILE, HookSettings
from lakebed_hooks import action_files, action_set
from lakebed_hooks.vocabulary import ActionFile, ActionFileError
from lakebed_wire import models
from lakebed_wire import operations as ops

from lakebed_server.http.request import Call
from lakebed_server.http.responses import Reply, empty, json
from lakebed_server.vocabulary import Header, bad_request

_LONGEST_WARNING: Final = 1000


async def validate_action(call: Call, p: ops.ValidateActionParams, body: models.ActionFile) -> Reply:
    """validateAction."""
    complaint = await asyncio.to_thread(_complaint, body.name, body.content.encode())
    if complaint:
        raise bad_request(complaint)
    return empty()


async def get_hook_settings(call: Call, p: ops.GetHookSettingsParams) -> Reply:
    """getHookSettings. The entity tag has no quotes, as that of protection rules."""
    found = await call.engine.hooks.settings(p.repository)
    return json(200, models.HookSettings(actions=found.actions), ((b"etag", found.digest.encode()),))


async def set_hook_settings(call: Call, p: ops.SetHookSettingsParams, body: models.HookSettings) -> Reply:
    """setHookSettings."""
    # not from the parameters, where an empty header counts as missing: here it means that there are no action files
    sent = call.headers.get(b"if-match")
    wanted = None if sent is None else sent.decode("latin-1").strip().strip('"')
    complaint = await asyncio.to_thread(_complaint_about_all, body.actions)
    if complaint:
        raise bad_request(complaint)
    await call.engine.hooks.replace_settings(p.repository, HookSettings(body.actions), if_match=wanted)
    return empty()


async def kept(chunks: AsyncIterator[bytes], into: bytearray) -> AsyncIterator[bytes]:
    """Passes the bytes on, and keeps those of an action file."""
    async for chunk in chunks:
        if len(into) <= MAX_ACTION_FILE:
            into += chunk
        yield chunk


async def warning(path: str, content: bytes) -> tuple[Header, ...]:
    """The header that says why a stored action file has no effect. None for a valid file."""
    complaint = await asyncio.to_thread(_complaint, path, content)
    text = " ".join(complaint.split())[:_LONGEST_WARNING]
    return ((b"x-lakebed-warning", text.encode("ascii", "backslashreplace")),) if text else ()


def _complaint(name: str, content: bytes) -> str:
    """Why a file cannot be used, or an empty text. The check of a large file takes seconds."""
    if len(content) > MAX_ACTION_FILE:
        return f"{name}: an action file has at most {MAX_ACTION_FILE:,} bytes"
    try:
        action_files.parse(_file(name, content))
    except ActionFileError as error:
        return error.message
    return ""


def _complaint_about_all(actions: Mapping[str, str]) -> str:
    files = [_file(name, content.encode()) for name, content in actions.items()]
    errors = action_set.build(files, action_set.ParsedFiles()).errors if files else ()
    return errors[0].message if errors else ""


def _file(name: str, content: bytes) -> ActionFile:
    return ActionFile(name, hashlib.sha256(content).hexdigest(), content, "settings")
