# generated from openapi.yaml by `make generate` - do not edit
from enum import StrEnum


class DiffTableChange(StrEnum):
    ADDED = "added"
    CHANGED = "changed"
    REMOVED = "removed"

    def __str__(self) -> str:
        return str(self.value)
