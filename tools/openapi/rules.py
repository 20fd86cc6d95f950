"""The wording rules of `openapi.yaml`: what both generators render faithfully, and nothing else.

Each rule is a function; its name is the name of the rule and the first line of its docstring is the reason, as seen
with the generator versions that are pinned in `pyproject.toml`. Rules take a normalised document (parameters in place)
that is valid OpenAPI; validity itself is not theirs.
"""

import itertools
import keyword
import re
from collections.abc import Callable, Iterator
from typing import Any

from tools.openapi.operation_table import attribute
from tools.openapi.spec import METHODS, Document, Entry, entries, resolve

Complaint = tuple[str, str]
"""Where, and what is wrong there."""
Rule = Callable[[Document], Iterator[Complaint]]

RULES: dict[str, Rule] = {}
INT64 = (-(2**63), 2**63 - 1)
FORMATS = {"date-time", "int32", "int64", "double", "binary"}
JSON = "application/json"
REQUEST_TYPES = {JSON, "application/x-www-form-urlencoded", "multipart/form-data", "application/octet-stream"}
BINARY_TYPES = {"multipart/form-data", "application/octet-stream"}
NESTED = ("items", "additionalProperties", "not", "contains", "propertyNames")
NESTED_LISTS = ("allOf", "anyOf", "oneOf", "prefixItems")
NESTED_MAPS = ("properties", "patternProperties")


def rule(function: Rule) -> Rule:
    """Register a rule under its own name."""
    RULES[function.__name__.replace("_", "-")] = function
    return function


def reason(name: str) -> str:
    """Why a rule exists."""
    return (RULES[name].__doc__ or "").splitlines()[0]


def inner(where: str, schema: Any) -> Iterator[tuple[str, Document]]:
    """A schema and every schema written inside it. References are not followed: their targets are seen by name."""
    if not isinstance(schema, dict):
        return
    yield where, schema
    for word in NESTED:
        yield from inner(f"{where}.{word}", schema.get(word))
    for word in NESTED_LISTS:
        for place, part in enumerate(schema.get(word, ())):
            yield from inner(f"{where}.{word}[{place}]", part)
    for word in NESTED_MAPS:
        for name, part in schema.get(word, {}).items():
            yield from inner(f"{where}.{name}", part)


def named(document: Document) -> dict[str, Document]:
    """The named schemas."""
    return dict(document.get("components", {}).get("schemas", {}))


def parameters(document: Document) -> Iterator[tuple[str, Document]]:
    """Every parameter of every operation."""
    for entry in entries(document):
        for parameter in entry.operation.get("parameters", ()):
            yield f"{entry.name}({parameter['name']})", parameter


def requests(document: Document) -> Iterator[tuple[Entry, str, Document]]:
    """Every content type of every request body, with what it carries."""
    for entry in entries(document):
        content = resolve(document, entry.operation.get("requestBody", {})).get("content", {})
        yield from ((entry, media, value) for media, value in content.items())


def responses(document: Document) -> Iterator[tuple[Entry, str, Document]]:
    """Every response of every operation."""
    for entry in entries(document):
        for code, response in entry.operation.get("responses", {}).items():
            yield entry, str(code), resolve(document, response)


def contents(document: Document) -> Iterator[tuple[str, str, Document]]:
    """Every content type of every request and response: where, the type, what it carries."""
    for entry, media, value in requests(document):
        yield f"{entry.name} request", media, value
    for entry, code, response in responses(document):
        for media, value in response.get("content", {}).items():
            yield f"{entry.name} {code}", media, value


def schemas(document: Document) -> Iterator[tuple[str, Document]]:
    """Every schema of the document, wherever it is written."""
    for name, schema in named(document).items():
        yield from inner(name, schema)
    for where, parameter in parameters(document):
        yield from inner(where, parameter.get("schema"))
    for where, _, value in contents(document):
        yield from inner(where, value.get("schema"))
    for entry, code, response in responses(document):
        for name, header in response.get("headers", {}).items():
            yield from inner(f"{entry.name} {code} {name}", resolve(document, header).get("schema"))


