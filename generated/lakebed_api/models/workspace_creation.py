# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="WorkspaceCreation")


@_attrs_define
class WorkspaceCreation:
    """A workspace to create. Set a branch, a reference, or both.

    Attributes:
        branch (str | Unset): The branch to commit to. When absent, the branch of `ref`.
        ref (str | Unset): The reference to start at. When absent, the head of `branch`.
        message (str | Unset): The default commit message.
        expires_in (int | Unset): Seconds until the workspace expires. Renewing the workspace extends this time. A week
            when absent.
        claims (list[str] | Unset): Prefixes below which a concurrent change of the branch is a conflict.
        id (str | Unset): An id that the caller chooses: 128 random bits in hexadecimal.
        force (bool | Unset): Allow the change even if the repository is read-only. False when absent. Default: False.
    """

    branch: str | Unset = UNSET
    ref: str | Unset = UNSET
    message: str | Unset = UNSET
    expires_in: int | Unset = UNSET
    claims: list[str] | Unset = UNSET
    id: str | Unset = UNSET
    force: bool | Unset = False
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        branch = self.branch

        ref = self.ref

        message = self.message

        expires_in = self.expires_in

        claims: list[str] | Unset = UNSET
        if not isinstance(self.claims, Unset):
            claims = self.claims

        id = self.id

        force = self.force

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if branch is not UNSET:
            field_dict["branch"] = branch
        if ref is not UNSET:
            field_dict["ref"] = ref
        if message is not UNSET:
            field_dict["message"] = message
        if expires_in is not UNSET:
            field_dict["expires_in"] = expires_in
        if claims is not UNSET:
            field_dict["claims"] = claims
        if id is not UNSET:
            field_dict["id"] = id
        if force is not UNSET:
            field_dict["force"] = force

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        branch = d.pop("branch", UNSET)

        ref = d.pop("ref", UNSET)

        message = d.pop("message", UNSET)

        expires_in = d.pop("expires_in", UNSET)

        claims = cast(list[str], d.pop("claims", UNSET))

        id = d.pop("id", UNSET)

        force = d.pop("force", UNSET)

        workspace_creation = cls(
            branch=branch,
            ref=ref,
            message=message,
            expires_in=expires_in,
            claims=claims,
            id=id,
            force=force,
        )

        workspace_creation.additional_properties = d
        return workspace_creation

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
