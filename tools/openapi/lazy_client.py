"""Make the generated client load its parts when they are used.

openapi-python-client writes a package that imports every model and httpx as soon as one operation is imported: 0.18 s
for each start of the `lakebed` command. `make_lazy` moves these imports: models are imported when their names are used
(PEP 562, and inside the functions of an operation), httpx when a request is sent by the generated client itself.
"""

import ast
from pathlib import Path

HTTPX = "import httpx\n\n"
CLIENT = "from ...client import AuthenticatedClient, Client\n"
LAZY = '''

def __getattr__(name: str) -> object:
    """Import a name when it is used."""
    from importlib import import_module

    module = _MODULES.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f".{module}", __name__), name)
    return value
'''


def make_lazy(package: Path) -> None:
    """Rewrite a package of openapi-python-client. Raises ValueError for a file of another form."""
    for init in (package / "__init__.py", package / "models" / "__init__.py"):
        init.write_text(lazy_init(init.read_text(encoding="utf-8")), encoding="utf-8")
    for path in sorted((package / "api").glob("*/*.py")):
        if path.name != "__init__.py":
            path.write_text(lazy_operation(path.read_text(encoding="utf-8")), encoding="utf-8")
    types = package / "types.py"
    types.write_text(without_attrs(types.read_text(encoding="utf-8")), encoding="utf-8")


def without_attrs(source: str) -> str:
    """The types that every operation imports, as dataclasses: attrs is imported with the first model."""
    if "from attrs import define\n" not in source:
        raise ValueError("types.py must use attrs")
    return source.replace("from attrs import define\n", "from dataclasses import dataclass\n").replace(
        "@define\n", "@dataclass\n"
    )


def lazy_init(source: str) -> str:
    """The `__init__.py` of a package that imports each exported name when it is used."""
    body = ast.parse(source).body
    imports = [node for node in body if isinstance(node, ast.ImportFrom)]
    docstring = ast.get_docstring(ast.parse(source))
    rest = [node for node in body if isinstance(node, ast.Assign)]
    if not imports or docstring is None or len(rest) != 1:
        raise ValueError("a package must have a docstring, imports and __all__")
    lines = [f'"""{docstring}"""\n\nfrom typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n']
    lines += [f"    {ast.unparse(node)}\n" for node in imports]
    modules = {alias.name: node.module for node in imports for alias in node.names}
    return "".join([*lines, f"\n_MODULES = {modules!r}\n", LAZY, f"\n\n{ast.unparse(rest[0])}\n"])


def lazy_operation(source: str) -> str:
    """The module of an operation. Functions import the models that they use; annotations do not need httpx."""
    head, functions = source.split("\n\n\n", 1)
    if HTTPX not in head or CLIENT not in head:
        raise ValueError("a module of an operation must import httpx and the client")
    models = {line.rpartition(" ")[2]: line for line in head.splitlines() if line.startswith("from ...models.")}
    head = "".join(line + "\n" for line in head.splitlines() if line not in models.values())
    head = (
        head.replace(HTTPX, "").replace(CLIENT, "").replace("from typing import ", "from typing import TYPE_CHECKING, ")
    )
    types = "".join(f"    {line}\n" for line in [CLIENT.strip(), *models.values()])
    return (
        f"from __future__ import annotations\n\n{head}\nif TYPE_CHECKING:\n    import httpx\n\n{types}\n\n"
        f"{_importing(functions, models)}"
    )


def _importing(functions: str, models: dict[str, str]) -> str:
    """The functions, each with the imports of the models that its statements use."""
    lines = functions.splitlines()
    for function in reversed(ast.parse(functions).body):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            raise ValueError("a module of an operation must hold functions only")
        nodes = [node for statement in function.body for node in ast.walk(statement)]
        used = {node.id for node in nodes if isinstance(node, ast.Name)} & models.keys()
        start = function.body[ast.get_docstring(function) is not None].lineno - 1
        lines[start:start] = [f"    {models[name]}" for name in sorted(used)]
    return "\n".join(lines) + "\n"
