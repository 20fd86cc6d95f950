"""Every documented error of the operations on objects, metadata, imports, tasks and the system, one by one.

What a store or another writer does to a request is raised by an engine that fails on purpose; what the client does
wrong is sent. Each answer has the documented status, and the body that all errors have.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from lakebed_engine.vocabulary import errors
from lakebed_wire.operations import ERROR_KINDS, OPERATIONS, Operation

from tests.server.support import FakeEngine, ask, make_app
from tools import spec

DOCUMENT = spec.load(Path(__file__).parents[2] / "openapi.yaml")
SOME = "0" * 64
LINK: dict[str, Any] = {"staging": {"physical_address": "data/x"}, "checksum": "x", "size_bytes": 1}
DUMP = {"commits_meta_range_id": SOME, "tags_meta_range_id": SOME, "branches_meta_range_id": SOME}
PART: dict[str, Any] = {"physical_address": "data/x"}
SOURCE = {"repository": "repo", "ref": "main", "path": "a"}

BODIES: dict[str, Any] = {
    "deleteObjects": {"paths": ["a"]},
    "copyObject": {"src_path": "a"},
    "updateObjectUserMetadata": {"set": {}},
    "stageObject": {"physical_address": "s3://b/a", "checksum": "x", "size_bytes": 1},
    "linkPhysicalAddress": LINK,
    "completePresignMultipartUpload": {**PART, "parts": [{"part_number": 1, "etag": "x"}]},
    "abortPresignMultipartUpload": PART,
    "uploadPart": PART,
    "uploadPartCopy": {**PART, "copy_source": SOURCE},
    "importStart": {"paths": [{"type": "object", "path": "s3://b/a", "destination": "a"}], "commit": {"message": ""}},
    "commitAsync": {"message": "x"},
    "mergeIntoBranchAsync": {},
    "restoreRefs": DUMP,
    "restoreSubmit": DUMP,
}
"""A body that is right, of each operation of this half that needs one."""

MINE = [
    *("getObject", "headObject", "statObject", "listObjects", "uploadObject", "deleteObject", "copyObject"),
    *("uploadObjectPreflight", "updateObjectUserMetadata", "getUnderlyingProperties", "stageObject", "deleteObjects"),
    *("getPhysicalAddress", "linkPhysicalAddress", "getMetaRange", "getRange", "getMetadataObject"),
    *("importStart", "importStatus", "importCancel", "commitAsync", "mergeIntoBranchAsync", "getTask"),
    *("createSymlinkFile", "dumpRefs", "restoreRefs", "dumpSubmit", "dumpStatus", "restoreSubmit", "restoreStatus"),
]
TABLE = {operation.operation_id: operation for operation in OPERATIONS}

RAISED: dict[int, type[errors.EngineError]] = {
    400: errors.InvalidRequestError,
    403: errors.ForeignDeniedError,
    404: errors.BranchNotFoundError,
    409: errors.WorkspaceClosedError,
    410: errors.ObjectGoneError,
    412: errors.PreconditionFailedError,
    416: errors.InvalidRangeError,
    429: errors.TooManyAttemptsError,
    500: errors.OutcomeUnknownError,
    501: errors.NotSupportedError,
    503: errors.StoreUnavailableError,
    507: errors.StoreFullError,
}


class FailingEngine(FakeEngine):
    """Fails with one error, whatever it is asked and by whichever of its parts."""

    def __init__(self, error: errors.EngineError) -> None:
        self._error = error

    def __getattribute__(self, name: str) -> Any:
        error = object.__getattribute__(self, "__dict__").get("_error")
        return super().__getattribute__(name) if error is None or name.startswith("_") else _Part(error)


class _Part:
    def __init__(self, error: errors.EngineError) -> None:
        self._error = error

    def __getattr__(self, name: str) -> _Part:
        return self

    async def __call__(self, *_: object, **__: object) -> Any:
        raise self._error


def documented(operation_id: str) -> list[int]:
    """The error statuses that the document has for an operation."""
    for item in DOCUMENT["paths"].values():
        for operation in item.values():
            if isinstance(operation, dict) and operation.get("operationId") == operation_id:
                return sorted(int(status) for status in operation["responses"] if int(status) >= 400)
    raise AssertionError(operation_id)


def target(operation: Operation) -> str:
    """A path and a query that are right."""
    values = {"repository": "repo", "ref": "main", "branch": "main", "type": "range", "partNumber": "1"}
    path = operation.path
    for parameter in operation.parameters:
        if parameter.place == "path":
            path = path.replace("{" + parameter.name + "}", values.get(parameter.name, SOME))
    query = "path=a&dest_path=b&id=x&task_id=x"
    return f"/api/v1{path}?{query}"


@pytest.mark.parametrize(("name", "status"), [(name, status) for name in MINE for status in documented(name)])
def test_a_documented_error(name: str, status: int) -> None:
    operation = TABLE[name]
    body = BODIES.get(name)
    raw = msgspec.json.encode(body) if body is not None else b"x" if name == "uploadObject" else b""
    error = RAISED.get(status, errors.InvalidRequestError)("the reason")
    headers: dict[str, Any] = {} if name == "uploadObject" else {"content_type": "application/json"}
    answer = ask(
        make_app(FailingEngine(error)), target(operation), operation.method, raw, auth=status != 401, **headers
    )
    assert answer.status == status, answer.body
    assert status in documented(name)
    if operation.method == "HEAD":
        assert answer.body == b""
        return
    told = answer.json
    assert ERROR_KINDS[told["kind"]] == status
    assert told["message"]
    assert told["request_id"] == answer.headers["x-request-id"]


def test_the_table_has_every_body_that_is_needed() -> None:
    assert {name for name in MINE if TABLE[name].body_required and TABLE[name].body} <= BODIES.keys()
