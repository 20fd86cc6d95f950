# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="PullRequestReview")


@_attrs_define
class PullRequestReview:
    """A review of a pull request.

    Attributes:
        id (int): The number of the review in the timeline.
        verdict (str): `approve`, `request_changes` or `comment`.
        body (str): The text, in CommonMark.
        author (str): The id of the user who wrote the review.
        created_at (datetime.datetime): When the review was written.
        source_commit_id (str): The reviewed head of the source.
        stale (bool): Whether the source has moved since the review.
        dismissed_by (str | Unset): The user who dismissed the review. Absent if it is not dismissed.
    """

    id: int
    verdict: str
    body: str
    author: str
    created_at: datetime.datetime
    source_commit_id: str
    stale: bool
    dismissed_by: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        verdict = self.verdict

        body = self.body

        author = self.author

        created_at = self.created_at.isoformat()

        source_commit_id = self.source_commit_id

        stale = self.stale

        dismissed_by = self.dismissed_by

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "verdict": verdict,
                "body": body,
                "author": author,
                "created_at": created_at,
                "source_commit_id": source_commit_id,
                "stale": stale,
            }
        )
        if dismissed_by is not UNSET:
            field_dict["dismissed_by"] = dismissed_by

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        id = d.pop("id")

        verdict = d.pop("verdict")

        body = d.pop("body")

        author = d.pop("author")

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        source_commit_id = d.pop("source_commit_id")

        stale = d.pop("stale")

        dismissed_by = d.pop("dismissed_by", UNSET)

        pull_request_review = cls(
            id=id,
            verdict=verdict,
            body=body,
            author=author,
            created_at=created_at,
            source_commit_id=source_commit_id,
            stale=stale,
            dismissed_by=dismissed_by,
        )

        pull_request_review.additional_properties = d
        return pull_request_review

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
