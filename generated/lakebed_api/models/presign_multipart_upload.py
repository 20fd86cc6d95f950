# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="PresignMultipartUpload")


@_attrs_define
class PresignMultipartUpload:
    """A multipart upload.

    Attributes:
        upload_id (str): The id of the upload in the store.
        physical_address (str): The address of the object.
        presigned_urls (list[str] | Unset): Presigned URLs of the first parts, in order.
    """

    upload_id: str
    physical_address: str
    presigned_urls: list[str] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        upload_id = self.upload_id

        physical_address = self.physical_address

        presigned_urls: list[str] | Unset = UNSET
        if not isinstance(self.presigned_urls, Unset):
            presigned_urls = self.presigned_urls

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "upload_id": upload_id,
                "physical_address": physical_address,
            }
        )
        if presigned_urls is not UNSET:
            field_dict["presigned_urls"] = presigned_urls

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        upload_id = d.pop("upload_id")

        physical_address = d.pop("physical_address")

        presigned_urls = cast(list[str], d.pop("presigned_urls", UNSET))

        presign_multipart_upload = cls(
            upload_id=upload_id,
            physical_address=physical_address,
            presigned_urls=presigned_urls,
        )

        presign_multipart_upload.additional_properties = d
        return presign_multipart_upload

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
