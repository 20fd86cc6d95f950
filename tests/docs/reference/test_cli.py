"""docs/cli.md lists every command, and its exit codes are those of the code."""

from __future__ import annotations

import re

from lakebed import errors
from lakebed.cli.exits import ExitCode, explain

from tests.docs.snippets import ROOT
from tools import cli_reference

PAGE = (ROOT / "docs/cli.md").read_text("utf-8")


def test_the_reference_is_that_of_the_commands() -> None:
    assert PAGE.endswith(cli_reference.BEGIN + "\n" + cli_reference.reference()), "run python tools/cli_reference.py"


def test_every_verb_has_its_documented_options() -> None:
    titles = re.findall(r"^### lakebed (.+)$", PAGE, re.MULTILINE)
    assert {"serve", "config show", "commit", "log", "show", "diff", "merge", "doctor"} <= set(titles)
    for noun, verbs in {
        "repo": "create list show delete",
        "branch": "create list show reset delete",
        "tag": "create list show delete",
        "fs": "ls cat stat rm upload publish download",
    }.items():
        assert {f"{noun} {verb}" for verb in verbs.split()} <= set(titles)


def test_the_exit_codes() -> None:
    section = PAGE.split("## Exit codes", 1)[1].split("\n## ", 1)[0]
    assert {int(code) for code in re.findall(r"^\| (\d+) \|", section, re.MULTILINE)} == set(ExitCode)


def test_every_error_has_a_code() -> None:
    expected = {
        "LakebedError": 1, "NotFoundError": 3, "ObjectNotFoundError": 3, "ObjectGoneError": 3, "AlreadyExistsError": 4,
        "ObjectExistsError": 4, "InvalidRequestError": 2, "AuthenticationError": 6, "PermissionDeniedError": 6,
        "ConflictError": 4, "MergeConflictError": 4, "ConcurrentCommitError": 4, "DirtyBranchError": 4,
        "NothingToCommitError": 5, "PreconditionFailedError": 4, "ThrottledError": 7, "ServerError": 1,
        "ServerUnavailableError": 7, "OutcomeUnknownError": 8, "CommitStateUnknownError": 8, "CorruptTransferError": 1,
        "PartialFailureError": 1, "UnsupportedOperationError": 1, "ConfigurationError": 2, "ProtocolError": 1,
        "WorkspaceClosedError": 4, "ReadOnlyRefError": 2, "SchemaMismatchError": 2, "TableFormatError": 1,
        "StoreFullError": 1, "CorruptDataError": 1, "HookRefusedError": 4, "RunNotFoundError": 3,
    }  # fmt: skip
    found = {
        name: explain(getattr(errors, name)("it failed")).code
        for name in errors.__all__
        if isinstance(getattr(errors, name), type) and issubclass(getattr(errors, name), errors.LakebedError)
    }
    assert found == expected


def test_the_first_matching_rule_is_the_most_specific() -> None:
    failure = explain(errors.CommitStateUnknownError("lost", repository="r", ref="main"))
    assert "lakebed log" in failure.hint
    failure = explain(OSError(28, "No space left on device", "file.csv"))
    assert (failure.code, failure.message) == (1, "No space left on device: file.csv")
    assert "--debug" in explain(RuntimeError("a bug")).hint
