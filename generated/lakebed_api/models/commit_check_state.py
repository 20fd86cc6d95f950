# generated from openapi.yaml by `make generate` - do not edit
from enum import StrEnum


class CommitCheckState(StrEnum):
    FAILURE = "failure"
    PENDING = "pending"
    SUCCESS = "success"

    def __str__(self) -> str:
        return str(self.value)
