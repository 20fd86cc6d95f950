# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="BranchProtectionRule")


@_attrs_define
class BranchProtectionRule:
    """A rule that protects branches.

    Attributes:
        pattern (str): The names of the branches: `*` is any text, `?` any character, `[ab]` and `[!ab]` one of a set.
        required_approvals (int | Unset): The number of approvals that a pull request into a matching branch needs. Only
            pull requests can then change the branch. 0 when absent. Lakebed only.
        required_checks (list[str] | Unset): The checks that must succeed for the source of a pull request. Only pull
            requests can then change the branch. Lakebed only.
    """

    pattern: str
    required_approvals: int | Unset = UNSET
    required_checks: list[str] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        pattern = self.pattern

        required_approvals = self.required_approvals

        required_checks: list[str] | Unset = UNSET
        if not isinstance(self.required_checks, Unset):
            required_checks = self.required_checks

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "pattern": pattern,
            }
        )
        if required_approvals is not UNSET:
            field_dict["required_approvals"] = required_approvals
        if required_checks is not UNSET:
            field_dict["required_checks"] = required_checks

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        pattern = d.pop("pattern")

        required_approvals = d.pop("required_approvals", UNSET)

        required_checks = cast(list[str], d.pop("required_checks", UNSET))

        branch_protection_rule = cls(
            pattern=pattern,
            required_approvals=required_approvals,
            required_checks=required_checks,
        )

        branch_protection_rule.additional_properties = d
        return branch_protection_rule

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
