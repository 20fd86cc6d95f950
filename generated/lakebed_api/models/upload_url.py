# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.upload_url_headers import UploadUrlHeaders


T = TypeVar("T", bound="UploadUrl")


@_attrs_define
class UploadUrl:
    """A presigned URL for one object.

    Attributes:
        path (str): The path.
        physical_address (str): The physical address to register the object with.
        method (str): The HTTP method.
        url (str): The presigned URL.
        headers (UploadUrlHeaders): Headers that the request must send.
        expires (int): Expiration time of the URL (Unix seconds).
    """

    path: str
    physical_address: str
    method: str
    url: str
    headers: UploadUrlHeaders
    expires: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        path = self.path

        physical_address = self.physical_address

        method = self.method

        url = self.url

        headers = self.headers.to_dict()

        expires = self.expires

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "path": path,
                "physical_address": physical_address,
                "method": method,
                "url": url,
                "headers": headers,
                "expires": expires,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.upload_url_headers import UploadUrlHeaders

        d = dict(src_dict)
        path = d.pop("path")

        physical_address = d.pop("physical_address")

        method = d.pop("method")

        url = d.pop("url")

        headers = UploadUrlHeaders.from_dict(d.pop("headers"))

        expires = d.pop("expires")

        upload_url = cls(
            path=path,
            physical_address=physical_address,
            method=method,
            url=url,
            headers=headers,
            expires=expires,
        )

        upload_url.additional_properties = d
        return upload_url

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
