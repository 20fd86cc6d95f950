# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="ObjectReadError")


@_attrs_define
class ObjectReadError:
    """Why an object of getObjects cannot be read.

    Attributes:
        path (str): The path.
        status_code (int): The status that getObject would return.
        kind (str): The kind of the error.
        message (str): A message for people.
    """

    path: str
    status_code: int
    kind: str
    message: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        path = self.path

        status_code = self.status_code

        kind = self.kind

        message = self.message

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "path": path,
                "status_code": status_code,
                "kind": kind,
                "message": message,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        path = d.pop("path")

        status_code = d.pop("status_code")

        kind = d.pop("kind")

        message = d.pop("message")

        object_read_error = cls(
            path=path,
            status_code=status_code,
            kind=kind,
            message=message,
        )

        object_read_error.additional_properties = d
        return object_read_error

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
