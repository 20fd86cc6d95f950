# generated from openapi.yaml by `make generate` - do not edit
from enum import StrEnum


class DiffTableFormat(StrEnum):
    ARROW = "arrow"
    CSV = "csv"
    JSON = "json"
    PARQUET = "parquet"

    def __str__(self) -> str:
        return str(self.value)
