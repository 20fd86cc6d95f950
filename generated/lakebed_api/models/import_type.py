# generated from openapi.yaml by `make generate` - do not edit
from enum import StrEnum


class ImportType(StrEnum):
    COMMON_PREFIX = "common_prefix"
    OBJECT = "object"

    def __str__(self) -> str:
        return str(self.value)
