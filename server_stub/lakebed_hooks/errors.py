"""The errors of this package. Messages name the action file, the hook and the line."""

from __future__ import annotations


class HookError(Exception):
    """The root."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class ActionFileError(HookError):
    """An action file cannot be used. `events`: the events that it blocks. Empty: all, because it cannot be parsed."""

    def __init__(self, message: str, *, path: str, line: int = 0, events: frozenset[str] = frozenset()) -> None:
        super().__init__(message)
        self.path = path
        self.line = line
        self.events = events

    def __reduce__(self) -> tuple[object, ...]:
        return _action_file_error, (self.message, self.path, self.line, self.events)


def _action_file_error(message: str, path: str, line: int, events: frozenset[str]) -> ActionFileError:
    return ActionFileError(message, path=path, line=line, events=events)
