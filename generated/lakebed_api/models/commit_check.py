# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="CommitCheck")


@_attrs_define
class CommitCheck:
    """A check of a commit.

    Attributes:
        name (str): The name.
        state (str): `pending`, `success` or `failure`.
        description (str): What the job found.
        user (str): The user who reported it.
        updated_at (datetime.datetime): When it was reported.
        url (str | Unset): A page of the job.
    """

    name: str
    state: str
    description: str
    user: str
    updated_at: datetime.datetime
    url: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        name = self.name

        state = self.state

        description = self.description

        user = self.user

        updated_at = self.updated_at.isoformat()

        url = self.url

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "name": name,
                "state": state,
                "description": description,
                "user": user,
                "updated_at": updated_at,
            }
        )
        if url is not UNSET:
            field_dict["url"] = url

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        name = d.pop("name")

        state = d.pop("state")

        description = d.pop("description")

        user = d.pop("user")

        updated_at = datetime.datetime.fromisoformat(d.pop("updated_at"))

        url = d.pop("url", UNSET)

        commit_check = cls(
            name=name,
            state=state,
            description=description,
            user=user,
            updated_at=updated_at,
            url=url,
        )

        commit_check.additional_properties = d
        return commit_check

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
