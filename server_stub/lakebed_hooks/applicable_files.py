"""Which action files of a repository apply to a change.

On a protected branch only the files of its head before the change apply, so that a change cannot disable its own check.
On other branches the files of the candidate apply, so that a branch can try new rules. Files that the candidate removes
apply as well.
"""

from __future__ import annotations

from collections.abc import Sequence

from lakebed_hooks.action_set import ParsedFiles
from lakebed_hooks.vocabulary import Action, ActionFile


def applicable_files(
    *, head: Sequence[ActionFile], candidate: Sequence[ActionFile], is_protected: bool, parsed: ParsedFiles
) -> list[ActionFile]:
    """Return the files that apply to a change from `head`, the destination before it, to `candidate`.

    On a branch without protection, two kinds of removed files do not apply: unreadable files, because otherwise no
    commit could repair them; and files whose action name the candidate also has, because the file was renamed.
    """
    if is_protected:
        return list(head)
    paths = {file.path for file in candidate}
    actions = [parsed.get(file) for file in candidate]
    names = {action.name for action in actions if isinstance(action, Action)}
    removed = [file for file in head if file.path not in paths]
    kept = [file for file in removed if isinstance(action := parsed.get(file), Action) and action.name not in names]
    return [*candidate, *kept]
