"""Read `openapi.yaml` and derive the documents that the generators take.

It runs no generator, and judges nothing: `tools.lint.spec_lint` does.
"""

import copy
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")

Document = dict[str, Any]


@dataclass(frozen=True)
class Entry:
    """One operation of a document, with its path and method."""

    path: str
    method: str
    operation: Document

    @property
    def name(self) -> str:
        """The operationId, or the method and path where there is none."""
        return str(self.operation.get("operationId", f"{self.method.upper()} {self.path}"))

    @property
    def is_binary(self) -> bool:
        """Whether the operation moves object bytes and so stays out of the generated client."""
        return bool(self.operation.get("x-binary", False))


def load(path: Path) -> Document:
    """Read a document as it is written, references and all."""
    loaded = yaml.load(path.read_bytes(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    if not isinstance(loaded, dict):
        raise TypeError(f"{path.name} is not an OpenAPI document")
    return loaded


def entries(document: Document) -> Iterator[Entry]:
    """Every operation, in the order of the document."""
    for path, item in document.get("paths", {}).items():
        for method in METHODS:
            if method in item:
                yield Entry(path, method, item[method])


def resolve(document: Document, node: Document) -> Document:
    """Follow a local `$ref`, as often as needed; any other node is given back as it is."""
    while "$ref" in node:
        target: Any = document
        for step in node["$ref"].removeprefix("#/").split("/"):
            target = target[step]
        node = target
    return node


def normalise(document: Document) -> Document:
    """Move the parameters of each path into its operations, and put their definitions in place of references.

    The generators and our own table then read one shape, and none has to know the rules of inheritance.
    """
    plain = copy.deepcopy(document)
    for item in plain["paths"].values():
        shared = item.pop("parameters", [])
        for method in METHODS:
            if method in item:
                own = item[method].get("parameters", [])
                item[method]["parameters"] = [copy.deepcopy(resolve(plain, node)) for node in (*shared, *own)]
    plain.get("components", {}).pop("parameters", None)
    return plain


def without_binary(document: Document) -> Document:
    """Leave out the operations that move object bytes: the generated client would corrupt some of them."""
    rest = copy.deepcopy(document)
    for entry in [entry for entry in entries(rest) if entry.is_binary]:
        del rest["paths"][entry.path][entry.method]
    rest["paths"] = {path: item for path, item in rest["paths"].items() if any(method in item for method in METHODS)}
    return rest


def without_field_descriptions(document: Document) -> Document:
    """Leave out the descriptions inside schemas, which would drown the bounds in the models of the server."""
    rest = copy.deepcopy(document)
    for schema in rest["components"]["schemas"].values():
        for field in schema.get("properties", {}).values():
            field.pop("description", None)
        if schema.get("type") != "object":
            schema.pop("description", None)
    return rest


def as_json(document: Document) -> str:
    """Print a document for a generator to read."""
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"
