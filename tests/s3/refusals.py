"""What the gateway refuses."""

from __future__ import annotations

from typing import Any

import pytest
from botocore.exceptions import ClientError  # type: ignore[import-untyped]


def refused(call: Any, *arguments: Any, **named: Any) -> tuple[str, int]:
    """The code and the status of an error that must come."""
    with pytest.raises(ClientError) as caught:
        call(*arguments, **named)
    answer = caught.value.response
    return answer["Error"]["Code"], answer["ResponseMetadata"]["HTTPStatusCode"]
