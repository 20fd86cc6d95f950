# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, File, FileTypes, Unset

if TYPE_CHECKING:
    from ..models.publish_creation import PublishCreation


T = TypeVar("T", bound="ObjectBatch")


@_attrs_define
class ObjectBatch:
    """Objects to write, paths to delete, and how to commit them.

    Attributes:
        commit (PublishCreation | Unset): How to commit the objects and deletions of the request. The server refuses
            unknown fields.
        content (list[File] | Unset): The objects.
        delete (list[str] | Unset): The paths to delete.
    """

    commit: PublishCreation | Unset = UNSET
    content: list[File] | Unset = UNSET
    delete: list[str] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        commit: dict[str, Any] | Unset = UNSET
        if not isinstance(self.commit, Unset):
            commit = self.commit.to_dict()

        content: list[FileTypes] | Unset = UNSET
        if not isinstance(self.content, Unset):
            content = []
            for content_item_data in self.content:
                content_item = content_item_data.to_tuple()

                content.append(content_item)

        delete: list[str] | Unset = UNSET
        if not isinstance(self.delete, Unset):
            delete = self.delete

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if commit is not UNSET:
            field_dict["commit"] = commit
        if content is not UNSET:
            field_dict["content"] = content
        if delete is not UNSET:
            field_dict["delete"] = delete

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.publish_creation import PublishCreation

        d = dict(src_dict)
        _commit = d.pop("commit", UNSET)
        commit: PublishCreation | Unset
        if isinstance(_commit, Unset):
            commit = UNSET
        else:
            commit = PublishCreation.from_dict(_commit)

        _content = d.pop("content", UNSET)
        content: list[File] | Unset = UNSET
        if _content is not UNSET:
            content = []
            for content_item_data in _content:
                content_item = File(payload=BytesIO(content_item_data))

                content.append(content_item)

        delete = cast(list[str], d.pop("delete", UNSET))

        object_batch = cls(
            commit=commit,
            content=content,
            delete=delete,
        )

        object_batch.additional_properties = d
        return object_batch

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
