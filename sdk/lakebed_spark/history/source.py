"""What the data sources over the history have in common: the URI, the options, the way to the server.

Spark makes a source from its class and text options in a Python process of its own, and pickles it: what it must know
beyond that (the access, whether filters come) is bound to the class by `bind`, and never an option.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, ClassVar

import attrs
import lakebed
from lakebed import parse_uri
from lakebed.errors import InvalidRequestError
from pyspark.sql.datasource import DataSource
from pyspark.sql.types import StructType

from lakebed_spark._access import Access

_MOST_TASKS = 10_000


@attrs.frozen
class Binding:
    """What a session gives to its sources. `tasks` is about how many pieces a table is read in."""

    access: Access | None = None
    pushdown: bool = False
    tasks: int = 0


class HistorySource(DataSource):
    """A table over the history of a repository."""

    FORMAT: ClassVar[str]
    COLUMNS: ClassVar[StructType]
    OPTIONS: ClassVar[tuple[str, ...]] = ()
    binding: ClassVar[Binding] = Binding()

    def __init__(self, options: dict[str, str]) -> None:
        super().__init__(options)
        given = {name.lower(): value for name, value in options.items()}
        known = ("path", "uri", "partitions", *(name.lower() for name in self.OPTIONS))
        for name in given:
            if name not in known:
                allowed = ", ".join(("partitions", *self.OPTIONS))
                raise InvalidRequestError(f"{self.FORMAT} has no option {name!r}; it has {allowed}")
        uri = given.get("uri") or given.get("path")
        if not uri:
            raise InvalidRequestError(f'{self.FORMAT} needs a location: .load("lakebed://repository/ref")')
        self.location = parse_uri(uri)
        self.given: Mapping[str, str] = given

    @classmethod
    def name(cls) -> str:
        """The name in `format(...)`."""
        return cls.FORMAT

    def schema(self) -> StructType:
        """All columns."""
        return self.COLUMNS

    @property
    def access(self) -> Access:
        """How to come to the server."""
        return self.binding.access or Access.of(None)

    @property
    def tasks(self) -> int:
        """In how many pieces to read: each costs about 50 ms, so that a few for each core are best."""
        return self.number("partitions", 1, _MOST_TASKS) or self.binding.tasks or 2 * (os.cpu_count() or 1)

    def repository(self) -> lakebed.Repository:
        """A handle, in this process."""
        return self.access.connect().repository(self.location.repository)

    def ref(self) -> str:
        """The ref of the URI, or the default branch."""
        return self.location.ref or self.repository().info().default_branch

    def number(self, name: str, least: int, most: int) -> int | None:
        """An option that is a whole number. Raises InvalidRequestError."""
        text = self.given.get(name.lower())
        if text is None:
            return None
        if not text.isascii() or not text.isdigit() or not least <= int(text) <= most:
            raise InvalidRequestError(f"{self.FORMAT}: {name} must be a whole number from {least} to {most}: {text!r}")
        return int(text)

    def flag(self, name: str) -> bool:
        """An option that is true or false. Raises InvalidRequestError."""
        text = self.given.get(name.lower(), "false").lower()
        if text not in ("true", "false"):
            raise InvalidRequestError(f"{self.FORMAT}: {name} must be true or false: {text!r}")
        return text == "true"


def bind(source: type[DataSource], binding: Binding) -> type[DataSource]:
    """The same source for one session. It is pickled by value, its secret in bytes that nothing shows."""
    members: dict[str, Any] = {"binding": binding, "__module__": "__main__", "__doc__": source.__doc__}
    return type(f"Bound{source.__name__}", (source,), members)
