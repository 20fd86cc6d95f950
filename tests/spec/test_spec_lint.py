"""Every wording rule catches a minimal bad document, and the real document passes them all."""

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml

from tools.lint import spec_lint
from tools.openapi import spec
from tools.openapi.rules import RULES, reason

ROOT = Path(__file__).resolve().parents[2]

GOOD = """
openapi: 3.1.0
info: {title: Good, version: '1'}
paths:
  /things/{thing}:
    parameters:
      - {name: thing, in: path, required: true, schema: {type: string}}
    get:
      operationId: getThing
      tags: [things]
      summary: Get it.
      parameters:
        - {name: sizes, in: query, schema: {type: array, items: {type: integer, minimum: 0, maximum: 9}}}
        - {name: If-Match, in: header, schema: {type: string}}
      responses:
        '200': {description: It., content: {application/json: {schema: {$ref: '#/components/schemas/Thing'}}}}
        '404': {description: No., content: {application/json: {schema: {$ref: '#/components/schemas/Error'}}}}
    put:
      operationId: putThing
      tags: [things]
      summary: Put it.
      requestBody:
        content: {application/json: {schema: {$ref: '#/components/schemas/ThingCreation'}}}
      responses:
        '204': {description: Done.}
    head:
      operationId: headThing
      x-binary: true
      tags: [things]
      summary: Look at it.
      responses:
        '200': {description: It., content: {application/octet-stream: {schema: {type: string, format: binary}}}}
        '404': {description: No.}
components:
  schemas:
    Error: {type: object, required: [message], properties: {message: {type: string}}}
    Mode: {type: string, enum: [fast, slow]}
    Thing:
      type: object
      properties:
        name: {type: string}
        note: {type: [string, 'null']}
        size: {type: integer, format: int64, minimum: 0, maximum: 9223372036854775807}
        metadata: {type: object, additionalProperties: {type: string}}
        parent: {anyOf: [{$ref: '#/components/schemas/Thing'}, {type: 'null'}]}
    ThingCreation: {type: object, properties: {mode: {$ref: '#/components/schemas/Mode'}}}
"""

ITEM = ("paths", "/things/{thing}")
GET, PUT, HEAD = (*ITEM, "get"), (*ITEM, "put"), (*ITEM, "head")
PUT_CONTENT = (*PUT, "requestBody", "content")
OK_CONTENT = (*GET, "responses", "200", "content")
QUERY, HEADER = (*GET, "parameters", 0), (*GET, "parameters", 1)
SCHEMAS = ("components", "schemas")
NAME, SIZE = (*SCHEMAS, "Thing", "properties", "name"), (*SCHEMAS, "Thing", "properties", "size")
TEXT = {"type": "string"}
GONE = object()

