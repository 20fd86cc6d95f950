# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.object_user_metadata import ObjectUserMetadata
    from ..models.sent_upload_part import SentUploadPart


T = TypeVar("T", bound="CompletePresignMultipartUpload")


@_attrs_define
class CompletePresignMultipartUpload:
    """A multipart upload to complete.

    Attributes:
        physical_address (str): The physical address of the upload.
        parts (list[SentUploadPart]): All parts, ordered by number.
        user_metadata (ObjectUserMetadata | Unset): Keys and values of an object.
        content_type (str | Unset): The content type. `application/octet-stream` when absent.
    """

    physical_address: str
    parts: list[SentUploadPart]
    user_metadata: ObjectUserMetadata | Unset = UNSET
    content_type: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        physical_address = self.physical_address

        parts = []
        for parts_item_data in self.parts:
            parts_item = parts_item_data.to_dict()
            parts.append(parts_item)

        user_metadata: dict[str, Any] | Unset = UNSET
        if not isinstance(self.user_metadata, Unset):
            user_metadata = self.user_metadata.to_dict()

        content_type = self.content_type

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "physical_address": physical_address,
                "parts": parts,
            }
        )
        if user_metadata is not UNSET:
            field_dict["user_metadata"] = user_metadata
        if content_type is not UNSET:
            field_dict["content_type"] = content_type

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.object_user_metadata import ObjectUserMetadata
        from ..models.sent_upload_part import SentUploadPart

        d = dict(src_dict)
        physical_address = d.pop("physical_address")

        parts = []
        _parts = d.pop("parts")
        for parts_item_data in _parts:
            parts_item = SentUploadPart.from_dict(parts_item_data)

            parts.append(parts_item)

        _user_metadata = d.pop("user_metadata", UNSET)
        user_metadata: ObjectUserMetadata | Unset
        if isinstance(_user_metadata, Unset):
            user_metadata = UNSET
        else:
            user_metadata = ObjectUserMetadata.from_dict(_user_metadata)

        content_type = d.pop("content_type", UNSET)

        complete_presign_multipart_upload = cls(
            physical_address=physical_address,
            parts=parts,
            user_metadata=user_metadata,
            content_type=content_type,
        )

        complete_presign_multipart_upload.additional_properties = d
        return complete_presign_multipart_upload

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
