# generated from openapi.yaml by `make generate` - do not edit
from enum import StrEnum


class PullRequestStatus(StrEnum):
    CLOSED = "closed"
    MERGED = "merged"
    OPEN = "open"

    def __str__(self) -> str:
        return str(self.value)
