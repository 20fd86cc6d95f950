# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="StorageConfig")


@_attrs_define
class StorageConfig:
    """The features of the server's object store.

    Attributes:
        blockstore_type (str): The type of the store, such as `local`, `mem` or `s3`.
        blockstore_namespace_example (str): An example of a storage namespace.
        blockstore_namespace_validity_regex (str): The regular expression that a storage namespace must match.
        pre_sign_support (bool): Whether the server returns presigned URLs.
        pre_sign_support_ui (bool): Whether a user interface should use presigned URLs.
        import_support (bool): Whether objects can be imported in place.
        import_validity_regex (str): The regular expression that the address of an import source must match.
        default_namespace_prefix (str | Unset): The default prefix for namespaces of new repositories.
        pre_sign_multipart_upload (bool | Unset): Whether presigned multipart uploads work.
        blockstore_id (str | Unset): The id of the store. Empty for the default store.
        blockstore_description (str | Unset): A description of the store.
    """

    blockstore_type: str
    blockstore_namespace_example: str
    blockstore_namespace_validity_regex: str
    pre_sign_support: bool
    pre_sign_support_ui: bool
    import_support: bool
    import_validity_regex: str
    default_namespace_prefix: str | Unset = UNSET
    pre_sign_multipart_upload: bool | Unset = UNSET
    blockstore_id: str | Unset = UNSET
    blockstore_description: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        blockstore_type = self.blockstore_type

        blockstore_namespace_example = self.blockstore_namespace_example

        blockstore_namespace_validity_regex = self.blockstore_namespace_validity_regex

        pre_sign_support = self.pre_sign_support

        pre_sign_support_ui = self.pre_sign_support_ui

        import_support = self.import_support

        import_validity_regex = self.import_validity_regex

        default_namespace_prefix = self.default_namespace_prefix

        pre_sign_multipart_upload = self.pre_sign_multipart_upload

        blockstore_id = self.blockstore_id

        blockstore_description = self.blockstore_description

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "blockstore_type": blockstore_type,
                "blockstore_namespace_example": blockstore_namespace_example,
                "blockstore_namespace_ValidityRegex": blockstore_namespace_validity_regex,
                "pre_sign_support": pre_sign_support,
                "pre_sign_support_ui": pre_sign_support_ui,
                "import_support": import_support,
                "import_validity_regex": import_validity_regex,
            }
        )
        if default_namespace_prefix is not UNSET:
            field_dict["default_namespace_prefix"] = default_namespace_prefix
        if pre_sign_multipart_upload is not UNSET:
            field_dict["pre_sign_multipart_upload"] = pre_sign_multipart_upload
        if blockstore_id is not UNSET:
            field_dict["blockstore_id"] = blockstore_id
        if blockstore_description is not UNSET:
            field_dict["blockstore_description"] = blockstore_description

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        blockstore_type = d.pop("blockstore_type")

        blockstore_namespace_example = d.pop("blockstore_namespace_example")

        blockstore_namespace_validity_regex = d.pop("blockstore_namespace_ValidityRegex")

        pre_sign_support = d.pop("pre_sign_support")

        pre_sign_support_ui = d.pop("pre_sign_support_ui")

        import_support = d.pop("import_support")

        import_validity_regex = d.pop("import_validity_regex")

        default_namespace_prefix = d.pop("default_namespace_prefix", UNSET)

        pre_sign_multipart_upload = d.pop("pre_sign_multipart_upload", UNSET)

        blockstore_id = d.pop("blockstore_id", UNSET)

        blockstore_description = d.pop("blockstore_description", UNSET)

        storage_config = cls(
            blockstore_type=blockstore_type,
            blockstore_namespace_example=blockstore_namespace_example,
            blockstore_namespace_validity_regex=blockstore_namespace_validity_regex,
            pre_sign_support=pre_sign_support,
            pre_sign_support_ui=pre_sign_support_ui,
            import_support=import_support,
            import_validity_regex=import_validity_regex,
            default_namespace_prefix=default_namespace_prefix,
            pre_sign_multipart_upload=pre_sign_multipart_upload,
            blockstore_id=blockstore_id,
            blockstore_description=blockstore_description,
        )

        storage_config.additional_properties = d
        return storage_config

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