# rule, where to change the good document, what to put there
BAD: list[tuple[str, tuple[str | int, ...], Any]] = [
    ("openapi-version", ("openapi",), "3.0.3"),
    ("operation-identity", (*GET, "operationId"), GONE),
    ("operation-identity", (*GET, "operationId"), "import"),
    ("operation-identity", (*GET, "operationId"), "put_thing"),
    ("operation-identity", (*GET, "operationId"), "putThing"),
    ("operation-identity", (*GET, "tags"), ["one", "two"]),
    ("operation-identity", (*GET, "tags"), ["My Tag!"]),
    ("operation-identity", (*GET, "summary"), GONE),
    ("response-codes", (*GET, "responses", 404), {"description": "A number."}),
    ("response-codes", (*GET, "responses", "4XX"), {"description": "A range."}),
    ("response-codes", (*PUT, "responses", "204"), GONE),
    ("error-body", (*GET, "responses", "404", "content"), GONE),
    ("error-body", (*HEAD, "responses", "404", "content"), {"application/json": {"schema": TEXT}}),
    ("path-overlap", ("paths", "/things/{other}"), {"get": {}}),
    ("path-overlap", ("paths", "/{any}/fixed"), {"post": {}}),
    ("request-type", (*PUT_CONTENT, "text/plain"), {"schema": TEXT}),
    ("one-json-request", (*PUT_CONTENT, "application/merge-patch+json"), {"schema": TEXT}),
    ("wildcard-type", (*OK_CONTENT, "*/*"), {"schema": TEXT}),
    ("one-response-type", (*OK_CONTENT, "text/plain"), {"schema": TEXT}),
    ("binary-marked", (*HEAD, "x-binary"), GONE),
    ("binary-schema", (*HEAD, "responses", "200", "content", "application/octet-stream", "schema"), {}),
    ("binary-schema", (*NAME, "format"), "binary"),
    ("binary-schema", (*NAME, "contentMediaType"), "application/octet-stream"),
    ("named-schemas", (*OK_CONTENT, "application/json", "schema"), {"type": "object"}),
    ("named-schemas", NAME, {"type": "object", "properties": {"inside": TEXT}}),
    ("named-schemas", (*SCHEMAS, "ThingCreation", "properties", "mode"), {"type": "string", "enum": ["fast"]}),
    ("header-parameters", (*HEADER, "schema"), {"type": "array", "items": TEXT}),
    ("header-parameters", (*HEADER, "schema", "format"), "date-time"),
    ("header-parameters", (*HEADER, "schema", "pattern"), "^a$"),
    ("query-style", (*QUERY, "style"), "pipeDelimited"),
    ("query-style", (*QUERY, "style"), "deepObject"),
    ("query-style", (*QUERY, "explode"), False),
    ("parameter-content", QUERY, {"name": "sizes", "in": "query", "content": {"application/json": {"schema": TEXT}}}),
    ("parameter-names", (*QUERY, "name"), "body"),
    ("parameter-names", (*QUERY, "name"), "client"),
    ("parameter-names", (*QUERY, "name"), "thing"),
    ("parameter-default", (*QUERY, "schema", "default"), []),
    ("parameter-null", (*QUERY, "schema", "type"), ["array", "null"]),
    ("allow-empty-value", (*QUERY, "allowEmptyValue"), True),
    ("schema-names", (*SCHEMAS, "THING"), TEXT),
    ("schema-names", (*SCHEMAS, "Thing.Part"), TEXT),
    ("field-names", (*SCHEMAS, "Thing", "properties", "from"), TEXT),
    ("field-names", (*SCHEMAS, "Thing", "properties", "x-y"), TEXT),
    ("field-names", (*SCHEMAS, "Thing", "properties", "_p"), TEXT),
    ("field-names", (*SCHEMAS, "Thing", "properties", "list"), TEXT),
    ("response-enum", NAME, {"$ref": "#/components/schemas/Mode"}),
    ("response-enum", (*NAME, "const"), "fixed"),
    ("union", NAME, {"oneOf": [TEXT, {"type": "boolean"}]}),
    ("union", NAME, {"anyOf": [TEXT, {"type": "boolean"}]}),
    ("union", (*NAME, "type"), ["string", "boolean"]),
    ("union", (*SCHEMAS, "Thing", "discriminator"), {"propertyName": "name"}),
    ("nullable", (*NAME, "nullable"), True),
    ("known-format", (*NAME, "format"), "uuid"),
    ("known-format", (*NAME, "format"), "date"),
    ("bounded-integers", (*SIZE, "maximum"), GONE),
    ("bounded-integers", (*SIZE, "minimum"), GONE),
    ("bounded-integers", (*SIZE, "maximum"), 2**63),
    ("bounded-integers", (*QUERY, "schema", "items", "maximum"), GONE),
    ("closed-object", (*SCHEMAS, "Thing", "additionalProperties"), False),
    ("mixed-object", (*SCHEMAS, "Thing", "additionalProperties"), TEXT),
    ("access-words", (*NAME, "readOnly"), True),
    ("access-words", (*NAME, "writeOnly"), True),
    ("enum-default", (*SCHEMAS, "Mode", "default"), "fast"),
    ("enum-default", (*SCHEMAS, "ThingCreation", "properties", "mode", "default"), "fast"),
    ("python-pattern", (*NAME, "pattern"), r"^\p{L}+$"),
    ("python-pattern", (*NAME, "pattern"), r"^a\Z"),
    ("python-pattern", (*NAME, "pattern"), "(?P<a>b)"),
    ("ignored-words", (*QUERY, "schema", "uniqueItems"), True),
    ("ignored-words", (*SIZE, "multipleOf"), 2),
]


