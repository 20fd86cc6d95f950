"""Parses action files: YAML to an Action.

Errors name the file, the line and the hook. They also say which events they block. If the events of the file are not
clear, an error blocks all events, because a rule must not disappear silently.
"""

from __future__ import annotations

import re
from typing import Final, TypeGuard, get_args

from lakebed_hooks import conditions
from lakebed_hooks.contracts.model import parse_contract
from lakebed_hooks.syntax import branches, nodes, properties
from lakebed_hooks.syntax.nodes import Fields, Items, Node, Problem, Scalar
from lakebed_hooks.vocabulary import EVENTS, Action, ActionFile, ActionFileError, BranchFilter, Hook, HookType

MOST_BYTES: Final = 1 << 20
MOST_HOOKS: Final = 100
MOST_PATTERNS: Final = 100
"""Patterns of branches of one event."""
LONGEST_NAME: Final = 256
LONGEST_DESCRIPTION: Final = 10_000

TAG_EVENTS: Final = frozenset(event for event in EVENTS if event.endswith("-tag"))

_NAME = re.compile(r"\w[\w\-. ]+", re.ASCII)
_HOOK_ID = re.compile(r"[_a-zA-Z][\-_a-zA-Z0-9]{1,255}")
_ACTION_KEYS = ("name", "description", "on", "hooks")
_HOOK_KEYS = ("id", "type", "description", "if", "properties")


def parse(file: ActionFile) -> Action:
    """Read an action file. Raises ActionFileError and nothing else."""
    on: dict[str, BranchFilter] = {}
    try:
        top = _fields(nodes.read(_decode(file.content)), "the file")
        _check_events(_needed(top, "on"))
        on = dict.fromkeys(_events(_needed(top, "on")).fields, BranchFilter())
        return _action(file, top)
    except Problem as problem:
        raise ActionFileError(
            f"{file.path} line {problem.line}: {problem.message}",
            path=file.path,
            line=problem.line,
            events=frozenset(on),
        ) from None
    except ActionFileError as error:  # the error of a contract, which does not know the events
        raise ActionFileError(error.message, path=error.path, line=error.line, events=frozenset(on)) from None


def _decode(content: bytes) -> str:
    if len(content) > MOST_BYTES:
        raise Problem(f"the file has {len(content)} bytes, at most {MOST_BYTES}", 1)
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Problem("the file is not UTF-8", content.count(b"\n", 0, error.start) + 1) from None


def _action(file: ActionFile, top: Fields) -> Action:
    _only(top, _ACTION_KEYS, "an action")
    name_node = _needed(top, "name")
    name = _text(name_node, "name", LONGEST_NAME)
    if not _NAME.fullmatch(name):
        raise Problem(
            f"the name {name[:80]!r} must begin with an ASCII letter, a digit or '_', and have at least one more, "
            "'-', '.' or space",
            name_node.line,
        )
    return Action(
        name=name,
        on={event: _filter(event, node) for event, node in _events(_needed(top, "on")).fields.items()},
        hooks=_hooks(file, _needed(top, "hooks")),
        file=file,
        description=_optional(top, "description", LONGEST_DESCRIPTION),
    )


def _events(node: Node) -> Fields:
    on = _fields(node, "'on'")
    if not on.fields:
        raise Problem("'on' names no event", on.line)
    return on


def _check_events(node: Node) -> None:
    on = _events(node)
    for event in on.fields:
        if event not in EVENTS:
            raise Problem(f"unknown event {event[:80]!r}: events are {', '.join(sorted(EVENTS))}", on.lines[event])


def _filter(event: str, node: Node) -> BranchFilter:
    if nodes.is_null(node):
        return BranchFilter()
    fields = _fields(node, f"the event {event}")
    _only(fields, ("branches",), f"the event {event}")
    if "branches" not in fields.fields or nodes.is_null(fields.fields["branches"]):
        return BranchFilter()
    if event in TAG_EVENTS:
        raise Problem(f"the event {event} has no branches, because a tag is not on a branch", fields.lines["branches"])
    listed = fields.fields["branches"]
    if not isinstance(listed, Items):
        raise Problem(f"'branches' of {event} must be a list of patterns", listed.line)
    if len(listed.items) > MOST_PATTERNS:
        raise Problem(f"'branches' of {event} has {len(listed.items)} patterns, at most {MOST_PATTERNS}", listed.line)
    return BranchFilter(tuple(_pattern(event, item) for item in listed.items))


