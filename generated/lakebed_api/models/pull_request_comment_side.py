# generated from openapi.yaml by `make generate` - do not edit
from enum import StrEnum


class PullRequestCommentSide(StrEnum):
    LEFT = "left"
    RIGHT = "right"

    def __str__(self) -> str:
        return str(self.value)