def reachable(document: Document, roots: Iterator[Document]) -> Iterator[tuple[str, Document]]:
    """Every schema that a body made of these roots can hold, references followed."""
    todo = [("body", root) for root in roots]
    seen: set[str] = set()
    while todo:
        for where, part in inner(*todo.pop()):
            yield where, part
            name = part.get("$ref", "").rpartition("/")[2]
            if name and name not in seen:
                seen.add(name)
                todo.append((name, named(document)[name]))


def types(schema: Document) -> list[str]:
    """The types a schema names, null left out."""
    found = schema.get("type", [])
    return [name for name in ([found] if isinstance(found, str) else found) if name != "null"]


def using(document: Document, *words: str) -> Iterator[Complaint]:
    """Complain about every schema that uses one of these words."""
    for where, schema in schemas(document):
        yield from ((where, f"{word!r} is used") for word in words if word in schema)


# The document and its operations


@rule
def openapi_version(document: Document) -> Iterator[Complaint]:
    """null is lost by one generator under 3.0."""
    if document.get("openapi") != "3.1.0":
        yield "openapi", f"{document.get('openapi')!r} instead of '3.1.0'"


@rule
def operation_identity(document: Document) -> Iterator[Complaint]:
    """Names of modules and structs come from the operationId, folders from the one tag, help from the summary."""
    seen: set[str] = set()
    for entry in entries(document):
        own, tags = entry.operation.get("operationId", ""), entry.operation.get("tags", [])
        if not re.fullmatch(r"[a-z][A-Za-z0-9]*", own) or keyword.iskeyword(own):
            yield entry.name, "the operationId is missing or is not a plain name"
        elif attribute(own) in seen:
            yield entry.name, "another operationId gives the same module name"
        seen.add(attribute(own))
        if len(tags) != 1 or not re.fullmatch(r"[a-z][a-z0-9_]*", tags[0]):
            yield entry.name, "exactly one tag in lower case is needed"
        if not entry.operation.get("summary"):
            yield entry.name, "the summary is missing"


@rule
def response_codes(document: Document) -> Iterator[Complaint]:
    """A number as a key is not a status to either generator, and a client can only parse a success that is named."""
    for entry in entries(document):
        codes = list(entry.operation.get("responses", {}))
        for code in codes:
            if not (isinstance(code, str) and re.fullmatch(r"[1-5]\d\d", code)):
                yield entry.name, f"response {code!r} is not a quoted status"
        if not any(str(code).startswith("2") for code in codes):
            yield entry.name, "no 2xx response"


@rule
def error_body(document: Document) -> Iterator[Complaint]:
    """Clients read every error through one schema; after HEAD there is no body to read."""
    for entry, code, response in responses(document):
        content = response.get("content", {})
        reference = content.get(JSON, {}).get("schema", {}).get("$ref")
        if code < "400":
            continue
        if entry.method == "head" and content:
            yield f"{entry.name} {code}", "a body after HEAD"
        if entry.method != "head" and reference != "#/components/schemas/Error":
            yield f"{entry.name} {code}", "the body is not the schema Error"


@rule
def path_overlap(document: Document) -> Iterator[Complaint]:
    """The router picks a path before it checks the method, so one of the two paths would answer 405."""
    methods = {path: {word for word in METHODS if word in item} for path, item in document.get("paths", {}).items()}
    for one, other in itertools.combinations(methods, 2):
        pairs = list(zip(one.split("/"), other.split("/"), strict=False))
        if one.count("/") != other.count("/") or any(a != b and "{" not in a + b for a, b in pairs):
            continue
        same_shape = all(a == b or ("{" in a and "{" in b) for a, b in pairs)
        if same_shape or methods[one] != methods[other]:
            yield one, f"fits the same addresses as {other}"


# Bodies and responses


@rule
def request_type(document: Document) -> Iterator[Complaint]:
    """The client generator drops an operation with any other request type."""
    for entry, media, _ in requests(document):
        if media not in REQUEST_TYPES:
            yield entry.name, f"request type {media}"


@rule
def one_json_request(document: Document) -> Iterator[Complaint]:
    """Of two JSON request types the client generator drops the second."""
    for entry in entries(document):
        media = [name for owner, name, _ in requests(document) if owner == entry and name.endswith("json")]
        if len(media) > 1:
            yield entry.name, f"several JSON request types: {', '.join(media)}"


