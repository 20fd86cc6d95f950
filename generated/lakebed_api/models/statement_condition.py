# generated from openapi.yaml by `make generate` - do not edit
from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.condition_fields import ConditionFields


T = TypeVar("T", bound="StatementCondition")


@_attrs_define
class StatementCondition:
    """Expected values of fields, by operator. All conditions must hold."""

    additional_properties: dict[str, ConditionFields] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:

        field_dict: dict[str, Any] = {}
        for prop_name, prop in self.additional_properties.items():
            field_dict[prop_name] = prop.to_dict()

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.condition_fields import ConditionFields

        d = dict(src_dict)
        statement_condition = cls()

        additional_properties = {}
        for prop_name, prop_dict in d.items():
            additional_property = ConditionFields.from_dict(prop_dict)

            additional_properties[prop_name] = additional_property

        statement_condition.additional_properties = additional_properties
        return statement_condition

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> ConditionFields:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: ConditionFields) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
