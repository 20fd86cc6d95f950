# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.staging_location_presigned_headers import (
        StagingLocationPresignedHeaders,
    )


T = TypeVar("T", bound="StagingLocation")


@_attrs_define
class StagingLocation:
    """An address to write the content of an object to.

    Attributes:
        physical_address (str | Unset): The complete address.
        presigned_url (str | Unset): A presigned URL for one PUT.
        presigned_headers (StagingLocationPresignedHeaders | Unset): Headers that the PUT must send unchanged, for
            example for the encryption of the store. The store refuses a PUT without them. Absent if there are none.
        presigned_url_expiry (int | Unset): Expiration time of the presigned URL (Unix seconds).
    """

    physical_address: str | Unset = UNSET
    presigned_url: str | Unset = UNSET
    presigned_headers: StagingLocationPresignedHeaders | Unset = UNSET
    presigned_url_expiry: int | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        physical_address = self.physical_address

        presigned_url = self.presigned_url

        presigned_headers: dict[str, Any] | Unset = UNSET
        if not isinstance(self.presigned_headers, Unset):
            presigned_headers = self.presigned_headers.to_dict()

        presigned_url_expiry = self.presigned_url_expiry

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if physical_address is not UNSET:
            field_dict["physical_address"] = physical_address
        if presigned_url is not UNSET:
            field_dict["presigned_url"] = presigned_url
        if presigned_headers is not UNSET:
            field_dict["presigned_headers"] = presigned_headers
        if presigned_url_expiry is not UNSET:
            field_dict["presigned_url_expiry"] = presigned_url_expiry

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.staging_location_presigned_headers import (
            StagingLocationPresignedHeaders,
        )

        d = dict(src_dict)
        physical_address = d.pop("physical_address", UNSET)

        presigned_url = d.pop("presigned_url", UNSET)

        _presigned_headers = d.pop("presigned_headers", UNSET)
        presigned_headers: StagingLocationPresignedHeaders | Unset
        if isinstance(_presigned_headers, Unset):
            presigned_headers = UNSET
        else:
            presigned_headers = StagingLocationPresignedHeaders.from_dict(_presigned_headers)

        presigned_url_expiry = d.pop("presigned_url_expiry", UNSET)

        staging_location = cls(
            physical_address=physical_address,
            presigned_url=presigned_url,
            presigned_headers=presigned_headers,
            presigned_url_expiry=presigned_url_expiry,
        )

        staging_location.additional_properties = d
        return staging_location

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
