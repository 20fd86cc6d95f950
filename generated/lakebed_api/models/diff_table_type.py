# generated from openapi.yaml by `make generate` - do not edit
from enum import StrEnum


class DiffTableType(StrEnum):
    THREE_DOT = "three_dot"
    TWO_DOT = "two_dot"

    def __str__(self) -> str:
        return str(self.value)
