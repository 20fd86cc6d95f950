# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.commit_check_state import CommitCheckState
from ..types import UNSET, Unset

T = TypeVar("T", bound="CommitCheckCreation")


@_attrs_define
class CommitCheckCreation:
    """The state of a check.

    Attributes:
        name (str): The name, such as `freshness`.
        state (CommitCheckState): `pending`, `success` or `failure`.
        description (str | Unset): What the job found.
        url (str | Unset): A page of the job (`http` or `https`).
    """

    name: str
    state: CommitCheckState
    description: str | Unset = UNSET
    url: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        name = self.name

        state = self.state.value

        description = self.description

        url = self.url

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "name": name,
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

        state = CommitCheckState(d.pop("state"))

        description = d.pop("description", UNSET)

        url = d.pop("url", UNSET)

        commit_check_creation = cls(
            name=name,
            state=state,
            description=description,
            url=url,
        )

        commit_check_creation.additional_properties = d
        return commit_check_creation

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