@rule
def wildcard_type(document: Document) -> Iterator[Complaint]:
    """The client generator omits a response of type */*."""
    for where, media, _ in contents(document):
        if "*" in media:
            yield where, f"content type {media}"


@rule
def one_response_type(document: Document) -> Iterator[Complaint]:
    """Of two types in one response the client generator silently takes the first."""
    for entry, code, response in responses(document):
        if len(response.get("content", {})) > 1:
            yield f"{entry.name} {code}", "several content types"


@rule
def binary_marked(document: Document) -> Iterator[Complaint]:
    """The generated multipart has a constant boundary and its downloads sit in memory: keep bytes out of the client."""
    marked = {entry.name for entry in entries(document) if entry.is_binary}
    for where, media, _ in contents(document):
        if media in BINARY_TYPES and where.split(" ")[0] not in marked:
            yield where, f"{media} without x-binary"


@rule
def binary_schema(document: Document) -> Iterator[Complaint]:
    """Bytes are `type: string, format: binary`: other spellings break the client, and in JSON it would mean base64."""
    for where, media, value in contents(document):
        schema = value.get("schema", {})
        if media == "application/octet-stream" and schema != {"type": "string", "format": "binary"}:
            yield where, "content of unclear type"
    in_json = (value.get("schema", {}) for _, media, value in contents(document) if media == JSON)
    for where, part in reachable(document, in_json):
        if part.get("format") == "binary":
            yield where, "format binary in JSON"
    yield from using(document, "contentMediaType", "contentEncoding")


@rule
def named_schemas(document: Document) -> Iterator[Complaint]:
    """A class without a name of its own gets an invented one, which changes when something is added before it."""
    for where, media, value in contents(document):
        if media == JSON and "$ref" not in value.get("schema", {}):
            yield where, "the JSON body is not a named schema"
    for name, schema in named(document).items():
        for where, part in inner(name, schema):
            if where != name and ("properties" in part or "enum" in part):
                yield where, "an object or an enum inside another schema"


# Parameters


@rule
def header_parameters(document: Document) -> Iterator[Complaint]:
    """An array or a time in a header drops the operation, and testers take a pattern for more than it says."""
    for where, parameter in parameters(document):
        if parameter["in"] == "header" and parameter.get("schema") != {"type": "string"}:
            yield where, "a header that is not a plain string"


@rule
def query_style(document: Document) -> Iterator[Complaint]:
    """Any style but repeated keys is silently sent as repeated keys."""
    for where, parameter in parameters(document):
        if parameter.get("style", "form") != "form" and parameter["in"] == "query":
            yield where, f"style {parameter['style']}"
        if parameter.get("explode", True) is not True:
            yield where, "explode: false"


@rule
def parameter_content(document: Document) -> Iterator[Complaint]:
    """A parameter with a content type is silently dropped."""
    yield from ((where, "content") for where, parameter in parameters(document) if "content" in parameter)


@rule
def parameter_names(document: Document) -> Iterator[Complaint]:
    """One struct and one function take all parameters of an operation, and an argument named body."""
    for entry in entries(document):
        seen: set[str] = set()
        for parameter in entry.operation.get("parameters", ()):
            own = attribute(parameter["name"])
            if own in {"body", "client"}:
                yield entry.name, f"a parameter named {own}"
            if own in seen:
                yield entry.name, f"two parameters named {own}"
            seen.add(own)


@rule
def parameter_default(document: Document) -> Iterator[Complaint]:
    """The client always sends a default, so the server could not see that the parameter is absent."""
    yield from ((where, "default") for where, node in parameters(document) if "default" in node.get("schema", {}))


@rule
def parameter_null(document: Document) -> Iterator[Complaint]:
    """A query cannot say null, but the text null would be read as one."""
    for where, parameter in parameters(document):
        if "null" in parameter.get("schema", {}).get("type", ""):
            yield where, "null"


@rule
def allow_empty_value(document: Document) -> Iterator[Complaint]:
    """Both generators ignore it, and test generators take it for something else."""
    for where, parameter in parameters(document):
        if "allowEmptyValue" in parameter:
            yield where, "allowEmptyValue"


# Schemas