def good() -> spec.Document:
    return copy.deepcopy(PARSED)


PARSED: spec.Document = yaml.safe_load(GOOD)


def changed(where: tuple[str | int, ...], value: Any) -> spec.Document:
    document = good()
    node: Any = document
    for step in where[:-1]:
        node = node[step]
    if value is GONE:
        del node[where[-1]]
    else:
        node[where[-1]] = copy.deepcopy(value)
    return document


def rules_broken(document: spec.Document) -> set[str]:
    return {finding.rule for finding in spec_lint.lint(document)}


def test_the_minimal_document_is_good() -> None:
    assert spec_lint.invalid(good()) == []
    assert spec_lint.lint(good()) == []


@pytest.mark.parametrize(("rule", "where", "value"), BAD)
def test_a_rule_catches_its_construct(rule: str, where: tuple[str | int, ...], value: Any) -> None:
    assert rule in rules_broken(changed(where, value))


def test_every_rule_is_shown_to_catch_something_and_gives_its_reason() -> None:
    assert {rule for rule, _, _ in BAD} == set(RULES)
    assert [name for name in RULES if len(reason(name)) < 20] == []


def test_overlap_is_allowed_where_the_literal_path_has_the_same_methods() -> None:
    document = good()
    document["paths"]["/things/all"] = copy.deepcopy(document["paths"]["/things/{thing}"])
    assert "path-overlap" not in rules_broken(document)


def test_a_form_may_hold_bytes_in_a_named_schema() -> None:
    document = changed(
        (*SCHEMAS, "Upload"), {"type": "object", "properties": {"content": {**TEXT, "format": "binary"}}}
    )
    document["paths"]["/uploads"] = {"post": {**copy.deepcopy(PARSED["paths"]["/things/{thing}"]["put"])}}
    post = document["paths"]["/uploads"]["post"]
    reference = {"$ref": "#/components/schemas/Upload"}
    post |= {
        "operationId": "upload",
        "x-binary": True,
        "requestBody": {"content": {"multipart/form-data": {"schema": reference}}},
    }
    assert rules_broken(document) == set()


@pytest.mark.soak  # the job `generated` of `make check` and `make test` does the same
def test_the_api_document_passes(capsys: pytest.CaptureFixture[str]) -> None:
    assert spec_lint.main([str(ROOT / "openapi.yaml")]) == 0
    assert capsys.readouterr().err == ""


def test_a_finding_names_the_place_the_rule_and_the_reason(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad = tmp_path / "bad.yaml"
    bad.write_text(yaml.safe_dump(changed((*NAME, "format"), "uuid")), encoding="utf-8")
    assert spec_lint.main([str(bad)]) == 1
    assert capsys.readouterr().err == f"Thing.name: format uuid [known-format: {reason('known-format')}]\n"


def test_a_document_that_is_not_openapi_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad = tmp_path / "bad.yaml"
    bad.write_text(yaml.safe_dump(changed(("info",), GONE)), encoding="utf-8")
    assert spec_lint.main([str(bad)]) == 1
    assert "info" in (said := capsys.readouterr().err)
    assert "is a required property" in said  # the quotes around the name are the validator's


def test_continuations_inside_of_braces_are_indented() -> None:
    wrong = "a:\n  b: {type: string, description: A long\n  text.}\n  c: 1\n"
    assert spec_lint.misread(wrong) == ["line 3: indent it further than the line with the opening brace"]
    right = "a:\n  b: {type: string, description: A long\n    text.}\n  '/{c}': {type: string}\n  d: some {braces}\n"
    assert spec_lint.misread(right) == []
