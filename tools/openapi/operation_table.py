"""Write `lakebed_wire.operations`: what the server must know of every operation to bind requests to handlers.

Called by `tools.generate` with a normalised document. It writes text only: bodies come from the models that
datamodel-code-generator makes, and formatting is left to ruff.
"""

import keyword
import re
from collections.abc import Iterator
from typing import Any

from tools.openapi.spec import Document, Entry, entries

PREAMBLE = '''"""The operations of the API, their parameters and the kinds of error, for the server to bind requests.

Made from openapi.yaml, together with `models`. It holds no behaviour.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Final, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, field

from . import models


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter as it is named and written on the wire."""

    name: str
    place: Literal["path", "query", "header"]
    is_array: bool
    is_bool: bool
    is_time: bool


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation. `path` is below `API_PREFIX`. `body` is the type of a JSON body, None without one.

    `binary` operations move object bytes; `security` says whether credentials are needed; `success` is the lowest
    2xx status.
    """

    operation_id: str
    method: str
    path: str
    params: type[Struct]
    parameters: tuple[Parameter, ...]
    body: Any
    body_required: bool
    media_types: tuple[str, ...]
    binary: bool
    security: bool
    success: int
    tag: str
    summary: str
'''

BOUNDS = {
    "minimum": "ge",
    "maximum": "le",
    "exclusiveMinimum": "gt",
    "exclusiveMaximum": "lt",
    "minLength": "min_length",
    "maxLength": "max_length",
    "minItems": "min_length",
    "maxItems": "max_length",
    "pattern": "pattern",
}
SCALARS = {"string": "str", "integer": "int", "boolean": "bool", "number": "float"}


def attribute(name: str) -> str:
    """The Python name of a parameter: `If-None-Match` gives `if_none_match`, `commitId` gives `commit_id`."""
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).replace("-", "_").lower()
    return f"{snake}_" if keyword.iskeyword(snake) else snake


def params_name(operation_id: str) -> str:
    """The name of the struct of an operation's parameters: `statObject` gives `StatObjectParams`."""
    return f"{operation_id[0].upper()}{operation_id[1:]}Params"


def type_of(schema: Document) -> str:
    """The annotation of a parameter's schema, with its bounds."""
    if "enum" in schema:
        return f"Literal[{', '.join(map(repr, schema['enum']))}]"
    if schema["type"] == "array":
        base = f"list[{type_of(schema['items'])}]"
    elif schema.get("format") == "date-time":
        base = "datetime"
    else:
        base = SCALARS[schema["type"]]
    bounds = ", ".join(f"{short}={schema[word]!r}" for word, short in BOUNDS.items() if word in schema)
    return f"Annotated[{base}, Meta({bounds})]" if bounds else base


def field_line(parameter: Document) -> str:
    """One field of a params struct. Optional ones are never None: a query cannot say null."""
    name, schema = parameter["name"], parameter["schema"]
    own_name = attribute(name)
    arguments = []
    annotation = type_of(schema)
    if schema["type"] == "array":
        arguments.append("default_factory=list")
    elif not parameter.get("required", False):
        annotation += " | UnsetType"
        arguments.append("default=UNSET")
    if own_name != name:
        arguments.append(f"name={name!r}")
    if not arguments:
        return f"    {own_name}: {annotation}"
    default = "UNSET" if arguments == ["default=UNSET"] else f"field({', '.join(arguments)})"
    return f"    {own_name}: {annotation} = {default}"


def params_struct(entry: Entry) -> str:
    """The struct that holds the path, query and header parameters of one operation."""
    lines = [f"class {params_name(entry.name)}(Struct, kw_only=True):", f'    """Parameters of {entry.name}."""']
    fields = [field_line(parameter) for parameter in entry.operation["parameters"]]
    return "\n".join([*lines, *([""] if fields else []), *fields])


def parameter_row(parameter: Document) -> str:
    """One `Parameter`."""
    schema = parameter["schema"]
    item = schema.get("items", schema)
    flags = (schema["type"] == "array", item["type"] == "boolean", item.get("format") == "date-time")
    return f"Parameter({parameter['name']!r}, {parameter['in']!r}, {', '.join(map(str, flags))}),"


def body_type(content: dict[str, Any]) -> str:
    """The model of a JSON body, or None."""
    reference = content.get("application/json", {}).get("schema", {}).get("$ref", "")
    return f"models.{reference.rpartition('/')[2]}" if reference else "None"


def operation_row(document: Document, entry: Entry) -> str:
    """One `Operation`."""
    operation = entry.operation
    body = operation.get("requestBody", {})
    content = body.get("content", {})
    rows = "".join(parameter_row(parameter) for parameter in operation["parameters"])
    success = min(int(code) for code in operation["responses"] if code.startswith("2"))
    values = {
        "operation_id": repr(entry.name),
        "method": repr(entry.method.upper()),
        "path": repr(entry.path),
        "params": params_name(entry.name),
        "parameters": f"({rows})",
        "body": body_type(content),
        "body_required": repr(bool(body.get("required", False))),
        "media_types": repr(tuple(content)),
        "binary": repr(entry.is_binary),
        "security": repr(bool(operation.get("security", document.get("security", [])))),
        "success": repr(success),
        "tag": repr(operation["tags"][0]),
        "summary": repr(operation["summary"]),
    }
    return f"Operation({', '.join(f'{name}={value}' for name, value in values.items())}),"


def sections(document: Document, digest: str) -> Iterator[str]:
    """The parts of the module, in order."""
    table = list(entries(document))
    kinds = "".join(f"{kind!r}: {status}," for kind, status in document["x-error-kinds"].items())
    yield PREAMBLE
    yield f"API_PREFIX: Final = {document['servers'][0]['url']!r}"
    yield f"SPEC_DIGEST: Final = {digest!r}"
    yield f"ERROR_KINDS: Final[dict[str, int]] = {{{kinds}}}"
    yield from (params_struct(entry) for entry in table)
    yield f"OPERATIONS: Final[tuple[Operation, ...]] = ({''.join(operation_row(document, entry) for entry in table)})"


def render(document: Document, digest: str) -> str:
    """The whole module, unformatted. `document` is normalised, `digest` is that of openapi.yaml."""
    return "\n\n\n".join(sections(document, digest)) + "\n"
