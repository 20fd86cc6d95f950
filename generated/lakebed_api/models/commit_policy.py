# generated from openapi.yaml by `make generate` - do not edit
from enum import StrEnum


class CommitPolicy(StrEnum):
    ABORT = "abort"
    OVERWRITE = "overwrite"
    REBASE = "rebase"

    def __str__(self) -> str:
        return str(self.value)
