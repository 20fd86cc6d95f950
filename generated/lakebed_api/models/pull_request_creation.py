# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="PullRequestCreation")


@_attrs_define
class PullRequestCreation:
    """A pull request to open.

    Attributes:
        title (str): The title.
        source_branch (str): The branch to merge.
        destination_branch (str): The branch to merge into.
        description (str | Unset): The text, in CommonMark.
        draft (bool | Unset): Whether the pull request is a draft, which cannot be merged. Lakebed only. Default: False.
    """

    title: str
    source_branch: str
    destination_branch: str
    description: str | Unset = UNSET
    draft: bool | Unset = False
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        title = self.title

        source_branch = self.source_branch

        destination_branch = self.destination_branch

        description = self.description

        draft = self.draft

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "title": title,
                "source_branch": source_branch,
                "destination_branch": destination_branch,
            }
        )
        if description is not UNSET:
            field_dict["description"] = description
        if draft is not UNSET:
            field_dict["draft"] = draft

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        title = d.pop("title")

        source_branch = d.pop("source_branch")

        destination_branch = d.pop("destination_branch")

        description = d.pop("description", UNSET)

        draft = d.pop("draft", UNSET)

        pull_request_creation = cls(
            title=title,
            source_branch=source_branch,
            destination_branch=destination_branch,
            description=description,
            draft=draft,
        )

        pull_request_creation.additional_properties = d
        return pull_request_creation

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
