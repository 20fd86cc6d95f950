"""Values that say what a server is, and who one is to it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import ClassVar

from lakebed._render.columns import Columns


@dataclass(frozen=True, slots=True)
class ServerInfo:
    """What a server tells of itself. `api_level` is the level of the lakeFS API that it speaks, such as `1.60.0`.

    `storage` is the first kind of store that it has; storage namespaces must match `namespace_pattern`, and
    `namespace_prefix` is where new ones may lie. Imports may name what `import_pattern` matches; it is empty where
    they are off. `signs` says whether readers of every repository get signed addresses, `signs_uploads` whether
    uploads do where the store can.
    """

    COLUMNS: ClassVar[Columns] = (
        ("api_level", "string"),
        ("storage", "string"),
        ("namespace_prefix", "string"),
        ("namespace_pattern", "string"),
        ("import_pattern", "string"),
        ("signs", "bool"),
        ("signs_uploads", "bool"),
        ("workspaces", "bool"),
    )

    api_level: str
    storage: str
    namespace_prefix: str
    namespace_pattern: str
    import_pattern: str
    signs: bool
    signs_uploads: bool
    workspaces: bool


@dataclass(frozen=True, slots=True)
class SessionToken:
    """A token for the header `Authorization: Bearer ...`. Whoever has it is the caller until it expires."""

    COLUMNS: ClassVar[Columns] = (("expires", "time"),)

    token: str = field(repr=False)
    expires: datetime
