# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.pull_request_verdict import PullRequestVerdict
from ..types import UNSET, Unset

T = TypeVar("T", bound="PullRequestReviewCreation")


@_attrs_define
class PullRequestReviewCreation:
    """A review to add.

    Attributes:
        verdict (PullRequestVerdict): `approve`, `request_changes` or `comment`.
        body (str | Unset): The text, in CommonMark. The verdict `comment` requires a text.
        source_commit_id (str | Unset): The reviewed head of the source. The response is 409 if the source has another
            head.
    """

    verdict: PullRequestVerdict
    body: str | Unset = UNSET
    source_commit_id: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        verdict = self.verdict.value

        body = self.body

        source_commit_id = self.source_commit_id

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "verdict": verdict,
            }
        )
        if body is not UNSET:
            field_dict["body"] = body
        if source_commit_id is not UNSET:
            field_dict["source_commit_id"] = source_commit_id

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        verdict = PullRequestVerdict(d.pop("verdict"))

        body = d.pop("body", UNSET)

        source_commit_id = d.pop("source_commit_id", UNSET)

        pull_request_review_creation = cls(
            verdict=verdict,
            body=body,
            source_commit_id=source_commit_id,
        )

        pull_request_review_creation.additional_properties = d
        return pull_request_review_creation

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
