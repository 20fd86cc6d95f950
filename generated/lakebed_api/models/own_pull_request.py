# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.pull_request import PullRequest


T = TypeVar("T", bound="OwnPullRequest")


@_attrs_define
class OwnPullRequest:
    """An open pull request that concerns the calling user.

    Attributes:
        repository (str): The name of the repository.
        pull_request (PullRequest): A pull request: a proposal to merge one branch into another.
        reasons (list[str]): Why the pull request concerns the user.
    """

    repository: str
    pull_request: PullRequest
    reasons: list[str]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        repository = self.repository

        pull_request = self.pull_request.to_dict()

        reasons = self.reasons

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "repository": repository,
                "pull_request": pull_request,
                "reasons": reasons,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.pull_request import PullRequest

        d = dict(src_dict)
        repository = d.pop("repository")

        pull_request = PullRequest.from_dict(d.pop("pull_request"))

        reasons = cast(list[str], d.pop("reasons"))

        own_pull_request = cls(
            repository=repository,
            pull_request=pull_request,
            reasons=reasons,
        )

        own_pull_request.additional_properties = d
        return own_pull_request

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
