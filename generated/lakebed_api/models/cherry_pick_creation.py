# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.commit_overrides import CommitOverrides


T = TypeVar("T", bound="CherryPickCreation")


@_attrs_define
class CherryPickCreation:
    """A commit to apply.

    Attributes:
        ref (str): The id of the commit, or a reference to it.
        parent_number (int | Unset): For a merge commit, the number of the parent to compare with, from 1. Otherwise 0
            or absent.
        commit_overrides (CommitOverrides | Unset): The message and metadata that replace those of the original commit.
        force (bool | Unset): Allow the change even if the repository is read-only. False when absent. Default: False.
    """

    ref: str
    parent_number: int | Unset = UNSET
    commit_overrides: CommitOverrides | Unset = UNSET
    force: bool | Unset = False
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        ref = self.ref

        parent_number = self.parent_number

        commit_overrides: dict[str, Any] | Unset = UNSET
        if not isinstance(self.commit_overrides, Unset):
            commit_overrides = self.commit_overrides.to_dict()

        force = self.force

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "ref": ref,
            }
        )
        if parent_number is not UNSET:
            field_dict["parent_number"] = parent_number
        if commit_overrides is not UNSET:
            field_dict["commit_overrides"] = commit_overrides
        if force is not UNSET:
            field_dict["force"] = force

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.commit_overrides import CommitOverrides

        d = dict(src_dict)
        ref = d.pop("ref")

        parent_number = d.pop("parent_number", UNSET)

        _commit_overrides = d.pop("commit_overrides", UNSET)
        commit_overrides: CommitOverrides | Unset
        if isinstance(_commit_overrides, Unset):
            commit_overrides = UNSET
        else:
            commit_overrides = CommitOverrides.from_dict(_commit_overrides)

        force = d.pop("force", UNSET)

        cherry_pick_creation = cls(
            ref=ref,
            parent_number=parent_number,
            commit_overrides=commit_overrides,
            force=force,
        )

        cherry_pick_creation.additional_properties = d
        return cherry_pick_creation

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