@rule
def schema_names(document: Document) -> Iterator[Complaint]:
    """Of two names that differ by case one is dropped, and a dot wants a folder."""
    seen: dict[str, str] = {}
    for name in named(document):
        if not re.fullmatch(r"[A-Z][A-Za-z0-9]*", name):
            yield name, "not a plain class name"
        if name.lower() in seen:
            yield name, f"differs from {seen[name.lower()]} by case only"
        seen[name.lower()] = name


@rule
def field_names(document: Document) -> Iterator[Complaint]:
    """Other names are renamed, differently by each generator."""
    for where, schema in schemas(document):
        for name in schema.get("properties", {}):
            plain = re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name) and not keyword.iskeyword(name)
            if not plain or name in {"str", "int", "bool", "float", "list", "dict"}:
                yield where, f"a field named {name}"


@rule
def response_enum(document: Document) -> Iterator[Complaint]:
    """A value that a newer server adds would make the client lose the whole response: use x-known-values."""
    bodies = (
        value.get("schema", {}) for _, _, node in responses(document) for value in node.get("content", {}).values()
    )
    for where, part in reachable(document, bodies):
        if "enum" in part or "const" in part:
            yield where, "an enum in a response"


@rule
def union(document: Document) -> Iterator[Complaint]:
    """The server cannot decode a union of objects, and the client guesses by trying in order."""
    for where, schema in schemas(document):
        real = [part for part in schema.get("anyOf", ()) if part != {"type": "null"}]
        if "oneOf" in schema or "discriminator" in schema or "not" in schema or len(real) > 1 or len(types(schema)) > 1:
            yield where, "a union"


@rule
def nullable(document: Document) -> Iterator[Complaint]:
    """The keyword of 3.0 is lost by one generator: write [T, 'null']."""
    yield from using(document, "nullable")


@rule
def known_format(document: Document) -> Iterator[Complaint]:
    """date, uuid, byte, uri and duration become different types on the two sides."""
    for where, schema in schemas(document):
        if "format" in schema and schema["format"] not in FORMATS:
            yield where, f"format {schema['format']}"


@rule
def bounded_integers(document: Document) -> Iterator[Complaint]:
    """Python integers have no end, and storage has: without bounds 2**63 passes validation and breaks later."""
    for where, schema in schemas(document):
        low, high = schema.get("minimum"), schema.get("maximum")
        if "integer" in types(schema) and (low is None or high is None or low < INT64[0] or high > INT64[1]):
            yield where, "an integer without minimum and maximum within 64 bits"


@rule
def closed_object(document: Document) -> Iterator[Complaint]:
    """Both generators ignore additionalProperties: false."""
    for where, schema in schemas(document):
        if schema.get("additionalProperties") is False:
            yield where, "additionalProperties: false"


@rule
def mixed_object(document: Document) -> Iterator[Complaint]:
    """The server loses free fields next to fixed fields: put the free ones into a separate map."""
    for where, schema in schemas(document):
        if schema.get("additionalProperties") and schema.get("properties"):
            yield where, "properties together with additionalProperties"


@rule
def access_words(document: Document) -> Iterator[Complaint]:
    """Both generators ignore them: write one schema for creation and one for the result."""
    yield from using(document, "readOnly", "writeOnly")


@rule
def enum_default(document: Document) -> Iterator[Complaint]:
    """The server would hold text where it expects a member."""
    for where, schema in schemas(document):
        if "default" in schema and "enum" in resolve(document, schema):
            yield where, "an enum with a default"


@rule
def python_pattern(document: Document) -> Iterator[Complaint]:
    r"""Patterns are run by Python and read by others as ECMAScript: no \p{}, \A, \Z, possessive or named groups."""
    for where, schema in schemas(document):
        pattern = schema.get("pattern", "")
        try:
            re.compile(pattern)
        except re.error as error:
            yield where, f"pattern: {error}"
        if re.search(r"\\[pPAZz]|\(\?P|[*+?}]\+", pattern):
            yield where, "pattern outside the common subset"


@rule
def ignored_words(document: Document) -> Iterator[Complaint]:
    """Neither generator checks these words, so no code would keep the promise."""
    yield from using(document, "uniqueItems", "multipleOf", "patternProperties", "prefixItems", "dependentRequired")