def _pattern(event: str, node: Node) -> str:
    if not isinstance(node, Scalar):
        raise Problem(f"'branches' of {event} must be a list of patterns", node.line)
    try:
        branches.check(node.text)
    except ValueError as error:
        raise Problem(str(error), node.line) from None
    return node.text


def _hooks(file: ActionFile, node: Node) -> tuple[Hook, ...]:
    if not isinstance(node, Items) or not node.items:
        raise Problem("'hooks' must be a list of at least one hook", node.line)
    if len(node.items) > MOST_HOOKS:
        raise Problem(f"'hooks' has {len(node.items)} hooks, at most {MOST_HOOKS}", node.line)
    hooks: dict[str, Hook] = {}
    for number, item in enumerate(node.items, 1):
        hook = _hook(file, item, number)
        if hook.id in hooks:
            raise Problem(f"two hooks have the id {hook.id!r}, the other one in line {hooks[hook.id].line}", hook.line)
        hooks[hook.id] = hook
    return tuple(hooks.values())


def _hook(file: ActionFile, node: Node, number: int) -> Hook:
    fields = _fields(node, f"hook {number}")
    line = fields.line
    label = f"hook {number}"
    try:
        hook_id = _text(_needed(fields, "id"), "id", LONGEST_NAME)
        if not _HOOK_ID.fullmatch(hook_id):
            raise Problem(
                f"the id {hook_id[:80]!r} must be 2 to 256 ASCII letters, digits, '_' and '-', and not begin with a "
                "digit or '-'",
                fields.lines["id"],
            )
        label = f"hook {hook_id!r}"
        _only(fields, _HOOK_KEYS, "a hook")
        of_type = _type(_needed(fields, "type"))
        return Hook(
            id=hook_id,
            type=of_type,
            properties=_properties(file, of_type, fields),
            description=_optional(fields, "description", LONGEST_DESCRIPTION),
            condition=_condition(fields),
            line=line,
        )
    except Problem as problem:
        raise Problem(f"{label}: {problem.message}", problem.line) from None
    except ActionFileError as error:  # its message already has file and line
        raise ActionFileError(f"{error.message} ({label})", path=error.path, line=error.line) from None


def _type(node: Node) -> HookType:
    word = _text(node, "type", LONGEST_NAME)
    if word == "lua":
        raise Problem("hooks of type lua are not offered: use python or webhook", node.line)
    if not _is_type(word):
        raise Problem(f"unknown type {word[:80]!r}: types are {', '.join(get_args(HookType))}", node.line)
    return word


def _is_type(word: str) -> TypeGuard[HookType]:
    return word in get_args(HookType)


def _properties(file: ActionFile, of_type: HookType, hook: Fields) -> dict[str, object]:
    node = hook.fields.get("properties", Fields({}, {}, hook.line))
    if of_type != "contract":
        return properties.read(of_type, node, line=hook.line)
    given = properties.contract(node)
    parse_contract(given, file.path, node.line)
    return given


def _condition(hook: Fields) -> str:
    text = _optional(hook, "if", conditions.LONGEST)
    try:
        conditions.parse(text)
    except conditions.ConditionError as error:
        raise Problem(f"'if': {error.message}", hook.lines["if"]) from None
    return text


def _fields(node: Node, what: str) -> Fields:
    if not isinstance(node, Fields):
        raise Problem(f"{what} must be a mapping of keys to values", node.line)
    return node


def _needed(fields: Fields, key: str) -> Node:
    if key not in fields.fields or nodes.is_null(fields.fields[key]):
        raise Problem(f"the key {key!r} is missing", fields.lines.get(key, fields.line))
    return fields.fields[key]


def _only(fields: Fields, keys: tuple[str, ...], what: str) -> None:
    for key in fields.fields:
        if key not in keys:
            raise Problem(f"{what} has no key {key[:80]!r}: it has {', '.join(keys)}", fields.lines[key])


def _text(node: Node, key: str, longest: int) -> str:
    if not isinstance(node, Scalar):
        raise Problem(f"{key!r} must be text", node.line)
    if len(node.text) > longest:
        raise Problem(f"{key!r} has {len(node.text)} characters, at most {longest}", node.line)
    return node.text


def _optional(fields: Fields, key: str, longest: int) -> str:
    if key not in fields.fields or nodes.is_null(fields.fields[key]):
        return ""
    return _text(fields.fields[key], key, longest)
