# generated from openapi.yaml by `make generate` - do not edit
from enum import StrEnum


class ListPullRequestsStatus(StrEnum):
    ALL = "all"
    CLOSED = "closed"
    OPEN = "open"

    def __str__(self) -> str:
        return str(self.value)
