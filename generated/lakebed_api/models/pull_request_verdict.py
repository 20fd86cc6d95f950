# generated from openapi.yaml by `make generate` - do not edit
from enum import StrEnum


class PullRequestVerdict(StrEnum):
    APPROVE = "approve"
    COMMENT = "comment"
    REQUEST_CHANGES = "request_changes"

    def __str__(self) -> str:
        return str(self.value)
