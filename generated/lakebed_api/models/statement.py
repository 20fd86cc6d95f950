# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.statement_condition import StatementCondition


T = TypeVar("T", bound="Statement")


@_attrs_define
class Statement:
    """A rule of a policy. `deny` overrides `allow`.

    Attributes:
        effect (str): `allow` or `deny`.
        resource (Any): `*`, an ARN such as `arn:lakefs:fs:::repository/sales/*`, an array of ARNs, or such an array as
            JSON text, which older clients can read. `${user}` is the id of the calling user.
        action (list[str]): Actions such as `fs:ReadObject`. `*` and `?` are wildcards: `fs:Read*`.
        condition (StatementCondition | Unset): Expected values of fields, by operator. All conditions must hold.
    """

    effect: str
    resource: Any
    action: list[str]
    condition: StatementCondition | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        effect = self.effect

        resource = self.resource

        action = self.action

        condition: dict[str, Any] | Unset = UNSET
        if not isinstance(self.condition, Unset):
            condition = self.condition.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "effect": effect,
                "resource": resource,
                "action": action,
            }
        )
        if condition is not UNSET:
            field_dict["condition"] = condition

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.statement_condition import StatementCondition

        d = dict(src_dict)
        effect = d.pop("effect")

        resource = d.pop("resource")

        action = cast(list[str], d.pop("action"))

        _condition = d.pop("condition", UNSET)
        condition: StatementCondition | Unset
        if isinstance(_condition, Unset):
            condition = UNSET
        else:
            condition = StatementCondition.from_dict(_condition)

        statement = cls(
            effect=effect,
            resource=resource,
            action=action,
            condition=condition,
        )

        statement.additional_properties = d
        return statement

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
