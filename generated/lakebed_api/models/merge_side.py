# generated from openapi.yaml by `make generate` - do not edit
from enum import StrEnum


class MergeSide(StrEnum):
    DEST = "dest"
    SOURCE = "source"

    def __str__(self) -> str:
        return str(self.value)
