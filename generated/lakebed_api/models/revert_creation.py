# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.commit_overrides import CommitOverrides


T = TypeVar("T", bound="RevertCreation")


@_attrs_define
class RevertCreation:
    """A commit to undo.

    Attributes:
        ref (str): The id of the commit, or a reference to it.
        parent_number (int): For a merge commit, the number of the parent to return to, from 1. Otherwise 0.
        commit_overrides (CommitOverrides | Unset): The message and metadata that replace those of the original commit.
        force (bool | Unset): Allow the change even if the repository is read-only. False when absent. Default: False.
        allow_empty (bool | Unset): Commit even if there is nothing to undo. Default: False.
    """

    ref: str
    parent_number: int
    commit_overrides: CommitOverrides | Unset = UNSET
    force: bool | Unset = False
    allow_empty: bool | Unset = False
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        ref = self.ref

        parent_number = self.parent_number

        commit_overrides: dict[str, Any] | Unset = UNSET
        if not isinstance(self.commit_overrides, Unset):
            commit_overrides = self.commit_overrides.to_dict()

        force = self.force

        allow_empty = self.allow_empty

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "ref": ref,
                "parent_number": parent_number,
            }
        )
        if commit_overrides is not UNSET:
            field_dict["commit_overrides"] = commit_overrides
        if force is not UNSET:
            field_dict["force"] = force
        if allow_empty is not UNSET:
            field_dict["allow_empty"] = allow_empty

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.commit_overrides import CommitOverrides

        d = dict(src_dict)
        ref = d.pop("ref")

        parent_number = d.pop("parent_number")

        _commit_overrides = d.pop("commit_overrides", UNSET)
        commit_overrides: CommitOverrides | Unset
        if isinstance(_commit_overrides, Unset):
            commit_overrides = UNSET
        else:
            commit_overrides = CommitOverrides.from_dict(_commit_overrides)

        force = d.pop("force", UNSET)

        allow_empty = d.pop("allow_empty", UNSET)

        revert_creation = cls(
            ref=ref,
            parent_number=parent_number,
            commit_overrides=commit_overrides,
            force=force,
            allow_empty=allow_empty,
        )

        revert_creation.additional_properties = d
        return revert_creation

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
