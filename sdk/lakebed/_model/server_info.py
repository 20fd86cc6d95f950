"""Values that describe a server and a session with it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import ClassVar

from lakebed._render.columns import Columns


@dataclass(frozen=True, slots=True)
class StoreInfo:
    """A named object store of a server. `id` is the `storage_id` of its repositories.

    `kind` is the kind of store. Its storage namespaces match `namespace_pattern`, and new ones may be below
    `namespace_prefix`. `import_pattern` matches the allowed sources of imports, and is empty where imports are off.
    `signs` says whether clients get signed addresses.
    """

    COLUMNS: ClassVar[Columns] = (
        ("id", "string"),
        ("kind", "string"),
        ("description", "string"),
        ("namespace_prefix", "string"),
        ("namespace_pattern", "string"),
        ("import_pattern", "string"),
        ("signs", "bool"),
    )

    id: str
    kind: str
    description: str
    namespace_prefix: str
    namespace_pattern: str
    import_pattern: str
    signs: bool


@dataclass(frozen=True, slots=True)
class ServerInfo:
    """What a server says about itself. `api_level` is the level of the lakeFS API that it supports, such as `1.60.0`.

    `storage` is its first kind of store. Storage namespaces must match `namespace_pattern`, and new ones may be below
    `namespace_prefix`. `import_pattern` matches the allowed sources of imports, and is empty where imports are off.
    `signs` says whether readers of every repository get signed addresses. `signs_uploads` says whether uploads get them
    where the store can sign. `stores`: the named stores; all of the above is about the default one.
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
    stores: tuple[StoreInfo, ...] = ()


@dataclass(frozen=True, slots=True)
class SessionToken:
    """A token for the header `Authorization: Bearer ...`. Until it expires, any holder acts as the user: keep it
    secret.
    """

    COLUMNS: ClassVar[Columns] = (("expires", "time"),)

    token: str = field(repr=False)
    expires: datetime
