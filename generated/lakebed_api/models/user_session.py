# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="UserSession")


@_attrs_define
class UserSession:
    """An open login session of a user.

    Attributes:
        id (str): The id of the session.
        creation_date (int): Time of the sign-in (Unix seconds).
        expiration (int): The latest time at which the session ends (Unix seconds).
        source (str): How the user signed in: `token` for an access key, otherwise `oidc`, `ldap`, `saml` or `workload`.
        address (str): The network address of the client at the sign-in.
        user_agent (str): The user agent of the client at the sign-in.
    """

    id: str
    creation_date: int
    expiration: int
    source: str
    address: str
    user_agent: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        creation_date = self.creation_date

        expiration = self.expiration

        source = self.source

        address = self.address

        user_agent = self.user_agent

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "creation_date": creation_date,
                "expiration": expiration,
                "source": source,
                "address": address,
                "user_agent": user_agent,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        id = d.pop("id")

        creation_date = d.pop("creation_date")

        expiration = d.pop("expiration")

        source = d.pop("source")

        address = d.pop("address")

        user_agent = d.pop("user_agent")

        user_session = cls(
            id=id,
            creation_date=creation_date,
            expiration=expiration,
            source=source,
            address=address,
            user_agent=user_agent,
        )

        user_session.additional_properties = d
        return user_session

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
