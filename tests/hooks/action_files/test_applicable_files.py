"""Which files apply to a change, as a table."""

from __future__ import annotations

import pytest
from lakebed_hooks import ActionFile
from lakebed_hooks.action_set import ParsedFiles, build
from lakebed_hooks.applicable_files import applicable_files

from tests.hooks.files import file, named

OLD = named("action a", "pre-merge", path="a.yaml")
NEW = named("action a", "pre-merge", "pre-commit", path="a.yaml")
OTHER = named("action b", "pre-merge", path="b.yaml")
RENAMED = file(OLD.content, "z.yaml")
RENAMED_AND_CHANGED = file(NEW.content, "z.yaml")
BROKEN = file("[", "a.yaml")
STILL_BROKEN = file("{", "a.yaml")
BROKEN_ELSEWHERE = file("[", "z.yaml")
NO_NAME = file("on: {pre-merge: }", "z.yaml")

CASES = {
    # case: (head, candidate, what applies without protection); with protection the head's apply
    "nothing": ([], [], []),
    "the same": ([OLD, OTHER], [OLD, OTHER], [OLD, OTHER]),
    "added": ([], [OLD], [OLD]),
    "added to others": ([OTHER], [OTHER, OLD], [OTHER, OLD]),
    "changed": ([OLD], [NEW], [NEW]),
    "removed": ([OLD], [], [OLD]),
    "all but one removed": ([OLD, OTHER], [OTHER], [OTHER, OLD]),
    "renamed": ([OLD], [RENAMED], [RENAMED]),
    "renamed and changed": ([OLD], [RENAMED_AND_CHANGED], [RENAMED_AND_CHANGED]),
    "removed, and another one added": ([OLD], [OTHER], [OTHER, OLD]),
    "removed, and a broken one added": ([OLD], [BROKEN_ELSEWHERE], [BROKEN_ELSEWHERE, OLD]),
    "removed, and one without a name added": ([OLD], [NO_NAME], [NO_NAME, OLD]),
    "broken by the change": ([OLD], [BROKEN], [BROKEN]),
    "broken before and not changed": ([BROKEN], [BROKEN], [BROKEN]),
    "broken before and still broken": ([BROKEN], [STILL_BROKEN], [STILL_BROKEN]),
    "broken before and mended": ([BROKEN], [OLD], [OLD]),
    "broken before and removed": ([BROKEN, OTHER], [OTHER], [OTHER]),
}


@pytest.mark.parametrize("case", CASES)
def test_table(case: str) -> None:
    head, candidate, expected = CASES[case]
    parsed = ParsedFiles()
    assert applicable_files(head=head, candidate=candidate, is_protected=False, parsed=parsed) == expected
    assert applicable_files(head=head, candidate=candidate, is_protected=True, parsed=parsed) == head


@pytest.mark.parametrize("case", CASES)
def test_renamed_action_files_do_not_block_their_change(case: str) -> None:
    head, candidate, _ = CASES[case]
    parsed = ParsedFiles()
    files: list[ActionFile] = applicable_files(head=head, candidate=candidate, is_protected=False, parsed=parsed)
    assert [error.message for error in build(files, parsed).errors if "have the name" in error.message] == []
