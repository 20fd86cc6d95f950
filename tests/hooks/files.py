"""Action files for tests."""

from __future__ import annotations

import hashlib
import textwrap

import pytest
from lakebed_hooks import Action, ActionFile, ActionFileError
from lakebed_hooks.action_files import parse

PATH = "_lakebed_actions/checks.yaml"

WEBHOOK = """
name: checks
on:
  pre-merge:
    branches: [main, "release-*"]
hooks:
  - id: schema
    type: webhook
    properties:
      url: https://checks.example.com/schema
"""


def file(content: str | bytes, path: str = PATH, origin: str = "repository") -> ActionFile:
    data = textwrap.dedent(content).encode() if isinstance(content, str) else content
    return ActionFile(path, hashlib.sha256(data).hexdigest(), data, origin)


def named(name: str, *events: str, path: str = PATH, origin: str = "repository") -> ActionFile:
    """An action of a name that calls a webhook for events."""
    on = ", ".join(f"{event}: null" for event in events)
    hook = "{id: hook, type: webhook, properties: {url: 'https://example.com'}}"
    return file(f"{{name: {name}, on: {{{on}}}, hooks: [{hook}]}}", path, origin)


def action(content: str | bytes) -> Action:
    return parse(file(content))


def refused(content: str | bytes) -> ActionFileError:
    """The error of a file."""
    with pytest.raises(ActionFileError) as caught:
        parse(file(content))
    error = caught.value
    assert error.path == PATH
    assert error.line >= 1
    assert error.message.startswith(f"{PATH} line {error.line}: ")
    assert "\n" not in error.message
    return error
