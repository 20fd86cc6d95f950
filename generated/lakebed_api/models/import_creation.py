# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.commit_creation import CommitCreation
    from ..models.import_location import ImportLocation


T = TypeVar("T", bound="ImportCreation")


@_attrs_define
class ImportCreation:
    """What to import.

    Attributes:
        paths (list[ImportLocation]): The sources of the import.
        commit (CommitCreation): A commit to create.
        force (bool | Unset): Allow the change even if the repository is read-only. False when absent. Default: False.
    """

    paths: list[ImportLocation]
    commit: CommitCreation
    force: bool | Unset = False
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        paths = []
        for paths_item_data in self.paths:
            paths_item = paths_item_data.to_dict()
            paths.append(paths_item)

        commit = self.commit.to_dict()

        force = self.force

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "paths": paths,
                "commit": commit,
            }
        )
        if force is not UNSET:
            field_dict["force"] = force

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.commit_creation import CommitCreation
        from ..models.import_location import ImportLocation

        d = dict(src_dict)
        paths = []
        _paths = d.pop("paths")
        for paths_item_data in _paths:
            paths_item = ImportLocation.from_dict(paths_item_data)

            paths.append(paths_item)

        commit = CommitCreation.from_dict(d.pop("commit"))

        force = d.pop("force", UNSET)

        import_creation = cls(
            paths=paths,
            commit=commit,
            force=force,
        )

        import_creation.additional_properties = d
        return import_creation

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
