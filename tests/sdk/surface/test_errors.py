"""The error tree: pickled, documented, and the same words as the server."""

from __future__ import annotations

import inspect
import pickle
import re
from pathlib import Path

import lakebed
import pytest
import yaml
from lakebed import errors
from lakebed._gateway import error_answers

ROOT = Path(__file__).resolve().parents[3]
CLASSES = [
    value
    for value in vars(errors).values()
    if inspect.isclass(value) and issubclass(value, errors.LakebedError) and value.__module__ == errors.__name__
]


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_every_error_survives_pickle(cls: type[errors.LakebedError]) -> None:
    error = cls("it broke", status=418, request_id="r1", operation="op", repository="repo", ref="main", path="a/b")
    if isinstance(error, errors.ConflictError):
        error.with_conflicts([errors.Conflict("p", None, "1", "2")], True)
    if isinstance(error, errors.ThrottledError):
        error.retry_after = 2.5
    if isinstance(error, errors.CommitStateUnknownError):
        error.operation_id = "abc"
    if isinstance(error, errors.PartialFailureError):
        error.failures = (errors.ObjectFailure("p", 403, "no"),)
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is cls
    assert str(again) == "it broke"
    assert again.args == error.args
    assert vars(again) == vars(error)
    assert again.kind == cls.default_kind


def test_builtin_parents() -> None:
    with pytest.raises(FileNotFoundError) as caught:
        raise errors.ObjectNotFoundError("no object", path="x")
    assert caught.value.errno == 2
    assert issubclass(errors.ObjectExistsError, FileExistsError)
    assert issubclass(errors.NotFoundError, LookupError)
    assert issubclass(errors.InvalidRequestError, ValueError)
    assert issubclass(errors.AuthenticationError, PermissionError)
    assert issubclass(errors.ServerUnavailableError, ConnectionError)
    assert issubclass(errors.CorruptTransferError, OSError)


def test_every_error_is_public() -> None:
    assert {cls.__name__ for cls in CLASSES} <= set(lakebed.__all__)
    assert {cls.__name__ for cls in CLASSES} | {"Conflict", "Conflicts", "ObjectFailure", "SchemaDifference"} == set(
        errors.__all__
    )
    assert errors.__all__ == sorted(errors.__all__)
    assert all(cls.__doc__ for cls in CLASSES)


def test_every_kind_of_the_server_has_a_class_and_no_other_is_known() -> None:
    spec = yaml.load((ROOT / "openapi.yaml").read_text(), Loader=yaml.CSafeLoader)
    kinds = spec["x-error-kinds"]
    assert set(error_answers.BY_KIND) == set(kinds)
    assert {status for status in kinds.values() if status not in (500, 507)} <= set(error_answers.BY_STATUS)


def _documented() -> dict[str, tuple[str, ...]]:
    """name -> (our parent, builtin parent) as the drawing in docs/errors.md says."""
    page = (ROOT / "docs" / "errors.md").read_text()
    drawing = page.split("```")[1]
    found: dict[str, tuple[str, ...]] = {}
    parents: list[str] = []
    for line in filter(None, drawing.splitlines()):
        match = re.search(r"(\w+Error)(?: \((\w+)\))?$", line)
        assert match, line
        depth = match.start() // 4
        parents[depth:] = [match[1]]
        found[match[1]] = tuple(filter(None, (parents[depth - 1] if depth else "Exception", match[2])))
    return found


def test_the_tree_in_the_docs_is_the_tree_of_classes() -> None:
    assert _documented() == {cls.__name__: tuple(base.__name__ for base in cls.__bases__) for cls in CLASSES}


def test_every_error_has_its_row_in_the_docs() -> None:
    page = (ROOT / "docs" / "errors.md").read_text()
    rows = re.findall(r"^\| `(\w+Error)` \|", page, re.MULTILINE)
    assert sorted(rows) == sorted(cls.__name__ for cls in CLASSES)


def test_every_error_named_in_a_docstring_exists() -> None:
    for path in (ROOT / "sdk" / "lakebed" / "_async").rglob("*.py"):
        for described in re.findall(r'"""(.*?)"""', path.read_text(), re.DOTALL):
            for name in re.findall(r"\b[A-Z]\w+Error\b", described):
                assert hasattr(errors, name), f"{path.name}: {name}"
