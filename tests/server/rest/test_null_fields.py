"""JSON null in an optional field of a request body is not a value, for every operation of openapi.yaml.

The bodies are made from the document itself, so a new operation or field is checked without a line here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lakebed_wire.operations import OPERATIONS

from tests.server.binding import body, refused
from tools.openapi import spec

DOCUMENT: Any = spec.load(Path(__file__).resolve().parents[3] / "openapi.yaml")
JSON = "application/json"
Schema = dict[str, Any]
Path_ = tuple[str, ...]


def resolved(schema: Schema) -> Schema:
    """A schema without its reference, and with the parts of its `allOf` as one."""
    while "$ref" in schema:
        found: Any = DOCUMENT
        for step in schema["$ref"].removeprefix("#/").split("/"):
            found = found[step]
        schema = found
    for part in schema.get("allOf", ()):
        more = resolved(part)
        schema = {
            **more,
            **schema,
            "properties": {**more.get("properties", {}), **schema.get("properties", {})},
            "required": [*more.get("required", ()), *schema.get("required", ())],
        }
    return schema


def example(schema: Schema, name: str = "") -> Any:
    """The smallest value of a schema: required fields only."""
    schema = resolved(schema)
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type", "object")
    if kind == "object":
        return {key: example(schema["properties"][key], key) for key in schema.get("required", ())}
    if kind == "array":
        return [example(schema["items"], name) for _ in range(max(1, schema.get("minItems", 1)))]
    if kind == "string":
        shapes = {"^[0-9a-f]{32}$": "0" * 32, "^[0-9a-v]{20}$": "0" * 20, "^(s3|gs": "local://sales"}
        pattern = schema.get("pattern", "")
        shaped = next((value for start, value in shapes.items() if pattern.startswith(start)), "sales")
        return shaped.ljust(schema.get("minLength", 0), "x")
    return {"integer": max(1, schema.get("minimum", 1)), "number": 1.0, "boolean": True}[kind]


def optional_fields(schema: Schema, at: Path_ = (), within: tuple[Any, ...] = ()) -> Iterator[Path_]:
    """The path of each optional field."""
    schema = resolved(schema)
    if any(schema is outer for outer in within):
        return
    within = (*within, schema)
    if schema.get("type") == "array":
        yield from optional_fields(schema["items"], (*at, "[]"), within)
        return
    for name, field in schema.get("properties", {}).items():
        if name not in schema.get("required", ()):
            yield (*at, name)
        yield from optional_fields(field, (*at, name), within)


def with_null(value: Any, schema: Schema, path: Path_) -> Any:
    """The example with null in the field at `path`. What leads to the field is made where it is optional itself."""
    schema = resolved(schema)
    step, rest = path[0], path[1:]
    if step == "[]":
        return [with_null(one, schema["items"], rest) for one in value]
    if not rest:
        return {**value, step: None}
    inner = schema["properties"][step]
    return {**value, step: with_null(value.get(step, example(inner)), inner, rest)}


def json_bodies() -> dict[str, Schema]:
    found = {}
    for entry in spec.entries(DOCUMENT):
        content = resolved(entry.operation.get("requestBody", {})).get("content", {})
        if JSON in content:
            found[str(entry.operation["operationId"])] = content[JSON]["schema"]
    return found


BODIES = json_bodies()
CASES = [(name, path) for name, schema in BODIES.items() for path in optional_fields(schema)]


def test_the_document_has_the_bodies_of_the_table() -> None:
    assert set(BODIES) == {operation.operation_id for operation in OPERATIONS if operation.body is not None}
    assert ("linkPhysicalAddress", ("staging", "presigned_url")) in CASES
    assert ("createBranch", ("force",)) in CASES
    assert len(CASES) > 60


@pytest.mark.parametrize(
    ("operation", "path"), CASES, ids=lambda value: value if isinstance(value, str) else ".".join(value)
)
def test_null_in_an_optional_field_is_no_value(operation: str, path: Path_) -> None:
    schema = BODIES[operation]
    sent = with_null(example(schema), schema, path)
    kept = json.loads(json.dumps(sent), object_hook=lambda one: {k: v for k, v in one.items() if v is not None})
    assert body(operation, json.dumps(sent).encode()) == body(operation, json.dumps(kept).encode())


@pytest.mark.parametrize("operation", sorted(BODIES))
def test_null_in_a_required_field_is_refused(operation: str) -> None:
    schema = BODIES[operation]
    for name in resolved(schema).get("required", ()):
        sent = {**example(schema), name: None}
        assert refused(body, operation, json.dumps(sent).encode()).message.startswith(f"body {name}: ")


def test_null_as_a_value_of_metadata_is_refused() -> None:
    sent = b'{"message": "m", "date": null, "metadata": {"k": null}}'
    assert refused(body, "commit", sent).message == "body metadata[...]: Expected `str`, got `null`"
