# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="PullRequestCheck")


@_attrs_define
class PullRequestCheck:
    """A check of the head of the source.

    Attributes:
        name (str): The name.
        required (bool): Whether a rule of the destination requires it.
        state (str): `pending`, `success` or `failure`; `missing` if no job has reported it.
        description (str | Unset): The description that the job reported.
        url (str | Unset): A page of the job.
    """

    name: str
    required: bool
    state: str
    description: str | Unset = UNSET
    url: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        name = self.name

        required = self.required

        state = self.state

        description = self.description

        url = self.url

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "name": name,
                "required": required,
                "state": state,
            }
        )
        if description is not UNSET:
            field_dict["description"] = description
        if url is not UNSET:
            field_dict["url"] = url

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        name = d.pop("name")

        required = d.pop("required")

        state = d.pop("state")

        description = d.pop("description", UNSET)

        url = d.pop("url", UNSET)

        pull_request_check = cls(
            name=name,
            required=required,
            state=state,
            description=description,
            url=url,
        )

        pull_request_check.additional_properties = d
        return pull_request_check

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
