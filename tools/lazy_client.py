"""Make the generated client load its parts when they are used.

openapi-python-client writes a package that imports every model and httpx as soon as one operation is imported: 0.18 s
for each start of the `lakebed` command. `make_lazy` moves these imports: models are imported when their names are used
(PEP 562), httpx when a request is sent by the generated client itself.
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
    """The module of an operation, which uses httpx and the client in annotations only."""
    head, functions = source.split("\n\n\n", 1)
    if HTTPX not in head or CLIENT not in head:
        raise ValueError("a module of an operation must import httpx and the client")
    head = (
        head.replace(HTTPX, "").replace(CLIENT, "").replace("from typing import ", "from typing import TYPE_CHECKING, ")
    )
    types = f"if TYPE_CHECKING:\n    import httpx\n\n    {CLIENT}"
    return f"from __future__ import annotations\n\n{head}\n\n{types}\n\n{functions}"
