# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.part_url_headers import PartUrlHeaders


T = TypeVar("T", bound="PartUrl")


@_attrs_define
class PartUrl:
    """A presigned URL for one part.

    Attributes:
        part (int): The number of the part.
        method (str): The HTTP method.
        url (str): The presigned URL.
        headers (PartUrlHeaders): Headers that the request must send.
        expires (int): Expiration time of the URL (Unix seconds).
    """

    part: int
    method: str
    url: str
    headers: PartUrlHeaders
    expires: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        part = self.part

        method = self.method

        url = self.url

        headers = self.headers.to_dict()

        expires = self.expires

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "part": part,
                "method": method,
                "url": url,
                "headers": headers,
                "expires": expires,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.part_url_headers import PartUrlHeaders

        d = dict(src_dict)
        part = d.pop("part")

        method = d.pop("method")

        url = d.pop("url")

        headers = PartUrlHeaders.from_dict(d.pop("headers"))

        expires = d.pop("expires")

        part_url = cls(
            part=part,
            method=method,
            url=url,
            headers=headers,
            expires=expires,
        )

        part_url.additional_properties = d
        return part_url

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
